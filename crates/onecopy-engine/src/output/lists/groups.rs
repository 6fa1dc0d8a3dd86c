//! Writes the list of groups. A group may be most of the input, so its line is written piece by piece.

use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use onecopy_core::{Decision, PageId};

use super::cell::{Cell, object};
use super::columns::{GROUP, GROUPS, PLACE};
use super::forms::List;
use super::order::by_name;
use super::{ListTable, Lists, status};
use crate::batch::Grouped;
use crate::error::Result;
use crate::output::names::{Named, Names};
use crate::parallel::{for_each, in_order};
use crate::report::Counts;

/// Some groups that are written together.
struct Unit {
    groups: Range<usize>,
    /// How many pages they have.
    pages: usize,
    /// The number of the first group in the list.
    first: u64,
}

/// Groups with fewer members together are written together, and their names are found once.
const FEW: usize = 1_024;
/// A group with more members is not rendered in memory.
const MANY: usize = 1 << 14;
/// How much of its line is in memory.
const PIECE: usize = 1 << 16;

impl Lists<'_> {
    /// Writes the groups. Returns the group of each page, zero for none, and the list if it is in memory.
    pub(super) fn groups(
        &self,
        mut grouped: Grouped,
        names: &Names,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<(Vec<u32>, ListTable)> {
        let of_page: Vec<AtomicU32> = (0..self.segments.pages()).map(|_| AtomicU32::new(0)).collect();
        let mut out = List::create(folder, "groups", GROUPS, self.outputs)?;
        self.order_pointing(&mut grouped.pages, names)?;
        let units = self.group_units(&grouped, counts);
        // The lines of a unit, unless they are too large.
        let render = |lines: &mut String, unit: usize| {
            lines.clear();
            let Unit { groups, pages, first } = &units[unit];
            for (number, group) in (*first..).zip(self.groups_of(&grouped, groups.clone())) {
                let set = |page: &PageId| of_page[*page as usize].store(number as u32, Ordering::Relaxed);
                group.iter().for_each(set);
                if *pages <= MANY {
                    self.group(number, group, names, lines, &mut |_| Ok(()))?;
                }
            }
            Ok(())
        };
        let take = |lines: &mut String, unit: usize| {
            let Unit { groups, pages, first } = &units[unit];
            out.part(lines)?;
            for (number, group) in (*first..).zip(self.groups_of(&grouped, groups.clone())) {
                if *pages > MANY {
                    lines.clear();
                    self.group(number, group, names, lines, &mut |line| {
                        if line.len() >= PIECE {
                            out.part(line)?;
                            line.clear();
                        }
                        Ok(())
                    })?;
                    out.part(lines)?;
                }
                self.group_rows(number, group, names, &mut out)?;
            }
            Ok(())
        };
        in_order(self.threads, units.len(), String::new, render, take)?;
        self.progress.advance(self.segments.len() as u64);
        Ok((of_page.into_iter().map(AtomicU32::into_inner).collect(), out.finish()?))
    }

    /// Some groups. The base alone is no group.
    fn groups_of<'g>(
        &self,
        grouped: &'g Grouped,
        groups: Range<usize>,
    ) -> impl Iterator<Item = &'g [PageId]> {
        let pages = groups.map(|group| &grouped.pages[grouped.range(group..group + 1)]);
        pages.filter(|pages| !pages.iter().all(|&page| self.decisions.is_base(page)))
    }

    /// Divides all groups into units, and counts them.
    fn group_units(&self, grouped: &Grouped, counts: &mut Counts) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for number in 0..grouped.len() {
            let pages = grouped.range(number..number + 1).len();
            match units.last_mut().filter(|unit| unit.pages + pages <= FEW) {
                Some(unit) => (unit.groups.end, unit.pages) = (number + 1, unit.pages + pages),
                None => {
                    units.push(Unit { groups: number..number + 1, pages, first: counts.groups + 1 });
                }
            }
            self.groups_of(grouped, number..number + 1).for_each(|group| counts.group(group.len() as u64));
        }
        units
    }

    /// Orders redirects and revisits to one content by name and place. They have the same rank, and their order must not
    /// depend on that of the input.
    fn order_pointing(&self, pages: &mut [PageId], names: &Names) -> Result<()> {
        // Each content has another page in front of these.
        let runs =
            pages.chunk_by_mut(|&a, &b| self.decisions.is_pointing(a) && self.decisions.is_pointing(b));
        let runs: Vec<_> = runs.filter(|run| run.len() > 1).map(Mutex::new).collect();
        let memory = self.memory / self.threads as u64;
        for_each(
            self.threads,
            runs.len(),
            || (),
            |(), run| by_name(&mut runs[run].lock().expect("each is sorted once"), names, memory),
        )
    }

    /// Appends the line of the group with this number to `line`, which `flush` may empty after each page. The pages are given
    /// best first.
    fn group(
        &self,
        number: u64,
        pages: &[PageId],
        names: &Names,
        line: &mut String,
        flush: &mut Flush,
    ) -> Result<()> {
        let known = if pages.len() > FEW { &[] } else { pages };
        let known: Vec<Named> = known.iter().map(|&page| names.of(page)).collect::<Result<_>>()?;
        // Finding a name takes longer than writing it, and each is written several times.
        let named = |at: usize, write: &mut dyn FnMut(&Named)| {
            match known.get(at) {
                Some(page) => write(page),
                None => write(&names.of(pages[at])?),
            }
            Ok(())
        };
        named(0, &mut |winner| {
            let [source, at, record, row] = winner.place.cells();
            let cells = [Cell::Number(number), Cell::Name(&winner.name), source, at, record, row];
            object(GROUP.into_iter(), &cells, line);
        })?;
        // The arrays follow in the same object.
        line.pop();
        let name = |at: usize, line: &mut String| named(at, &mut |page| line.push_str(&page.name));
        let is_kept = |at: &usize| self.status(pages[*at]) == status(&Decision::Kept);
        array("kept", (0..pages.len()).filter(is_kept), line, flush, name)?;
        array("members", 0..pages.len(), line, flush, name)?;
        array("places", 0..pages.len(), line, flush, |at, line| {
            let status = Cell::Text(self.status(pages[at]));
            named(at, &mut |page| {
                let [source, line_number, record, row] = page.place.cells();
                object(PLACE.into_iter(), &[source, line_number, record, row, status], line);
            })
        })?;
        line.push_str("}\n");
        Ok(())
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

/// Receives a line as it grows.
type Flush<'a> = dyn FnMut(&mut String) -> Result<()> + 'a;

/// Appends a field of an object: an array with what `write` makes of each page, which is given by its place in the group.
fn array(
    name: &str,
    places: impl Iterator<Item = usize>,
    line: &mut String,
    flush: &mut Flush,
    write: impl Fn(usize, &mut String) -> Result<()>,
) -> Result<()> {
    line.extend([",\"", name, "\":["]);
    for (i, place) in places.enumerate() {
        line.push_str(if i > 0 { "," } else { "" });
        write(place, line)?;
        flush(line)?;
    }
    line.push(']');
    Ok(())
}
