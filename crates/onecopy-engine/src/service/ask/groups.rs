//! Lists groups and shows single ones.

use onecopy_store::{Look, PageNumber, Slot, Snapshot};

use crate::error::Result;
use crate::service::collection::Collection;
use crate::service::status::{GroupLine, GroupView, Status, StatusKind, View, name_of};

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
        for page in members(snapshot, slots)? {
            is_found |= Look::page(snapshot, page)?.is_some_and(|row| row.name.contains(search));
        }
        if !is_found {
            return Ok(None);
        }
    }
    let winner = best.map(|(_, page)| Look::page(snapshot, page)).transpose()?.flatten();
    let (checked, failed) = snapshot.checks(group)?;
    Ok(winner.map(|row| GroupLine { group, winner: name_of(&row.name), pages, kept, checked, failed }))
}

/// The pages of contents, and the pages that redirect to them.
fn members(snapshot: &Snapshot, slots: &[Slot]) -> Result<Vec<PageNumber>> {
    let mut pages = Vec::new();
    for &slot in slots {
        for page in snapshot.copies(slot)? {
            pages.push(page);
            pages.extend(Look::ending(snapshot, page)?);
        }
    }
    Ok(pages)
}

pub(in crate::service) fn view(collection: &Collection, group: u64) -> Result<Option<GroupView>> {
    let snapshot = collection.snapshot();
    let slots = Look::group_contents(&*snapshot, group, usize::MAX)?;
    let all = GroupFilter { least: 2, search: None };
    let Some(line) = line(&snapshot, group, &slots, &all)? else { return Ok(None) };
    let view = View { facts: &*snapshot, method: collection.method() };
    let mut found: Vec<Status> = Vec::new();
    for page in members(&snapshot, &slots)? {
        if let Some(row) = Look::page(&*snapshot, page)? {
            found.push(view.status(page, &row)?);
        }
    }
    // The order: the winner, then other kept pages, then losers. Each kind is sorted by name.
    let place = |status: &Status| {
        let goes = status.status == StatusKind::Loser;
        (status.page.get() != line.winner.get(), goes, status.page.get().to_owned())
    };
    found.sort_by_cached_key(place);
    Ok(Some(GroupView { line, members: found }))
}
