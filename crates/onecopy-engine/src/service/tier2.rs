//! Tier 2: settles accepted changes, a batch at a time. It is the only writer of groups.
//!
//! ```text
//! batch      a batch          the stages below, in one transaction; readers see the moment before until it ends
//!   pages    versions → rows      who is at which address changes; nothing is compared
//!   links    rows → ends          redirects and revisits that may end elsewhere now are followed again
//!   copies   rows → contents      pages join and leave contents; canonical links are tried where they may hold
//!            contents → groups    `onecopy_core::graph` decides who wins, and who is in one group
//!   feed     changes → feed       every page whose status changed
//! commit     makes a batch durable, and searches for the next one meanwhile
//! reload     restores memory from disk after a batch failed
//! compact    reclaims the space of replaced versions
//! ```

mod batch;
mod commit;
mod compact;
mod copies;
mod feed;
mod idle;
mod links;
mod pages;
mod reload;
mod rows;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::collection::{Collection, stale};
use batch::BatchOutcome;
use commit::Committed;

pub(super) use batch::Logged;
pub(super) use links::{ENDS_AT_A_PAGE, objection};
pub(super) use rows::class;

/// The longest time that Tier 2 waits for more changes.
const LINGER: Duration = Duration::from_millis(200);

/// Settles batches until the collection is closed.
pub(super) fn work(collection: &Collection) {
    let (mut failed, mut linger) = (None, Duration::ZERO);
    while let Some(work) = idle::next_work(collection, linger) {
        let begun = Instant::now();
        let settle = || {
            // A failed batch may have left any state in memory.
            failed.as_ref().map_or(Ok(()), |error| reload::reload(collection, error))?;
            let committed = commit::settle(collection, &work)?;
            compact::compact(collection).map(|_| committed)
        };
        // Without this thread, accepted changes would wait forever without an error.
        let done = catch_unwind(AssertUnwindSafe(settle)).unwrap_or_else(|_| Err(stale()));
        // Even a small transaction is expensive. The longer the last one took, the more changes the next one collects.
        linger = begun.elapsed().min(LINGER);
        match done {
            Ok(Committed { outcome: BatchOutcome { heads, compared }, repaired, compared_pairs }) => {
                failed = None;
                collection.queue.done(work, heads, &repaired, |numbers| {
                    numbers.compared_pages += compared;
                    numbers.compared_pairs = compared_pairs;
                    numbers.repaired += repaired.len() as u64;
                });
            }
            Err(error) => {
                collection.queue.failed(work, error.to_string(), collection.tuning.retry_pause);
                failed = Some(error);
            }
        }
    }
}
