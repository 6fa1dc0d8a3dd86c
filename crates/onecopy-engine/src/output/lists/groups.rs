//! Writes the list of groups. A group may be most of the input, so its line is written piece by piece.

use std::path::Path;

use onecopy_core::{Decision, PageId};

use super::cell::{Cell, object};
use super::columns::{GROUP, GROUPS, PLACE};
use super::forms::List;
use super::order::by_name;
use super::{ListTable, Lists, status};
use crate::batch::Member;
use crate::error::Result;
use crate::output::names::{Named, Names};
use crate::report::Counts;

impl Lists<'_> {
    /// Writes the groups. Returns the group of each page, zero for none, and the list if it is in memory.
    pub(super) fn groups(
        &self,
        names: &Names,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<(Vec<u32>, ListTable)> {
        let mut of_page = vec![0; self.segments.pages()];
        let mut out = List::create(folder, "groups", GROUPS, self.outputs)?;
        for group in self.decisions.grouped().chunk_by(|a, b| a.group == b.group) {
            // The base alone is no result.
            if group.iter().all(|member| self.decisions.is_base(member.page)) {
                continue;
            }
            counts.group(group.len() as u64);
            let pages = ordered(group, names, self.memory)?;
            for &page in &pages {
                of_page[page as usize] = counts.groups as u32;
            }
            self.group(counts.groups, &pages, names, &mut out)?;
        }
        self.progress.advance(self.segments.len() as u64);
        Ok((of_page, out.finish()?))
    }

    /// Writes the group with this number. Its pages are given best first.
    fn group(&self, number: u64, pages: &[PageId], names: &Names, out: &mut List) -> Result<()> {
        let winner = names.of(pages[0])?;
        let [source, line, record, row] = winner.place.cells();
        let mut head = String::new();
        let cells = [Cell::Number(number), Cell::Name(&winner.name), source, line, record, row];
        object(GROUP.into_iter(), &cells, &mut head);
        // The arrays follow in the same object.
        head.pop();
        out.part(&head)?;
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
        out.line("}")?;
        if out.has_table() {
            for &page in pages {
                let Named { name, place, .. } = names.of(page)?;
                let [source, line, record, row] = place.cells();
                let (number, name) = (Cell::Number(number), Cell::Name(&name));
                let status = Cell::Text(self.status(page));
                out.table_row(&[number, name, source, line, record, row, status])?;
            }
        }
        Ok(())
    }
}

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
    out: &mut List,
    write: impl Fn(PageId, &mut String) -> Result<()>,
) -> Result<()> {
    out.part(&format!(",\"{name}\":["))?;
    let mut text = String::new();
    for (i, page) in pages.enumerate() {
        text.clear();
        text.push_str(if i > 0 { "," } else { "" });
        write(page, &mut text)?;
        out.part(&text)?;
    }
    out.part("]")
}
