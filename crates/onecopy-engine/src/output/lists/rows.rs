//! Renders the rows of a list on all threads, and writes them in the order of the input.

use std::ops::Range;

use super::cell::Cell;
use super::forms::{List, NameList};
use super::{ListTable, Lists};
use crate::error::Result;
use crate::parallel::in_order;
use crate::report::Counts;

/// Receives the rows of a segment: the cells, and the page's name if the list of names has it.
pub(super) type RowSink<'a> = dyn FnMut(&[Cell], Option<&str>) -> Result<()> + 'a;

/// Calls the sink with each row of a segment, and counts what it finds.
pub(super) type SegmentRows<'a> = dyn Fn(usize, &mut Counts, &mut RowSink) -> Result<()> + Sync + 'a;

/// The rows of some segments, as text.
#[derive(Default)]
struct Rendered {
    lines: String,
    names: String,
    counts: Counts,
}

/// Segments with fewer rows are rendered together.
const FEW: u32 = 1_024;

impl Lists<'_> {
    /// Writes a list with the rows of all segments.
    pub(super) fn write_rows(
        &self,
        mut out: List,
        mut texts: NameList,
        counts: &mut Counts,
        rows: &SegmentRows,
    ) -> Result<ListTable> {
        let (units, line, has_table) = (self.units(), out.renderer(), out.has_table());
        let named = texts.is_wanted();
        let render = |rendered: &mut Rendered, unit: usize| {
            let Rendered { lines, names, counts } = rendered;
            units[unit].clone().try_for_each(|segment| {
                rows(segment, counts, &mut |cells, name| {
                    line.render(cells, lines);
                    name.filter(|_| named).into_iter().for_each(|name| NameList::render(name, names));
                    Ok(())
                })
            })
        };
        let take = |rendered: &mut Rendered, unit: usize| {
            out.part(&rendered.lines)?;
            texts.part(&rendered.names)?;
            counts.add(&std::mem::take(&mut rendered.counts));
            rendered.lines.clear();
            rendered.names.clear();
            if has_table {
                let table_row = &mut |cells: &[Cell], _: Option<&str>| out.table_row(cells);
                let mut again = Counts::default();
                units[unit].clone().try_for_each(|segment| rows(segment, &mut again, table_row))?;
            }
            self.progress.advance(units[unit].len() as u64);
            Ok(())
        };
        in_order(self.threads, units.len(), Rendered::default, render, take)?;
        texts.finish()?;
        out.finish()
    }

    /// All segments in order, as ranges with some rows each.
    fn units(&self) -> Vec<Range<usize>> {
        let mut units: Vec<Range<usize>> = Vec::new();
        for segment in 0..self.segments.len() {
            let end = self.segments.first_page(segment + 1);
            match units.last_mut() {
                Some(unit) if end - self.segments.first_page(unit.start) <= FEW => unit.end = segment + 1,
                _ => units.push(segment..segment + 1),
            }
        }
        units
    }
}
