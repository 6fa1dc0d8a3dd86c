//! The feed: who may continue where, and what comes next.

use onecopy_store::Look;

use crate::error::{Error, Result};
use crate::service::collection::Collection;
use crate::service::status::{Change, FeedEntry, Refusal};

/// Where a reader of the feed continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedCursor {
    /// The last number that was read; zero at the beginning.
    pub after: u64,
    /// The last number of the feed when the reader began with zero, until it has read that far; then zero. Who began then
    /// knows no page that was deleted before.
    pub begun: u64,
}

/// Some changes, and where the next ones are.
#[derive(Clone, Debug)]
pub struct FeedPage {
    /// The changes, by number.
    pub changes: Vec<Change>,
    /// The cursor behind them.
    pub next: FeedCursor,
}

/// At most `limit` changes after a cursor.
pub(in crate::service) fn read(
    collection: &Collection,
    cursor: FeedCursor,
    limit: usize,
) -> std::result::Result<FeedPage, Refusal> {
    let broken = |error: Error| Refusal::Broken(error.to_string());
    let snapshot = collection.snapshot();
    let last = snapshot.heads().map_err(|error| broken(error.into()))?.feed;
    let expired = snapshot.expired().map_err(|error| broken(error.into()))?;
    let FeedCursor { after, begun } = cursor;
    if after > last || begun > last {
        return Err(Refusal::Gone(format!(
            "the feed ends at number {last}, and {} is of another collection or of one before a restore",
            after.max(begun)
        )));
    }
    if after > 0 && after.max(begun) < expired {
        return Err(Refusal::Gone(format!("changes up to number {expired} are no longer kept")));
    }
    let found = snapshot.feed(after, limit).map_err(|error| broken(error.into()))?;
    let changes: Vec<Change> = found.into_iter().map(change).collect::<Result<_>>().map_err(broken)?;
    let begun = if after == 0 { last } else { begun };
    let read_to =
        if changes.len() < limit { last } else { changes.last().map_or(after, |last| last.sequence) };
    let next = FeedCursor { after: read_to, begun: if read_to < begun { begun } else { 0 } };
    Ok(FeedPage { changes, next })
}

fn change((sequence, bytes): (u64, Vec<u8>)) -> Result<Change> {
    let what = FeedEntry::from_json(&bytes).map_err(|error| Error::Broken {
        reason: format!("change {sequence} of the feed cannot be read: {error}"),
    })?;
    Ok(Change { sequence, what })
}
