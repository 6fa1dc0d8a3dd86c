//! Reads the tables from a snapshot.

use std::ops::Bound;

use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable};

use super::{
    CHECKS, CONTENTS, COPIES, ENDING, FED_PAGES, FEED, FINGERPRINTS, GROUPS, LIVE, META, NAMES, NAMING,
    PAGES, Role, STANDING, WITNESSES, broken, guarded, keys, no_row,
};
use crate::error::Result;
use crate::rows::{ContentRow, Heads, PageNumber, PageRow, Slot};

/// A snapshot of the tables. Other threads may read and write meanwhile.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) transaction: ReadTransaction,
    pub(super) meta: ReadOnlyTable<&'static str, &'static [u8]>,
    names: ReadOnlyTable<&'static [u8], u32>,
    pages: ReadOnlyTable<u32, &'static [u8]>,
    contents: ReadOnlyTable<u32, &'static [u8]>,
    fingerprints: ReadOnlyTable<u128, u32>,
    copies: ReadOnlyTable<&'static [u8], u32>,
    standing: ReadOnlyTable<&'static [u8], u32>,
    naming: ReadOnlyTable<(u64, u32), ()>,
    ending: ReadOnlyTable<(u32, u32), ()>,
    groups: ReadOnlyTable<(u64, u32), ()>,
    checks: ReadOnlyTable<u64, (u64, u64)>,
    witnesses: ReadOnlyTable<(u32, u32), ()>,
    feed: ReadOnlyTable<u64, &'static [u8]>,
    fed_pages: ReadOnlyTable<u32, u64>,
    live: ReadOnlyTable<u32, u64>,
}

impl Snapshot {
    pub(super) fn new(database: &Database) -> Result<Snapshot> {
        let transaction = database.begin_read().map_err(broken)?;
        Ok(Snapshot {
            meta: transaction.open_table(META).map_err(broken)?,
            names: transaction.open_table(NAMES).map_err(broken)?,
            pages: transaction.open_table(PAGES).map_err(broken)?,
            contents: transaction.open_table(CONTENTS).map_err(broken)?,
            fingerprints: transaction.open_table(FINGERPRINTS).map_err(broken)?,
            copies: transaction.open_table(COPIES).map_err(broken)?,
            standing: transaction.open_table(STANDING).map_err(broken)?,
            naming: transaction.open_table(NAMING).map_err(broken)?,
            ending: transaction.open_table(ENDING).map_err(broken)?,
            groups: transaction.open_table(GROUPS).map_err(broken)?,
            checks: transaction.open_table(CHECKS).map_err(broken)?,
            witnesses: transaction.open_table(WITNESSES).map_err(broken)?,
            feed: transaction.open_table(FEED).map_err(broken)?,
            fed_pages: transaction.open_table(FED_PAGES).map_err(broken)?,
            live: transaction.open_table(LIVE).map_err(broken)?,
            transaction,
        })
    }

    /// Up to `limit` status changes after the number `after`, with their numbers.
    pub fn feed(&self, after: u64, limit: usize) -> Result<Vec<(u64, Vec<u8>)>> {
        let Some(first) = after.checked_add(1) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in self.feed.range(first..).map_err(broken)?.take(limit) {
            let (number, change) = entry.map_err(broken)?;
            found.push((number.value(), change.value().to_vec()));
        }
        Ok(found)
    }

    /// The contents of all groups from group `from`, sorted by group.
    pub fn grouped(&self, from: u64) -> Result<impl Iterator<Item = Result<(u64, Slot)>> + '_> {
        let range = self.groups.range((from, 0)..).map_err(broken)?;
        Ok(range.map(|entry| entry.map(|(key, _)| key.value()).map_err(broken)))
    }

    /// The number of checks of a group, and of failed ones.
    pub fn checks(&self, group: u64) -> Result<(u64, u64)> {
        Ok(self.checks.get(group).map_err(broken)?.map_or((0, 0), |checks| checks.value()))
    }

    /// All contents.
    pub fn contents(&self) -> Result<impl Iterator<Item = Result<(Slot, ContentRow)>> + '_> {
        let range = self.contents.iter().map_err(broken)?;
        Ok(range.map(|entry| {
            let (slot, row) = entry.map_err(broken)?;
            let row = ContentRow::from_bytes(row.value()).ok_or_else(|| no_row("contents", slot.value()))?;
            Ok((slot.value(), row))
        }))
    }

    /// All pages, sorted by number.
    pub fn pages(&self) -> Result<impl Iterator<Item = Result<(PageNumber, PageRow)>> + '_> {
        let range = self.pages.iter().map_err(broken)?;
        Ok(range.map(|entry| {
            let (page, row) = entry.map_err(broken)?;
            let row = PageRow::from_bytes(row.value()).ok_or_else(|| no_row("pages", page.value()))?;
            Ok((page.value(), row))
        }))
    }

    /// The number of the last change of a page in the feed.
    pub fn fed_page(&self, page: PageNumber) -> Result<Option<u64>> {
        Ok(self.fed_pages.get(page).map_err(broken)?.map(|number| number.value()))
    }

    /// All names and their pages, sorted by name.
    pub fn names(&self) -> Result<impl Iterator<Item = Result<(String, PageNumber)>> + '_> {
        self.names_from(Bound::Unbounded)
    }

    /// The names from a place on, and their pages, sorted by name.
    pub fn names_from(
        &self,
        from: Bound<&str>,
    ) -> Result<impl Iterator<Item = Result<(String, PageNumber)>> + '_> {
        let range = self.names.range::<&[u8]>((from.map(str::as_bytes), Bound::Unbounded)).map_err(broken)?;
        Ok(range.map(|entry| {
            let (name, page) = entry.map_err(broken)?;
            Ok((String::from_utf8_lossy(name.value()).into_owned(), page.value()))
        }))
    }

    /// The pages from a name on whose last change was rejected, sorted by name, and their statuses.
    pub fn quarantined_from(
        &self,
        from: Bound<&str>,
    ) -> Result<impl Iterator<Item = Result<(String, Vec<u8>)>> + '_> {
        let from = match from {
            Bound::Unbounded => Bound::Included(keys::QUARANTINE.to_owned()),
            named => named.map(keys::quarantined),
        };
        let range = (from.as_ref().map(|key| &**key), Bound::Excluded(keys::QUARANTINE_END));
        let range = self.meta.range::<&str>(range).map_err(broken)?;
        Ok(range.map(|entry| {
            let (key, status) = entry.map_err(broken)?;
            let name = key.value().strip_prefix(keys::QUARANTINE).unwrap_or_default();
            Ok((name.to_owned(), status.value().to_vec()))
        }))
    }

    /// All witnesses.
    pub fn witnesses(&self) -> Result<impl Iterator<Item = Result<(Slot, Slot)>> + '_> {
        let range = self.witnesses.iter().map_err(broken)?;
        Ok(range.map(|entry| entry.map(|(key, _)| key.value()).map_err(broken)))
    }

    /// The bytes in use of each log segment.
    pub fn live(&self) -> Result<Vec<(u32, u64)>> {
        let range = self.live.iter().map_err(broken)?;
        range.map(|entry| entry.map(|(key, value)| (key.value(), value.value())).map_err(broken)).collect()
    }
}

/// Lookups that work in a snapshot and within a transaction.
pub trait Look {
    /// The bytes stored under a name.
    fn meta(&self, name: &str) -> Result<Option<Vec<u8>>>;
    /// The status of a page whose last change was rejected.
    fn quarantined_status(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.meta(&keys::quarantined(name))
    }
    /// How many pages have a last change that was rejected.
    fn quarantined(&self) -> Result<u64>;
    /// The number of a page, by its name as JSON.
    fn page_number(&self, name: &str) -> Result<Option<PageNumber>>;
    /// A page.
    fn page(&self, page: PageNumber) -> Result<Option<PageRow>>;
    /// A content.
    fn content(&self, slot: Slot) -> Result<Option<ContentRow>>;
    /// The content with a fingerprint.
    fn fingerprint(&self, fingerprint: u128) -> Result<Option<Slot>>;
    /// The best page of a content in a class.
    fn best_copy(&self, slot: Slot, class: u8) -> Result<Option<PageNumber>>;
    /// The pages of a content, best first.
    fn copies(&self, slot: Slot) -> Result<Vec<PageNumber>>;
    /// The best page at an address in a role.
    fn standing(&self, role: Role, hash: u64) -> Result<Option<PageNumber>>;
    /// The pages that refer to an address.
    fn naming(&self, hash: u64) -> Result<Vec<PageNumber>>;
    /// The pages whose final target is this page.
    fn ending(&self, page: PageNumber) -> Result<Vec<PageNumber>>;

    /// The first contents of a group, at most `most`.
    fn group_contents(&self, group: u64, most: usize) -> Result<Vec<Slot>>;

    /// The progress of the collection.
    fn heads(&self) -> Result<Heads> {
        let bytes = self.meta("heads")?;
        bytes.map_or(Ok(Heads::default()), |bytes| {
            Heads::from_bytes(&bytes).ok_or_else(|| no_row("meta", "heads"))
        })
    }
}

/// Implements [`Look`] for a type whose fields are tables, writable or not.
macro_rules! look {
    ($type:ty) => {
        impl Look for $type {
            fn meta(&self, name: &str) -> Result<Option<Vec<u8>>> {
                // Opening a collection reads this before anything else, and nothing catches a panic there.
                guarded(|| Ok(self.meta.get(name).map_err(broken)?.map(|bytes| bytes.value().to_vec())))
            }

            fn quarantined(&self) -> Result<u64> {
                let range = self.meta.range(keys::QUARANTINE..keys::QUARANTINE_END).map_err(broken)?;
                Ok(range.count() as u64)
            }

            fn page_number(&self, name: &str) -> Result<Option<PageNumber>> {
                Ok(self.names.get(name.as_bytes()).map_err(broken)?.map(|page| page.value()))
            }

            fn page(&self, page: PageNumber) -> Result<Option<PageRow>> {
                let Some(bytes) = self.pages.get(page).map_err(broken)? else { return Ok(None) };
                PageRow::from_bytes(bytes.value()).map(Some).ok_or_else(|| no_row("pages", page))
            }

            fn content(&self, slot: Slot) -> Result<Option<ContentRow>> {
                let Some(bytes) = self.contents.get(slot).map_err(broken)? else { return Ok(None) };
                ContentRow::from_bytes(bytes.value()).map(Some).ok_or_else(|| no_row("contents", slot))
            }

            fn fingerprint(&self, fingerprint: u128) -> Result<Option<Slot>> {
                Ok(self.fingerprints.get(fingerprint).map_err(broken)?.map(|slot| slot.value()))
            }

            fn best_copy(&self, slot: Slot, class: u8) -> Result<Option<PageNumber>> {
                first(&self.copies, &keys::copy(slot, class, &[]), 5)
            }

            fn copies(&self, slot: Slot) -> Result<Vec<PageNumber>> {
                let from = keys::copy(slot, 0, &[]);
                let mut found = Vec::new();
                for entry in self.copies.range(&from[..]..).map_err(broken)? {
                    let (key, page) = entry.map_err(broken)?;
                    if key.value().get(..4) != from.get(..4) {
                        break;
                    }
                    found.push(page.value());
                }
                Ok(found)
            }

            fn standing(&self, role: Role, hash: u64) -> Result<Option<PageNumber>> {
                first(&self.standing, &keys::standing(role, hash, &[]), 9)
            }

            fn naming(&self, hash: u64) -> Result<Vec<PageNumber>> {
                let range = self.naming.range((hash, 0)..=(hash, u32::MAX)).map_err(broken)?;
                range.map(|entry| entry.map(|(key, _)| key.value().1).map_err(broken)).collect()
            }

            fn group_contents(&self, group: u64, most: usize) -> Result<Vec<Slot>> {
                let range = self.groups.range((group, 0)..=(group, u32::MAX)).map_err(broken)?;
                range.take(most).map(|entry| entry.map(|(key, _)| key.value().1).map_err(broken)).collect()
            }

            fn ending(&self, page: PageNumber) -> Result<Vec<PageNumber>> {
                let range = self.ending.range((page, 0)..=(page, u32::MAX)).map_err(broken)?;
                range.map(|entry| entry.map(|(key, _)| key.value().1).map_err(broken)).collect()
            }
        }
    };
}

/// The first entry whose key begins with the first `length` bytes of `prefix`.
fn first(
    table: &impl ReadableTable<&'static [u8], u32>,
    prefix: &[u8],
    length: usize,
) -> Result<Option<PageNumber>> {
    let mut range = table.range(prefix..).map_err(broken)?;
    let Some(entry) = range.next() else { return Ok(None) };
    let (key, page) = entry.map_err(broken)?;
    Ok((key.value().get(..length) == Some(&prefix[..length])).then(|| page.value()))
}

look!(Snapshot);
look!(super::Batch<'_>);
