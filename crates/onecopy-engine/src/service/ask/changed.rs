//! The pages that changed after a cursor of the feed, each with its present status.
//!
//! An entry of the feed has the status of its time, and a change of a whole group is one entry, which expires. Who copies
//! statuses needs the present ones, of all pages of such a group. Changes that wait for Tier 2 are not included.

use std::collections::BTreeMap;

use onecopy_store::{Look, Snapshot};

use super::{feed, groups};
use crate::error::{Error, Result};
use crate::service::PageName;
use crate::service::collection::Collection;
use crate::service::status::{FeedEntry, Quarantined, Refusal, Status, StatusKind, View, name_of};
use feed::FeedCursor;

/// Pages that changed, and where the next ones are.
#[derive(Clone, Debug)]
pub struct ChangedPages {
    /// The pages, by name, with the number of the change that named them. A deleted page has the status `dead`.
    pub pages: Vec<(u64, Status)>,
    /// The cursor behind them.
    pub next: FeedCursor,
    /// The last number of the feed.
    pub last: u64,
}

/// The pages that changed after a cursor: those of at most `limit` changes. It stops early at a change that makes them
/// as many as `limit`; the pages of one group are never divided.
pub(in crate::service) fn read(
    collection: &Collection,
    cursor: FeedCursor,
    limit: usize,
) -> std::result::Result<ChangedPages, Refusal> {
    let snapshot = collection.snapshot();
    let last = feed::check(&snapshot, cursor)?;
    let mut changes = feed::changes(&snapshot, cursor.after, limit)?;
    let mut read_to = feed::read_to(&changes, cursor, limit, last);
    let broken = |error: Error| Refusal::Broken(error.to_string());
    let mut pages: BTreeMap<String, (u64, Status)> = BTreeMap::new();
    let count = changes.len();
    for (at, change) in changes.drain(..).enumerate() {
        for status in concerned(collection, &snapshot, &change.what).map_err(broken)? {
            pages.insert(status.page.get().to_owned(), (change.sequence, status));
        }
        if pages.len() >= limit && at + 1 < count {
            read_to = change.sequence;
            break;
        }
    }
    let pages = pages.into_values().collect();
    Ok(ChangedPages { pages, next: cursor.moved(read_to, last), last })
}

/// The present statuses of the pages that an entry of the feed is about.
fn concerned(collection: &Collection, snapshot: &Snapshot, entry: &FeedEntry) -> Result<Vec<Status>> {
    match entry {
        FeedEntry::Page(told) => Ok(vec![present(collection, snapshot, told.page.get())?]),
        FeedEntry::Group(group) => groups::statuses(collection, snapshot, group.group),
    }
}

/// The settled statuses of pages by name. A page that is unknown or deleted is `dead`.
pub(in crate::service) fn settled<'a>(
    collection: &Collection,
    pages: impl Iterator<Item = PageName<'a>>,
) -> Result<Vec<Status>> {
    let snapshot = collection.snapshot();
    let name = |page: PageName| page.candidates().next().unwrap_or_default();
    pages.map(|page| present(collection, &snapshot, &name(page))).collect()
}

/// The status of a page in the tables, by its name as JSON. A page that could never be settled has the reason.
fn present(collection: &Collection, snapshot: &Snapshot, name: &str) -> Result<Status> {
    let number = snapshot.page_number(name)?;
    if let Some(number) = number
        && let Some(row) = Look::page(snapshot, number)?
    {
        return View { facts: snapshot, method: collection.method() }.status(number, &row);
    }
    let rejected = Quarantined::of(snapshot, name)?.map(|rejected| rejected.status);
    Ok(rejected.unwrap_or_else(|| Status::bare(name_of(name), StatusKind::Dead)))
}
