//! How well a plan fits later data: the coefficient of variation of the imbalance over ten sets.

use std::fs::File;
use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Program, Set};
use crate::jsonl;
use crate::table::Table;

/// Sets of later data. One more set is planned.
const SETS: u64 = 10;
/// The machines of the plan.
const MACHINES: &str = "64";

/// A set to plan, and the later ones.
pub(super) struct Drift<'a> {
    pub program: &'a Program<'a>,
    pub parts: Vec<Set>,
}

/// Divides a corpus into eleven files, each page to the next. Generated sets have other seeds and a tenth of the pages.
pub(super) fn parts(set: &Set, work: &Path) -> Result<Vec<Set>> {
    match set {
        Set::Generated { pages, seed } => {
            let part = |number| Set::Generated { pages: (pages / SETS).max(1), seed: seed + 1 + number };
            Ok((0..=SETS).map(part).collect())
        }
        Set::Corpus(path) => {
            let paths: Vec<PathBuf> =
                (0..=SETS).map(|part| work.join(format!("part-{part}.jsonl"))).collect();
            let create = |path: &PathBuf| {
                let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
                Ok(BufWriter::new(file))
            };
            let mut files = paths.iter().map(create).collect::<Result<Vec<_>>>()?;
            let (mut reader, mut line, mut number) = (jsonl::open(path)?, Vec::new(), 0);
            while reader.read_until(b'\n', &mut line)? > 0 {
                let file = number % files.len();
                files[file].write_all(&line)?;
                line.clear();
                number += 1;
            }
            files.iter_mut().try_for_each(BufWriter::flush)?;
            Ok(paths.into_iter().map(Set::Corpus).collect())
        }
    }
}

impl Drift<'_> {
    pub(super) fn table(&self) -> Result<String> {
        let mut table =
            Table::new(&["bound", "dimensions", "imbalance, planned", "mean of ten", "CV", "drift"]);
        for bound in ["published", "lossless"] {
            for dimensions in ["1", "2", "3"] {
                table.push(self.row(bound, dimensions)?);
            }
        }
        Ok(format!("\nA plan for {MACHINES} machines on ten later sets:\n\n{}", table.markdown()))
    }

    fn row(&self, bound: &str, dimensions: &str) -> Result<Vec<String>> {
        let args = self.program.args;
        let plan = args.work.join("partitions-plan.json");
        let planned = self.program.json(|command| {
            command.args(["plan", "--machines", MACHINES, "--dimensions", dimensions, "--bound", bound]);
            command.args(["--threshold", &args.threshold.to_string(), "--overwrite", "--save"]).arg(&plan);
            self.parts[0].give(command);
        })?;
        let (mut found, mut drifts) = (Vec::new(), Vec::new());
        for part in &self.parts[1..] {
            let applied = self.program.json(|command| part.give(command.arg("apply").arg(&plan)))?;
            found.push(applied["figures"]["imbalance"].as_f64().context("no imbalance")?);
            drifts.push(applied["drift"].as_f64().context("no drift")?);
        }
        let (mean, deviation) = moments(&found);
        let planned = planned["plans"][0]["imbalance"].as_f64().unwrap_or(f64::NAN);
        Ok(vec![
            bound.into(),
            dimensions.into(),
            format!("{planned:.4}"),
            format!("{mean:.4}"),
            format!("{:.2} %", 100.0 * deviation / mean),
            format!("{:.2} %", 100.0 * moments(&drifts).0),
        ])
    }
}

/// The mean and the standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_as_computed_by_hand() {
        assert_eq!(moments(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(moments(&[2.0; 10]), (2.0, 0.0));
    }
}
