//! Checks whether an output folder has all results of a run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use onecopy_core::ANSWER_VERSION;

use super::folder::maker;
use super::names::{DESCRIPTIONS, wanted};
use crate::error::{At, Error, Result};
use crate::job::{KeptPages, Outputs};
use crate::report::Report;
use crate::run::{self, Extent, Run};

/// The state of the results of an identical run.
#[derive(Debug)]
pub(super) enum Finished {
    /// All results.
    Whole(Box<Report>),
    /// All results except these; the sizes of all results when they were made.
    Lacks { names: String, recorded: BTreeMap<String, Extent> },
}

/// Compares the finished run in `out` with `run`, which has these outputs. Fails if they differ, or if somebody changed
/// the results.
pub(super) fn check(run: &Run, out: &Path, outputs: Outputs) -> Result<Finished> {
    let folder = out.to_owned();
    let made = run::read::<Run>(&out.join("run.json")).filter(|made| made.answer_version == ANSWER_VERSION);
    let (Some(made), Some(report)) = (made, run::read(&out.join("report.json"))) else {
        return Err(Error::OutputAnswers { folder, version: maker(out).unwrap_or_default() });
    };
    if !run.equals(&made) {
        return Err(Error::OutputHoldsAnotherRun { folder });
    }
    let (mut lacks, mut changed) = (Vec::new(), Vec::new());
    for (name, extent) in &made.results {
        match extent_of(&out.join(name)).at("read", &out.join(name))? {
            None => lacks.push(name.as_str()),
            Some(found) if found != *extent => changed.push(name.as_str()),
            Some(_) => {}
        }
    }
    if !changed.is_empty() {
        return Err(Error::OutputChanged { folder, names: changed.join(" and ") });
    }
    if !made.results.is_empty() {
        let is_new = |name: &&str| !DESCRIPTIONS.contains(name) && !made.results.contains_key(*name);
        lacks.extend(wanted(outputs, &run.config).into_iter().filter(is_new));
    }
    if outputs.kept == KeptPages::Stream {
        lacks.push("the stream of kept pages");
    }
    let names = lacks.join(" and ");
    Ok(if names.is_empty() {
        Finished::Whole(report)
    } else {
        Finished::Lacks { names, recorded: made.results }
    })
}

/// The size of each of these results.
pub(super) fn extents(results: &Path, names: &[&str]) -> Result<BTreeMap<String, Extent>> {
    let mut extents = BTreeMap::new();
    for &name in names.iter().filter(|name| !DESCRIPTIONS.contains(name)) {
        let path = results.join(name);
        let extent = extent_of(&path).at("read", &path)?;
        extents.extend(extent.map(|extent| (name.to_owned(), extent)));
    }
    Ok(extents)
}

/// The size of a file, or of all files of a folder. `None` if it does not exist.
fn extent_of(path: &Path) -> io::Result<Option<Extent>> {
    let facts = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        facts => facts?,
    };
    if !facts.is_dir() {
        return Ok(Some(Extent { files: 1, bytes: facts.len() }));
    }
    let mut extent = Extent::default();
    for entry in fs::read_dir(path)? {
        if let Some(Extent { files, bytes }) = extent_of(&entry?.path())? {
            extent.files += files;
            extent.bytes += bytes;
        }
    }
    Ok(Some(extent))
}
