//! `onecopy-bench train`: makes the model that tells main content from the rest, and says how well it does on
//! pages that it has not seen.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::extract::align::align;
use crate::extract::boost::{Model, Rows, Settings, train};
use crate::extract::score::{Bag, Score, words};
use crate::extract::{Set, features};

/// Trains the model of main content.
#[derive(clap::Args)]
pub struct Args {
    /// Folders with docs.jsonl(.zst): pages with their gold text
    #[arg(required = true, value_name = "SET")]
    sets: Vec<PathBuf>,
    /// Where to write the model, as Rust
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// A folder for builds and outputs
    #[arg(long, default_value = "bench-work", value_name = "DIR")]
    work: PathBuf,
    /// Test on pages not seen in training, in this many parts; then on each set by the others
    #[arg(long, default_value_t = 0, value_name = "PARTS")]
    folds: u64,
    /// Trees of the model
    #[arg(long, default_value_t = 260)]
    trees: usize,
}

/// Questions in a tree; onecopy reads the model by it.
const DEPTH: usize = 5;

/// A page as the model sees it.
struct Sample {
    set: usize,
    group: u64,
    values: Vec<i32>,
    blocks: Vec<Vec<u64>>,
    labels: Vec<f32>,
    gold: Bag,
}

pub fn run(args: &Args) -> Result<()> {
    let sets = args.sets.iter().map(|folder| Set::read(folder)).collect::<Result<Vec<_>>>()?;
    let mut samples = vec![];
    for (index, set) in sets.iter().enumerate() {
        let dumped = features(set, &args.work)?;
        samples.extend(read_samples(set, index, &dumped)?);
    }
    let settings = Settings { trees: args.trees, depth: DEPTH, rate: 0.12, calm: 4.0 };
    if args.folds > 0 {
        let fold = |sample: &Sample| sample.group % args.folds;
        report("parts", &sets, &cross(&samples, args.folds, fold, &settings));
        let set = |sample: &Sample| sample.set as u64;
        report("each set by the others", &sets, &cross(&samples, sets.len() as u64, set, &settings));
    }
    let chosen: Vec<&Sample> = samples.iter().collect();
    let model = fit(&chosen, &settings);
    let mut scores = vec![[Score::default(); SHIFTS.len()]; sets.len()];
    chosen.iter().for_each(|sample| judge(&model, sample, &mut scores));
    report("seen in training", &sets, &scores);
    if let Some(path) = &args.write {
        let width = chosen.first().map_or(0, |sample| sample.values.len() / sample.labels.len().max(1));
        std::fs::write(path, source(&model, width))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Dumped {
    id: String,
    texts: Vec<String>,
    features: Vec<Vec<i32>>,
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
        let group = xxhash_rust::xxh3::xxh3_64(page.group.as_bytes());
        samples.push(Sample {
            set: index,
            group,
            values: dumped.features.concat(),
            blocks,
            labels,
            gold: page.gold_bag(),
        });
    }
    Ok(samples)
}

/// Thresholds to compare, on the sum of leaves.
const SHIFTS: [i32; 5] = [-800, -400, -200, 0, 300];

fn cross(
    samples: &[Sample],
    parts: u64,
    part_of: impl Fn(&Sample) -> u64,
    settings: &Settings,
) -> Vec<[Score; SHIFTS.len()]> {
    let sets = samples.iter().map(|sample| sample.set + 1).max().unwrap_or(0);
    let mut scores = vec![[Score::default(); SHIFTS.len()]; sets];
    for part in 0..parts {
        let (tested, seen): (Vec<&Sample>, Vec<&Sample>) =
            samples.iter().partition(|sample| part_of(sample) == part);
        let model = fit(&seen, settings);
        tested.iter().for_each(|sample| judge(&model, sample, &mut scores));
    }
    scores
}

fn judge(model: &Model, sample: &Sample, scores: &mut [[Score; SHIFTS.len()]]) {
    let width = sample.values.len() / sample.labels.len();
    let sums: Vec<i32> = sample.values.chunks(width).map(|values| model.judge(values)).collect();
    for (shift, score) in SHIFTS.iter().zip(&mut scores[sample.set]) {
        let mut found = Bag::default();
        for (block, sum) in sample.blocks.iter().zip(&sums) {
            if sum > shift {
                found.add(block);
            }
        }
        score.add(&found, &sample.gold);
    }
}

/// A page counts once whatever its length, a set by the root of its pages, a block by its words.
fn fit(samples: &[&Sample], settings: &Settings) -> Model {
    let mut pages: HashMap<usize, f64> = HashMap::new();
    samples.iter().for_each(|sample| *pages.entry(sample.set).or_default() += 1.0);
    let mut rows = Rows { values: vec![], width: 0, labels: vec![], weights: vec![] };
    for sample in samples {
        rows.width = sample.values.len() / sample.labels.len();
        rows.values.extend(&sample.values);
        rows.labels.extend(&sample.labels);
        let weights = sample.blocks.iter().map(|block| (block.len().max(1) as f64).powf(0.7));
        let page = 1.0 / pages[&sample.set].sqrt() / weights.clone().sum::<f64>();
        rows.weights.extend(weights.map(|weight| (weight * page) as f32));
    }
    let mean = rows.weights.iter().sum::<f32>() / rows.weights.len() as f32;
    rows.weights.iter_mut().for_each(|weight| *weight /= mean);
    train(&rows, settings)
}

fn report(what: &str, sets: &[Set], scores: &[[Score; SHIFTS.len()]]) {
    println!("{what}: F1 by threshold {SHIFTS:?}");
    for (set, scores) in sets.iter().zip(scores) {
        let figures: Vec<String> = scores.iter().map(|score| format!("{:.4}", score.means()[0])).collect();
        println!("  {:<26} {}", set.name, figures.join("  "));
    }
}

/// The model as Rust.
fn source(model: &Model, width: usize) -> String {
    let head = "//! The trees of the model of main content.\n//!\n//! Made by `onecopy-bench train`; not to be edited.\n";
    let questions: Vec<String> = model
        .trees
        .iter()
        .flat_map(|tree| &tree.questions)
        .map(|(number, above)| format!("({number}, {above}),"))
        .collect();
    let leaves: Vec<String> =
        model.trees.iter().flat_map(|tree| &tree.leaves).map(|leaf| format!("{leaf},")).collect();
    format!(
        "{head}\n/// How many features the model was trained on.\n#[cfg(test)]\npub const WIDTH: usize = {width};\n\n\
         /// Of each tree, level by level: which feature must be above which number.\n\
         #[rustfmt::skip]\npub static QUESTIONS: [(u8, i16); {}] = [\n{}];\n\n\
         /// Of each tree, a number for each way to answer its questions.\n\
         #[rustfmt::skip]\npub static LEAVES: [i16; {}] = [\n{}];\n",
        questions.len(),
        wrapped(&questions),
        leaves.len(),
        wrapped(&leaves),
    )
}

/// Items in lines of at most 110 characters.
fn wrapped(items: &[String]) -> String {
    let mut text = String::new();
    let mut line = 0;
    for item in items {
        if line == 0 || line + item.len() + 1 > 110 {
            text += if text.is_empty() { "    " } else { "\n    " };
            line = 4 + item.len();
        } else {
            text.push(' ');
            line += item.len() + 1;
        }
        text += item;
    }
    text + "\n"
}
