//! The batch run: pages in, duplicates out.
//!
//! This file is the order of the stages; each stage is a file of its own. What is found is on disk before the next
//! long stage begins, so that a killed run continues: segments as they are read (once they no longer fit in memory),
//! decisions when they are made, kept files as they are written.

mod budget;
mod connect;
mod contents;
mod counters;
mod decide;
mod decisions;
pub(crate) mod facts;
mod fresh;
mod gather;
mod index;
mod judge;
mod key;
mod keys;
mod known;
mod links;
mod neighbours;
mod order;
mod outlines;
mod pile;
mod rank;
mod read;
mod recall;
mod runs;
mod sections;
mod seen;
mod segment;
mod segments;
mod sets;
mod settle;
mod sorter;
mod spill;
mod spool;
mod work;

use crate::error::Result;
use crate::job::Job;
use crate::output::{KeptWriter, Lists};
use crate::progress::Progress;
use crate::report::{Begun, Report};

pub(crate) use decisions::Decisions;
pub(crate) use links::Link;
pub(crate) use segment::{Row, Segment};
pub(crate) use segments::Segments;
pub(crate) use spill::{Aligned, BLOCK, Spill};
pub(crate) use spool::spool;
pub(crate) use work::{Run, Work};

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The results are new.
    Finished(Report),
    /// The output folder held the results of the very same run, which was not repeated.
    AlreadyDone(Report),
}

impl Outcome {
    /// The report, whenever it was made.
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
        progress.note("continuing the run that was stopped here");
    }
    let inputs = &work.run.inputs;
    let mut recall = recall::expect(&work);
    if let Some(recall) = &recall {
        progress.note(&recall::sentence(recall));
    }
    let (segments, decisions) = decide::decide(job, &work, progress)?;
    KeptWriter { work: &work, segments: &segments, decisions: &decisions, progress }.write(job.threads)?;
    let (threshold, memory) = (work.method.threshold(), work.budget.names);
    let lists = Lists { segments: &segments, inputs, decisions: &decisions, threshold, memory };
    let counts = lists.write(&work.results())?;
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

#[cfg(test)]
mod tests;
