//! Lists groups and shows single ones.

use std::collections::BinaryHeap;
use std::ops::{Bound, RangeBounds};

use onecopy_store::{Look, PageNumber, PageRow, Slot, Snapshot};

use crate::error::{Error, Result};
use crate::service::collection::Collection;
use crate::service::cursor::PageCursor;
use crate::service::status::{GroupLine, GroupView, Status, View, name_of};

/// Selects the groups to list.
pub(in crate::service) struct GroupFilter<'a> {
    pub least: u64,
    pub search: Option<&'a str>,
}

pub(in crate::service) fn list(
    collection: &Collection,
    after: u64,
    limit: usize,
    filter: &GroupFilter,
) -> Result<Vec<GroupLine>> {
    let snapshot = collection.snapshot();
    let (mut lines, mut current): (Vec<GroupLine>, (u64, Vec<Slot>)) = (Vec::new(), (0, Vec::new()));
    for entry in snapshot.grouped(after.saturating_add(1))? {
        let (group, slot) = entry?;
        if group != current.0 {
            let (before, slots) = std::mem::replace(&mut current, (group, Vec::new()));
            lines.extend(line(&snapshot, before, &slots, filter)?);
            if lines.len() >= limit {
                return Ok(lines);
            }
        }
        current.1.push(slot);
    }
    lines.extend(line(&snapshot, current.0, &current.1, filter)?);
    lines.truncate(limit);
    Ok(lines)
}

/// The list entry of a group, if it passes the filter.
fn line(snapshot: &Snapshot, group: u64, slots: &[Slot], filter: &GroupFilter) -> Result<Option<GroupLine>> {
    let (mut pages, mut kept, mut best) = (0, 0, None);
    for slot in slots {
        let Some(row) = Look::content(snapshot, *slot)? else { continue };
        pages += u64::from(row.pages);
        kept += u64::from(row.winner == *slot);
        best = [best, Some((row.rank, row.best))].into_iter().flatten().min();
    }
    if pages < filter.least.max(2) {
        return Ok(None);
    }
    if let Some(search) = filter.search {
        let mut is_found = false;
        for (_, row) in members(snapshot, slots)? {
            is_found |= row.name.contains(search);
        }
        if !is_found {
            return Ok(None);
        }
    }
    let winner = best.map(|(_, page)| Look::page(snapshot, page)).transpose()?.flatten();
    let (checked, failed) = snapshot.checks(group)?;
    Ok(winner.map(|row| GroupLine { group, winner: name_of(&row.name), pages, kept, checked, failed }))
}

/// The pages of contents, best first as in `groups.jsonl`. After the pages of a content come those that redirect to them,
/// by name.
fn members(snapshot: &Snapshot, slots: &[Slot]) -> Result<Vec<(PageNumber, PageRow)>> {
    let mut contents = Vec::new();
    for &slot in slots {
        contents.extend(Look::content(snapshot, slot)?.map(|row| (row.rank, row.best, slot)));
    }
    contents.sort_unstable();
    let (mut pages, mut pointing) = (Vec::new(), Vec::new());
    let with_row = |page| Ok::<_, Error>(Look::page(snapshot, page)?.map(|row| (page, row)));
    for (_, _, slot) in contents {
        for page in snapshot.copies(slot)? {
            pages.extend(with_row(page)?);
            for page in Look::ending(snapshot, page)? {
                pointing.extend(with_row(page)?);
            }
        }
        pointing.sort_by(|a, b| a.1.name.cmp(&b.1.name));
        pages.append(&mut pointing);
    }
    Ok(pages)
}

pub(in crate::service) fn view(collection: &Collection, group: u64) -> Result<Option<GroupView>> {
    let snapshot = collection.snapshot();
    let slots = Look::group_contents(&*snapshot, group, usize::MAX)?;
    let all = GroupFilter { least: 2, search: None };
    let Some(line) = line(&snapshot, group, &slots, &all)? else { return Ok(None) };
    Ok(Some(GroupView { line, members: statuses(collection, &snapshot, group)?, next: None }))
}

/// A group and at most `limit` of its pages after a cursor, by name. The order of ranks is no order to continue in: it
/// changes with the pages.
pub(in crate::service) fn page(
    collection: &Collection,
    group: u64,
    after: Option<&PageCursor>,
    limit: usize,
) -> Result<Option<GroupView>> {
    let snapshot = collection.snapshot();
    let slots = Look::group_contents(&*snapshot, group, usize::MAX)?;
    let all = GroupFilter { least: 2, search: None };
    let Some(line) = line(&snapshot, group, &slots, &all)? else { return Ok(None) };
    let from = after.map_or(Bound::Unbounded, |cursor| Bound::Excluded(&*cursor.0));
    let mut names = names(&snapshot, group, from, limit.saturating_add(1))?;
    let has_more = names.len() > limit;
    names.truncate(limit);
    let view = View { facts: &*snapshot, method: collection.method() };
    let mut members = Vec::new();
    for &(_, page) in &names {
        let row = Look::page(&*snapshot, page)?;
        members.extend(row.map(|row| view.status(page, &row)).transpose()?);
    }
    let next = names.pop().filter(|_| has_more).map(|(name, _)| PageCursor(name));
    Ok(Some(GroupView { line, members, next }))
}

/// The first pages of a group from a name on, by name; at most so many.
pub(in crate::service) fn names(
    snapshot: &Snapshot,
    group: u64,
    from: Bound<&str>,
    most: usize,
) -> Result<Vec<(String, PageNumber)>> {
    let range: (Bound<&str>, Bound<&str>) = (from, Bound::Unbounded);
    let mut first: BinaryHeap<(String, PageNumber)> = BinaryHeap::new();
    let mut add = |page: PageNumber| -> Result<()> {
        let Some(row) = Look::page(snapshot, page)? else { return Ok(()) };
        if RangeBounds::<str>::contains(&range, &*row.name) {
            first.push((row.name, page));
        }
        if first.len() > most {
            first.pop();
        }
        Ok(())
    };
    for slot in Look::group_contents(snapshot, group, usize::MAX)? {
        for page in snapshot.copies(slot)? {
            add(page)?;
            Look::ending(snapshot, page)?.into_iter().try_for_each(&mut add)?;
        }
    }
    Ok(first.into_sorted_vec())
}

/// The statuses of the pages of a group, best first.
pub(super) fn statuses(collection: &Collection, snapshot: &Snapshot, group: u64) -> Result<Vec<Status>> {
    let slots = Look::group_contents(snapshot, group, usize::MAX)?;
    let view = View { facts: snapshot, method: collection.method() };
    members(snapshot, &slots)?.iter().map(|(page, row)| view.status(*page, row)).collect()
}
