//! A whole batch run: the stages in order, then the results.
//!
//! `batch` has the stages and `output` writes the results; neither knows the order of the other. A killed run can
//! continue: each stage writes its result to disk before the next long stage begins.

use std::fs;
use std::io::{self, Write};

use crate::batch::decide::decide;
use crate::batch::work::{self, Work};
use crate::batch::{Decisions, Losses, Segments, recall, sketches};
use crate::error::{At, Error, Result};
use crate::job::{Job, KeptPages, Outputs};
use crate::output::{KeptWriter, LIST_PASSES, ListTables, Lists};
use crate::progress::{Leg, Progress, Silent, Stage, StageClock};
use crate::report::{Archives, Begun, Counts, Report, Unreadable};

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The results are new.
    Finished(Report),
    /// The output folder held the results of an identical run, which was not repeated.
    AlreadyDone(Report),
}

impl Outcome {
    /// The report of this run or of the earlier one.
    pub fn report(&self) -> &Report {
        match self {
            Outcome::Finished(report) | Outcome::AlreadyDone(report) => report,
        }
    }
}

/// Removes exact and near-duplicates from the job's inputs, and writes the results to its output folder.
pub fn dedup(job: &Job, progress: &dyn Progress) -> Result<Outcome> {
    start(job, progress, &mut io::sink())
}

/// As [`dedup`], but writes the kept pages of JSON Lines to `kept`, in input order. The output folder gets the lists.
pub fn dedup_into(job: &Job, progress: &dyn Progress, kept: &mut dyn Write) -> Result<Outcome> {
    let mut job = job.clone();
    job.outputs.kept = KeptPages::Stream;
    start(&job, progress, kept)
}

/// Reads the job's inputs and writes their sketches to its output folder. [`Job::against`] of later jobs may name that
/// folder, and its pages need not be read again.
pub fn sketch(job: &Job, progress: &dyn Progress) -> Result<Outcome> {
    let mut job = job.clone();
    job.outputs = Outputs { kept: KeptPages::Sketches, ..Outputs::default() };
    start(&job, progress, &mut io::sink())
}

/// Removes exact and near-duplicates from the job's rows in memory, and returns all lists. The output folder must be new
/// or empty. It holds what does not fit into the memory limit, and is left empty.
pub fn dedup_rows(job: &Job, progress: &dyn Progress) -> Result<(Report, ListTables)> {
    let begun = Begun::now();
    job.check()?;
    let mut job = job.fitting();
    job.outputs.kept = KeptPages::Returned;
    match work::open(&job, progress)? {
        work::Found::Work(work) => {
            let found = make(&work, Attempt { job: &job, begun, progress, kept: &mut io::sink() });
            work.abandon()?;
            found
        }
        work::Found::Finished(_) => Err(Error::OutputNotOurs { folder: job.out.clone() }),
    }
}

fn start(job: &Job, progress: &dyn Progress, kept: &mut dyn Write) -> Result<Outcome> {
    let begun = Begun::now();
    job.check()?;
    let job = &job.fitting();
    let outcome = match work::open(job, progress) {
        Ok(work::Found::Work(work)) => {
            run(*work, Attempt { job, begun, progress, kept }).map(Outcome::Finished)
        }
        Ok(work::Found::Finished(report)) => {
            if job.strict {
                refuse(&report.unreadable)?;
            }
            Ok(Outcome::AlreadyDone(*report))
        }
        Err(error) => Err(error),
    };
    match outcome {
        Err(Error::Stopped) if !job.continues() => Err(Error::StoppedStream),
        outcome => outcome,
    }
}

/// Returns an error if an input could not be read.
fn refuse(unreadable: &[Unreadable]) -> Result<()> {
    let Some(Unreadable { source, reason, .. }) = unreadable.first() else { return Ok(()) };
    Err(Error::Unreadable { input: source.clone(), reason: reason.clone() })
}

/// One attempt to finish a job.
struct Attempt<'a> {
    job: &'a Job,
    begun: Begun,
    progress: &'a dyn Progress,
    /// Receives the kept pages, if they go to a stream.
    kept: &'a mut dyn Write,
}

/// Runs all stages and publishes the results.
fn run(work: Work, attempt: Attempt) -> Result<Report> {
    let (report, _) = make(&work, attempt)?;
    work.publish(&report)?;
    Ok(report)
}

/// Runs all stages and makes the results.
fn make(work: &Work, attempt: Attempt) -> Result<(Report, ListTables)> {
    if attempt.job.outputs.kept == KeptPages::Sketches {
        return make_sketches(work, &attempt).map(|report| (report, ListTables::default()));
    }
    let Attempt { job, begun, progress, kept } = attempt;
    let progress = &StageClock::new(progress, begun);
    let mut recall = recall::expect(work);
    if let Some(recall) = &recall {
        progress.note(&recall::note(recall));
    }
    let decided = decide(job, work, progress, &mut |market, segments, decisions| {
        lists(job, work, segments, decisions, &Silent)
            .write_market(&work.results().join("markets").join(market))
    })?;
    let losses = Losses::find(&work.run.inputs, &work.lots, &decided.0)?;
    if job.strict {
        refuse(&losses.unreadable)?;
    }
    let (segments, decisions) = decided;
    let writer = KeptWriter { work, segments: &segments, decisions: &decisions, losses: &losses, progress };
    let (counts, archives, tables) = match write(job, &writer, kept) {
        Ok(written) => written,
        Err(error) => return Err(segments.reopen().save_after(job, error, progress)),
    };
    if let Some(recall) = &mut recall {
        recall.measured = recall::measure(job, work, &segments, &decisions, progress)?;
    }
    let (recall, unreadable, out_of_core) = (recall, losses.unreadable, !segments.in_memory());
    segments.free(job.threads);
    let report = Report { counts, unreadable, recall, archives, out_of_core, ..report(job, work, begun) };
    let report = Report { stages: progress.times(), ..report };
    Ok((Report { read: report.counts.read(), ..report }, tables))
}

/// Reads all pages and makes a folder of sketches. All pages are kept, since nothing is decided.
fn make_sketches(work: &Work, attempt: &Attempt) -> Result<Report> {
    let &Attempt { job, begun, progress, .. } = attempt;
    let progress = &StageClock::new(progress, begun);
    let (segments, losses) = sketches::make(job, work, progress)?;
    if job.strict {
        refuse(&losses.unreadable)?;
    }
    let nothing = Decisions::default();
    let mut counts = lists(job, work, &segments, &nothing, &Silent).write_rejected(&work.results())?;
    counts.kept = segments.pages() as u64;
    let (read, unreadable) = (counts.read(), losses.unreadable);
    Ok(Report {
        counts,
        read,
        unreadable,
        stages: progress.times(),
        out_of_core: true,
        ..report(job, work, begun)
    })
}

/// The report of a job, without what was found.
fn report(job: &Job, work: &Work, begun: Begun) -> Report {
    let (seconds, cpu_seconds, peak_memory_bytes) = begun.until_now();
    Report {
        method: job.config.method.clone(),
        threshold: work.method.threshold(),
        input_bytes: input_bytes(work),
        seconds,
        cpu_seconds,
        peak_memory_bytes,
        threads: job.threads,
        memory_limit_bytes: job.memory_bytes,
        version: work.run.version.clone(),
        ..Report::default()
    }
}

/// The counts of the lists, those of archives, and the lists if they are in memory.
type Written = (Counts, Option<Archives>, ListTables);

/// Writes the kept pages and the lists into the results folder.
fn write(job: &Job, writer: &KeptWriter, kept: &mut dyn Write) -> Result<Written> {
    let &KeptWriter { work, segments, decisions, progress, .. } = writer;
    let (bytes, results) = (input_bytes(work), work.results());
    fs::create_dir_all(&results).at("create", &results)?;
    progress.begin(Stage::Write, bytes);
    let leg = Leg::new(progress, bytes / 2, bytes);
    let writer = KeptWriter { progress: &leg, ..*writer };
    let archives = match job.outputs.kept {
        KeptPages::Folder => writer.write(job.threads)?,
        KeptPages::Nowhere | KeptPages::Returned | KeptPages::Sketches => None,
        KeptPages::Stream => writer.stream(kept).map(|()| None)?,
    };
    drop(leg);
    let listed = Leg::new(progress, bytes - bytes / 2, LIST_PASSES * segments.len() as u64);
    let (counts, tables) = lists(job, work, segments, decisions, &listed).write(&results)?;
    Ok((counts, archives, tables))
}

/// Bytes of all inputs, as stored on disk.
fn input_bytes(work: &Work) -> u64 {
    work.run.inputs.sources.iter().map(|source| source.bytes).sum()
}

/// The writer of a run's lists.
fn lists<'a>(
    job: &Job,
    work: &'a Work,
    segments: &'a Segments,
    decisions: &'a Decisions,
    progress: &'a dyn Progress,
) -> Lists<'a> {
    let (threshold, memory) = (work.method.threshold(), work.budget.names);
    let (content, has_parts) = (work.run.config.content, work.method.looks_at().parts);
    Lists {
        segments,
        inputs: &work.run.inputs,
        decisions,
        threshold,
        content,
        has_parts,
        memory,
        threads: job.threads,
        progress,
        outputs: work.outputs,
    }
}

#[cfg(test)]
mod tests;
