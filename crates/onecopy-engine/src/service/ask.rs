//! Answers questions about pages: their status, the status that a page would get, and statistics.

mod alike;
pub(super) mod changed;
pub(super) mod feed;
pub(super) mod groups;
pub(super) mod list;
pub(super) mod record;
pub(super) mod stored;

use onecopy_core::Kind;
use onecopy_store::{Deed, Look, PageRow, Snapshot};

use super::collection::Collection;
use super::contents::{read_sketch, unless_damaged};
use super::queue::WaitingChange;
use super::status::{Answer, Quarantined, Refusal, Stats, Status, StatusKind, View, name_of};
use super::{Action, PageName};
use crate::error::{Error, Result};
use alike::Alike;

/// The most similar pages in an answer.
const ALIKE: usize = 10;

/// The status of pages.
pub(super) fn status<'a>(
    collection: &Collection,
    pages: impl Iterator<Item = PageName<'a>>,
    verify: bool,
) -> Result<Vec<Option<Status>>> {
    let waiting = |name: String| (collection.queue.pending(&name), name);
    let asked: Vec<Vec<_>> = pages.map(|page| page.candidates().map(waiting).collect()).collect();
    // The snapshot comes last, so that it includes changes that were settled in between.
    let snapshot = collection.snapshot();
    asked.into_iter().map(|names| status_of(collection, &snapshot, names, verify)).collect()
}

/// The status of the first known page among the possible names.
fn status_of(
    collection: &Collection,
    snapshot: &Snapshot,
    names: Vec<(Option<WaitingChange>, String)>,
    verify: bool,
) -> Result<Option<Status>> {
    for (pending, name) in names {
        match pending {
            Some(pending) if pending.deed == Deed::Delete => continue,
            Some(pending) => return Ok(Some(pending.status)),
            None => {}
        }
        if let Some(rejected) = Quarantined::of(snapshot, &name)? {
            return Ok(Some(rejected.status));
        }
        let Some(number) = snapshot.page_number(&name)? else { continue };
        let Some(row) = Look::page(snapshot, number)? else { continue };
        let mut status = View { facts: snapshot, method: collection.method() }.status(number, &row)?;
        if verify && status.status == StatusKind::Loser {
            status.verified = unless_damaged(holds(collection, snapshot, &row, &status))?;
            if let (Some(group), Some(verified)) = (status.group, status.verified) {
                collection.queue.checked(group, verified);
            }
        }
        return Ok(Some(status));
    }
    Ok(None)
}

/// Compares a loser with its winner again. Returns whether they are alike.
fn holds(collection: &Collection, snapshot: &Snapshot, row: &PageRow, status: &Status) -> Result<bool> {
    let winner = status.winner.as_ref().map(|name| snapshot.page_number(name.get())).transpose()?.flatten();
    let winner = winner.map(|page| Look::page(snapshot, page)).transpose()?.flatten();
    let Some(winner) = winner else { return Ok(false) };
    let (stands_for, is_same) = (row.content.is_none(), row.fingerprint == winner.fingerprint);
    if stands_for || is_same || status.kind == Some(Kind::Exact.as_str()) {
        return Ok(stands_for || is_same);
    }
    let mut buffer = Vec::new();
    let own = read_sketch(&collection.reader, row.at, &mut buffer)?;
    let other = read_sketch(&collection.reader, winner.at, &mut buffer)?;
    Ok(collection.method().verify(&own, &other).is_some())
}

/// The status that a page would get if it were added now.
pub(super) fn query(collection: &Collection, record: &[u8]) -> std::result::Result<Answer, Refusal> {
    let version = collection.preparation.versions(&[Action::Put(record)]).swap_remove(0)?;
    let broken = |error: Error| Refusal::Broken(error.to_string());
    // A collection that is only read has no keys to search by.
    collection.check_writable().map_err(broken)?;
    let published = collection.published();
    let status = collection.tier1(&published.snapshot).answer(&version).map_err(broken)?.status;
    let alike = alike::find(collection, &published, &version).map_err(broken)?;
    let own = name_of(&version.name);
    let status = match status.status {
        StatusKind::Pending if version.sketch.is_empty() => status,
        StatusKind::Pending => {
            let mut rank = vec![0];
            rank.extend(&version.rank);
            let better = alike.iter().find(|found| found.stays && found.rank < rank);
            let group = alike.first().and_then(|found| found.likeness.group);
            match better {
                Some(Alike { likeness, .. }) => Status {
                    winner: Some(likeness.page.clone()),
                    similarity: Some(likeness.similarity),
                    kind: Some(Kind::Near.as_str()),
                    group,
                    ..Status::bare(own, StatusKind::Loser)
                },
                None if alike.is_empty() => Status::bare(own, StatusKind::Unique),
                None => Status { group, ..Status::bare(own, StatusKind::Winner) },
            }
        }
        _ => status,
    };
    let alike = alike.into_iter().filter(|found| found.stays).take(ALIKE).map(|found| found.likeness);
    Ok(Answer { status: Status { settled: false, ..status }, alike: alike.collect() })
}

/// Statistics of the collection and the service.
pub(super) fn stats(collection: &Collection) -> Stats {
    let gauge = collection.queue.gauge();
    let [kept, losers, dead, rejected] = gauge.heads.counts;
    let (totals, found) = (collection.totals(), collection.scrubbing.findings());
    let (numbers, snapshot) = (gauge.numbers, collection.snapshot());
    Stats {
        pages: kept + losers + dead + rejected,
        kept,
        losers,
        dead,
        rejected,
        quarantined: snapshot.quarantined().unwrap_or(0),
        groups: totals.groups,
        largest_group: totals.largest_group,
        waiting: gauge.waiting,
        waiting_bytes: gauge.bytes,
        accepted: gauge.accepted,
        settled: gauge.heads.settled,
        feed: gauge.heads.feed,
        feed_expiring_bytes: snapshot.expiring_bytes().unwrap_or(0),
        updates: numbers.updates,
        updates_settled_by_tier1: numbers.updates_settled_by_tier1,
        compared_pages: numbers.compared_pages,
        compared_pairs: numbers.compared_pairs,
        checked: numbers.checked,
        failed: numbers.failed,
        repaired: numbers.repaired,
        disk_bytes: totals.disk_bytes,
        collection: collection.id.clone(),
        replaced_orders: totals.replaced_orders,
        scrubs: found.passes,
        scrubbed_at: found.ended,
        damaged: found.damaged,
    }
}
