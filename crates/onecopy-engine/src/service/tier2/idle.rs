//! Tidies the files up while nothing waits: a collection that is rewritten again and again stays as small and as fast as
//! a new one.
//!
//! Each step is short, so that a change that comes does not wait. A step that fails is tried again after the next batch,
//! which meets the same failure and reports it.

use std::time::Duration;

use onecopy_store::Look;

use super::compact::compact;
use crate::error::Result;
use crate::service::collection::Collection;
use crate::service::queue::BatchWork;

/// The next work for Tier 2. Tidies up until there is some.
pub(super) fn next_work(collection: &Collection, linger: Duration) -> Option<BatchWork> {
    // Others may give an old snapshot back only later: so a look is taken now and then.
    while collection.queue.is_idle_for(collection.tuning.idle_pause) {
        while let Ok(true) = step(collection) {
            if !collection.queue.is_idle_for(Duration::ZERO) {
                break;
            }
        }
    }
    collection.queue.take(linger)
}

/// Does one thing. Says whether there may be more.
fn step(collection: &Collection) -> Result<bool> {
    collection.release_past();
    let is_merging = collection.write_contents()?.tend_idle()?;
    if is_merging {
        std::thread::sleep(MERGE_POLL);
    }
    Ok(compact(collection)? || roll(collection)? || is_merging)
}

/// How long to wait between two looks at a merge.
const MERGE_POLL: Duration = Duration::from_millis(5);

/// Begins a segment of the log if most of the last one is of no use, so that it can be rewritten.
fn roll(collection: &Collection) -> Result<bool> {
    let snapshot = collection.snapshot();
    let mut log = collection.log.lock();
    let gauge = collection.queue.gauge();
    let Some(&(last, bytes)) = log.segments().last() else { return Ok(false) };
    let live = snapshot.live()?.into_iter().find(|(segment, _)| *segment == last).map_or(0, |(_, live)| live);
    let is_worn = bytes > u64::from(collection.tuning.segment_bytes / LEAST_SHARE) && live * 2 < bytes;
    // Nobody accepts a change while this thread has the log: all that is in it is settled.
    if !is_worn || gauge.waiting > 0 || gauge.accepted != gauge.heads.settled {
        return Ok(false);
    }
    let next = log.roll()?;
    drop(log);
    let writing = collection.begin()?;
    let mut batch = writing.batch()?;
    let mut heads = batch.heads()?;
    heads.settled_to = (next.segment, next.offset);
    batch.set_heads(&heads)?;
    drop(batch);
    writing.commit()?;
    collection.renew_snapshot(None)?;
    Ok(true)
}

/// A last segment that is shorter than this share of a whole one stays.
const LEAST_SHARE: u32 = 64;
