//! The description of a run in `run.json`: two runs with equal descriptions give the same results.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use onecopy_core::{ANSWER_VERSION, Config, Method, method};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result};
use crate::ingest::{Inputs, Opener, Reach, Windows};
use crate::job::{Fields, Limits, Payloads, RemovedRecords};
use crate::parallel::Gate;
use onecopy_core::Needs;

/// The description of a run. Two runs with equal descriptions give the same results.
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
    /// Absent before 0.3.0, which wrote other archives.
    #[serde(default)]
    pub payloads: Option<Payloads>,
    #[serde(default)]
    pub cdxj: bool,
    pub inputs: Inputs,
    /// If the run only sketches its pages: how the sketches are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketches: Option<SketchFormat>,
    /// The file with scores of pages, if one is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub popularity: Option<ScoreStamp>,
    /// The size of chunks. It affects no result, and a continued run keeps it.
    pub chunk_bytes: usize,
    /// The sizes of the results of a finished run, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub results: BTreeMap<String, Extent>,
}

/// How sketches are stored: the version of the layout, and the byte order of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SketchFormat {
    pub layout: u32,
    pub byte_order: String,
}

impl SketchFormat {
    /// The format of this program on this machine.
    pub(crate) fn ours() -> SketchFormat {
        let byte_order = if cfg!(target_endian = "little") { "little" } else { "big" };
        SketchFormat { layout: LAYOUT, byte_order: byte_order.into() }
    }
}

/// The version of the layout of segments. It changes with any byte of them; a test in `batch::read::segment` tells.
const LAYOUT: u32 = 1;

/// A file of scores, by what changes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScoreStamp {
    pub path: PathBuf,
    pub bytes: u64,
    /// Seconds since 1970 of its last change, and the nanoseconds after them.
    pub modified: (u64, u32),
}

impl ScoreStamp {
    pub(crate) fn of(path: &Path) -> Result<ScoreStamp> {
        let facts = fs::metadata(path).at("read", path)?;
        let modified =
            facts.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let modified = (modified.as_secs(), modified.subsec_nanos());
        Ok(ScoreStamp { path: fs::canonicalize(path).at("read", path)?, bytes: facts.len(), modified })
    }
}

/// The size of a result: a file, or all files of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub files: u64,
    pub bytes: u64,
}

impl Run {
    /// The opener of the run's sources.
    pub(crate) fn opener(&self, reach: Reach, large: Arc<Gate>, needs: Needs, windows: Windows) -> Opener {
        let (fields, limits) = (self.fields.clone(), self.limits.clone());
        Opener {
            reach,
            rows: None,
            base_rows: None,
            fields,
            limits,
            needs,
            chunk_bytes: self.chunk_bytes,
            large,
            windows,
        }
    }

    /// The method of the run.
    pub(crate) fn method(&self) -> Result<Box<dyn Method>> {
        Ok(method(&self.config)?)
    }

    /// Whether both runs give the same results. The program version and the chunk size do not matter.
    pub(crate) fn equals(&self, other: &Run) -> bool {
        // Inputs may be many, and are not copied.
        let answers = |run: &Run| (run.answer_version, run.removed_records, run.payloads, run.cdxj);
        answers(self) == answers(other)
            && (&self.config, &self.fields, &self.limits) == (&other.config, &other.fields, &other.limits)
            && (&self.sketches, &self.popularity) == (&other.sketches, &other.popularity)
            && self.inputs == other.inputs
    }

    /// The configuration of the finished run in `out`.
    pub(crate) fn finished(out: &Path) -> Result<Run> {
        read(&out.join("run.json")).ok_or_else(|| Error::NotAFinishedRun { folder: out.to_owned() })
    }

    /// Like [`Run::finished`], but fails if another version with other answers made the run.
    pub(crate) fn current(out: &Path) -> Result<Run> {
        let run = Run::finished(out)?;
        if run.answer_version == ANSWER_VERSION {
            return Ok(run);
        }
        Err(Error::RunAnswers { folder: out.to_owned(), version: run.version })
    }
}

/// Fields that every `run.json` has, in any version.
#[derive(Deserialize)]
#[allow(dead_code, reason = "only their presence counts")]
struct RunMark {
    version: String,
    config: BTreeMap<String, IgnoredAny>,
    inputs: BTreeMap<String, IgnoredAny>,
}

/// Fields that every `report.json` has.
#[derive(Deserialize)]
#[allow(dead_code, reason = "only their presence counts")]
struct ReportMark {
    version: String,
    read: u64,
    kept: u64,
    removed: u64,
}

/// The version of onecopy that wrote the `run.json` at `path`; `None` if it is something else.
pub(crate) fn maker(path: &Path) -> Option<String> {
    read::<RunMark>(path).map(|mark| mark.version)
}

/// Whether a folder holds the results of a finished run, by what is in its files.
pub(crate) fn is_results(folder: &Path) -> bool {
    maker(&folder.join("run.json")).is_some() && read::<ReportMark>(&folder.join("report.json")).is_some()
}

/// Reads a JSON file; `None` if it does not exist or has other content.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    serde_json::from_reader(BufReader::with_capacity(1 << 16, File::open(path).ok()?)).ok()
}

/// Writes a value as JSON to a temporary file, then renames it.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let (aside, _) = write_aside(path, value)?;
    fs::rename(&aside, path).at("create", path)
}

/// Like [`write`]. After a power loss the file is complete or does not exist.
pub(crate) fn write_durably(path: &Path, value: &impl Serialize) -> Result<()> {
    let (aside, file) = write_aside(path, value)?;
    file.sync_all().at("write", &aside)?;
    fs::rename(&aside, path).at("create", path)
}

fn write_aside(path: &Path, value: &impl Serialize) -> Result<(PathBuf, File)> {
    let aside = path.with_extension("part");
    let mut out = BufWriter::with_capacity(1 << 16, File::create(&aside).at("create", &aside)?);
    // The list of inputs may be long, so it is never a text in memory.
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from).at("write", &aside)?;
    out.write_all(b"\n").at("write", &aside)?;
    let file = out.into_inner().map_err(|error| error.into_error()).at("write", &aside)?;
    Ok((aside, file))
}
