//! A whole batch run: the stages in order, then the results.
//!
//! `batch` has the stages and `output` writes the results; neither knows the order of the other. A killed run can
//! continue: each stage writes its result to disk before the next long stage begins.

use crate::batch::decide::decide;
use crate::batch::work::{self, Work};
use crate::batch::{Decisions, Losses, Segments, recall};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::output::{KeptWriter, LIST_PASSES, Lists};
use crate::progress::{Leg, Note, Progress, Silent, Stage};
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
    let begun = Begun::now();
    job.check()?;
    match work::open(job, progress)? {
        work::Found::Work(work) => Ok(Outcome::Finished(run(job, *work, begun, progress)?)),
        work::Found::Finished(report) => {
            if job.strict {
                refuse(&report.unreadable)?;
            }
            Ok(Outcome::AlreadyDone(*report))
        }
    }
}

/// Returns an error if an input could not be read.
fn refuse(unreadable: &[Unreadable]) -> Result<()> {
    let Some(Unreadable { source, reason, .. }) = unreadable.first() else { return Ok(()) };
    Err(Error::Unreadable { input: source.clone(), reason: reason.clone() })
}

/// Runs all stages and publishes the results.
fn run(job: &Job, work: Work, begun: Begun, progress: &dyn Progress) -> Result<Report> {
    if work.continued {
        progress.note(&Note::Continued);
    }
    let mut recall = recall::expect(&work);
    if let Some(recall) = &recall {
        progress.note(&recall::note(recall));
    }
    let decided = decide(job, &work, progress, &mut |market, segments, decisions| {
        lists(&work, segments, decisions, &Silent).write_market(&work.results().join("markets").join(market))
    })?;
    let losses = Losses::find(&work.run.inputs, &work.lots, &decided.0)?;
    if job.strict {
        refuse(&losses.unreadable)?;
    }
    let (counts, archives) = write(job, &work, &decided, &losses, progress)?;
    let (segments, decisions) = decided;
    if let Some(recall) = &mut recall {
        recall.measured = recall::measure(job, &work, &segments, &decisions, progress)?;
    }
    let (seconds, cpu_seconds, peak_memory_bytes) = begun.until_now();
    let report = Report {
        read: counts.kept + counts.removed + counts.rejected,
        counts,
        unreadable: losses.unreadable,
        method: job.config.method.clone(),
        threshold: work.method.threshold(),
        recall,
        input_bytes: input_bytes(&work),
        archives,
        seconds,
        cpu_seconds,
        peak_memory_bytes,
        threads: job.threads,
        memory_limit_bytes: job.memory_bytes,
        out_of_core: !segments.in_memory(),
        version: work.run.version.clone(),
    };
    drop(segments);
    work.publish(&report)?;
    Ok(report)
}

/// Writes the kept pages and the lists.
fn write(
    job: &Job,
    work: &Work,
    (segments, decisions): &(Segments, Decisions),
    losses: &Losses,
    progress: &dyn Progress,
) -> Result<(Counts, Option<Archives>)> {
    let bytes = input_bytes(work);
    progress.begin(Stage::Write, bytes);
    let kept = Leg::new(progress, bytes / 2, bytes);
    let archives = KeptWriter { work, segments, decisions, losses, progress: &kept }.write(job.threads)?;
    drop(kept);
    let listed = Leg::new(progress, bytes - bytes / 2, LIST_PASSES * segments.len() as u64);
    Ok((lists(work, segments, decisions, &listed).write(&work.results())?, archives))
}

/// Bytes of all inputs, as stored on disk.
fn input_bytes(work: &Work) -> u64 {
    work.run.inputs.sources.iter().map(|source| source.bytes).sum()
}

/// The writer of a run's lists.
fn lists<'a>(
    work: &'a Work,
    segments: &'a Segments,
    decisions: &'a Decisions,
    progress: &'a dyn Progress,
) -> Lists<'a> {
    let (threshold, memory) = (work.method.threshold(), work.budget.names);
    let (content, has_parts) = (work.run.config.content, work.method.looks_at().parts);
    Lists { segments, inputs: &work.run.inputs, decisions, threshold, content, has_parts, memory, progress }
}

#[cfg(test)]
mod tests;
