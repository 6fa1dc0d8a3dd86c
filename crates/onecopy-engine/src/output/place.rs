//! The place of a page in the input: its source and its number there. Names may repeat, places do not.

use std::fmt;

use super::lists::Cell;
use crate::ingest::{Format, Source};

/// Where a page was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place<'a> {
    /// The name of its source.
    pub source: &'a str,
    /// Its number in the source, from one.
    pub at: Position,
}

/// A position in a source, from one, under the name that its format has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Position {
    /// The source is one page.
    Whole,
    Line(u64),
    Record(u64),
    Row(u64),
}

impl<'a> Place<'a> {
    /// The place of the record with this number, from one.
    pub(crate) fn new(source: &'a Source, number: u64) -> Place<'a> {
        let at = match source.format {
            Format::Lines(_) => Position::Line(number),
            Format::Records(_) | Format::Array(_) => Position::Record(number),
            Format::Parquet | Format::Rows | Format::Table(_) => Position::Row(number),
            Format::Html(_) | Format::Text(_) => Position::Whole,
        };
        Place { source: &source.name, at }
    }

    /// The columns `source`, `line`, `record` and `row`. Exactly one of the last three has a number.
    pub(super) fn cells(&self) -> [Cell<'a>; 4] {
        let mut cells = [Cell::Text(self.source), Cell::Absent, Cell::Absent, Cell::Absent];
        match self.at {
            Position::Whole => cells[2] = Cell::Number(0),
            Position::Line(number) => cells[1] = Cell::Number(number),
            Position::Record(number) => cells[2] = Cell::Number(number),
            Position::Row(number) => cells[3] = Cell::Number(number),
        }
        cells
    }
}

/// As people type it: `a.jsonl:12`, or the name of a file that is one page.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.at {
            Position::Whole => f.write_str(self.source),
            Position::Line(number) | Position::Record(number) | Position::Row(number) => {
                write!(f, "{}:{number}", self.source)
            }
        }
    }
}
