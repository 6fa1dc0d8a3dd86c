//! Adds every page whose status changed to the feed, once, and updates the counts.

use std::collections::BTreeSet;

use onecopy_store::{FeedSubject, Heads, Look, PageNumber, PageRow, Slot};

use super::batch::Settler;
use super::links::ENDS_AT_A_PAGE;
use super::rows::TouchedPages;
use crate::error::Result;
use crate::service::status::{Regrouped, Status, StatusFacts, StatusKind, View, name_of};

/// The pages to look at, and the contents whose pages may have another status.
#[derive(Default)]
pub(super) struct Retold {
    /// Those that are told even if they are as before.
    pub pages: BTreeSet<PageNumber>,
    pub contents: BTreeSet<Slot>,
    /// Those whose pages have another winner, another similarity to it, or another group.
    pub rewon: BTreeSet<Slot>,
}

/// Reports the changed pages, and all pages of contents whose status changed. Pages that only have another winner or
/// group are reported once for their group: a group may have a hundred thousand of them.
pub(super) fn tell(
    rows: &mut TouchedPages,
    settler: &Settler,
    retold: &Retold,
    heads: &mut Heads,
) -> Result<()> {
    let (mut regrouped, changed) = (BTreeSet::new(), rows.changed());
    for page in concerned(rows, retold)? {
        let Some(row) = rows.peek(page)? else {
            if let Some(before) = rows.get(page)?.before.clone() {
                gone(rows, page, &before, heads)?;
            }
            continue;
        };
        let told = row.told;
        let status = View { facts: &*rows, method: settler.method }.status(page, &row)?;
        let now = seal(&status);
        // A loser that is another page now is told, whatever its group knows. So is one that leads to such a page.
        let leads_to_other = row.end.how == ENDS_AT_A_PAGE && changed.contains(&row.end.page);
        let is_other = status.status == StatusKind::Loser && (changed.contains(&page) || leads_to_other);
        // Who copies tags has to know of every new text.
        let is_retagged = settler.has_tags && changed.contains(&page);
        if now != told || is_other || is_retagged || retold.pages.contains(&page) {
            count(heads, told, -1);
            count(heads, now, 1);
            heads.feed += 1;
            let bytes = serde_json::to_vec(&status).expect("a status is JSON");
            rows.batch.add_change(heads.feed, FeedSubject::Page(page), &bytes)?;
            rows.set_told(page, row, now)?;
        } else if retold.rewon.contains(&content_of(rows, &row)?) {
            regrouped.extend(status.group);
        }
    }
    for group in regrouped {
        heads.feed += 1;
        let change = serde_json::to_vec(&Regrouped::new(group)).expect("a change is JSON");
        rows.batch.add_change(heads.feed, FeedSubject::Group(group), &change)?;
    }
    Ok(())
}

/// The content that decides about a page: its own, or that of the page where it leads.
fn content_of(rows: &TouchedPages, row: &PageRow) -> Result<Slot> {
    let target = (row.end.how == ENDS_AT_A_PAGE).then(|| rows.peek(row.end.page)).transpose()?.flatten();
    Ok(target.map_or(row.content, |target| target.content).unwrap_or(Slot::MAX))
}

/// The status that the feed gave a page, as a number: its status, and why it cannot be judged.
fn seal(status: &Status) -> u64 {
    let reason = status.reason.as_deref().unwrap_or_default();
    xxhash_rust::xxh3::xxh3_64(reason.as_bytes()) & !KIND | code(status.status)
}

/// The pages whose status may have changed.
fn concerned(rows: &mut TouchedPages, retold: &Retold) -> Result<BTreeSet<PageNumber>> {
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
    pages.extend(&retold.pages);
    for &slot in &retold.contents {
        pages.extend(rows.batch.copies(slot)?);
    }
    let standing: Vec<PageNumber> = pages.iter().copied().collect();
    for page in standing {
        pages.extend(rows.batch.ending(page)?);
    }
    Ok(pages)
}

/// Reports that a page was deleted.
fn gone(rows: &mut TouchedPages, page: PageNumber, before: &PageRow, heads: &mut Heads) -> Result<()> {
    count(heads, before.told, -1);
    heads.feed += 1;
    let status = Status::bare(name_of(&before.name), StatusKind::Dead);
    let bytes = serde_json::to_vec(&status).expect("a status is JSON");
    rows.batch.add_change(heads.feed, FeedSubject::Deleted(page), &bytes)?;
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
