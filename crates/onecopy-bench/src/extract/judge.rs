//! The model of main content. The first trees judge each block by itself. The second trees judge it again, given the
//! first results for the blocks around it.
//!
//! The second trees are trained on first results for unseen pages, because that is what they will get. For pages seen
//! in training, the first trees are too confident.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::boost::{Model, Rows, Settings, train};
use super::contexts;
use super::score::Bag;

/// The number of parts for judging unseen pages.
const PARTS: u64 = 3;

/// The most blocks of a page to train on. Longer pages give every second block, every third and so on: they are lists,
/// and a page counts the same whatever its length.
const BLOCKS_MAX: usize = 120;

/// The features of a page.
pub struct Sample {
    pub set: usize,
    /// The weight of its set.
    pub weight: f64,
    /// Pages of one group are never split between training and testing.
    pub group: u64,
    /// The features of each block, block by block.
    pub values: Vec<i32>,
    /// The place of each block, which onecopy interprets. The first number is the word count of the block.
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

/// The training parameters of both.
pub struct Plan<'a> {
    pub first: Settings,
    pub again: Settings,
    pub work: &'a Path,
}

impl Judge {
    /// Trains on `samples`; the same samples in the same order give the same models.
    pub fn new(samples: &[&Sample], plan: &Plan<'_>) -> Result<Judge> {
        let own =
            |samples: &[&Sample]| samples.iter().map(|sample| sample.values.clone()).collect::<Vec<_>>();
        let first = train(&rows(samples, own(samples)), &plan.first);
        let mut said: HashMap<*const Sample, Vec<i32>> = HashMap::new();
        for part in 0..PARTS {
            // Uses other bits than the split into training and test pages.
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

    /// A judge whose results are between those of both.
    pub fn mean(self, other: Judge) -> Judge {
        Judge { first: self.first.mean(other.first), again: self.again.mean(other.again) }
    }

    /// The result for each block of each of `samples`.
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

/// The number of features of a block by itself.
fn width(sample: &Sample) -> usize {
    sample.values.len() / sample.labels.len()
}

#[derive(Deserialize)]
struct Context {
    context: Vec<Vec<i32>>,
}

/// The features of the second model for each page: those of the first, then the first results around each block.
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

/// A page counts the same whatever its length. A set counts by the root of its number of pages, a block by its words.
fn rows(samples: &[&Sample], values: Vec<Vec<i32>>) -> Rows {
    let mut pages: HashMap<usize, f64> = HashMap::new();
    samples.iter().for_each(|sample| *pages.entry(sample.set).or_default() += 1.0);
    let mut rows = Rows { values: vec![], width: 0, labels: vec![], weights: vec![] };
    for (sample, values) in samples.iter().zip(values) {
        rows.width = values.len() / sample.labels.len();
        let step = sample.labels.len().div_ceil(BLOCKS_MAX);
        let weights = sample.blocks.iter().step_by(step).map(|block| (block.len().max(1) as f64).powf(0.7));
        let page = sample.weight / pages[&sample.set].sqrt() / weights.clone().sum::<f64>();
        rows.weights.extend(weights.map(|weight| (weight * page) as f32));
        rows.labels.extend(sample.labels.iter().step_by(step));
        rows.values.extend(values.chunks(rows.width).step_by(step).flatten());
    }
    let mean = rows.weights.iter().sum::<f32>() / rows.weights.len() as f32;
    rows.weights.iter_mut().for_each(|weight| *weight /= mean);
    rows
}
