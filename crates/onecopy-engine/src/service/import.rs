//! Pages of files into a collection: all that a batch run reads, and what a finished one has read.
//!
//! Threads read and prepare; pages are handed over in the order of the input, so that of two captures of one page the
//! later one counts, however many threads there are.

mod hand_over;
mod plan;
mod prepare;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;

pub use plan::{ImportPlan, plan_import};

use self::hand_over::Turns;
use self::plan::ImportReading;
use self::prepare::Intake;
use super::prepare::Preparation;
use super::{Refusal, Service};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::ingest::{Feed, FieldNames, Stores, lots};
use crate::job::{Fields, Limits};
use crate::parallel::on_each;
use crate::progress::{Progress, Stage};
use crate::report::Unreadable;
use onecopy_core::Needs;

/// What is to be imported, and how it is read.
#[derive(Clone, Debug)]
pub struct ImportJob {
    /// Files, folders, glob patterns, addresses of object stores, `-` for standard input, output folders of finished runs.
    pub inputs: Vec<String>,
    /// The collection's folder, which is never read as an input.
    pub data: PathBuf,
    /// A folder that standard input may be put into.
    pub spool: PathBuf,
    /// Where a record's parts are found. A finished run has its own.
    pub fields: Fields,
    /// What is refused. A finished run has its own.
    pub limits: Limits,
    /// Settings of object stores, as in [`Job::environment`](crate::Job::environment).
    pub environment: Environment,
    /// How many threads prepare pages.
    pub threads: usize,
}

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Imported {
    /// Records that were read.
    pub read: u64,
    /// Pages that were accepted.
    pub accepted: u64,
    /// Revisits of an archive that say that a page is as it was.
    pub unchanged: u64,
    /// Records that could not be read, and pages that cannot be judged.
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

/// A record that could not be read, or a page that cannot be judged; as a line of `rejected.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportRejection {
    /// The input file.
    pub source: String,
    /// Its line, or record of an archive, from one; nothing for a file that is one page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why.
    pub reason: String,
}

/// Is told of what is rejected, in the order of the input.
pub type OnRejection<'a> = dyn FnMut(&ImportRejection) -> Result<()> + Send + 'a;

/// Hands all pages of `plan` over to the collection. Waits where too much waits to be settled; what is accepted at the
/// end is durable, but need not be settled.
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

/// Waits until nothing waits to be settled.
pub fn settle(service: &Service, progress: &dyn Progress) -> Result<()> {
    // Not by its stats: those count groups, and remember for a while how many there were.
    let waiting = || service.collection.queue.gauge().waiting;
    let mut left = waiting();
    progress.begin(Stage::Settle, left);
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

/// How long a wish to stop may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(200);

/// Reads sources in their order. Whoever takes a piece also takes its turn, so that pieces are handed over in order.
fn read(
    preparation: &Preparation,
    reading: &ImportReading,
    plan: &ImportPlan,
    turns: &Turns,
    progress: &dyn Progress,
) -> Result<()> {
    let sources = &reading.inputs.sources;
    let lots = lots(sources, reading.chunk_bytes as u64);
    let stores = Stores::new(plan.environment.iter().cloned());
    let opener = reading.opener(stores, Needs { whole: true, ..preparation.needs.clone() });
    let names = &FieldNames::new(&reading.fields);
    let intake = Intake { reading, opener: &opener, names, preparation };
    let feed = Mutex::new(Feed::new(sources, &lots, &opener));
    let next = || {
        let feed = feed.lock().expect("no thread panics with this lock");
        // One source after the other: a later one must not overtake.
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
