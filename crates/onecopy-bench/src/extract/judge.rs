//! The model of main content: trees that judge a block by itself, and trees that judge it again, knowing what the first
//! said of the blocks around it.
//!
//! The second are trained on what the first say of pages that they have not seen, since that is what they will get:
//! of pages that they have seen, the first are too sure.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::boost::{Model, Rows, Settings, train};
use super::contexts;
use super::score::Bag;

/// Into how many parts pages are divided for what is said of pages that were not seen.
const PARTS: u64 = 3;

/// A page as the model sees it.
pub struct Sample {
    pub set: usize,
    /// How much its set counts.
    pub weight: f64,
    /// Pages of one group are never seen while others of it are tested.
    pub group: u64,
    /// What the model sees of each block, a block after the other.
    pub values: Vec<i32>,
    /// Where each block is; onecopy knows what the numbers mean, but the first is how many words it counts.
    pub places: Vec<Vec<u32>>,
    pub blocks: Vec<Vec<u64>>,
    pub labels: Vec<f32>,
    pub gold: Bag,
}

/// Both models, trained.
pub struct Judge {
    pub first: Model,
    pub again: Model,
}

/// How to train both.
pub struct Plan<'a> {
    pub first: Settings,
    pub again: Settings,
    pub work: &'a Path,
}

impl Judge {
    /// Trains on `samples`; the same ones in the same order give the same models.
    pub fn new(samples: &[&Sample], plan: &Plan<'_>) -> Result<Judge> {
        let own =
            |samples: &[&Sample]| samples.iter().map(|sample| sample.values.clone()).collect::<Vec<_>>();
        let first = train(&rows(samples, own(samples)), &plan.first);
        let mut said: HashMap<*const Sample, Vec<i32>> = HashMap::new();
        for part in 0..PARTS {
            // Other bits than those that divide pages into those seen and those tested.
            let (tested, seen): (Vec<&Sample>, Vec<&Sample>) =
                samples.iter().partition(|sample| (sample.group >> 20) % PARTS == part);
            let model = train(&rows(&seen, own(&seen)), &plan.first);
            said.extend(tested.into_iter().map(|sample| (std::ptr::from_ref(sample), sums(&model, sample))));
        }
        let said: Vec<Vec<i32>> = samples
            .iter()
            .map(|sample| said.remove(&std::ptr::from_ref(*sample)).unwrap_or_default())
            .collect();
        let values = with_context(samples, &said, plan.work)?;
        Ok(Judge { first, again: train(&rows(samples, values), &plan.again) })
    }

    /// What is said of each block of each of `samples`.
    pub fn sums(&self, samples: &[&Sample], work: &Path) -> Result<Vec<Vec<i32>>> {
        let said: Vec<Vec<i32>> = samples.iter().map(|sample| sums(&self.first, sample)).collect();
        let values = with_context(samples, &said, work)?;
        let sums = |(values, sample): (Vec<i32>, &&Sample)| {
            let width = values.len() / sample.labels.len();
            values.chunks(width).map(|values| self.again.judge(values)).collect()
        };
        Ok(values.into_iter().zip(samples).map(sums).collect())
    }
}

fn sums(model: &Model, sample: &Sample) -> Vec<i32> {
    sample.values.chunks(width(sample)).map(|values| model.judge(values)).collect()
}

/// How many numbers describe a block by itself.
fn width(sample: &Sample) -> usize {
    sample.values.len() / sample.labels.len()
}

#[derive(Deserialize)]
struct Context {
    context: Vec<Vec<i32>>,
}

/// What the second model sees of the blocks of each page: what the first sees, then what it said around them.
fn with_context(samples: &[&Sample], said: &[Vec<i32>], work: &Path) -> Result<Vec<Vec<i32>>> {
    let line = |(sample, sums): (&&Sample, &Vec<i32>)| {
        serde_json::json!({ "places": sample.places, "sums": sums }).to_string() + "\n"
    };
    let lines: String = samples.iter().zip(said).map(line).collect();
    let answer = contexts(&lines, work)?;
    let mut all = Vec::with_capacity(samples.len());
    for (sample, line) in samples.iter().zip(answer.lines()) {
        let Context { context } = serde_json::from_str(line)?;
        let rows = sample.values.chunks(width(sample)).zip(&context);
        all.push(rows.flat_map(|(own, context)| own.iter().chain(context).copied()).collect());
    }
    ensure!(all.len() == samples.len(), "onecopy lost a page");
    Ok(all)
}

/// A page counts once whatever its length, a set by the root of its pages, a block by its words.
fn rows(samples: &[&Sample], values: Vec<Vec<i32>>) -> Rows {
    let mut pages: HashMap<usize, f64> = HashMap::new();
    samples.iter().for_each(|sample| *pages.entry(sample.set).or_default() += 1.0);
    let mut rows = Rows { values: vec![], width: 0, labels: vec![], weights: vec![] };
    for (sample, values) in samples.iter().zip(values) {
        rows.width = values.len() / sample.labels.len();
        rows.values.extend(values);
        rows.labels.extend(&sample.labels);
        let weights = sample.blocks.iter().map(|block| (block.len().max(1) as f64).powf(0.7));
        let page = sample.weight / pages[&sample.set].sqrt() / weights.clone().sum::<f64>();
        rows.weights.extend(weights.map(|weight| (weight * page) as f32));
    }
    let mean = rows.weights.iter().sum::<f32>() / rows.weights.len() as f32;
    rows.weights.iter_mut().for_each(|weight| *weight /= mean);
    rows
}
