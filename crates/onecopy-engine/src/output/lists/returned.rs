//! A list in memory, for callers that have their pages there.

use super::cell::{Cell, Column, ColumnKind, plain};

/// A list as columns of equal length. `docs/FORMAT.md` describes its fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListTable {
    /// The columns: name and values.
    pub columns: Vec<(&'static str, ListValues)>,
}

impl ListTable {
    /// The values of a column.
    pub fn column(&self, name: &str) -> Option<&ListValues> {
        self.columns.iter().find(|(own, _)| *own == name).map(|(_, values)| values)
    }

    pub(super) fn new(columns: &[Column]) -> ListTable {
        let empty = |(name, kind): &Column| {
            let values = match kind {
                ColumnKind::Text => ListValues::Text(Vec::new()),
                ColumnKind::Number => ListValues::Number(Vec::new()),
                ColumnKind::Real => ListValues::Real(Vec::new()),
            };
            (*name, values)
        };
        ListTable { columns: columns.iter().map(empty).collect() }
    }

    pub(super) fn row(&mut self, cells: &[Cell]) {
        for ((_, values), cell) in self.columns.iter_mut().zip(cells) {
            values.push(cell);
        }
    }
}

/// The values of a column; `None` where a row has none.
#[derive(Clone, Debug, PartialEq)]
pub enum ListValues {
    /// Text.
    Text(Vec<Option<Box<str>>>),
    /// Whole numbers.
    Number(Vec<Option<u64>>),
    /// Other numbers.
    Real(Vec<Option<f64>>),
}

impl ListValues {
    fn push(&mut self, cell: &Cell) {
        match (self, cell) {
            (ListValues::Text(values), Cell::Name(json)) => values.push(Some(plain(json).into())),
            (ListValues::Text(values), Cell::Text(text)) => values.push(Some((*text).into())),
            (ListValues::Text(values), _) => values.push(None),
            (ListValues::Number(values), Cell::Number(number)) => values.push(Some(*number)),
            (ListValues::Number(values), _) => values.push(None),
            (ListValues::Real(values), Cell::Real(number)) => values.push(Some(*number)),
            (ListValues::Real(values), _) => values.push(None),
        }
    }
}

/// All lists of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListTables {
    /// The removed pages, each with its winner.
    pub removed: ListTable,
    /// The pages of groups.
    pub groups: ListTable,
    /// All pages that were judged.
    pub pages: ListTable,
    /// The pages that could not be judged, with the reasons.
    pub rejected: ListTable,
}
