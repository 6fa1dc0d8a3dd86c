//! What a run is, as `run.json` keeps it: two runs that are equal here give the same results.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use onecopy_core::{Config, Method, method};
use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result};
use crate::ingest::{Inputs, Opener, Stores};
use crate::job::{Fields, Limits, RemovedRecords};
use crate::parallel::Gate;
use onecopy_core::Needs;

/// What a run is: two runs that are equal here give the same results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub version: String,
    pub config: Config,
    pub fields: Fields,
    pub limits: Limits,
    pub removed_records: RemovedRecords,
    pub inputs: Inputs,
    /// Where chunks are cut. It changes no result, and a run that is continued keeps it.
    pub chunk_bytes: usize,
}

impl Run {
    /// What opens the sources of the run.
    pub(crate) fn opener(&self, stores: Stores, large: Arc<Gate>, needs: Needs) -> Opener {
        let (fields, limits) = (self.fields.clone(), self.limits.clone());
        Opener { stores, fields, limits, needs, chunk_bytes: self.chunk_bytes, large }
    }

    /// How the run compares pages.
    pub(crate) fn method(&self) -> Result<Box<dyn Method>> {
        Ok(method(&self.config)?)
    }

    pub(crate) fn equals(&self, other: &Run) -> bool {
        *self == Run { chunk_bytes: self.chunk_bytes, ..other.clone() }
    }

    /// The configuration of the finished run in `out`.
    pub(crate) fn finished(out: &Path) -> Result<Run> {
        read(&out.join("run.json")).ok_or_else(|| Error::NotAFinishedRun { folder: out.to_owned() })
    }
}

/// A value that was written as JSON; `None` if it is not there or is something else.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a value as JSON, aside and then by rename.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let aside = path.with_extension("part");
    let text = serde_json::to_string_pretty(value).expect("our own types are JSON");
    fs::write(&aside, text + "\n").at("write", &aside)?;
    fs::rename(&aside, path).at("create", path)
}
