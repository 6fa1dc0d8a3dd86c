//! A search that never waits for Tier 2: over the postings and tables of the last batch.

use std::collections::HashMap;

use onecopy_core::Method;
use onecopy_core::graph::{Hit, Slot};
use onecopy_store::{Look, PostingsView, Snapshot};

use super::ContentEntry;
use super::generation::Orders;
use super::search::{Entries, KeySearch, SearchBuffers};
use crate::error::{Error, Result};
use crate::lock::Lock;

/// The postings and orders of one moment.
#[derive(Debug)]
pub(in crate::service) struct SearchView {
    pub(super) postings: PostingsView,
    pub(super) orders: Orders,
    /// The oldest generation that has contents.
    pub(super) oldest: u32,
}

impl SearchView {
    /// The contents that share a key with a sketch. `snapshot` is of the same moment.
    pub(in crate::service) fn hits(
        &self,
        sketch: &[u64],
        snapshot: &Snapshot,
        method: &dyn Method,
    ) -> Result<Vec<Hit>> {
        let entries = SnapshotEntries { snapshot, read: Lock::default(), failed: Lock::default() };
        let SearchView { postings, orders, oldest } = self;
        let search = KeySearch { entries: &entries, postings, orders, oldest: *oldest, method };
        let hits = search.hits(sketch, None, &mut SearchBuffers::default())?;
        entries.failed.into_inner().map_or(Ok(hits), Err)
    }
}

/// Contents as a snapshot has them. Each is read once.
struct SnapshotEntries<'a> {
    snapshot: &'a Snapshot,
    read: Lock<HashMap<Slot, Option<ContentEntry>>>,
    failed: Lock<Option<Error>>,
}

impl Entries for SnapshotEntries<'_> {
    fn entry(&self, slot: Slot) -> Option<ContentEntry> {
        let read = || match Look::content(self.snapshot, slot) {
            Ok(row) => row.map(|row| ContentEntry::of(&row)),
            Err(error) => {
                *self.failed.lock() = Some(error.into());
                None
            }
        };
        *self.read.lock().entry(slot).or_insert_with(read)
    }
}
