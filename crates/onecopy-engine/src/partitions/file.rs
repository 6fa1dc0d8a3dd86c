//! A plan of partitions as a JSON file.

use std::fs;
use std::path::Path;

use onecopy_core::{Cells, LengthVector, PartitionPlan, Reach, SHINGLE_LENGTH_LIMIT};
use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result};

/// The mark of such a file.
const KIND: &str = "onecopy partitions 1";

/// Which bound decides the machines that a page visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// That of Zhu and others (2012), on the words of sub-dictionaries: an estimate.
    Published,
    /// Ours, on classes of shingles: misses nothing.
    Lossless,
}

/// A plan of partitions, with what is needed to apply it to other pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartitionsFile {
    kind: String,
    /// The bound.
    pub bound: BoundKind,
    /// The least similarity of pages that must meet.
    pub threshold: f64,
    /// The enlarging factor of the published bound; 1 for the lossless one.
    pub rho: f64,
    /// The words of a shingle.
    pub shingle: usize,
    /// The number of machines.
    pub machines: usize,
    /// Where each slice except the first begins, by dimension.
    pub cuts: Vec<Vec<u32>>,
    /// The first cell of each machine. Cells are numbered by their slices, those of the first dimension first.
    pub starts: Vec<u32>,
    /// The share of pages that each machine had in the planned data.
    pub shares: Vec<f64>,
}

impl PartitionsFile {
    /// A plan as a file. `loads` are the pages of each machine.
    pub fn new(
        plan: &PartitionPlan,
        bound: BoundKind,
        reach: &Reach,
        shingle: usize,
        loads: &[u64],
    ) -> PartitionsFile {
        let (threshold, rho) = match *reach {
            Reach::Published { threshold, rho } => (threshold, rho),
            Reach::Lossless { threshold } => (threshold, 1.0),
        };
        let total = loads.iter().sum::<u64>().max(1) as f64;
        PartitionsFile {
            kind: KIND.into(),
            bound,
            threshold,
            rho,
            shingle,
            machines: plan.machines,
            cuts: plan.cells.cuts().to_vec(),
            starts: plan.starts.clone(),
            shares: loads.iter().map(|&load| load as f64 / total).collect(),
        }
    }

    /// Reads a plan that [`PartitionsFile::write`] wrote.
    pub fn read(path: &Path) -> Result<PartitionsFile> {
        let text = fs::read_to_string(path).at("read", path)?;
        let wrong = |reason: String| Error::Input {
            input: path.display().to_string(),
            reason: format!("not a plan of a partitioning ({reason}): give a saved plan"),
        };
        let file: PartitionsFile = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match file.fault() {
            Some(reason) => Err(wrong(reason)),
            None => Ok(file),
        }
    }

    /// Writes the plan.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string(self).expect("a plan is JSON") + "\n";
        fs::write(path, text).at("write", path)
    }

    fn fault(&self) -> Option<String> {
        if self.kind != KIND {
            return Some(format!("its kind is {:?}, not {KIND:?}", self.kind));
        }
        let cells = Cells::from_cuts(self.cuts.clone()).map(|cells| cells.count());
        let Some(cells) = cells else { return Some("its cuts are not ascending, or too many".into()) };
        let sorted = self.starts.first() == Some(&0) && self.starts.is_sorted_by(|a, b| a < b);
        let inside =
            self.starts.len() <= self.machines && self.starts.iter().all(|&start| (start as usize) < cells);
        if !sorted || !inside || self.shares.len() != self.machines {
            return Some("its machines do not fit its cells".into());
        }
        let right = self.threshold > 0.0 && self.threshold <= 1.0 && self.rho >= 1.0 && self.rho.is_finite();
        let length = (1..=SHINGLE_LENGTH_LIMIT).contains(&self.shingle);
        (!right || !length).then(|| "its threshold, its factor or its shingles are out of range".into())
    }

    /// The plan alone. `read` and `new` only allow right ones.
    pub fn plan(&self) -> PartitionPlan {
        let cells = Cells::from_cuts(self.cuts.clone())
            .unwrap_or_else(|| Cells::new(&[LengthVector::default()], 1.0, 1));
        PartitionPlan { cells, machines: self.machines, starts: self.starts.clone() }
    }

    /// How far a page reaches.
    pub fn reach(&self) -> Reach {
        match self.bound {
            BoundKind::Published => Reach::Published { threshold: self.threshold, rho: self.rho },
            BoundKind::Lossless => Reach::Lossless { threshold: self.threshold },
        }
    }
}
