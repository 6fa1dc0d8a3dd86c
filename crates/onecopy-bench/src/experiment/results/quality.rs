//! Chooses the method and the threshold of `refine` by F1 on one half of the labelled pairs, and reports the other half.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::Bench;
use super::answers::{Answers, write_lines};
use super::labels::{self, Half, Labelled};
use super::picture::{self, Line, Panel};
use crate::table::Table;

/// The methods and their lowest threshold that can be used, in hundredths. The bits of pages without anything in common
/// agree in half, so that low thresholds mean nothing there.
const METHODS: [(&str, u32); 10] = [
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
const FROM: u32 = 50;
const STEP: u32 = 5;
const STEPS: u32 = 10;
/// The passages around the words of the query, compared by the method `auto`.
const PASSAGES: &str = "auto, passages";
/// So low that the similarity of almost every pair is printed.
const LEAST: &str = "0.001";

/// Precision, recall and F1.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
struct Score {
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
}

/// The score of a method at a threshold on a half.
struct Scored {
    method: &'static str,
    /// `None`: the method's own.
    threshold: Option<u32>,
    half: Half,
    score: Score,
}

#[derive(Deserialize)]
struct Evaluation {
    method: String,
    #[serde(flatten)]
    score: Score,
}

pub fn section(bench: &Bench, answers: &Answers, path: &Path) -> Result<String> {
    eprintln!("quality ...");
    let labels = labels::read(path)?;
    let mut scored = Vec::new();
    for half in [Half::Choose, Half::Report] {
        let set = labels::write_set(&labels, half, answers, &bench.program.work)?;
        scored.extend(evaluate(bench, &set, half)?);
        scored.extend(passages(bench, answers, &labels, half)?);
    }
    let number = |half: Half| {
        let part = labels.iter().filter(|pair| pair.half() == half);
        (part.clone().count(), part.filter(|pair| pair.is_repeat()).count())
    };
    let ((choose, choose_repeats), (report, report_repeats)) = (number(Half::Choose), number(Half::Report));
    let mut text = format!(
        "## Quality on labelled pairs of results\n\nHalf to choose by: {choose} pairs, {choose_repeats} repeats. Half to \
         report: {report} pairs, {report_repeats} repeats.\n\n"
    );
    text += &format!("F1 on the half to choose by:\n\n{}\n", grid(&scored, Half::Choose).markdown());
    text += &format!("F1 on the half to report:\n\n{}\n", grid(&scored, Half::Report).markdown());
    text += &format!(
        "The best threshold of each method on the first half, and its quality on the other:\n\n{}\n",
        best_of_each(&scored).markdown()
    );
    text += &bench.picture("results-quality.svg", "F1 by method and threshold", &draw(&scored))?;
    Ok(text)
}

fn thresholds() -> impl Iterator<Item = u32> {
    (0..STEPS).map(|step| FROM + STEP * step)
}

fn named(method: &str, threshold: Option<u32>) -> String {
    match threshold {
        Some(hundredths) => format!("{method}:threshold={}", f64::from(hundredths) / 100.0),
        None => method.to_owned(),
    }
}

fn evaluate(bench: &Bench, set: &Path, half: Half) -> Result<Vec<Scored>> {
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

/// Refines each pair with its query, and scores the similarity of the passages at each threshold.
fn passages(bench: &Bench, answers: &Answers, labels: &[Labelled], half: Half) -> Result<Vec<Scored>> {
    let file = bench.program.work.join("results-pair.jsonl");
    let mut similarities = Vec::new();
    for pair in labels.iter().filter(|pair| pair.half() == half) {
        let line = |id: &String| json!({"id": id, "text": answers.texts.get(id)}).to_string();
        write_lines(&file, pair.ids.iter().map(line))?;
        let places = bench
            .program
            .refine(&file, &["--query", &pair.query, "--method", "auto", "--threshold", LEAST])?;
        let similarity = places.get(1).and_then(|place| place.similarity).unwrap_or_default();
        similarities.push((similarity, pair.is_repeat()));
    }
    let scored = |threshold: u32| {
        let score = score(&similarities, f64::from(threshold) / 100.0);
        Scored { method: PASSAGES, threshold: Some(threshold), half, score }
    };
    Ok(thresholds().map(scored).collect())
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

fn find<'a>(scored: &'a [Scored], method: &str, threshold: Option<u32>, half: Half) -> Option<&'a Score> {
    let is_it = |one: &&Scored| (one.method, one.threshold, one.half) == (method, threshold, half);
    scored.iter().find(is_it).map(|one| &one.score)
}

fn names() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|method| method.0).chain([PASSAGES])
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

fn grid(scored: &[Scored], half: Half) -> Table {
    let header = thresholds().map(|threshold| format!("{:.2}", f64::from(threshold) / 100.0));
    let header: Vec<String> =
        ["method".to_owned()].into_iter().chain(header).chain(["its own".into()]).collect();
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for method in names() {
        let cell = |threshold| share(find(scored, method, threshold, half).and_then(|score| score.f1));
        let cells = thresholds().map(Some).chain([None]).map(cell);
        table.push([method.to_owned()].into_iter().chain(cells).collect());
    }
    table
}

/// The threshold with the best F1 on the half to choose by; of equals, the highest, which removes the fewest pages.
fn best(scored: &[Scored], method: &str) -> Option<u32> {
    let f1 = |threshold: u32| find(scored, method, Some(threshold), Half::Choose)?.f1;
    let known = thresholds().filter_map(|threshold| Some((threshold, f1(threshold)?)));
    known.max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))).map(|found| found.0)
}

fn best_of_each(scored: &[Scored]) -> Table {
    let mut table = Table::new(&[
        "method",
        "threshold",
        "F1 on the half to choose by",
        "precision, other half",
        "recall",
        "F1",
    ]);
    for method in names() {
        let Some(threshold) = best(scored, method) else { continue };
        let at = |half| find(scored, method, Some(threshold), half).copied().unwrap_or_default();
        let (chosen, other) = (at(Half::Choose), at(Half::Report));
        table.push(vec![
            method.to_owned(),
            format!("{:.2}", f64::from(threshold) / 100.0),
            share(chosen.f1),
            share(other.precision),
            share(other.recall),
            share(other.f1),
        ]);
    }
    table
}

fn draw(scored: &[Scored]) -> String {
    let panel = |half: Half, title: &str| {
        // A line starts at .5, so methods that cannot be used there are not drawn.
        let drawn =
            names().filter(|method| find(scored, method, Some(FROM), half).is_some() && *method != "jaccard");
        let line = |method: &'static str| {
            let value = |threshold| find(scored, method, Some(threshold), half).and_then(|score| score.f1);
            let values = thresholds().map(|threshold| value(threshold).unwrap_or_default()).collect();
            Line { name: method.to_owned(), values }
        };
        Panel {
            title: title.into(),
            places_are: "threshold",
            places: thresholds().map(|threshold| format!("{:.2}", f64::from(threshold) / 100.0)).collect(),
            lines: drawn.map(line).collect(),
            ranges: vec![],
            beside: vec![],
        }
    };
    picture::svg(&[
        panel(Half::Choose, "F1 on the half to choose by"),
        panel(Half::Report, "F1 on the other half"),
    ])
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
    }

    #[test]
    fn the_best_threshold_is_that_of_the_half_to_choose_by() {
        let scored = |threshold: u32, half, f1| Scored {
            method: "auto",
            threshold: Some(threshold),
            half,
            score: Score { f1: Some(f1), ..Score::default() },
        };
        let all = [
            scored(50, Half::Choose, 0.7),
            scored(60, Half::Choose, 0.8),
            scored(65, Half::Choose, 0.8),
            scored(50, Half::Report, 0.9),
            scored(65, Half::Report, 0.6),
        ];
        assert_eq!(best(&all, "auto"), Some(65));
        let text = best_of_each(&all).markdown();
        assert!(text.contains("0.65") && text.contains("0.800") && text.contains("0.600"), "{text}");
        assert!(!draw(&all).contains("NaN"));
    }
}
