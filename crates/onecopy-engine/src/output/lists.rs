//! Writes the lists of removed pages, groups, all pages and rejected records, and counts their contents.

mod cell;
mod columns;
mod forms;
mod groups;
mod order;
mod returned;
mod rows;
mod table;

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use onecopy_core::{Content, Decision, Kind, Language, LinkKind, PageId, shown};

use super::names::{Named, Names};
use super::place::{Place, Position};
use super::reasons::ReasonTally;
use crate::batch::{Decisions, Grouped, Link, Row, Segment, Segments, facts};
use crate::error::{At, Result};
use crate::ingest::{Class, Format, Inputs, Reason};
use crate::job::Outputs;
use crate::progress::Progress;
use crate::report::Counts;
use columns::{PAGES, REJECTED, REMOVED};
use forms::{List, NameList};
use rows::RowSink;

pub(super) use cell::{Cell, Column, ColumnKind, object};
pub use returned::{ListTable, ListTables, ListValues};
pub(super) use table::Table;

/// The input of the lists.
pub(crate) struct Lists<'a> {
    pub segments: &'a Segments,
    pub inputs: &'a Inputs,
    pub decisions: &'a Decisions,
    pub threshold: f64,
    /// Which text of HTML pages is compared.
    pub content: Content,
    /// Whether the sketches of HTML pages have parts.
    pub has_parts: bool,
    /// The memory limit for names, in bytes.
    pub memory: u64,
    pub threads: usize,
    pub outputs: Outputs,
    /// Counts segments, each [`LIST_PASSES`] times.
    pub progress: &'a dyn Progress,
}

/// How many times [`Lists::write`] goes through the segments.
pub(crate) const LIST_PASSES: u64 = 4;

impl Lists<'_> {
    /// Writes all lists into `folder`, or returns them. Returns their counts, too.
    pub(crate) fn write(&self, folder: &Path) -> Result<(Counts, ListTables)> {
        let (names, grouped) = self.named_groups()?;
        let mut counts = Counts::default();
        let removed = self.removed(&names, folder, &mut counts)?;
        let (of_page, groups) = self.groups(grouped, &names, folder, &mut counts)?;
        let rejected = self.rejected(&names, folder, &mut counts)?;
        let pages = self.pages(&names, folder, &of_page)?;
        Ok((counts, ListTables { removed, groups, pages, rejected }))
    }

    /// Writes the list of rejected records into `folder`, and counts them.
    pub(crate) fn write_rejected(&self, folder: &Path) -> Result<Counts> {
        let names = Names::new(self.segments, &self.inputs.sources);
        let mut counts = Counts::default();
        self.rejected(&names, folder, &mut counts)?;
        Ok(counts)
    }

    /// Writes the lists of a market into `folder`: its winners and its removed pages.
    pub(crate) fn write_market(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).at("create", folder)?;
        let (names, grouped) = self.named_groups()?;
        self.removed(&names, folder, &mut Counts::default())?;
        self.groups(grouped, &names, folder, &mut Counts::default())?;
        Ok(())
    }

    /// The groups, and names of pages. Those of groups are kept in memory: each winner and each member of a group is named.
    fn named_groups(&self) -> Result<(Names<'_>, Grouped)> {
        let mut names = Names::new(self.segments, &self.inputs.sources);
        let grouped = self.decisions.grouped();
        names.keep(&grouped.pages, self.memory, self.threads)?;
        Ok((names, grouped))
    }

    /// Whether only the main content of a page may have been compared.
    fn compares_main(&self, row: &Row) -> bool {
        match (self.content, self.has_parts) {
            (Content::All, _) => false,
            (_, true) => row.own,
            // Without parts, nothing says which records are HTML.
            (_, false) => {
                let format = self.inputs.sources[row.source as usize].format;
                matches!(format, Format::Html(_) | Format::Records(_))
            }
        }
    }

    fn removed(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<ListTable> {
        let out = List::create(folder, "removed", REMOVED, self.outputs)?;
        let texts = NameList::create(folder, "removed", self.outputs)?;
        self.write_rows(out, texts, counts, &|segment, counts, sink| {
            self.removed_of(segment, names, counts, sink)
        })
    }

    /// The removed pages of a segment. Counts its kept pages, too.
    fn removed_of(
        &self,
        number: usize,
        names: &Names,
        counts: &mut Counts,
        sink: &mut RowSink,
    ) -> Result<()> {
        let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
        for (i, row) in segment.rows.iter().enumerate() {
            let page = first + i as PageId;
            let decision = self.decisions.of(page);
            let Decision::Removed { winner, similarity, kind } = decision else {
                let is_kept = decision == Decision::Kept && !self.decisions.is_base(page);
                counts.kept += u64::from(is_kept);
                continue;
            };
            let winner = names.of(winner)?;
            let kind = kind.between(row.identity, winner.identity);
            counts.remove(kind, similarity);
            counts.main_content |= kind == Kind::Exact && self.compares_main(row);
            let page = names.named(number, row, segment.name(i));
            let [source, line, record, place_row] = page.place.cells();
            let [winner_source, winner_line, winner_record, winner_row] = winner.place.cells();
            let cells = [
                Cell::Name(&page.name),
                source,
                line,
                record,
                place_row,
                Cell::Name(&winner.name),
                winner_source,
                winner_line,
                winner_record,
                winner_row,
                Cell::Real(shown(similarity, self.threshold)),
                Cell::Text(kind.as_str()),
            ];
            sink(&cells, Some(&page.name))?;
        }
        Ok(())
    }

    /// Writes all compared pages, with their places, properties and groups.
    fn pages(&self, names: &Names, folder: &Path, groups: &[u32]) -> Result<ListTable> {
        let out = List::create(folder, "pages", PAGES, self.outputs)?;
        let texts = NameList::create(folder, "kept", self.outputs)?;
        self.write_rows(out, texts, &mut Counts::default(), &|segment, _, sink| {
            self.pages_of(segment, names, groups, sink)
        })
    }

    /// The compared pages of a segment.
    fn pages_of(&self, number: usize, names: &Names, groups: &[u32], sink: &mut RowSink) -> Result<()> {
        let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
        for (i, row) in segment.rows.iter().enumerate() {
            let page = first + i as PageId;
            let decision = self.decisions.of(page);
            if decision == Decision::Rejected || self.decisions.is_base(page) {
                continue;
            }
            let Named { name, place, .. } = names.named(number, row, segment.name(i));
            let [source, line, record, place_row] = place.cells();
            let url = match facts::read(segment.facts(i)).url {
                "" if row.identity == 0 => Cell::Absent,
                // Its name is its URL.
                "" => Cell::Name(&name),
                url => Cell::Text(url),
            };
            let language = Language::from_u8(row.language).map(|language| language.code());
            let group = u64::from(groups[page as usize]);
            let cells = [
                Cell::Name(&name),
                source,
                line,
                record,
                place_row,
                Cell::Text(status(&decision)),
                url,
                language.map_or(Cell::Absent, Cell::Text),
                if group > 0 { Cell::Number(group) } else { Cell::Absent },
            ];
            sink(&cells, (decision == Decision::Kept).then_some(&*name))?;
        }
        Ok(())
    }

    fn rejected(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<ListTable> {
        let mut out = List::create(folder, "rejected", REJECTED, self.outputs)?;
        let mut tally = ReasonTally::default();
        let mut add = |name: &str, place: Place, reason: &Reason, format: Option<Format>| {
            tally.add(reason.class, format);
            let [source, line, record, row] = place.cells();
            let page = if name.is_empty() { Cell::Absent } else { Cell::Name(name) };
            out.row(&[page, source, line, record, row, Cell::Text(&reason.text)])
        };
        for (source, reason) in self.inputs.unread() {
            add("", Place { source, at: Position::Whole }, &reason, None)?;
        }
        for number in 0..self.segments.len() {
            self.progress.advance(1);
            if !self.segments.has_links_or_rejections(number) {
                continue;
            }
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            if self.is_base(&segment) {
                continue;
            }
            // In input order, independent of where chunks were cut.
            let mut reasons: Vec<(u32, u32, Cow<str>, &Reason)> = segment
                .rejected
                .iter()
                .map(|it| (it.source, it.line, it.name.as_str().into(), &it.reason))
                .collect();
            let nowhere = self.nowhere(&segment, first);
            reasons.extend(nowhere.iter().map(|(i, reason)| {
                let row = &segment.rows[*i];
                (row.source, row.line, names.named(number, row, segment.name(*i)).name, reason)
            }));
            reasons.sort_by_key(|&(source, line, ..)| (source, line));
            for (source, line, name, reason) in reasons {
                let format = self.inputs.sources[source as usize].format;
                add(&name, names.place(number, source, line), reason, Some(format))?;
            }
        }
        (counts.rejected, counts.reasons) = tally.finish();
        out.finish()
    }

    /// Whether a segment is of the base.
    fn is_base(&self, segment: &Segment) -> bool {
        let sources = segment.rows.iter().map(|row| row.source);
        let mut sources = sources.chain(segment.rejected.iter().map(|rejection| rejection.source));
        sources.next().is_some_and(|source| (source as usize) < self.inputs.base)
    }

    /// The word for the decision about a page.
    fn status(&self, page: PageId) -> &'static str {
        if self.decisions.is_base(page) { "base" } else { status(&self.decisions.of(page)) }
    }

    /// The pages of a segment that only refer to another page and lead nowhere, with the reason for each. If a page has
    /// several links, one reason suffices.
    fn nowhere(&self, segment: &Segment, first: PageId) -> Vec<(usize, Reason)> {
        let links = segment.links.chunk_by(|a, b| a.row == b.row);
        let reason = |link: &Link| Some((link.row as usize, self.reason(first + link.row, link)?));
        let found = links.filter_map(|links| links.iter().find_map(reason));
        found.collect()
    }

    /// Why a page with this link could not be compared; `None` if it could.
    fn reason(&self, page: PageId, link: &Link) -> Option<Reason> {
        let end = self.decisions.end(page).filter(|_| link.kind != LinkKind::Canonical)?;
        Some(Reason::new(Class::Nowhere, end.objection(&link.to)?))
    }
}

/// The word for a decision in the lists.
fn status(decision: &Decision) -> &'static str {
    match decision {
        Decision::Kept => "kept",
        Decision::Removed { .. } => "removed",
        Decision::Rejected => "rejected",
    }
}
