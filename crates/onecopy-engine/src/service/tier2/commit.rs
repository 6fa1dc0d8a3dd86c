//! Settles a batch and makes it durable.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use onecopy_store::{Batch, FeedLimits, Look, Place, Writing};

use super::batch::{BatchOutcome, Settler};
use crate::error::Result;
use crate::service::ServiceOptions;
use crate::service::collection::Collection;
use crate::service::contents::{ContentIndex, Findings};
use crate::service::queue::BatchWork;

/// A durable batch.
pub(super) struct Committed {
    pub outcome: BatchOutcome,
    /// Repaired groups, each with the number of changed pages.
    pub repaired: BTreeMap<u64, u64>,
    /// The number of pairs compared since the start.
    pub compared_pairs: u64,
}

/// Settles a batch in one transaction.
pub(super) fn settle(collection: &Collection, work: &BatchWork) -> Result<Committed> {
    let mut contents = collection.write_contents()?;
    contents.is_torn = true;
    let (config, method) = (&collection.preparation.config, collection.method());
    let writing = collection.begin()?;
    let mut batch = writing.batch()?;
    let heads = batch.heads()?;
    let threads = collection.options.threads;
    let has_tags = collection.preparation.tags.is_some();
    let mut settler = Settler { config, method, contents: &mut contents, threads, has_tags };
    let mut outcome = settler.settle(&mut batch, &work.versions, heads)?;
    let mut due: BTreeSet<u64> = work.repairs.iter().map(|repair| repair.group).collect();
    for (&group, &(checked, failed)) in &work.checks {
        let (checked, failed) = batch.add_checks(group, checked, failed)?;
        let is_due = failed > 0 && failed as f64 > collection.options.repair_rate * checked as f64;
        due.extend(is_due.then_some(group));
    }
    let mut repaired = BTreeMap::new();
    for group in due {
        repaired.insert(group, settler.repair(&mut batch, group, &mut outcome.heads)?);
    }
    if let Some(last) = work.versions.last() {
        let end = last.place.end();
        outcome.heads.settled_to = (end.segment, end.offset);
    }
    batch.set_heads(&outcome.heads)?;
    expire(&mut batch, outcome.heads.feed, &collection.options)?;
    drop(batch);
    let search = contents.view();
    let ahead = commit(collection, writing, &contents)?;
    contents.take_ahead(ahead);
    let compared_pairs = contents.compared;
    contents.tend(&*collection.folder, outcome.heads.born)?;
    contents.is_torn = false;
    collection.renew_snapshot(Some(search))?;
    drop(contents);
    Ok(Committed { outcome, repaired, compared_pairs })
}

/// Removes changes from the feed that are too old or too many.
fn expire(batch: &mut Batch, feed: u64, options: &ServiceOptions) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 60);
    batch.mark_feed(now, feed)?;
    let minute = now.saturating_sub(options.feed_keep.as_secs() / 60);
    Ok(batch.expire_feed(FeedLimits { minute, bytes: options.feed_bytes, most: EXPIRED_AT_ONCE })?)
}

/// The most changes that leave the feed with a batch: more than come with one, as a rule.
const EXPIRED_AT_ONCE: usize = 10_000;

/// Makes a batch durable. While this thread waits for the disk, others search candidates for the next batch.
fn commit(collection: &Collection, writing: Writing, contents: &ContentIndex) -> Result<Findings<Place>> {
    let snapshot = collection.snapshot();
    let is_known = |fingerprint| matches!(snapshot.fingerprint(fingerprint), Ok(Some(_)));
    let upcoming = collection.queue.upcoming(is_known);
    std::thread::scope(|scope| {
        let looking =
            scope.spawn(|| contents.look_ahead(&upcoming, collection.method(), collection.options.threads));
        writing.commit()?;
        // The next batch meets the same failure, and has the change that is to blame.
        Ok(looking.join().ok().and_then(Result::ok).unwrap_or_default())
    })
}
