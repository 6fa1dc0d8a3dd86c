//! Scores methods and thresholds on labelled pairs: `onecopy eval` for all methods, `onecopy refine` for passages.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::Bench;
use super::answers::{Answers, write_lines};
use super::bootstrap::Pair;
use super::labels::{Half, Labelled};

/// The methods and their lowest threshold that can be used, in hundredths. The bits of pages without anything in common
/// agree in half, so that low thresholds mean nothing there.
pub const METHODS: [(&str, u32); 10] = [
    ("auto", 50),
    ("jaccard", 50),
    ("containment", 50),
    ("cosine", 50),
    ("shingles-b", 50),
    ("projection-c", 90),
    ("combined", 50),
    ("simhash", 80),
    ("lcs", 50),
    ("bloom", 50),
];
/// Thresholds in hundredths: .5 to .95.
pub const FROM: u32 = 50;
const STEP: u32 = 5;
const STEPS: u32 = 10;
/// The passages around the words of the query, compared by the method `auto`.
pub const PASSAGES: &str = "auto, passages";
/// So low that the similarity of almost every pair is printed.
const LEAST: &str = "0.001";

/// Precision, recall and F1.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
pub struct Score {
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
}

/// The score of a method at a threshold on a half.
pub struct Scored {
    pub method: &'static str,
    /// In hundredths. `None`: the method's own.
    pub threshold: Option<u32>,
    pub half: Half,
    pub score: Score,
}

#[derive(Deserialize)]
struct Evaluation {
    method: String,
    #[serde(flatten)]
    score: Score,
}

pub fn thresholds() -> impl Iterator<Item = u32> {
    (0..STEPS).map(|step| FROM + STEP * step)
}

fn named(method: &str, threshold: Option<u32>) -> String {
    match threshold {
        Some(hundredths) => format!("{method}:threshold={}", f64::from(hundredths) / 100.0),
        None => method.to_owned(),
    }
}

pub fn evaluate(bench: &Bench, set: &Path, half: Half) -> Result<Vec<Scored>> {
    let choices: Vec<(&str, Option<u32>)> = METHODS
        .iter()
        .flat_map(|&(method, least)| {
            let usable = thresholds().filter(move |&threshold| threshold >= least).map(Some);
            usable.chain([None]).map(move |threshold| (method, threshold))
        })
        .collect();
    let names: Vec<String> = choices.iter().map(|(method, threshold)| named(method, *threshold)).collect();
    let mut command = Command::new(&bench.program.path);
    command.arg("eval").arg(set).args(["--listed-only", "--mistakes", "0", "--json", "--quiet", "--method"]);
    let output = bench.program.output(command.arg(names.join(",")))?;
    let found: Vec<Evaluation> = serde_json::from_str(&output).context("eval printed no scores")?;
    let scored = |((method, threshold), name): (&(&'static str, Option<u32>), &String)| {
        let found = found.iter().find(|one| one.method == *name);
        let score = found.with_context(|| format!("eval has no scores of {name}"))?.score;
        Ok(Scored { method, threshold: *threshold, half, score })
    };
    choices.iter().zip(&names).map(scored).collect()
}

/// The part of both pages that is compared.
#[derive(Clone, Copy)]
pub enum Of {
    Pages,
    /// The passages around the words of the query.
    Passages,
}

/// The similarity of each pair by `auto`. Each pair is refined by itself.
pub fn similarities<'a>(
    bench: &Bench,
    answers: &Answers,
    pairs: &[&'a Labelled],
    of: Of,
) -> Result<Vec<Pair<'a>>> {
    let file = bench.program.work.join("results-pair.jsonl");
    let mut found = Vec::new();
    for pair in pairs {
        let line = |id: &String| json!({"id": id, "text": answers.texts.get(id)}).to_string();
        write_lines(&file, pair.ids.iter().map(line))?;
        let mut options = vec!["--method", "auto", "--threshold", LEAST];
        match of {
            Of::Pages => {}
            Of::Passages => options.extend(["--query", &pair.query]),
        }
        let places = bench.program.refine(&file, &options)?;
        let similarity = places.get(1).and_then(|place| place.similarity).unwrap_or_default();
        found.push(Pair { query: &pair.query, similarity, is_repeat: pair.is_repeat() });
    }
    Ok(found)
}

/// Scores passages at each threshold.
pub fn passages(bench: &Bench, answers: &Answers, pairs: &[&Labelled], half: Half) -> Result<Vec<Scored>> {
    let found = similarities(bench, answers, pairs, Of::Passages)?;
    let similarities: Vec<(f64, bool)> = found.iter().map(|pair| (pair.similarity, pair.is_repeat)).collect();
    let scored = |threshold: u32| {
        let score = score(&similarities, f64::from(threshold) / 100.0);
        Scored { method: PASSAGES, threshold: Some(threshold), half, score }
    };
    Ok(thresholds().map(scored).collect())
}

/// F1 of pairs with these similarities and labels; 0 if nothing right is found.
pub fn f1(pairs: &[(f64, bool)], threshold: f64) -> f64 {
    score(pairs, threshold).f1.unwrap_or_default()
}

/// Similarities and labels → scores.
fn score(pairs: &[(f64, bool)], threshold: f64) -> Score {
    let found: Vec<bool> = pairs.iter().filter(|pair| pair.0 >= threshold).map(|pair| pair.1).collect();
    let right = found.iter().filter(|&&is_repeat| is_repeat).count() as f64;
    let repeats = pairs.iter().filter(|pair| pair.1).count() as f64;
    let share = |of: f64| (of > 0.0).then(|| right / of);
    let (precision, recall) = (share(found.len() as f64), share(repeats));
    let f1 = precision.zip(recall).filter(|(p, r)| p + r > 0.0).map(|(p, r)| 2.0 * p * r / (p + r));
    Score { precision, recall, f1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_hand() {
        let pairs = [(0.9, true), (0.8, false), (0.6, true), (0.1, false)];
        let at = score(&pairs, 0.75);
        assert_eq!((at.precision, at.recall, at.f1), (Some(0.5), Some(0.5), Some(0.5)));
        assert_eq!(score(&pairs, 0.95), Score { precision: None, recall: Some(0.0), f1: None });
        assert_eq!((f1(&pairs, 0.95), f1(&pairs, 0.75)), (0.0, 0.5));
    }
}
