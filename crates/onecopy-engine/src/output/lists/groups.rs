//! Writes the list of groups. A group may be most of the input, so its line is written piece by piece.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use onecopy_core::{Decision, PageId};

use super::cell::{Cell, object};
use super::columns::{GROUP, GROUPS, PLACE};
use super::forms::List;
use super::order::by_name;
use super::{ListTable, Lists, status};
use crate::batch::Member;
use crate::error::Result;
use crate::output::names::{Named, Names};
use crate::parallel::in_order;
use crate::report::Counts;

/// Some groups that are written together.
struct Unit {
    /// The range of their members.
    members: Range<usize>,
    /// The number of the first group.
    first: u64,
}

/// Groups with fewer members together are written together.
const FEW: usize = 1_024;
/// A group with more members is not rendered in memory.
const MANY: usize = 1 << 14;

/// The groups of a unit.
#[derive(Default)]
struct Rendered {
    /// The lines of the groups, unless they are too large.
    lines: String,
    /// The pages of all groups, those of each best first.
    pages: Vec<PageId>,
}

impl Lists<'_> {
    /// Writes the groups. Returns the group of each page, zero for none, and the list if it is in memory.
    pub(super) fn groups(
        &self,
        names: &Names,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<(Vec<u32>, ListTable)> {
        let of_page: Vec<AtomicU32> = (0..self.segments.pages()).map(|_| AtomicU32::new(0)).collect();
        let mut out = List::create(folder, "groups", GROUPS, self.outputs)?;
        let members = self.decisions.grouped();
        let units = self.group_units(&members, counts);
        let render = |rendered: &mut Rendered, unit: usize| {
            let Unit { members: range, first } = &units[unit];
            rendered.pages.clear();
            rendered.lines.clear();
            for (number, group) in (*first..).zip(self.groups_of(&members[range.clone()])) {
                let pages = ordered(group, names, self.memory / self.threads as u64)?;
                let set = |page: &PageId| of_page[*page as usize].store(number as u32, Ordering::Relaxed);
                pages.iter().for_each(set);
                if range.len() <= MANY {
                    let lines = &mut rendered.lines;
                    self.group(number, &pages, names, &mut |text| {
                        lines.push_str(text);
                        Ok(())
                    })?;
                }
                rendered.pages.extend(pages);
            }
            Ok(())
        };
        let take = |rendered: &mut Rendered, unit: usize| {
            let Unit { members: range, first } = &units[unit];
            out.part(&rendered.lines)?;
            let mut pages = &rendered.pages[..];
            for (number, group) in (*first..).zip(self.groups_of(&members[range.clone()])) {
                let (own, behind) = pages.split_at(group.len());
                if range.len() > MANY {
                    self.group(number, own, names, &mut |text| out.part(text))?;
                }
                self.group_rows(number, own, names, &mut out)?;
                pages = behind;
            }
            Ok(())
        };
        in_order(self.threads, units.len(), Rendered::default, render, take)?;
        self.progress.advance(self.segments.len() as u64);
        Ok((of_page.into_iter().map(AtomicU32::into_inner).collect(), out.finish()?))
    }

    /// The groups of some members. The base alone is no group.
    fn groups_of<'m>(&self, members: &'m [Member]) -> impl Iterator<Item = &'m [Member]> {
        let groups = members.chunk_by(|a, b| a.group == b.group);
        groups.filter(|group| !group.iter().all(|member| self.decisions.is_base(member.page)))
    }

    /// Divides all groups into units, and counts them.
    fn group_units(&self, members: &[Member], counts: &mut Counts) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        let mut start = 0;
        for group in members.chunk_by(|a, b| a.group == b.group) {
            let end = start + group.len();
            match units.last_mut().filter(|unit| end - unit.members.start <= FEW) {
                Some(unit) => unit.members.end = end,
                None => units.push(Unit { members: start..end, first: counts.groups + 1 }),
            }
            self.groups_of(group).for_each(|group| counts.group(group.len() as u64));
            start = end;
        }
        units
    }

    /// Writes the line of the group with this number. Its pages are given best first.
    fn group(&self, number: u64, pages: &[PageId], names: &Names, out: &mut Out) -> Result<()> {
        let winner = names.of(pages[0])?;
        let [source, line, record, row] = winner.place.cells();
        let mut head = String::new();
        let cells = [Cell::Number(number), Cell::Name(&winner.name), source, line, record, row];
        object(GROUP.into_iter(), &cells, &mut head);
        // The arrays follow in the same object.
        head.pop();
        out(&head)?;
        let name = |page: PageId, text: &mut String| {
            text.push_str(&names.of(page)?.name);
            Ok(())
        };
        let is_kept = |page: &PageId| self.status(*page) == status(&Decision::Kept);
        array("kept", pages.iter().copied().filter(is_kept), out, name)?;
        array("members", pages.iter().copied(), out, name)?;
        array("places", pages.iter().copied(), out, |page, text| {
            let [source, line, record, row] = names.of(page)?.place.cells();
            let status = Cell::Text(self.status(page));
            object(PLACE.into_iter(), &[source, line, record, row, status], text);
            Ok(())
        })?;
        out("}\n")
    }

    /// Adds the pages of a group to the table, if there is one.
    fn group_rows(&self, number: u64, pages: &[PageId], names: &Names, out: &mut List) -> Result<()> {
        if !out.has_table() {
            return Ok(());
        }
        for &page in pages {
            let Named { name, place, .. } = names.of(page)?;
            let [source, line, record, row] = place.cells();
            let (number, name) = (Cell::Number(number), Cell::Name(&name));
            let status = Cell::Text(self.status(page));
            out.table_row(&[number, name, source, line, record, row, status])?;
        }
        Ok(())
    }
}

/// Receives the pieces of a line.
type Out<'a> = dyn FnMut(&str) -> Result<()> + 'a;

/// The pages of a group, best first. Redirects to one content have the same rank: their order is by name and place,
/// because it must not depend on the input order. Names in memory take up to `memory` bytes.
fn ordered(group: &[Member], names: &Names, memory: u64) -> Result<Vec<PageId>> {
    let mut pages: Vec<PageId> = group.iter().map(|member| member.page).collect();
    let mut start = 0;
    for same in group.chunk_by(|a, b| (a.content, a.place) == (b.content, b.place)) {
        let end = start + same.len();
        if same.len() > 1 {
            by_name(&mut pages[start..end], names, memory)?;
        }
        start = end;
    }
    Ok(pages)
}

/// Writes a field of an object: an array with what `write` makes of each page.
fn array(
    name: &str,
    pages: impl Iterator<Item = PageId>,
    out: &mut Out,
    write: impl Fn(PageId, &mut String) -> Result<()>,
) -> Result<()> {
    out(&format!(",\"{name}\":["))?;
    let mut text = String::new();
    for (i, page) in pages.enumerate() {
        text.clear();
        text.push_str(if i > 0 { "," } else { "" });
        write(page, &mut text)?;
        out(&text)?;
    }
    out("]")
}
