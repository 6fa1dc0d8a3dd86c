//! Splits CSV and TSV into rows.
//!
//! The header names the fields. A row with more or fewer fields than the header is rejected: nobody knows which field is
//! which.

use std::io::{self, BufRead, Read};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::{Frame, Split, SplitEvent, Taken};
use crate::ingest::packing::is_no_damage;
use crate::ingest::parquet::write_string;
use crate::ingest::record::{Field, FieldNames};

/// The most fields in a row.
const FIELDS_LIMIT: usize = 1 << 16;
/// A line that begins so is not a row but the reason why there is none.
const FAILED: u8 = b'!';

/// Why a row failed, if its line says so.
pub(crate) fn failed_row(line: &[u8]) -> Option<String> {
    line.strip_prefix(&[FAILED]).map(|reason| String::from_utf8_lossy(reason).into_owned())
}

/// The titles of the columns; none if there is no header, or damage before its end.
pub(crate) fn titles(split: &mut TableSplit, reader: impl Read) -> io::Result<Vec<String>> {
    let mut reader = io::BufReader::new(reader);
    let mut event = SplitEvent::More;
    while event == SplitEvent::More {
        let taken = match reader.fill_buf() {
            Err(error) if !is_no_damage(&error) => break,
            input => split.take(input?),
        };
        reader.consume(taken.bytes);
        event = taken.event;
    }
    Ok(std::mem::take(&mut split.titles))
}

/// Finds the rows of a file.
pub(crate) struct TableSplit {
    reader: Reader,
    names: FieldNames,
    page_bytes: usize,
    /// The fields of the last row, concatenated and unquoted, and where each ends.
    text: Vec<u8>,
    filled: usize,
    ends: Vec<usize>,
    fields: usize,
    overlong: bool,
    /// Whether the row has begun: line ends before it do not belong to it.
    begun: bool,
    header: Option<Header>,
    /// The titles of all columns, once the header was read.
    titles: Vec<String>,
    line_end: &'static [u8],
    refusal: Option<String>,
}

struct Header {
    fields: usize,
    /// The used columns, best first within a field.
    columns: Vec<Column>,
    /// The last of them that may be the text of a page. If the others are empty, it is the text even if empty.
    last_text: Option<usize>,
}

struct Column {
    number: usize,
    field: Field,
    /// Its name as JSON, with the colon after it.
    key: Vec<u8>,
}

impl TableSplit {
    /// Splits a file that begins with `head`. A row of more than `page_bytes` is not held in memory.
    pub(crate) fn new(head: &[u8], names: FieldNames, page_bytes: usize) -> TableSplit {
        let wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        let refusal = wide.then(|| "it is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)".to_owned());
        TableSplit {
            reader: ReaderBuilder::new().delimiter(delimiter(head)).build(),
            names,
            page_bytes,
            text: vec![0; (1 << 12).min(page_bytes + 1)],
            filled: 0,
            ends: vec![0; 1 << 6],
            fields: 0,
            overlong: false,
            begun: false,
            header: None,
            titles: Vec::new(),
            line_end: b"\n",
            refusal,
        }
    }

    /// Reads on in the row. Returns the result and how many bytes were read.
    fn read(&mut self, input: &[u8]) -> (ReadRecordResult, usize) {
        let mut read = 0;
        loop {
            let (text, ends) = (&mut self.text[self.filled..], &mut self.ends[self.fields..]);
            let (result, bytes, filled, fields) = self.reader.read_record(&input[read..], text, ends);
            read += bytes;
            self.filled += filled;
            self.fields += fields;
            match result {
                ReadRecordResult::OutputFull if self.text.len() <= self.page_bytes => {
                    let length = (2 * self.text.len()).min(self.page_bytes + 1).max(self.text.len() + 1);
                    self.text.resize(length, 0);
                }
                ReadRecordResult::OutputEndsFull if self.ends.len() < FIELDS_LIMIT => {
                    self.ends.resize(2 * self.ends.len(), 0);
                }
                // The rest of such a row is read over the beginning.
                ReadRecordResult::OutputFull => (self.filled, self.overlong) = (0, true),
                ReadRecordResult::OutputEndsFull => (self.fields, self.overlong) = (0, true),
                result => return (result, read),
            }
        }
    }

    /// The end of the header or of a row.
    fn row(&mut self) -> SplitEvent {
        if self.header.is_some() {
            return if self.overlong { SplitEvent::Overlong } else { SplitEvent::Record };
        }
        if self.overlong {
            return SplitEvent::Refused("its header is longer than the limit of a page".into());
        }
        let cells = (0..self.fields).map(|number| String::from_utf8_lossy(self.cell(number)));
        self.titles = cells.map(|cell| cell.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        let columns = columns(&self.titles, &self.names);
        let last_text = columns.iter().rposition(|column| is_text(column.field));
        if last_text.is_none() && self.names.asks_text() {
            return SplitEvent::Refused(without_text(&self.titles, &self.names));
        }
        self.header = Some(Header { fields: self.fields, columns, last_text });
        SplitEvent::Header
    }

    fn cell(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }
}

impl Split for TableSplit {
    fn take(&mut self, input: &[u8]) -> Taken {
        if let Some(reason) = self.refusal.take() {
            return Taken { bytes: 0, content: 0..0, event: SplitEvent::Refused(reason) };
        }
        if !self.begun {
            (self.filled, self.fields, self.overlong) = (0, 0, false);
        }
        let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let blank = input.iter().take_while(|byte| is_line_end(byte)).count();
        let start = if self.begun { 0 } else { blank };
        let (result, bytes) = self.read(input);
        let mut content = start.min(bytes)..bytes;
        self.begun |= !content.is_empty();
        let event = match result {
            ReadRecordResult::Record => {
                self.begun = false;
                if let Some(last) = input[..bytes].last().filter(|byte| is_line_end(byte)) {
                    content.end = content.end.saturating_sub(1).max(content.start);
                    if self.header.is_none() && *last == b'\r' {
                        self.line_end =
                            if matches!(input.get(bytes), Some(b'\n') | None) { b"\r\n" } else { b"\r" };
                    }
                }
                self.row()
            }
            ReadRecordResult::End if self.header.is_none() => {
                SplitEvent::Refused("it is empty: it has no header".into())
            }
            ReadRecordResult::End => SplitEvent::End(None),
            _ => SplitEvent::More,
        };
        Taken { bytes, content, event }
    }

    fn line(&self, out: &mut Vec<u8>) {
        let Some(header) = &self.header else { return };
        if self.fields != header.fields {
            let reason = format!("it has {} fields, and the header has {}", self.fields, header.fields);
            out.push(FAILED);
            out.extend_from_slice(reason.as_bytes());
            out.push(b'\n');
            return;
        }
        out.push(b'{');
        let mut last = None;
        for (number, column) in header.columns.iter().enumerate() {
            let cell = self.cell(column.number);
            let yields =
                last.is_some_and(|last| last == column.field || is_text(last) && is_text(column.field));
            if yields || (cell.is_empty() && Some(number) != header.last_text) {
                continue;
            }
            if last.is_some() {
                out.push(b',');
            }
            write_cell(column, cell, out);
            last = Some(column.field);
        }
        out.extend_from_slice(b"}\n");
    }

    fn has_header(&self) -> bool {
        true
    }

    fn frame(&self) -> Frame {
        Frame { open: b"", between: b"", after: self.line_end, close: b"", empty: b"" }
    }
}

fn is_text(field: Field) -> bool {
    matches!(field, Field::Text | Field::Html)
}

/// Appends a cell with its name. A number stays one where a number is wanted; a table does not tell it from text.
fn write_cell(column: &Column, cell: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&column.key);
    let wants_number = matches!(column.field, Field::Time | Field::Popularity);
    let number = std::str::from_utf8(cell).ok().map(str::trim).filter(|_| wants_number);
    match number.filter(|number| serde_json::from_str::<serde_json::Number>(number).is_ok()) {
        Some(number) => out.extend_from_slice(number.as_bytes()),
        None => write_string(cell, out),
    }
}

/// The columns with a meaning, best first within a field, and text before HTML.
fn columns(titles: &[String], names: &FieldNames) -> Vec<Column> {
    let mut found: Vec<(u8, Column)> = Vec::new();
    for (number, title) in titles.iter().enumerate() {
        if let Some((field, place)) = names.meaning(title) {
            let name = serde_json::to_string(title).expect("a string is JSON");
            found.push((place, Column { number, field, key: format!("{name}:").into_bytes() }));
        }
    }
    found.sort_by_key(|(place, column)| (column.field as u8, *place));
    found.into_iter().map(|(_, column)| column).collect()
}

/// The most columns that a reason lists.
const SHOWN: usize = 20;

fn without_text(titles: &[String], names: &FieldNames) -> String {
    let mut shown: Vec<String> = titles.iter().take(SHOWN).map(|title| format!("`{title}`")).collect();
    if titles.len() > SHOWN {
        shown.push(format!("{} more", titles.len() - SHOWN));
    }
    let wanted = names.text_names();
    format!("it has no text: none of the columns {wanted} is there; its columns are {}", shown.join(", "))
}

/// The delimiter that is most frequent in the header, outside of quotes.
fn delimiter(head: &[u8]) -> u8 {
    let mut counts = [(b',', 0u32), (b'\t', 0), (b';', 0)];
    let mut quoted = false;
    for &byte in head.iter().skip_while(|byte| byte.is_ascii_whitespace() && **byte != b'\t') {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            byte if !quoted => {
                counts.iter_mut().filter(|(known, _)| *known == byte).for_each(|(_, count)| *count += 1);
            }
            _ => {}
        }
    }
    // The first of equals.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(byte, _)| *byte)
}
