//! Chooses the columns that make a page.

use std::collections::HashMap;

use onecopy_core::digest;

use super::super::record::{Field, FieldNames};
use super::{RowColumn, RowKind, RowValue, Rows};
use crate::error::{Error, Result};
use crate::ingest::NAME_OF_ROWS;
use crate::job::Fields;

/// The columns to read, best first within a field, and text before HTML.
#[derive(Clone, Debug)]
pub(crate) struct RowColumns(Vec<ChosenColumn>);

/// A column to read.
#[derive(Clone, Debug)]
pub(super) struct ChosenColumn {
    /// Its name as JSON, with the colon after it.
    pub key: String,
    pub field: Field,
    /// Its number among all columns.
    pub number: usize,
}

impl ChosenColumn {
    /// Whether this column is ignored in rows where `better` has a value.
    fn yields_to(&self, better: &ChosenColumn) -> bool {
        self.field == better.field || (better.field == Field::Text && self.field == Field::Html)
    }
}

impl RowColumns {
    /// Chooses columns: those that the job names, else those with usual names.
    pub(crate) fn choose(rows: &dyn Rows, fields: &Fields) -> Result<RowColumns> {
        let (all, names) = (rows.columns(), FieldNames::new(fields));
        check_names(&all, fields)?;
        let mut found = Vec::new();
        for (number, column) in all.iter().enumerate() {
            let Some((field, place)) = names.meaning(&column.name) else { continue };
            if column.kind.is_some_and(|kind| suits(field, kind)) {
                let key = format!("{}:", super::super::record::as_json(&column.name));
                found.push((place, ChosenColumn { key, field, number }));
            } else if fields.named().any(|(_, name)| name == column.name) {
                let what = format!("its column `{}` cannot be the {}", column.name, field.called());
                return Err(wrong(what, &all));
            }
        }
        found.sort_by_key(|(place, column)| (column.field as u8, *place));
        let chosen: Vec<ChosenColumn> = found.into_iter().map(|(_, column)| column).collect();
        if !chosen.iter().any(|column| matches!(column.field, Field::Text | Field::Html)) {
            return Err(wrong(text_missing(&all, &names), &all));
        }
        Ok(RowColumns(chosen))
    }

    /// Returns an error if two rows have the same id: results could not tell them apart.
    pub(crate) fn check_ids(&self, rows: &dyn Rows) -> Result<()> {
        let mut seen: HashMap<u64, u64> = HashMap::new();
        let id = |row: u64| self.values(rows, row).find(|(column, _)| column.field == Field::Id);
        for row in 0..rows.len() {
            let Some((_, own)) = id(row) else { continue };
            let first = *seen.entry(hash(own)).or_insert(row);
            if first != row && id(first).is_some_and(|(_, other)| other == own) {
                return Err(Error::RepeatedId { id: shown(own), first, second: row });
            }
        }
        Ok(())
    }

    /// The values of a row, each under the best column that has one.
    pub(super) fn values<'r>(
        &'r self,
        rows: &'r dyn Rows,
        row: u64,
    ) -> impl Iterator<Item = (&'r ChosenColumn, RowValue<'r>)> {
        let mut last: Option<&ChosenColumn> = None;
        self.0.iter().filter_map(move |column| {
            if last.is_some_and(|last| column.yields_to(last)) {
                return None;
            }
            let value = rows.value(row, column.number).filter(is_number)?;
            last = Some(column);
            Some((column, value))
        })
    }

    /// A lower bound of the size of all rows, in bytes.
    pub(crate) fn bytes(&self, rows: &dyn Rows) -> u64 {
        (0..rows.len()).map(|row| self.length(rows, row) as u64).sum()
    }

    /// A lower bound of the size of a row, in bytes.
    pub(super) fn length(&self, rows: &dyn Rows, row: u64) -> usize {
        self.values(rows, row).map(|(_, value)| value.length()).sum()
    }
}

fn hash(id: RowValue) -> u64 {
    match id {
        RowValue::Text(text) => digest(text),
        RowValue::Signed(number) => number as u64,
        RowValue::Unsigned(number) => number,
        RowValue::Real(number) => number.to_bits(),
    }
}

fn shown(id: RowValue) -> String {
    match id {
        RowValue::Text(text) => format!("`{}`", String::from_utf8_lossy(text)),
        RowValue::Signed(number) => number.to_string(),
        RowValue::Unsigned(number) => number.to_string(),
        RowValue::Real(number) => number.to_string(),
    }
}

/// Whether JSON can express the value.
fn is_number(value: &RowValue) -> bool {
    !matches!(value, RowValue::Real(number) if !number.is_finite())
}

/// Returns an error if the job names a column that does not exist.
fn check_names(all: &[RowColumn], fields: &Fields) -> Result<()> {
    let is_missing = |(_, name): &(&'static str, &str)| all.iter().all(|column| column.name != *name);
    let Some((part, name)) = fields.named().find(is_missing) else { return Ok(()) };
    let known = all.iter().map(|column| column.name.clone()).take(SHOWN).collect();
    Err(Error::NoField { part, name: name.into(), known })
}

fn text_missing(all: &[RowColumn], names: &FieldNames) -> String {
    let is_text = |column: &&RowColumn| {
        let meaning = names.meaning(&column.name).map(|(field, _)| field);
        matches!(meaning, Some(Field::Text | Field::Html))
    };
    match all.iter().find(is_text) {
        Some(column) => format!("its column `{}` is not a column of text", column.name),
        None => format!("it has no text: none of the columns {} is there", names.text_names()),
    }
}

fn suits(field: Field, kind: RowKind) -> bool {
    match field {
        Field::Text
        | Field::Html
        | Field::Url
        | Field::Redirect
        | Field::Canonical
        | Field::Revisit
        | Field::Links => kind == RowKind::Text,
        Field::Id => matches!(kind, RowKind::Text | RowKind::Whole),
        Field::Time => true,
        Field::Popularity => matches!(kind, RowKind::Whole | RowKind::Real),
    }
}

/// The most columns that an error lists.
const SHOWN: usize = 20;

fn wrong(what: String, all: &[RowColumn]) -> Error {
    let mut shown: Vec<String> = all.iter().take(SHOWN).map(|column| format!("`{}`", column.name)).collect();
    if all.len() > SHOWN {
        shown.push(format!("{} more", all.len() - SHOWN));
    }
    let reason = format!("{what}; its columns are {}", shown.join(", "));
    Error::Input { input: NAME_OF_ROWS.into(), reason }
}
