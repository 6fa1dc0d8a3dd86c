//! What a run is, as `run.json` keeps it: two runs that are equal here give the same results.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onecopy_core::{ANSWER_VERSION, Config, Method, method};
use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result};
use crate::ingest::{Inputs, Opener, Stores, Windows};
use crate::job::{Fields, Limits, Payloads, RemovedRecords};
use crate::parallel::Gate;
use onecopy_core::Needs;

/// What a run is: two runs that are equal here give the same results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The version of the program. Two versions may give the same answers.
    pub version: String,
    /// See [`ANSWER_VERSION`]. Zero if the program did not record it.
    #[serde(default)]
    pub answer_version: u32,
    pub config: Config,
    pub fields: Fields,
    pub limits: Limits,
    pub removed_records: RemovedRecords,
    #[serde(default)]
    pub payloads: Payloads,
    pub inputs: Inputs,
    /// Where chunks are cut. It changes no result, and a run that is continued keeps it.
    pub chunk_bytes: usize,
    /// The sizes of the results of a finished run, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub results: BTreeMap<String, Extent>,
}

/// The size of a result: a file, or all files of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub files: u64,
    pub bytes: u64,
}

impl Run {
    /// What opens the sources of the run.
    pub(crate) fn opener(&self, stores: Stores, large: Arc<Gate>, needs: Needs, windows: Windows) -> Opener {
        let (fields, limits) = (self.fields.clone(), self.limits.clone());
        Opener { stores, fields, limits, needs, chunk_bytes: self.chunk_bytes, large, windows }
    }

    /// How the run compares pages.
    pub(crate) fn method(&self) -> Result<Box<dyn Method>> {
        Ok(method(&self.config)?)
    }

    /// Whether both give the same results. The program's version and the chunk size do not matter.
    pub(crate) fn equals(&self, other: &Run) -> bool {
        let Run { version, chunk_bytes, results, .. } = self.clone();
        *self == Run { version, chunk_bytes, results, ..other.clone() }
    }

    /// The configuration of the finished run in `out`.
    pub(crate) fn finished(out: &Path) -> Result<Run> {
        read(&out.join("run.json")).ok_or_else(|| Error::NotAFinishedRun { folder: out.to_owned() })
    }

    /// As [`Run::finished`], if the run has the answers of this program. Other answers cannot be explained here.
    pub(crate) fn current(out: &Path) -> Result<Run> {
        let run = Run::finished(out)?;
        if run.answer_version == ANSWER_VERSION {
            return Ok(run);
        }
        Err(Error::RunAnswers { folder: out.to_owned(), version: run.version })
    }
}

/// A value that was written as JSON; `None` if it is not there or is something else.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a value as JSON, aside and then by rename.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let (aside, _) = write_aside(path, value)?;
    fs::rename(&aside, path).at("create", path)
}

/// As [`write`]. After a power loss the file is complete or does not exist.
pub(crate) fn write_durably(path: &Path, value: &impl Serialize) -> Result<()> {
    let (aside, file) = write_aside(path, value)?;
    file.sync_all().at("write", &aside)?;
    fs::rename(&aside, path).at("create", path)
}

fn write_aside(path: &Path, value: &impl Serialize) -> Result<(PathBuf, File)> {
    let aside = path.with_extension("part");
    let text = serde_json::to_string_pretty(value).expect("our own types are JSON");
    let mut file = File::create(&aside).at("create", &aside)?;
    file.write_all((text + "\n").as_bytes()).at("write", &aside)?;
    Ok((aside, file))
}
