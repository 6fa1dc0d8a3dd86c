//! Runs the onecopy program as a child: reads the JSON of `eval` and `dedup`, and measures their cost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::measure::{self, Cost};

/// The program, and its work folder.
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// A folder for outputs.
    pub work: PathBuf,
}

/// Precision and recall over some pairs. Without found pairs there is no precision.
#[derive(Clone, Deserialize)]
pub struct Score {
    /// Pairs that the method calls duplicates.
    pub found: u64,
    /// The number of those that are duplicates.
    pub right: u64,
    /// The share of duplicates among the found pairs.
    pub precision: Option<f64>,
    /// The share of duplicates that were found.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
}

/// The scores of a method on a set.
#[derive(Clone, Deserialize)]
pub struct Evaluation {
    /// The set, by its folder name.
    pub set: String,
    /// The method, as requested.
    pub method: String,
    /// The score over all pairs.
    #[serde(flatten)]
    pub all: Score,
    /// The score over pairs within one site.
    pub same_site: Score,
    /// The score over pairs across two sites.
    pub cross_site: Score,
    /// Pairs found or missed in error, as many as requested.
    pub mistakes: Vec<Mistake>,
}

/// A pair that a method gets wrong.
#[derive(Clone, Deserialize)]
pub struct Mistake {
    pub id1: String,
    pub id2: String,
    pub url1: Option<String>,
    pub url2: Option<String>,
}

/// The report of `dedup`.
#[derive(Deserialize)]
pub struct Run {
    pub read: u64,
    pub removed: u64,
    pub cpu_seconds: f64,
    pub recall: Option<Recall>,
}

/// The recall of an approximate method: theoretical, and measured by comparing some pages with all.
#[derive(Deserialize)]
pub struct Recall {
    pub of: String,
    pub expected: Vec<Chance>,
    pub measured: Option<Measured>,
}

/// The probability that a pair of this similarity is found.
#[derive(Deserialize)]
pub struct Chance {
    pub similarity: f64,
    pub chance: f64,
}

/// The recall on a sample, with its 95 % interval.
#[derive(Deserialize)]
pub struct Measured {
    pub pairs: u64,
    pub recall: Option<f64>,
    pub interval: Option<[f64; 2]>,
}

impl Program {
    /// Evaluates `methods` on `sets`. Returns the results and the cost.
    pub fn eval(
        &self,
        sets: &[PathBuf],
        methods: &[&str],
        options: &[&str],
    ) -> Result<(Vec<Evaluation>, Cost)> {
        let mut command = Command::new(&self.path);
        command.arg("eval").args(sets).args(["--method", &methods.join(",")]).args(options);
        command.args(["--json", "--quiet"]);
        let log = self.work.join("eval.log");
        let cost = measure::run(&command, &log)?;
        Ok((said(&log)?, cost))
    }

    /// Removes the duplicates of `corpus`. Returns `None` if it took longer than `limit`.
    pub fn dedup(
        &self,
        corpus: &Path,
        method: &str,
        options: &[&str],
        limit: Duration,
    ) -> Result<Option<Run>> {
        let out = self.out();
        if out.exists() {
            fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
        }
        let mut command = Command::new(&self.path);
        command.arg("dedup").arg(corpus).arg("--out").arg(&out).args(["--method", method]).args(options);
        command.args(["--json", "--quiet"]);
        let log = self.work.join("dedup.log");
        match measure::run_within(&command, &log, limit)? {
            Some(_) => said(&log).map(Some),
            None => Ok(None),
        }
    }

    /// The output folder of the last `dedup`.
    pub fn out(&self) -> PathBuf {
        self.work.join("dedup-out")
    }
}

fn said<T: DeserializeOwned>(log: &Path) -> Result<T> {
    let text = fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("what onecopy wrote is not as expected: {}", log.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluation_is_read_by_its_scopes() {
        let score = r#""found":4,"right":3,"precision":0.75,"recall":null,"f1":null"#;
        let text = format!(
            r#"[{{"set":"s","method":"m",{score},"pages":9,"same_site":{{{score}}},
            "cross_site":{{"found":0,"right":0,"precision":null,"recall":null,"f1":null}},
            "mistakes":[{{"id1":"a","id2":"b","url1":null,"kind":"x"}}]}}]"#
        );
        let read: Vec<Evaluation> = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (read[0].all.found, read[0].all.precision, read[0].cross_site.precision),
            (4, Some(0.75), None)
        );
        assert_eq!(read[0].mistakes[0].id2, "b");
    }

    #[test]
    fn a_report_is_read_with_and_without_recall() {
        let exact: Run = serde_json::from_str(r#"{"read":9,"removed":2,"cpu_seconds":0.5}"#).unwrap();
        assert!(exact.recall.is_none() && exact.removed == 2);
        let text = r#"{"read":9,"removed":2,"cpu_seconds":0.5,"recall":{"of":"x","threshold":0.9,
            "expected":[{"similarity":0.9,"chance":0.4}],
            "measured":{"pages":2,"pairs":8,"found":4,"recall":0.5,"interval":[0.2,0.8]}}}"#;
        let recall = serde_json::from_str::<Run>(text).unwrap().recall.unwrap();
        assert_eq!(recall.measured.unwrap().interval, Some([0.2, 0.8]));
    }
}
