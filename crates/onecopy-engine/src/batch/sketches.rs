//! Folders of sketches: the pages of a base, read once and used by many runs.
//!
//! Such a folder is the result of a run that stops after reading. A later run takes the segments in it as its own, in
//! place of reading the sources again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use onecopy_core::Config;
use serde_json::Value;

use crate::batch::decide::{check_any, note_continued};
use crate::batch::read::segments::Collector;
use crate::batch::read::{Losses, Segments, read};
use crate::batch::work::Work;
use crate::error::{At, Error, Result};
use crate::ingest::{Inputs, Sketched, lots};
use crate::job::Job;
use crate::progress::Progress;
use crate::run::{Run, SketchFormat, is_results};

/// The folder with the segments, in the output folder.
pub(crate) const SKETCHES: &str = "sketches";
/// The files of the segments, in this and in the working folder.
const FILES: [&str; 3] = ["segments.bin", "segments.log", "ends.json"];

/// Reads all pages of a job, and moves their segments to the results.
pub(crate) fn make(job: &Job, work: &Work, progress: &dyn Progress) -> Result<(Segments, Losses)> {
    // Without memory for segments, all of them go to disk.
    let collector = Collector::open(work.folder(), 0)?;
    note_continued(work, &collector, progress);
    let (segments, _) = read(job, work, &*work.method, collector, progress)?;
    check_any(job, work, &segments)?;
    let losses = Losses::find(&work.run.inputs, &work.lots, &segments)?;
    let target = work.results().join(SKETCHES);
    fs::create_dir_all(&target).at("create", &target)?;
    for name in FILES {
        let from = work.folder().join(name);
        if from.exists() {
            fs::rename(&from, target.join(name)).at("create", &target.join(name))?;
        }
    }
    Ok((segments, losses))
}

/// Whether a folder holds sketches.
pub(crate) fn is_sketches(folder: &Path) -> bool {
    folder.join(SKETCHES).is_dir() && is_results(folder)
}

/// The base of a job: the sources of these folders of sketches, then those of `others`.
pub(crate) fn before(folders: &[String], others: Inputs, job: &Job) -> Result<Inputs> {
    let mut base = Inputs::default();
    for folder in folders {
        let (sketched, inputs) = describe(Path::new(folder), &job.config)?;
        base.sketched.push(sketched);
        base.sources.extend(inputs.sources);
        base.refused.extend(inputs.refused);
        base.unreadable.extend(inputs.unreadable);
    }
    base.sources.extend(others.sources);
    base.refused.extend(others.refused);
    base.unreadable.extend(others.unreadable);
    Ok(base)
}

/// What a folder was made of. Fails if its sketches do not fit this job.
fn describe(folder: &Path, config: &Config) -> Result<(Sketched, Inputs)> {
    let run = Run::current(folder)?;
    let refused = |reason: String| Error::OtherSketches { folder: folder.to_owned(), reason };
    if run.sketches != Some(SketchFormat::ours()) {
        return Err(refused(format!("onecopy {} stored them in another format", run.version)));
    }
    if let Some(setting) = other_setting(&run.config, config) {
        return Err(refused(format!("their setting of `{setting}` is not that of this run")));
    }
    let data = folder.join(SKETCHES).join(FILES[0]);
    let facts = fs::metadata(&data).at("read", &data)?;
    let modified = facts.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let sketched = Sketched {
        folder: fs::canonicalize(folder).at("read", folder)?,
        sources: run.inputs.sources.len(),
        chunk_bytes: run.chunk_bytes,
        bytes: facts.len(),
        modified_ns: modified.map_or(0, |since| since.as_nanos() as u64),
    };
    Ok((sketched, run.inputs))
}

/// A setting that changes sketches or ranks and has two values. The threshold changes neither.
fn other_setting(made: &Config, wanted: &Config) -> Option<String> {
    let settings = |config: &Config| match serde_json::to_value(config) {
        Ok(Value::Object(settings)) => settings,
        _ => serde_json::Map::new(),
    };
    let (made, wanted) = (settings(made), settings(wanted));
    let differs = |name: &&String| *name != "threshold" && made.get(*name) != wanted.get(*name);
    wanted.keys().find(differs).cloned()
}

/// Adds the segments of all folders of sketches that a run uses to its own.
pub(crate) fn load(inputs: &Inputs, collector: &mut Collector) -> Result<()> {
    let (mut first_lot, mut first_source) = (0, 0);
    for Sketched { folder, sources, chunk_bytes, .. } in &inputs.sketched {
        let path: PathBuf = folder.join(SKETCHES);
        collector.take(&Segments::stored(&path)?, first_lot, first_source)?;
        let of_folder = &inputs.sources[first_source as usize..first_source as usize + sources];
        first_lot += lots(of_folder, *chunk_bytes as u64).len() as u32;
        first_source += *sources as u32;
    }
    Ok(())
}
