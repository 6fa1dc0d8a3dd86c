//! The folder that a run works in, what it may continue, and how its results appear.
//!
//! Everything is made in `.onecopy` inside the output folder and moved out by rename at the end, `report.json` last:
//! where that is, the run is complete.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use onecopy_core::{Config, Method, method};

use crate::batch::budget::Budget;
use crate::error::{At, Error, Result};
use crate::ingest::{Lot, Opener, Stores, lots, plan};
use crate::io::spool;
use crate::job::Job;
use crate::parallel::Gate;
use crate::progress::Progress;
use crate::report::Report;
use crate::run::{self, Run};
use onecopy_core::Needs;

/// A run's working folder, locked.
pub(crate) struct Work {
    pub run: Run,
    /// The sources as they are handed out.
    pub lots: Vec<Lot>,
    pub budget: Budget,
    /// What opens the sources.
    pub opener: Opener,
    pub method: Box<dyn Method>,
    /// Whether an earlier run is continued.
    pub continued: bool,
    folder: PathBuf,
    out: PathBuf,
    _lock: File,
}

/// What is found in an output folder.
pub(crate) enum Found {
    /// Work to do.
    Work(Box<Work>),
    /// The results of the very same run.
    Finished(Box<Report>),
}

/// What results are called, in the order in which they appear.
pub(crate) const RESULTS: [&str; 8] = [
    "kept",
    "markets",
    "pages.jsonl",
    "removed.jsonl",
    "groups.jsonl",
    "rejected.jsonl",
    "run.json",
    "report.json",
];

/// Opens the output folder of a job: to begin, to continue, or to find that all is done.
pub(crate) fn open(job: &Job, progress: &dyn Progress) -> Result<Found> {
    let (folder, is_new) = (job.out.join(".onecopy"), !job.out.exists());
    refuse_foreign(&job.out)?;
    fs::create_dir_all(&folder).at("create", &folder)?;
    let lock = lock(&folder, &job.out)?;
    let found = find(job, &folder, lock, progress);
    if !matches!(found, Ok(Found::Work(_))) {
        leave(&folder);
        if is_new {
            let _ = fs::remove_dir(&job.out);
        }
    }
    found
}

fn find(job: &Job, folder: &Path, lock: File, progress: &dyn Progress) -> Result<Found> {
    let out = &job.out;
    let spool =
        if job.inputs.iter().any(|input| input == "-") { Some(spool(folder, progress)?) } else { None };
    let stores = Stores::new(job.environment.iter().cloned());
    let inputs = plan(&job.inputs, spool.as_deref(), out, &stores)?;
    if inputs.sources.is_empty() && inputs.refused.is_empty() {
        let (input, reason) = (job.inputs.join(" "), "there is nothing to read".into());
        return Err(Error::Input { input, reason });
    }
    let budget = Budget::of(job, &inputs.sources, &stores)?;
    let threshold = method(&job.config)?.threshold();
    let run = Run {
        version: env!("CARGO_PKG_VERSION").into(),
        config: Config { threshold: Some(threshold), ..job.config.clone() },
        fields: job.fields.clone(),
        limits: job.limits.clone(),
        removed_records: job.removed_records,
        inputs,
        chunk_bytes: budget.chunk,
    };
    let finished = (run::read::<Run>(&out.join("run.json")), run::read(&out.join("report.json")));
    if let ((Some(finished), Some(report)), false) = (finished, job.overwrite) {
        if run.equals(&finished) {
            // It may have been killed when all was done but this.
            if run::read::<Run>(&folder.join("run.json")).is_none_or(|left| run.equals(&left)) {
                clear(folder)?;
            }
            return Ok(Found::Finished(Box::new(report)));
        }
        return Err(Error::OutputHoldsAnotherRun { folder: out.clone() });
    }
    let (run, continued) = continue_or_begin(run, folder)?;
    let budget = Budget { chunk: run.chunk_bytes, ..budget };
    let lots = lots(&run.inputs.sources, run.chunk_bytes as u64);
    let method = run.method()?;
    let needs = Needs::of(&run.config, &*method);
    let opener = run.opener(stores, Gate::new(budget.large_pages), needs);
    let (folder, out) = (folder.to_owned(), out.clone());
    Ok(Found::Work(Box::new(Work { run, lots, budget, opener, method, continued, folder, out, _lock: lock })))
}

/// Takes away a folder that nothing was done in.
fn leave(folder: &Path) {
    let ours = |name: &std::ffi::OsStr| name == "lock" || name == "stdin";
    let unused =
        fs::read_dir(folder).is_ok_and(|mut entries| entries.all(|e| e.is_ok_and(|e| ours(&e.file_name()))));
    if unused {
        let _ = fs::remove_dir_all(folder);
    }
}

/// A folder that holds anything else than our results is not written to.
fn refuse_foreign(out: &Path) -> Result<()> {
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at("read", out),
    };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let ours = |name: &str| names.iter().any(|found| found == name);
    if names.is_empty() || ours(".onecopy") || (ours("report.json") && ours("run.json")) {
        return Ok(());
    }
    Err(Error::OutputNotOurs { folder: out.to_owned() })
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

fn continue_or_begin(run: Run, folder: &Path) -> Result<(Run, bool)> {
    let path = folder.join("run.json");
    if let Some(begun) = run::read::<Run>(&path).filter(|begun| run.equals(begun)) {
        return Ok((begun, true));
    }
    clear(folder)?;
    run::write(&path, &run)?;
    Ok((run, false))
}

/// Deletes what a run left in its folder, but the lock and the input.
fn clear(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).at("read", folder)?.flatten() {
        let old = entry.path();
        if entry.file_name() != "lock" && entry.file_name() != "stdin" {
            let removed = if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
            removed.at("delete", &old)?;
        }
    }
    Ok(())
}

impl Work {
    /// The folder for everything that does not outlive the run.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where results are made.
    pub(crate) fn results(&self) -> PathBuf {
        self.folder.join("results")
    }

    /// Moves the results to where they belong, the report last, and clears up.
    pub(crate) fn publish(self, report: &Report) -> Result<()> {
        let results = self.results();
        run::write(&results.join("run.json"), &self.run)?;
        run::write(&results.join("report.json"), report)?;
        for name in RESULTS.iter().rev() {
            let old = self.out.join(name);
            let removed = if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).at("replace", &old);
                }
                _ => {}
            }
        }
        for name in RESULTS {
            let (from, to) = (results.join(name), self.out.join(name));
            // There are markets only if some were asked for.
            if name != "markets" || from.exists() {
                fs::rename(&from, &to).at("create", &to)?;
            }
        }
        fs::remove_dir_all(&self.folder).at("delete", &self.folder)
    }
}
