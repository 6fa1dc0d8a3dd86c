//! `onecopy-bench train`: trains the model that separates main content from the rest, and tests it on unseen pages.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::extract::align::align;
use crate::extract::boost::{Model, Settings};
use crate::extract::judge::{Judge, Plan, Sample};
use crate::extract::score::{Bag, Score, words};
use crate::extract::{Set, features};

/// Trains the model of main content.
#[derive(clap::Args)]
pub struct Args {
    /// Folders with docs.jsonl(.zst): pages with their gold text
    #[arg(required = true, value_name = "SET")]
    sets: Vec<PathBuf>,
    /// A set that only one of two models learns; the result is the mean of both; may be given several times
    #[arg(long, value_name = "SET")]
    once: Vec<PathBuf>,
    /// A set to test on, and never to train on; may be given several times
    #[arg(long, value_name = "SET")]
    unseen: Vec<PathBuf>,
    /// The folder to write the model to, as Rust
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// A folder for builds and outputs
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// Test on pages not seen in training, in this many parts; then on each set by the others
    #[arg(long, default_value_t = 0, value_name = "PARTS")]
    folds: u64,
    /// Trees that judge a block by itself
    #[arg(long, default_value_t = 240)]
    trees: usize,
    /// Trees that judge a block again, given the first results for the blocks around it
    #[arg(long, default_value_t = 160)]
    again: usize,
}

/// The depth of a tree, which onecopy's code assumes.
const DEPTH: usize = 5;
/// The weight of a set with versions of one site: its pages use few templates.
const ONE_SITE_WEIGHT: f64 = 0.3;
/// Offsets subtracted from every sum before it becomes a probability, and how much the model may be too strict or too
/// lenient about a page; onecopy uses one of them.
const DOUBTS: [(i32, i32); 5] = [(0, 0), (200, 0), (200, 2000), (500, 2500), (800, 3000)];

type Scores = [Score; DOUBTS.len()];

pub fn run(args: &Args) -> Result<()> {
    let folders = args.sets.iter().chain(&args.once).chain(&args.unseen);
    let sets = folders.map(|folder| Set::read(folder)).collect::<Result<Vec<_>>>()?;
    let mut samples = vec![];
    for (index, set) in sets.iter().enumerate() {
        let dumped = features(set, &args.work)?;
        samples.extend(read_samples(set, index, &dumped)?);
    }
    let first = Settings { trees: args.trees, depth: DEPTH, rate: 0.12, calm: 4.0, rows: 0.25, numbers: 400 };
    let plan = Plan { first, again: Settings { trees: args.again, ..first }, work: &args.work };
    if args.folds > 0 {
        let fold = |sample: &Sample| sample.group % args.folds;
        report("parts", &sets, &cross(&samples, args.folds, fold, &plan)?);
        let set = |sample: &Sample| sample.set as u64;
        report("each set by the others", &sets, &cross(&samples, sets.len() as u64, set, &plan)?);
    }
    if args.write.is_none() && args.unseen.is_empty() {
        return Ok(());
    }
    let learnt = args.sets.len() + args.once.len();
    let judge = taught(&samples, (args.sets.len(), learnt), &plan)?;
    let mut scores = vec![Scores::default(); sets.len()];
    test(&judge, &samples.iter().collect::<Vec<_>>(), &args.work, &mut scores)?;
    let (seen, unseen) = sets.split_at(learnt);
    report("seen in training", seen, &scores);
    report("unseen", unseen, &scores[seen.len()..]);
    let Some(folder) = &args.write else { return Ok(()) };
    for (name, model) in [("weights.rs", &judge.first), ("again.rs", &judge.again)] {
        let path = folder.join(name);
        std::fs::write(&path, source(model)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// A model of the first sets. If there are more sets to learn, it is the mean of that model and one of all of them: pages
/// of few kinds do not push out what it knows of the others.
fn taught(samples: &[Sample], (some, all): (usize, usize), plan: &Plan<'_>) -> Result<Judge> {
    let learn = |sets: usize| {
        let chosen: Vec<&Sample> = samples.iter().filter(|sample| sample.set < sets).collect();
        Judge::new(&chosen, plan)
    };
    let judge = learn(some)?;
    if some == all { Ok(judge) } else { Ok(judge.mean(learn(all)?)) }
}

#[derive(Deserialize)]
struct Dumped {
    id: String,
    texts: Vec<String>,
    features: Vec<Vec<i32>>,
    places: Vec<Vec<u32>>,
}

fn read_samples(set: &Set, index: usize, path: &Path) -> Result<Vec<Sample>> {
    let gold: HashMap<&str, &crate::extract::Page> =
        set.pages.iter().map(|page| (page.id.as_str(), page)).collect();
    let mut samples = vec![];
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        let dumped: Dumped = serde_json::from_str(&line?)?;
        let Some(page) = gold.get(dumped.id.as_str()) else { continue };
        if dumped.texts.is_empty() {
            continue;
        }
        let blocks: Vec<Vec<u64>> = dumped.texts.iter().map(|text| words(text)).collect();
        let labels = align(&blocks, &page.gold);
        samples.push(Sample {
            set: index,
            weight: if set.is_one_site { ONE_SITE_WEIGHT } else { 1.0 },
            group: xxhash_rust::xxh3::xxh3_64(page.group.as_bytes()),
            values: dumped.features.concat(),
            places: dumped.places,
            blocks,
            labels,
            gold: page.gold_bag(),
        });
    }
    Ok(samples)
}

fn cross(
    samples: &[Sample],
    parts: u64,
    part_of: impl Fn(&Sample) -> u64,
    plan: &Plan<'_>,
) -> Result<Vec<Scores>> {
    let sets = samples.iter().map(|sample| sample.set + 1).max().unwrap_or(0);
    let mut scores = vec![Scores::default(); sets];
    for part in 0..parts {
        let (tested, seen): (Vec<&Sample>, Vec<&Sample>) =
            samples.iter().partition(|sample| part_of(sample) == part);
        test(&Judge::new(&seen, plan)?, &tested, plan.work, &mut scores)?;
    }
    Ok(scores)
}

fn test(judge: &Judge, samples: &[&Sample], work: &Path, scores: &mut [Scores]) -> Result<()> {
    for (sample, sums) in samples.iter().zip(judge.sums(samples, work)?) {
        for (doubt, score) in DOUBTS.iter().zip(&mut scores[sample.set]) {
            let sizes: Vec<u32> = sample.places.iter().map(|place| place[0]).collect();
            let sum_min = sum_min(&sums, &sizes, *doubt);
            let mut found = Bag::default();
            let kept = sample.blocks.iter().zip(&sums).filter(|(_, sum)| **sum >= sum_min);
            kept.for_each(|(block, _)| found.add(block));
            score.add(&found, &sample.gold);
        }
    }
    Ok(())
}

/// The least sum of kept blocks, computed as in onecopy (`html/main/choice.rs`).
fn sum_min(sums: &[i32], sizes: &[u32], (doubt, spread): (i32, i32)) -> i32 {
    let chance = |sum: i32| {
        let middle = (sum.clamp(-6143, 6143) + 6144) / 64 * 64 - 6144 + 32;
        (1000.0 / (1.0 + (-f64::from(middle) / 1024.0).exp())).round()
    };
    let cases = [-doubt - spread, -doubt, -doubt + spread];
    let likely = |at: usize, case: usize| f64::from(sizes[at]) * chance(sums[at] + cases[case]);
    let all: [f64; 3] = std::array::from_fn(|case| (0..sums.len()).map(|at| likely(at, case)).sum());
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(sums[at]));
    let (mut hits, mut kept, mut best) = ([0.0; 3], 0.0, (0.0, i32::MAX));
    for at in order {
        kept += f64::from(sizes[at]) * 1000.0;
        hits = std::array::from_fn(|case| hits[case] + likely(at, case));
        let f1: f64 = hits.iter().zip(all).map(|(hit, all)| hit / (kept + all)).sum();
        if f1 > best.0 {
            best = (f1, sums[at]);
        }
    }
    best.1
}

fn report(what: &str, sets: &[Set], scores: &[Scores]) {
    println!("{what}: F1 by doubt and spread {DOUBTS:?}");
    for (set, scores) in sets.iter().zip(scores) {
        let figures: Vec<String> = scores.iter().map(|score| format!("{:.4}", score.means()[0])).collect();
        println!("  {:<26} {}", set.name, figures.join("  "));
    }
}

/// The model as Rust code.
fn source(model: &Model) -> String {
    let width = model.width;
    let head = "//! Trees of the model of main content.\n//!\n//! Made by `onecopy-bench train`; not to be edited.\n";
    let questions: Vec<String> = model
        .trees
        .iter()
        .flat_map(|tree| &tree.questions)
        .map(|(number, above)| format!("({number},{above}),"))
        .collect();
    let leaves: Vec<String> =
        model.trees.iter().flat_map(|tree| &tree.leaves).map(|leaf| format!("{leaf},")).collect();
    format!(
        "{head}\n/// How many features the model was trained on.\n#[cfg(test)]\npub const WIDTH: usize = {width};\n\n\
         /// The questions of each tree, level by level: a feature, and the number that it must exceed.\n\
         #[rustfmt::skip]\npub static QUESTIONS: [(u8, i16); {}] = [\n{}];\n\n\
         /// The leaves of each tree: a number for each combination of answers.\n\
         #[rustfmt::skip]\npub static LEAVES: [i16; {}] = [\n{}];\n",
        questions.len(),
        wrapped(&questions),
        leaves.len(),
        wrapped(&leaves),
    )
}

/// Items in lines of at most 110 characters, without spaces to keep the files short.
fn wrapped(items: &[String]) -> String {
    let mut text = String::new();
    let mut line = 0;
    for item in items {
        if line == 0 || line + item.len() > 110 {
            text += if text.is_empty() { "    " } else { "\n    " };
            line = 4 + item.len();
        } else {
            line += item.len();
        }
        text += item;
    }
    text + "\n"
}
