//! Imports pages from files into a collection: all inputs of a batch run, and the inputs of a finished run.
//!
//! Threads read and prepare pages. Pages are accepted in the order of the input, so the later of two captures of one
//! page counts, for any number of threads.

mod hand_over;
mod plan;
mod prepare;
mod tally;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;

pub(super) use hand_over::wait_for_room;
pub use plan::{ImportPlan, plan_import};
pub(crate) use plan::{ImportReading, reach};

use self::hand_over::Turns;
use self::prepare::Intake;
use super::prepare::Preparation;
use super::{Refusal, Service};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::ingest::{Feed, FieldNames, lots};
use crate::job::{Fields, Limits};
use crate::lock::Lock;
use crate::parallel::on_each;
use crate::progress::{Progress, Stage};
use crate::report::Unreadable;
use onecopy_core::Needs;

/// The inputs of an import and how to read them.
#[derive(Clone, Debug)]
pub struct ImportJob {
    /// Files, folders, glob patterns, addresses of object stores, `-` for standard input, output folders of finished runs.
    pub inputs: Vec<String>,
    /// The collection's folder, which is never read as an input.
    pub data: PathBuf,
    /// A folder for a copy of standard input and for unpacked containers.
    pub spool: PathBuf,
    /// The fields of a record. A finished run has its own.
    pub fields: Fields,
    /// The limits on pages. A finished run has its own.
    pub limits: Limits,
    /// Settings of object stores, as in [`Job::environment`](crate::Job::environment).
    pub environment: Environment,
    /// The number of threads that prepare pages.
    pub threads: usize,
}

/// The counts of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Imported {
    /// Records that were read.
    pub read: u64,
    /// Pages that were accepted.
    pub accepted: u64,
    /// Revisits of an archive: they say that a page has not changed.
    pub unchanged: u64,
    /// Unreadable records, and pages that cannot be judged.
    pub rejected: u64,
    /// Rejected records that exceed a limit.
    #[serde(skip_serializing_if = "is_zero")]
    pub over_limit: u64,
    /// Inputs that could not be read, wholly or from some point on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An unreadable record, or a page that cannot be judged, as a line of `rejected.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportRejection {
    /// The input file.
    pub source: String,
    /// Its line, or record of an archive, from one. `None` for a file that is one page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The reason of the rejection.
    pub reason: String,
}

/// Receives each rejection, in the order of the input.
pub type OnRejection<'a> = dyn FnMut(&ImportRejection) -> Result<()> + Send + 'a;

/// Adds all pages of `plan` to the collection. Waits while the queue is full. All accepted pages are durable at the
/// end, but some may not be settled yet.
pub fn import(
    service: &Service,
    plan: &ImportPlan,
    progress: &dyn Progress,
    rejected: &mut OnRejection,
) -> Result<Imported> {
    progress.begin(Stage::Read, plan.bytes());
    let turns = Turns::new(service, progress, rejected);
    for reading in &plan.readings {
        turns.begin(&reading.inputs)?;
        read(&service.collection.preparation, reading, plan, &turns, progress)?;
    }
    Ok(turns.finish())
}

/// Waits until no change waits to be settled.
pub fn settle(service: &Service, progress: &dyn Progress) -> Result<()> {
    // The stats are too slow: they count groups, and may be outdated.
    let waiting = || service.collection.queue.gauge().waiting;
    let mut left = waiting();
    progress.begin(Stage::Compare, left);
    while !service.drain(PATIENCE) {
        if progress.stopped() {
            return Err(Error::Stopped);
        }
        if let Some(Refusal::Broken(why)) = service.collection.queue.refusal() {
            return Err(Error::Broken { reason: why });
        }
        let waiting = waiting();
        progress.advance(left.saturating_sub(waiting));
        left = waiting.min(left);
    }
    progress.advance(left);
    Ok(())
}

/// The interval of checks for a request to stop.
const PATIENCE: Duration = Duration::from_millis(200);

/// Reads sources in their order. A thread takes a piece and its turn together, so that pieces are accepted in order.
fn read(
    preparation: &Preparation,
    reading: &ImportReading,
    plan: &ImportPlan,
    turns: &Turns,
    progress: &dyn Progress,
) -> Result<()> {
    let sources = &reading.inputs.sources;
    let lots = lots(sources, reading.chunk_bytes as u64);
    let reach = plan::reach(&plan.environment, &plan.spool, &reading.limits);
    let opener = reading.opener(reach, Needs { whole: true, ..preparation.needs.clone() });
    let names = &FieldNames::new(&reading.fields);
    let intake = Intake { reading, opener: &opener, names, preparation };
    let feed = Lock::new(Feed::new(sources, &lots, &opener));
    let next = || {
        let feed = feed.lock();
        // Sources are read one after the other, so that a later one cannot overtake.
        let piece = feed.next(1, &mut Vec::new())?;
        Ok::<_, Error>(piece.map(|(piece, bytes)| (turns.take(), piece, bytes)))
    };
    on_each(plan.threads, |failed| {
        while let Some((turn, piece, bytes)) = next()? {
            let prepared = intake.prepare(&piece)?;
            turns.hand_over(turn, prepared, failed)?;
            progress.advance(bytes);
            if progress.stopped() || failed.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    })
}
