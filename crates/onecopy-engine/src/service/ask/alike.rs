//! The contents that a page would be alike to, as of the last batch. Never waits for Tier 2.

use onecopy_core::shown;
use onecopy_store::{ContentRow, Look, Slot, Snapshot, Version};

use crate::error::Result;
use crate::service::collection::{Collection, Published};
use crate::service::contents::{read_sketch, unless_damaged};
use crate::service::status::{Likeness, name_of};

/// A content that is alike.
pub(super) struct Alike {
    /// Its best page.
    pub likeness: Likeness,
    /// Whether it stays.
    pub stays: bool,
    pub rank: Vec<u8>,
}

/// The alike contents, best first: all that stay, and the best of all others.
pub(super) fn find(collection: &Collection, published: &Published, version: &Version) -> Result<Vec<Alike>> {
    let snapshot = &*published.snapshot;
    let mut comparing = Comparing { collection, snapshot, version, buffer: Vec::new() };
    if version.sketch.is_empty() {
        return Ok(Vec::new());
    }
    let hits = published.search.hits(&version.sketch, snapshot, collection.method())?;
    let (mut found, mut stars) = (Vec::new(), Vec::new());
    for hit in hits {
        let Some(row) = Look::content(snapshot, hit.slot)? else { continue };
        if hit.may {
            found.extend(comparing.alike(hit.slot, &row)?);
        }
        stars.extend((row.winner == hit.slot).then_some((hit.slot, row)));
    }
    found.sort_by(|a: &Alike, b| a.rank.cmp(&b.rank));
    // The search names a loser only through its winner. A loser matters if it is better than all that were found.
    let matters = |row: &ContentRow, best: Option<&Alike>| {
        best.is_none_or(|best| row.rank < best.rank && best.likeness.group != Some(row.group))
    };
    while let Some(at) = stars.iter().position(|(_, row)| matters(row, found.first())) {
        let (slot, row) = stars.swap_remove(at);
        found.extend(comparing.best_loser(slot, row.group)?);
        found.sort_by(|a, b| a.rank.cmp(&b.rank));
    }
    Ok(found)
}

/// A page that is compared with contents.
struct Comparing<'a> {
    collection: &'a Collection,
    snapshot: &'a Snapshot,
    version: &'a Version,
    buffer: Vec<u8>,
}

impl Comparing<'_> {
    /// A content, if it is alike and not the page's own.
    fn alike(&mut self, slot: Slot, row: &ContentRow) -> Result<Option<Alike>> {
        let (method, sketch) = (self.collection.method(), &self.version.sketch[..]);
        let read = read_sketch(&self.collection.reader, row.at, &mut self.buffer);
        let Some(other) = unless_damaged(read)? else { return Ok(None) };
        let Some(score) = method.verify(sketch, &other) else { return Ok(None) };
        let similarity = method.similarity(score, (sketch.len(), other.len()));
        let Some(best) = Look::page(self.snapshot, row.best)? else { return Ok(None) };
        if best.name == self.version.name {
            return Ok(None);
        }
        let similarity = shown(similarity, method.threshold());
        let likeness = Likeness { page: name_of(&best.name), similarity, group: Some(row.group) };
        Ok(Some(Alike { likeness, stays: row.winner == slot, rank: row.rank.clone() }))
    }

    /// The best loser of a content that is alike.
    fn best_loser(&mut self, winner: Slot, group: u64) -> Result<Option<Alike>> {
        let mut losers = Vec::new();
        for slot in Look::group_contents(self.snapshot, group, usize::MAX)? {
            let row = Look::content(self.snapshot, slot)?;
            losers.extend(row.filter(|row| row.winner == winner && slot != winner).map(|row| (slot, row)));
        }
        losers.sort_by(|(_, a), (_, b)| a.rank.cmp(&b.rank));
        for (slot, row) in losers {
            if let Some(alike) = self.alike(slot, &row)? {
                return Ok(Some(alike));
            }
        }
        Ok(None)
    }
}
