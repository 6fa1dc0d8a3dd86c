//! Adds every page whose status changed to the feed, once, and updates the counts.

use std::collections::BTreeSet;

use onecopy_store::{Heads, Look, PageNumber, PageRow, Slot};

use super::batch::Settler;
use super::links::ENDS_AT_A_PAGE;
use super::rows::TouchedPages;
use crate::error::Result;
use crate::service::status::{Status, StatusFacts, StatusKind, View, name_of};

/// Reports the changed pages, and all pages of `contents` whose status changed.
pub(super) fn tell(
    rows: &mut TouchedPages,
    settler: &Settler,
    contents: &BTreeSet<Slot>,
    heads: &mut Heads,
) -> Result<()> {
    for page in concerned(rows, contents)? {
        let Some(row) = rows.peek(page)? else {
            if let Some(before) = rows.get(page)?.before.clone() {
                gone(rows, &before, heads)?;
            }
            continue;
        };
        let told = row.told;
        let status = View { facts: &*rows, method: settler.method }.status(page, &row)?;
        let bytes = serde_json::to_vec(&status).expect("a status is JSON");
        let now = xxhash_rust::xxh3::xxh3_64(&bytes) & !KIND | code(status.status);
        if now != told {
            count(heads, told, -1);
            count(heads, now, 1);
            heads.feed += 1;
            rows.batch.add_change(heads.feed, &bytes)?;
            rows.set_told(page, row, now)?;
        }
    }
    Ok(())
}

/// The pages whose status may have changed.
fn concerned(rows: &mut TouchedPages, contents: &BTreeSet<Slot>) -> Result<BTreeSet<PageNumber>> {
    let mut pages: BTreeSet<PageNumber> = rows.changed();
    let ends: Vec<PageNumber> = {
        let mut ends = Vec::new();
        for &page in &pages {
            let held = rows.get(page)?;
            let end = |row: &PageRow| (row.end.how == ENDS_AT_A_PAGE).then_some(row.end.page);
            ends.extend(held.before.iter().chain(&held.now).filter_map(end));
        }
        ends
    };
    pages.extend(ends);
    for &slot in contents {
        pages.extend(rows.batch.copies(slot)?);
    }
    let standing: Vec<PageNumber> = pages.iter().copied().collect();
    for page in standing {
        pages.extend(rows.batch.ending(page)?);
    }
    Ok(pages)
}

/// Reports that a page was deleted.
fn gone(rows: &mut TouchedPages, before: &PageRow, heads: &mut Heads) -> Result<()> {
    count(heads, before.told, -1);
    heads.feed += 1;
    let status = Status::bare(name_of(&before.name), StatusKind::Dead);
    rows.batch.add_change(heads.feed, &serde_json::to_vec(&status).expect("a status is JSON"))?;
    Ok(())
}

/// The bits of a reported status that hold its kind.
const KIND: u64 = 7;

/// A status as a number from 1 on.
fn code(status: StatusKind) -> u64 {
    match status {
        StatusKind::Unique => 1,
        StatusKind::Winner => 2,
        StatusKind::Loser => 3,
        StatusKind::Dead => 4,
        StatusKind::Rejected => 5,
        StatusKind::Pending => 6,
    }
}

fn count(heads: &mut Heads, told: u64, change: i64) {
    let place = match told & KIND {
        1 | 2 => 0,
        3 => 1,
        4 => 2,
        5 => 3,
        _ => return,
    };
    heads.counts[place] = heads.counts[place].saturating_add_signed(change);
}

impl StatusFacts for TouchedPages<'_, '_> {
    fn page(&self, page: PageNumber) -> Result<Option<PageRow>> {
        self.peek(page)
    }

    fn content(&self, slot: Slot) -> Result<Option<onecopy_store::ContentRow>> {
        Ok(self.batch.content(slot)?)
    }

    fn group_contents(&self, group: u64, most: usize) -> Result<Vec<Slot>> {
        Ok(self.batch.group_contents(group, most)?)
    }

    fn ending(&self, page: PageNumber) -> Result<Vec<PageNumber>> {
        Ok(self.batch.ending(page)?)
    }
}
