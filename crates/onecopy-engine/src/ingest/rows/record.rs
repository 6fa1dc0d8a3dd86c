//! Makes a page of a row.

use std::borrow::Cow;
use std::io::Write;

use onecopy_core::{LinkKind, Needs, Record, Text, canonical_id, parse_time, unix_seconds};

use super::super::parquet::write_string;
use super::super::reason::{Class, Reason};
use super::super::record::{FIELDS, Field, FieldNames, as_json};
use super::columns::{ChosenColumn, RowColumns};
use super::{RowValue, Rows};

/// The values of a row that make a page.
pub(crate) struct RowCells<'a> {
    values: [Option<RowValue<'a>>; FIELDS],
    keys: Vec<(&'a ChosenColumn, RowValue<'a>)>,
    /// The id as JSON; empty if there is none.
    id: String,
}

impl<'a> RowCells<'a> {
    /// Reads a row.
    pub(crate) fn read(rows: &'a dyn Rows, columns: &'a RowColumns, row: u64) -> RowCells<'a> {
        let keys: Vec<_> = columns.values(rows, row).collect();
        let mut values = [None; FIELDS];
        keys.iter().for_each(|(column, value)| values[column.field as usize] = Some(*value));
        let id = values[Field::Id as usize].map(json).unwrap_or_default();
        RowCells { values, keys, id }
    }

    /// The page; the reason if there is none.
    pub(crate) fn record(
        &self,
        names: &FieldNames,
        needs: &Needs,
        page_bytes: usize,
    ) -> Result<Record<'_>, Reason> {
        self.check(page_bytes)?;
        let mut record = Record {
            id: &self.id,
            url: self.text(Field::Url).map(Cow::Borrowed),
            time: self.get(Field::Time).and_then(time),
            popularity: self.get(Field::Popularity).and_then(number),
            ..Record::default()
        };
        if let Some(to) = self.text(Field::Redirect) {
            record.link(LinkKind::Redirect, to);
        }
        let revisit = self.text(Field::Revisit).filter(|to| !to.trim().is_empty());
        record.links.extend(revisit.map(|to| (LinkKind::Revisit, to.to_owned())));
        if let Some(to) = self.text(Field::Canonical) {
            record.link(LinkKind::Canonical, to);
        }
        match (self.text(Field::Text), self.text(Field::Html)) {
            (Some(text), _) if looks_like_html(text) => record.html(text, needs),
            (Some(text), _) => record.plain(Text::Plain(text.into()), needs),
            (None, Some(html)) => record.html(html, needs),
            (None, None) if record.points_elsewhere() => {}
            (None, None) => {
                let text = format!("no text: none of the fields {} is there", names.text_names());
                return Err(Reason::new(Class::NoText, text));
            }
        }
        Ok(record)
    }

    /// The bytes that order pages of the same name. Pages with an id do not need them: ids differ.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if self.id.is_empty() { self.line() } else { Vec::new() }
    }

    /// The name of a row that was rejected, as JSON; empty if it has none.
    pub(crate) fn name(&self) -> String {
        let url = || self.text(Field::Url).map(as_json).unwrap_or_default();
        if self.id.is_empty() { url() } else { canonical_id(&self.id).into_owned() }
    }

    /// Refuses a row that is too long or not UTF-8, as a line of JSON would be refused.
    fn check(&self, page_bytes: usize) -> Result<(), Reason> {
        // A byte takes at most six in JSON.
        let length: usize =
            self.keys.iter().map(|(column, value)| 6 * value.length() + column.key.len()).sum();
        let keys = 32 * self.keys.len();
        if length + keys > page_bytes && self.line().len() > page_bytes {
            return Err(Reason::overlong(page_bytes));
        }
        let texts = self.keys.iter().filter_map(|(column, value)| Some((column, bytes(*value)?)));
        for (column, text) in texts {
            if simdutf8::basic::from_utf8(text).is_err() {
                let key = column.key.trim_end_matches(':');
                return Err(Reason::new(Class::NotUtf8, format!("invalid UTF-8 in the column {key}")));
            }
        }
        Ok(())
    }

    /// The row as a line of JSON, as it would be read from a Parquet file.
    fn line(&self) -> Vec<u8> {
        let mut out = vec![b'{'];
        for (place, (column, value)) in self.keys.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(column.key.as_bytes());
            write_value(*value, &mut out);
        }
        out.push(b'}');
        out
    }

    fn get(&self, field: Field) -> Option<RowValue<'a>> {
        self.values[field as usize]
    }

    /// The text of a field. Text that is not UTF-8 was refused before.
    fn text(&self, field: Field) -> Option<&'a str> {
        self.get(field).and_then(bytes).and_then(|bytes| simdutf8::basic::from_utf8(bytes).ok())
    }
}

fn bytes(value: RowValue<'_>) -> Option<&[u8]> {
    if let RowValue::Text(text) = value { Some(text) } else { None }
}

fn write_value(value: RowValue, out: &mut Vec<u8>) {
    let written = match value {
        RowValue::Text(text) => {
            write_string(text, out);
            Ok(())
        }
        RowValue::Signed(number) => write!(out, "{number}"),
        RowValue::Unsigned(number) => write!(out, "{number}"),
        RowValue::Real(number) => write!(out, "{number}"),
    };
    written.expect("a vector grows");
}

fn json(value: RowValue) -> String {
    let mut out = Vec::new();
    write_value(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn time(value: RowValue) -> Option<i64> {
    match value {
        RowValue::Text(text) => parse_time(std::str::from_utf8(text).ok()?),
        value => number(value).map(|number| unix_seconds(number as i64)),
    }
}

fn number(value: RowValue) -> Option<f64> {
    match value {
        RowValue::Text(_) => None,
        RowValue::Signed(number) => Some(number as f64),
        RowValue::Unsigned(number) => Some(number as f64),
        RowValue::Real(number) => Some(number),
    }
}

/// Whether a text is a whole HTML document. A line of JSON gives the same answer: it skips white space that JSON escapes
/// by a letter or not at all.
fn looks_like_html(text: &str) -> bool {
    let is_space = |c: char| matches!(c, '\n' | '\r' | '\t') || (c >= ' ' && c.is_whitespace());
    let start = text.trim_start_matches(is_space).as_bytes();
    let head = start.get(..14).unwrap_or(start).to_ascii_lowercase();
    head.starts_with(b"<!doctype html") || head.starts_with(b"<html")
}
