//! A whole batch run: the stages in order, then the results.
//!
//! `batch` has the stages and `output` writes the results; neither knows the order of the other. A killed run can
//! continue: each stage writes its result to disk before the next long stage begins.

use crate::batch::decide::decide;
use crate::batch::work::{self, Work};
use crate::batch::{Decisions, Segments, recall};
use crate::error::Result;
use crate::job::Job;
use crate::output::{KeptWriter, Lists};
use crate::progress::{Note, Progress};
use crate::report::{Begun, Report};

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
        work::Found::Finished(report) => Ok(Outcome::AlreadyDone(*report)),
    }
}

/// Runs all stages and publishes the results.
fn run(job: &Job, work: Work, begun: Begun, progress: &dyn Progress) -> Result<Report> {
    if work.continued {
        progress.note(&Note::Continued);
    }
    let inputs = &work.run.inputs;
    let mut recall = recall::expect(&work);
    if let Some(recall) = &recall {
        progress.note(&recall::note(recall));
    }
    let (segments, decisions) = decide(job, &work, progress, &mut |market, segments, decisions| {
        lists(&work, segments, decisions).write_market(&work.results().join("markets").join(market))
    })?;
    let kept = KeptWriter { work: &work, segments: &segments, decisions: &decisions, progress };
    let archives = kept.write(job.threads)?;
    let counts = lists(&work, &segments, &decisions).write(&work.results())?;
    if let Some(recall) = &mut recall {
        recall.measured = recall::measure(job, &work, &segments, &decisions, progress)?;
    }
    let (seconds, cpu_seconds, peak_memory_bytes) = begun.until_now();
    let report = Report {
        read: counts.kept + counts.removed + counts.rejected,
        counts,
        method: job.config.method.clone(),
        threshold: work.method.threshold(),
        recall,
        archives,
        input_bytes: inputs.sources.iter().map(|source| source.bytes).sum(),
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

/// The writer of a run's lists.
fn lists<'a>(work: &'a Work, segments: &'a Segments, decisions: &'a Decisions) -> Lists<'a> {
    let (threshold, memory) = (work.method.threshold(), work.budget.names);
    Lists { segments, inputs: &work.run.inputs, decisions, threshold, memory }
}

#[cfg(test)]
mod tests;
