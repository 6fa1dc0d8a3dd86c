//! Writes the tables within a transaction.

use redb::{ReadableTable, Table, WriteTransaction};

use super::{
    CHECKS, CONTENTS, COPIES, ENDING, EXPIRING, FED_GROUPS, FED_PAGES, FEED, FINGERPRINTS, GROUPS, LIVE,
    MARKS, META, NAMES, NAMING, PAGES, Role, STANDING, WITNESSES, broken, keys,
};
use crate::error::Result;
use crate::rows::{ContentRow, Heads, PageNumber, PageRow, Slot};

/// The tables, for writing.
pub struct Batch<'t> {
    pub(super) meta: Table<'t, &'static str, &'static [u8]>,
    pub(super) names: Table<'t, &'static [u8], u32>,
    pub(super) pages: Table<'t, u32, &'static [u8]>,
    pub(super) contents: Table<'t, u32, &'static [u8]>,
    pub(super) fingerprints: Table<'t, u128, u32>,
    pub(super) copies: Table<'t, &'static [u8], u32>,
    pub(super) standing: Table<'t, &'static [u8], u32>,
    pub(super) naming: Table<'t, (u64, u32), ()>,
    pub(super) ending: Table<'t, (u32, u32), ()>,
    pub(super) groups: Table<'t, (u64, u32), ()>,
    checks: Table<'t, u64, (u64, u64)>,
    witnesses: Table<'t, (u32, u32), ()>,
    pub(super) feed: Table<'t, u64, &'static [u8]>,
    pub(super) fed_pages: Table<'t, u32, u64>,
    pub(super) fed_groups: Table<'t, u64, u64>,
    pub(super) expiring: Table<'t, u64, u64>,
    pub(super) marks: Table<'t, u64, u64>,
    live: Table<'t, u32, u64>,
}

impl<'t> Batch<'t> {
    pub(super) fn new(transaction: &'t WriteTransaction) -> Result<Batch<'t>> {
        Ok(Batch {
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
            fed_groups: transaction.open_table(FED_GROUPS).map_err(broken)?,
            expiring: transaction.open_table(EXPIRING).map_err(broken)?,
            marks: transaction.open_table(MARKS).map_err(broken)?,
            live: transaction.open_table(LIVE).map_err(broken)?,
        })
    }

    /// Stores bytes under a name.
    pub fn set_meta(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.meta.insert(name, bytes).map_err(broken)?;
        Ok(())
    }

    /// Stores the status of a page whose last change was rejected, or removes it.
    pub fn set_quarantined(&mut self, name: &str, status: Option<&[u8]>) -> Result<()> {
        let key = keys::quarantined(name);
        match status {
            Some(status) => self.meta.insert(&*key, status).map(drop),
            None => self.meta.remove(&*key).map(drop),
        }
        .map_err(broken)
    }

    /// Stores the progress of the collection.
    pub fn set_heads(&mut self, heads: &Heads) -> Result<()> {
        self.set_meta("heads", &heads.to_bytes())
    }

    /// Assigns a name to a page.
    pub fn set_name(&mut self, name: &str, page: PageNumber) -> Result<()> {
        self.names.insert(name.as_bytes(), page).map_err(broken)?;
        Ok(())
    }

    /// Removes a page and its name.
    pub fn remove_page(&mut self, name: &str, page: PageNumber) -> Result<()> {
        self.names.remove(name.as_bytes()).map_err(broken)?;
        self.pages.remove(page).map_err(broken)?;
        Ok(())
    }

    /// Stores a page.
    pub fn set_page(&mut self, page: PageNumber, row: &PageRow) -> Result<()> {
        self.pages.insert(page, &row.to_bytes()[..]).map_err(broken)?;
        Ok(())
    }

    /// Stores a content.
    pub fn set_content(&mut self, slot: Slot, row: &ContentRow) -> Result<()> {
        self.contents.insert(slot, &row.to_bytes()[..]).map_err(broken)?;
        Ok(())
    }

    /// Removes a content.
    pub fn remove_content(&mut self, slot: Slot) -> Result<()> {
        self.contents.remove(slot).map_err(broken)?;
        Ok(())
    }

    /// Sets or removes the content of a fingerprint.
    pub fn set_fingerprint(&mut self, fingerprint: u128, slot: Option<Slot>) -> Result<()> {
        match slot {
            Some(slot) => self.fingerprints.insert(fingerprint, slot).map(drop),
            None => self.fingerprints.remove(fingerprint).map(drop),
        }
        .map_err(broken)
    }

    /// Adds a page to a content.
    pub fn add_copy(&mut self, slot: Slot, class: u8, rank: &[u8], page: PageNumber) -> Result<()> {
        self.copies.insert(&keys::copy(slot, class, rank)[..], page).map_err(broken)?;
        Ok(())
    }

    /// Removes a page from a content.
    pub fn remove_copy(&mut self, slot: Slot, class: u8, rank: &[u8]) -> Result<()> {
        self.copies.remove(&keys::copy(slot, class, rank)[..]).map_err(broken)?;
        Ok(())
    }

    /// Adds a page at an address.
    pub fn add_standing(&mut self, role: Role, hash: u64, rank: &[u8], page: PageNumber) -> Result<()> {
        self.standing.insert(&keys::standing(role, hash, rank)[..], page).map_err(broken)?;
        Ok(())
    }

    /// Removes a page from an address.
    pub fn remove_standing(&mut self, role: Role, hash: u64, rank: &[u8]) -> Result<()> {
        self.standing.remove(&keys::standing(role, hash, rank)[..]).map_err(broken)?;
        Ok(())
    }

    /// Records that a page refers to an address.
    pub fn add_naming(&mut self, hash: u64, page: PageNumber) -> Result<()> {
        self.naming.insert((hash, page), ()).map_err(broken)?;
        Ok(())
    }

    /// Removes the reference of a page to an address.
    pub fn remove_naming(&mut self, hash: u64, page: PageNumber) -> Result<()> {
        self.naming.remove((hash, page)).map_err(broken)?;
        Ok(())
    }

    /// Records the final target of a page.
    pub fn add_ending(&mut self, target: PageNumber, page: PageNumber) -> Result<()> {
        self.ending.insert((target, page), ()).map_err(broken)?;
        Ok(())
    }

    /// Removes the final target of a page.
    pub fn remove_ending(&mut self, target: PageNumber, page: PageNumber) -> Result<()> {
        self.ending.remove((target, page)).map_err(broken)?;
        Ok(())
    }

    /// Adds a content to a group.
    pub fn add_grouped(&mut self, group: u64, slot: Slot) -> Result<()> {
        self.groups.insert((group, slot), ()).map_err(broken)?;
        Ok(())
    }

    /// Removes a content from a group. If the group is then empty, its checks are removed too.
    pub fn remove_grouped(&mut self, group: u64, slot: Slot) -> Result<()> {
        self.groups.remove((group, slot)).map_err(broken)?;
        let is_empty = self.groups.range((group, 0)..=(group, u32::MAX)).map_err(broken)?.next().is_none();
        if is_empty {
            self.checks.remove(group).map_err(broken)?;
        }
        Ok(())
    }

    /// Adds to the number of checks of a group, and of failed ones. Returns the totals.
    pub fn add_checks(&mut self, group: u64, checked: u64, failed: u64) -> Result<(u64, u64)> {
        let before = self.checks.get(group).map_err(broken)?.map_or((0, 0), |checks| checks.value());
        let after = (before.0 + checked, before.1 + failed);
        self.checks.insert(group, after).map_err(broken)?;
        Ok(after)
    }

    /// Removes the checks of a group.
    pub fn clear_checks(&mut self, group: u64) -> Result<()> {
        self.checks.remove(group).map_err(broken)?;
        Ok(())
    }

    /// Adds or removes a witness; the smaller content number comes first.
    pub fn set_witness(&mut self, pair: (Slot, Slot), is_there: bool) -> Result<()> {
        match is_there {
            true => self.witnesses.insert(pair, ()).map(drop),
            false => self.witnesses.remove(pair).map(drop),
        }
        .map_err(broken)
    }

    /// Adds to the bytes in use of a log segment; negative numbers subtract.
    pub fn add_live(&mut self, segment: u32, bytes: i64) -> Result<()> {
        let before = self.live.get(segment).map_err(broken)?.map_or(0, |bytes| bytes.value());
        self.live.insert(segment, before.saturating_add_signed(bytes)).map_err(broken)?;
        Ok(())
    }

    /// Removes a log segment.
    pub fn remove_live(&mut self, segment: u32) -> Result<()> {
        self.live.remove(segment).map_err(broken)?;
        Ok(())
    }
}
