//! The stages over whole columns: values and offsets, in the Arrow layout of strings and lists.
//!
//! It is for engines that hold many rows at once, such as a data frame or a Spark executor. Inputs are not copied,
//! and results can become Arrow arrays without a copy.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::config::Config;
use crate::decide::candidate::Rarity;
use crate::hash::Fingerprint;
use crate::page::record::{Needs, Record, Text, TextParts};
use crate::similarity::method::{Method, Scratch, Subject};
use crate::text::canonical::Canonical;

/// An Arrow offset: `i32` for usual columns, `i64` for large ones.
pub trait Offset: Copy + Debug {
    /// The offset as an index; `None` if it is negative.
    fn place(self) -> Option<usize>;
}

impl Offset for i32 {
    fn place(self) -> Option<usize> {
        usize::try_from(self).ok()
    }
}

impl Offset for i64 {
    fn place(self) -> Option<usize> {
        usize::try_from(self).ok()
    }
}

/// Rows of values in sequence: row `i` is `values[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a, T, O = i64> {
    values: &'a [T],
    offsets: &'a [O],
}

/// Why slices are not a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// A column has one offset more than it has rows, so at least one.
    #[error("a column needs one offset more than it has rows, and there is none")]
    NoOffsets,
    /// Offsets begin at zero or later, never fall, and end within the values.
    #[error("offset {0} of the column is negative, falls, or ends behind the values")]
    Offset(usize),
    /// A pair names a row that does not exist.
    #[error("pair {0} names a row that the column does not have")]
    Row(usize),
    /// The two sides of a list of pairs have different lengths.
    #[error("the two sides of the pairs have different lengths")]
    Sides,
}

impl<'a, T, O: Offset> Column<'a, T, O> {
    /// A column, if the offsets fit the values.
    pub fn new(values: &'a [T], offsets: &'a [O]) -> Result<Column<'a, T, O>, ColumnError> {
        if offsets.is_empty() {
            return Err(ColumnError::NoOffsets);
        }
        let mut before = 0;
        for (number, offset) in offsets.iter().enumerate() {
            let place = offset.place().filter(|place| (before..=values.len()).contains(place));
            before = place.ok_or(ColumnError::Offset(number))?;
        }
        Ok(Column { values, offsets })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values of a row.
    pub fn row(&self, row: usize) -> &'a [T] {
        let place = |at: usize| self.offsets[at].place().expect("offsets were checked");
        &self.values[place(row)..place(row + 1)]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &'a [T]> + '_ {
        (0..self.len()).map(|row| self.row(row))
    }
}

/// A column that owns its values.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedColumn<T> {
    /// The values of all rows.
    pub values: Vec<T>,
    /// Where each row begins, and at the end where the last ends.
    pub offsets: Vec<i64>,
}

impl<T> Default for OwnedColumn<T> {
    fn default() -> Self {
        OwnedColumn { values: Vec::new(), offsets: vec![0] }
    }
}

impl<T> OwnedColumn<T> {
    /// The column as a borrowed view.
    pub fn view(&self) -> Column<'_, T> {
        Column { values: &self.values, offsets: &self.offsets }
    }

    /// Ends a row whose values were appended to `values`.
    fn end_row(&mut self) {
        self.offsets.push(self.values.len() as i64);
    }
}

/// The format of the texts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// Plain text.
    Plain,
    /// HTML; the configuration's `content` says which part is compared.
    Html,
}

/// The sketches of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SketchColumn {
    /// The sketch of each row; empty for a row without words.
    pub sketches: OwnedColumn<u64>,
    /// The fingerprint of each row's canonical text: rows that share one are exact copies.
    pub fingerprints: Vec<Fingerprint>,
}

/// Sketches texts. Bytes that are not UTF-8 become replacement characters.
pub fn sketch_column<O: Offset>(
    texts: &Column<u8, O>,
    markup: Markup,
    config: &Config,
    method: &dyn Method,
) -> SketchColumn {
    let needs = Needs::of(config, method);
    let (mut canonical, mut scratch) = (Canonical::default(), Scratch::default());
    let mut out = SketchColumn::default();
    for text in texts.rows().map(String::from_utf8_lossy) {
        let record = record(text, markup, &needs);
        record.text.canonicalise(&config.canonical, &mut canonical);
        out.fingerprints.push(canonical.fingerprint());
        if canonical.token_count() > 0 {
            let text = if method.looks_at().text { record.text.plain() } else { "".into() };
            let parts = record.parts.as_ref().map(TextParts::parts);
            let subject = Subject { canonical: &canonical, text: &text, links: &record.out_links, parts };
            method.sketch(&subject, &mut scratch, &mut out.sketches.values);
        }
        out.sketches.end_row();
    }
    out
}

fn record<'a>(text: Cow<'a, str>, markup: Markup, needs: &Needs) -> Record<'a> {
    let mut record = Record::default();
    match markup {
        Markup::Plain => record.plain(Text::Plain(text), needs),
        Markup::Html => record.html(&text, needs),
    }
    record
}

/// The keys of rows, each with the number beside it: see [`Method::keys`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyColumn {
    /// The keys of each row.
    pub keys: OwnedColumn<u64>,
    /// The number beside each key, in the order of `keys.values`.
    pub rests: Vec<u32>,
}

/// Finds the keys of sketches. Rows that are alike share a key if all of them use equal counts of rarity.
pub fn key_column<O: Offset>(sketches: &Column<u64, O>, rarity: &Rarity, method: &dyn Method) -> KeyColumn {
    let (mut scratch, mut keys, mut out) = (Scratch::default(), Vec::new(), KeyColumn::default());
    for sketch in sketches.rows() {
        keys.clear();
        if !sketch.is_empty() {
            method.keys(sketch, rarity, &mut scratch, &mut keys);
        }
        out.keys.values.extend(keys.iter().map(|(key, _)| key));
        out.rests.extend(keys.iter().map(|(_, rest)| rest));
        out.keys.end_row();
    }
    out
}

/// The similarity of each pair of rows that is alike; `None` for the others. Each is computed on the whole sketches.
pub fn verdicts<O: Offset>(
    sketches: &Column<u64, O>,
    left: &[u32],
    right: &[u32],
    method: &dyn Method,
) -> Result<Vec<Option<f64>>, ColumnError> {
    if left.len() != right.len() {
        return Err(ColumnError::Sides);
    }
    let verdict = |(pair, (&a, &b)): (usize, (&u32, &u32))| {
        if a.max(b) as usize >= sketches.len() {
            return Err(ColumnError::Row(pair));
        }
        let (a, b) = (sketches.row(a as usize), sketches.row(b as usize));
        // A row without words is similar to no other.
        let score = if a.is_empty() || b.is_empty() { None } else { method.verify(a, b) };
        Ok(score.map(|score| method.similarity(score, (a.len(), b.len()))))
    };
    left.iter().zip(right).enumerate().map(verdict).collect()
}

#[cfg(test)]
mod tests;
