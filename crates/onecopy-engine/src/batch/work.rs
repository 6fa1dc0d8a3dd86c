//! The working folder of a run: which work it can continue, and how its results appear.
//!
//! A run writes everything to `.onecopy` inside the output folder and renames the results at the end, `report.json`
//! last. If `report.json` exists, the run is complete.

mod finished;
mod folder;
mod names;
mod overlap;
mod publish;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use onecopy_core::{ANSWER_VERSION, Config, Method, method};

use crate::batch::budget::Budget;
use crate::batch::sketches;
use crate::error::{At, Error, Result};
use crate::ingest::{
    Format, Inputs, Links, Lot, NAME_OF_BASE, NAME_OF_ROWS, Opener, Planning, Reach, Spools, Stores, Window,
    check_fields, lots_of, plan,
};
use crate::io::spool;
use crate::job::{Job, KeptPages, Outputs};
use crate::parallel::Gate;
use crate::progress::{Note, Progress};
use crate::report::Report;
use crate::run::{self, Run, ScoreStamp, SketchFormat};
use finished::Finished;
use folder::{Holds, WORKING};
use names::Published;
use onecopy_core::Needs;
use publish::{PublishStep, publish};

/// The locked working folder of a run.
pub(crate) struct Work {
    pub run: Run,
    /// The sources, divided into lots.
    pub lots: Vec<Lot>,
    pub budget: Budget,
    /// Opens the sources.
    pub opener: Opener,
    pub method: Box<dyn Method>,
    /// Whether the run continues an earlier one.
    pub continued: bool,
    pub outputs: Outputs,
    folder: PathBuf,
    out: PathBuf,
    _lock: File,
}

/// The state of an output folder.
pub(crate) enum Found {
    /// Work to do.
    Work(Box<Work>),
    /// The results of an identical run.
    Finished(Box<Report>),
}

/// Opens the output folder of a job, to begin, to continue, or to find a finished run.
pub(crate) fn open(job: &Job, progress: &dyn Progress) -> Result<Found> {
    let (working, is_new) = (job.out.join(WORKING), !job.out.exists());
    overlap::check_paths(&job.inputs, &job.out)?;
    overlap::check_paths(&job.against, &job.out)?;
    let holds = folder::look(&job.out, &names::wanted(job.outputs, &job.config))?;
    fs::create_dir_all(&working).at("create", &working)?;
    let lock = lock(&working, &job.out)?;
    let found = find(job, &working, holds, lock, progress);
    if !matches!(found, Ok(Found::Work(_))) {
        folder::leave(&working);
        if is_new {
            let _ = fs::remove_dir(&job.out);
        }
    }
    found
}

fn find(job: &Job, working: &Path, holds: Holds, lock: File, progress: &dyn Progress) -> Result<Found> {
    let out = &job.out;
    let stdin =
        if job.inputs.iter().any(|input| input == "-") { Some(spool(working, progress)?) } else { None };
    // Containers are unpacked before anything else needs memory.
    let spools = Spools::new(working, job.limits.expansion, Window::of_half(job.memory_bytes));
    let reach = Reach { stores: Stores::new(job.environment.iter().cloned()), spools };
    let (stdin, links) = (stdin.as_deref(), Links::Follow);
    let inputs = inputs(job, &Planning { stdin, out, links, reach: &reach, progress })?;
    if inputs.is_empty() {
        let (input, reason) = (job.inputs.join(" "), "there is nothing to read".into());
        return Err(Error::Input { input, reason });
    }
    if job.rows.is_none() {
        overlap::check_sources(&inputs, stdin, out)?;
    }
    check_streamed(job, &inputs)?;
    if let Some((input, reason)) = inputs.unreadable.first().filter(|_| job.strict) {
        return Err(Error::Unreadable { input: input.clone(), reason: reason.clone() });
    }
    let (budget, windows) = Budget::of(job, inputs.unsketched(), &reach)?;
    let run = described(job, inputs, budget.chunk)?;
    let mut outputs = job.outputs;
    if holds == Holds::Results && !job.overwrite {
        match finished::check(&run, out, job.outputs)? {
            Finished::Whole(report) => {
                // The finished run may have been killed just before it removed this folder.
                if run::read::<Run>(&working.join("run.json")).is_none_or(|left| run.equals(&left)) {
                    folder::clear(working)?;
                }
                return Ok(Found::Finished(report));
            }
            Finished::Lacks { names, recorded } => {
                progress.note(&Note::Repeated { names });
                outputs = names::also(outputs, &recorded);
            }
        }
    }
    let mut opener = run.opener(reach, Gate::new(budget.large_pages), Needs::default(), windows);
    (opener.rows, opener.base_rows) = (job.rows.clone(), job.against_rows.clone());
    if job.rows.is_none() {
        let threads = job.threads.min(opener.windows.at_once);
        check_fields(run.inputs.unsketched(), &opener, threads, progress)?;
    }
    let (run, continued) = continue_or_begin(run, working, progress)?;
    let budget = Budget { chunk: run.chunk_bytes, ..budget };
    let lots = lots_of(&run.inputs, run.chunk_bytes as u64);
    let method = run.method()?;
    (opener.needs, opener.chunk_bytes) = (Needs::of(&run.config, &*method), run.chunk_bytes);
    let (folder, out) = (working.to_owned(), out.clone());
    let work = Work { run, lots, budget, opener, method, continued, outputs, folder, out, _lock: lock };
    Ok(Found::Work(Box::new(work)))
}

/// Finds the sources of a job, those of its base first.
fn inputs(job: &Job, planning: &Planning) -> Result<Inputs> {
    let inputs = match &job.rows {
        Some(rows) => Inputs::of_rows(NAME_OF_ROWS, &**rows, &job.fields)?,
        None => plan(&job.inputs, planning)?,
    };
    let (sketched, others): (Vec<_>, Vec<_>) =
        job.against.iter().cloned().partition(|path| sketches::is_sketches(Path::new(path)));
    let base = match &job.against_rows {
        Some(rows) => Inputs::of_rows(NAME_OF_BASE, &**rows, &job.fields)?,
        None => plan(&others, planning)?,
    };
    if base.is_empty() && !others.is_empty() {
        let (input, reason) = (others.join(" "), "there is nothing to read".into());
        return Err(Error::Input { input, reason });
    }
    let base = sketches::before(&sketched, base, job)?;
    Ok(if base.is_empty() { inputs } else { inputs.against(base) })
}

/// Refuses sources whose kept pages cannot be written to a stream of JSON Lines.
fn check_streamed(job: &Job, inputs: &Inputs) -> Result<()> {
    let mut others =
        inputs.sources[inputs.base..].iter().filter(|source| !matches!(source.format, Format::Lines(_)));
    match others.next() {
        Some(source) if job.outputs.kept == KeptPages::Stream => {
            Err(Error::NotLines { input: source.name.clone() })
        }
        _ => Ok(()),
    }
}

/// The description of the run that a job asks for.
fn described(job: &Job, inputs: Inputs, chunk_bytes: usize) -> Result<Run> {
    let threshold = method(&job.config)?.threshold();
    Ok(Run {
        version: env!("CARGO_PKG_VERSION").into(),
        answer_version: ANSWER_VERSION,
        config: Config { threshold: Some(threshold), ..job.config.clone() },
        fields: job.fields.clone(),
        limits: job.limits.clone(),
        removed_records: job.removed_records,
        payloads: Some(job.payloads),
        cdxj: job.cdxj,
        inputs,
        sketches: (job.outputs.kept == KeptPages::Sketches).then(SketchFormat::ours),
        popularity: job.popularity.as_deref().map(ScoreStamp::of).transpose()?,
        chunk_bytes,
        results: BTreeMap::new(),
    })
}

fn lock(folder: &Path, out: &Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path).at("create", &path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::OutputInUse { folder: out.to_owned() }),
        Err(TryLockError::Error(error)) => Err(error).at("lock", &path),
    }
}

fn continue_or_begin(run: Run, working: &Path, progress: &dyn Progress) -> Result<(Run, bool)> {
    let path = working.join("run.json");
    if let Some(begun) = run::read::<Run>(&path) {
        // The files of a run are read by the version that wrote them.
        if run.equals(&begun) && run.version == begun.version {
            return Ok((Run { chunk_bytes: begun.chunk_bytes, ..run }, true));
        }
        if begun.answer_version != ANSWER_VERSION {
            progress.note(&Note::OtherAnswers { version: begun.version });
        }
    }
    folder::clear(working)?;
    run::write_durably(&path, &run)?;
    Ok((run, false))
}

/// Deletes a file or a folder, if it exists.
fn delete(path: &Path) -> Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|facts| facts.is_dir());
    let deleted = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match deleted {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("delete", path),
        _ => Ok(()),
    }
}

impl Work {
    /// How many lots are the base; they come first.
    pub(crate) fn base_lots(&self) -> usize {
        let base = self.run.inputs.base as u32;
        let is_base = |lot: &Lot| match lot {
            Lot::Stream(source) => *source < base,
            Lot::Documents(sources) => sources.start < base,
        };
        self.lots.partition_point(is_base)
    }

    /// The folder for all files that do not outlive the run.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder in which results are made.
    pub(crate) fn results(&self) -> PathBuf {
        self.folder.join("results")
    }

    /// Deletes all files of the run.
    pub(crate) fn abandon(self) -> Result<()> {
        folder::remove(&self.folder)
    }

    /// Moves the results to the output folder, the report last, and cleans up.
    pub(crate) fn publish(self, report: &Report) -> Result<()> {
        let results = self.results();
        let new = names::wanted(self.outputs, &self.run.config);
        let run = Run { results: finished::extents(&results, &new)?, ..self.run };
        run::write(&results.join("run.json"), &run)?;
        run::write(&results.join("report.json"), report)?;
        // The user may have added files during the run.
        folder::refuse_others(&self.out, &new)?;
        let published = Published { old: names::owned(&self.out), new };
        names::mark(&self.folder, &published)?;
        publish(&results, &self.out, &published, &mut PublishStep::take)?;
        folder::remove(&self.folder)
    }
}
