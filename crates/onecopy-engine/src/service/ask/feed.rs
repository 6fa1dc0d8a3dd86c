//! The feed: who may continue where, and what comes next.

use onecopy_store::{Look, Snapshot};

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
    let snapshot = collection.snapshot();
    let last = check(&snapshot, cursor)?;
    let changes = changes(&snapshot, cursor.after, limit)?;
    let read_to = read_to(&changes, cursor, limit, last);
    Ok(FeedPage { changes, next: cursor.moved(read_to, last) })
}

impl FeedCursor {
    /// The cursor after reading up to a number. The feed ends at `last`.
    pub(super) fn moved(self, read_to: u64, last: u64) -> FeedCursor {
        let begun = if self.after == 0 { last } else { self.begun };
        FeedCursor { after: read_to, begun: if read_to < begun { begun } else { 0 } }
    }
}

/// Refuses a cursor that cannot be continued. Returns the last number of the feed.
pub(super) fn check(snapshot: &Snapshot, cursor: FeedCursor) -> std::result::Result<u64, Refusal> {
    let last = snapshot.heads().map_err(broken)?.feed;
    let expired = snapshot.expired().map_err(broken)?;
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
    Ok(last)
}

/// At most `limit` changes after a number.
pub(super) fn changes(
    snapshot: &Snapshot,
    after: u64,
    limit: usize,
) -> std::result::Result<Vec<Change>, Refusal> {
    let found = snapshot.feed(after, limit).map_err(broken)?;
    found.into_iter().map(change).collect::<Result<_>>().map_err(broken)
}

/// The number up to which somebody has read who got these changes.
pub(super) fn read_to(changes: &[Change], cursor: FeedCursor, limit: usize, last: u64) -> u64 {
    match changes.len() < limit {
        true => last,
        false => changes.last().map_or(cursor.after, |change| change.sequence),
    }
}

fn broken(error: impl Into<Error>) -> Refusal {
    Refusal::Broken(error.into().to_string())
}

fn change((sequence, bytes): (u64, Vec<u8>)) -> Result<Change> {
    let what = FeedEntry::from_json(&bytes).map_err(|error| Error::Broken {
        reason: format!("change {sequence} of the feed cannot be read: {error}"),
    })?;
    Ok(Change { sequence, what })
}
