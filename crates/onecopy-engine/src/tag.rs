//! Writes a tag for each page of any input: a small Bloom filter that search results are compared by later.
//!
//! Threads read pages and make tags, with one chunk each in memory. Tags are written in the order of the input.

mod clerk;
mod file;
mod reading;

use std::path::Path;
use std::sync::atomic::Ordering;

use onecopy_core::{FilterRules, Needs};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::ingest::{Feed, lots};
use crate::lock::Lock;
use crate::parallel::{InTurn, on_each};
use crate::progress::{Progress, Stage};
use crate::report::Unreadable;
use crate::service::{ImportPlan, ImportReading, OnRejection, reach};

use clerk::{Clerk, Current};
use file::TagFile;
use reading::Reading;

/// The counts of a tagging.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tagged {
    /// Records that were read.
    pub read: u64,
    /// Pages that got a tag.
    pub tagged: u64,
    /// Records that could not be read, or have no words.
    pub rejected: u64,
    /// Inputs that could not be read, wholly or from some point on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable>,
}

/// Writes the tags of all pages of `plan` to `out`: Parquet if its name ends so, else JSON Lines. The file appears
/// once it is complete.
pub fn tag_pages(
    plan: &ImportPlan,
    rules: &FilterRules,
    out: &Path,
    progress: &dyn Progress,
    rejected: &mut OnRejection,
) -> Result<Tagged> {
    rules.check()?;
    progress.begin(Stage::Read, plan.bytes());
    let file = TagFile::create(out)?;
    let mut clerk = Clerk { file, rejected, tagged: Tagged::default(), current: Current::default() };
    for sources in &plan.readings {
        clerk.begin(&sources.inputs)?;
        let turns = InTurn::new(clerk);
        read(plan, sources, rules, &turns, progress)?;
        clerk = turns.into_inner();
        clerk.end();
    }
    clerk.file.finish()?;
    Ok(clerk.tagged)
}

/// Reads sources in their order. A thread takes a piece and its turn together, so that tags are written in order.
fn read(
    plan: &ImportPlan,
    sources: &ImportReading,
    rules: &FilterRules,
    turns: &InTurn<Clerk>,
    progress: &dyn Progress,
) -> Result<()> {
    let lots = lots(&sources.inputs.sources, sources.chunk_bytes as u64);
    let opener = sources.opener(reach(&plan.environment, &plan.spool, &sources.limits), Needs::default());
    let reading = Reading { sources, opener: &opener, rules };
    let feed = Lock::new(Feed::new(&sources.inputs.sources, &lots, &opener));
    let next = || {
        let feed = feed.lock();
        let piece = feed.next(1, &mut Vec::new())?;
        Ok::<_, Error>(piece.map(|(piece, bytes)| (turns.take(), piece, bytes)))
    };
    on_each(plan.threads, |failed| {
        while let Some((turn, piece, bytes)) = next()? {
            let tagged = reading.piece(&piece)?;
            drop(piece);
            turns.wait(turn, failed, |clerk| clerk.take(tagged))?;
            progress.advance(bytes);
            if progress.stopped() || failed.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    })
}
