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
mod quarantine;
mod reload;
mod rows;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use onecopy_store::{Heads, Look};

use super::collection::Collection;
use super::queue::BatchWork;
use crate::error::{Error, Result};
use batch::BatchOutcome;
use commit::Committed;

pub(super) use batch::Logged;
pub(super) use links::{ENDS_AT_A_PAGE, objection};
pub(super) use quarantine::reject_again;
pub(super) use rows::class;

/// The longest time that Tier 2 waits for more changes.
const LINGER: Duration = Duration::from_millis(200);

/// Settles batches until the collection is closed.
pub(super) fn work(collection: &Collection) {
    let mut worker = Worker { collection, failed: None, is_repeated: false };
    let mut linger = Duration::ZERO;
    while let Some(work) = idle::next_work(collection, linger) {
        let begun = Instant::now();
        let done = worker.settle(&work);
        // Even a small transaction is expensive. The longer the last one took, the more changes the next one collects.
        linger = begun.elapsed().min(LINGER);
        match done {
            Ok(committed) => worker.done(work, committed),
            Err(error) => worker.failed(work, error),
        }
    }
}

/// Tier 2 between two batches.
struct Worker<'a> {
    collection: &'a Collection,
    /// Why the last batch failed. It may have left any state in memory.
    failed: Option<Error>,
    /// Whether the batch before it failed, too.
    is_repeated: bool,
}

impl Worker<'_> {
    fn settle(&mut self, work: &BatchWork) -> Result<Committed> {
        let collection = self.collection;
        let settle = || {
            self.failed.as_ref().map_or(Ok(()), |error| reload::reload(collection, error))?;
            let committed = commit::settle(collection, work)?;
            compact::compact(collection).map(|_| committed)
        };
        // Without this thread, accepted changes would wait forever without an error.
        catch_unwind(AssertUnwindSafe(settle)).unwrap_or_else(|panic| Err(panicked(&*panic)))
    }

    fn done(&mut self, work: BatchWork, committed: Committed) {
        (self.failed, self.is_repeated) = (None, false);
        let Committed { outcome: BatchOutcome { heads, compared }, repaired, compared_pairs } = committed;
        self.collection.queue.done(work, heads, &repaired, |numbers| {
            numbers.compared_pages += compared;
            numbers.compared_pairs = compared_pairs;
            numbers.repaired += repaired.len() as u64;
        });
    }

    /// Tries a failed batch again. If that fails and the disk is not to blame, halves of it are tried, until the change
    /// is found that cannot be settled.
    fn failed(&mut self, work: BatchWork, error: Error) {
        let (queue, pause) = (&self.collection.queue, self.collection.tuning.retry_pause);
        let why = error.to_string();
        let may_be_to_blame = quarantine::may_be_to_blame(&error);
        let is_divided = may_be_to_blame && (self.is_repeated || queue.is_narrowed());
        self.is_repeated = may_be_to_blame;
        self.failed = Some(error);
        if may_be_to_blame && let Some(heads) = self.settled(&work) {
            self.recover();
            return queue.done(work, heads, &BTreeMap::new(), |_| ());
        }
        if !is_divided {
            return queue.failed(work, why, pause);
        }
        let Err(work) = queue.narrow(work) else { return };
        self.recover();
        let [logged] = &work.versions[..] else { return queue.give_up(work, &why) };
        let reject = || quarantine::reject(self.collection, logged, &why);
        let rejected = catch_unwind(AssertUnwindSafe(reject)).unwrap_or_else(|panic| Err(panicked(&*panic)));
        match rejected {
            Ok(heads) => queue.done(work, heads, &BTreeMap::new(), |_| ()),
            Err(error) => queue.failed(work, error.to_string(), pause),
        }
    }
}

impl Worker<'_> {
    /// Reads memory again from disk. If that fails, the next batch tries it again.
    fn recover(&mut self) {
        let reload = || self.failed.as_ref().map_or(Ok(()), |error| reload::reload(self.collection, error));
        if let Ok(Ok(())) = catch_unwind(AssertUnwindSafe(reload)) {
            self.failed = None;
        }
    }

    /// The progress of the collection, if it has the changes of a batch although the batch failed: later, while files
    /// were tidied up.
    fn settled(&self, work: &BatchWork) -> Option<Heads> {
        let heads = self.collection.latest().ok()?.heads().ok()?;
        let last = work.versions.last()?;
        (last.version.accepted <= heads.settled).then_some(heads)
    }
}

/// What a panic said.
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Error::Broken { reason: format!("Tier 2 panicked: {said}") }
}
