//! Walks the records of a chunk, whatever its format. Here alone records are numbered and given their bytes.
//!
//! A blank line and a record of an archive that is no page have a number too, so that numbers are those of the file.

use std::ops::Range;

use memchr::memrchr;
use onecopy_core::{Needs, Record};
use serde::de::IgnoredAny;

use super::chunks::{Chunk, Trouble, lines};
use super::format::Format;
use super::reason::{Class, DAMAGED, Reason};
use super::record::{FieldNames, as_json, name_of_line, read_line};
use super::split::failed_row;
use super::warc::{WarcRecord, read_record, records};
use crate::job::Limits;

/// A record of a chunk that is not read yet.
pub(crate) struct RawRecord<'a> {
    /// Its number in the chunk, from zero.
    pub number: u32,
    /// Where its bytes are in the chunk.
    pub range: Range<usize>,
    pub bytes: &'a [u8],
    body: RawBody<'a>,
}

/// A line, or what an archive holds.
enum RawBody<'a> {
    Line,
    /// Why a row of a table cannot be read.
    Failed(String),
    /// A record of an archive, or why the bytes are none.
    Archived(Result<WarcRecord<'a>, String>),
}

/// Reads records.
#[derive(Clone, Copy)]
pub(crate) struct RecordReader<'a> {
    pub limits: &'a Limits,
    pub names: &'a FieldNames,
    pub needs: &'a Needs,
}

/// The records of a chunk of a source of this format, in order.
pub(crate) fn walk<'a>(chunk: &'a Chunk, format: Format) -> impl Iterator<Item = RawRecord<'a>> {
    let bytes = &chunk.bytes[..];
    let is_archive = matches!(format, Format::Records(_));
    let is_table = matches!(format, Format::Table(_));
    let line = move |(start, line): (usize, &'a [u8])| {
        let failed = failed_row(line).filter(|_| is_table);
        (start..start + line.len(), failed.map_or(RawBody::Line, RawBody::Failed))
    };
    let lines = (!is_archive).then(|| lines(bytes).map(line));
    let archived =
        is_archive.then(|| records(bytes).map(|item| (item.range, RawBody::Archived(item.record))));
    let all = lines.into_iter().flatten().chain(archived.into_iter().flatten());
    (0..).zip(all).map(|(number, (range, body))| RawRecord {
        number,
        bytes: &bytes[range.clone()],
        range,
        body,
    })
}

impl RecordReader<'_> {
    /// Reads a record; `None` if it holds no page. Returns the reason if it cannot be read.
    pub(crate) fn read<'r>(&self, raw: &RawRecord<'r>) -> Result<Option<Record<'r>>, Reason> {
        match &raw.body {
            RawBody::Line if is_blank(raw.bytes) => Ok(None),
            RawBody::Line if raw.bytes.len() > self.limits.page_bytes => Err(self.overlong()),
            RawBody::Line => read_line(raw.bytes, self.names, self.needs).map(Some),
            RawBody::Failed(text) => Err(Reason::new(Class::Ragged, text.as_str())),
            RawBody::Archived(Ok(record)) => read_record(record, self.limits, self.needs),
            RawBody::Archived(Err(text)) => Err(Reason::new(Class::Stray, text.as_str())),
        }
    }

    /// The name of a record that was rejected, as JSON. Empty if it has none that can be read.
    pub(crate) fn name(&self, raw: &RawRecord) -> String {
        match &raw.body {
            RawBody::Line if raw.bytes.len() <= self.limits.page_bytes => name_of_line(raw.bytes, self.names),
            RawBody::Archived(Ok(record)) => {
                record.text("warc-target-uri").map(|url| as_json(&url)).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// Whether a record is a line that may be a page: neither blank nor too long.
    pub(crate) fn is_page_line(&self, raw: &RawRecord) -> bool {
        matches!(raw.body, RawBody::Line) && !is_blank(raw.bytes) && raw.bytes.len() <= self.limits.page_bytes
    }

    /// Why a chunk ends early, for `rejected.jsonl`.
    pub(crate) fn reason(&self, trouble: &Trouble) -> Reason {
        let broken = |class, what: &str| Reason::new(class, format!("{DAMAGED}{what}"));
        match trouble {
            Trouble::Overlong => self.overlong(),
            Trouble::Endless => Reason { class: Class::Endless, ..self.overlong() },
            Trouble::Corrupt(what) => broken(Class::Damaged, what),
            Trouble::Bomb(what) => broken(Class::BombFile, what),
            Trouble::Refused(what) => Reason::new(Class::Refused, what.as_str()),
        }
    }

    fn overlong(&self) -> Reason {
        Reason::overlong(self.limits.page_bytes)
    }
}

/// Whether a file of lines ends with this chunk, within a record.
pub(crate) fn ends_in_a_record(chunk: &Chunk, format: Format) -> bool {
    let is_open = matches!(format, Format::Lines(_)) && !chunk.bytes.ends_with(b"\n");
    let last = || memrchr(b'\n', &chunk.bytes).map_or(&chunk.bytes[..], |end| &chunk.bytes[end + 1..]);
    let ends_early = |error: serde_json::Error| error.is_eof();
    is_open && !is_blank(last()) && serde_json::from_slice::<IgnoredAny>(last()).is_err_and(ends_early)
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::super::packing::Packing;
    use super::*;

    #[test]
    fn a_file_can_end_in_a_record() {
        let lines = Format::Lines(Packing::Plain);
        for (text, expected) in [
            ("{}\n{\"a\":", true),
            ("{}\n{}", false),
            ("{}\n", false),
            ("x", false),
            ("{}\n ", false),
            ("[", true),
        ] {
            let chunk = Chunk { bytes: text.into(), ..Chunk::default() };
            assert_eq!(ends_in_a_record(&chunk, lines), expected, "{text}");
            assert!(!ends_in_a_record(&chunk, Format::Records(Packing::Plain)), "{text}");
        }
    }

    #[test]
    fn blank_and_broken_lines_have_numbers_too() {
        let bytes = b"{\"id\":1,\"text\":\"a\"}\n\n \r\nx\n{\"id\":2,\"text\":\"a long line\"}".to_vec();
        let chunk = Chunk { index: 0, at: 0, bytes, ..Chunk::default() };
        let limits = Limits { page_bytes: 24, ..Limits::default() };
        let (names, needs) = (FieldNames::new(&Default::default()), Needs::default());
        let reader = RecordReader { limits: &limits, names: &names, needs: &needs };
        let walked = walk(&chunk, Format::Lines(Packing::Plain)).map(|raw| {
            let read = reader.read(&raw).map(|record| record.map(|record| record.id.to_owned()));
            (raw.number, raw.range, read.map_err(|reason| reason.class == Class::Overlong))
        });
        let expected = [
            (0, 0..19, Ok(Some("1".to_owned()))),
            (1, 20..20, Ok(None)),
            (2, 21..23, Ok(None)),
            (3, 24..25, Err(false)),
            (4, 26..55, Err(true)),
        ];
        assert_eq!(walked.collect::<Vec<_>>(), expected);
    }
}
