//! A piece of input → lines that can be put, each with its place. Pure but for reading files that are one page.

use std::borrow::Cow;

use serde_json::value::to_raw_value;

use super::plan::Reading;
use crate::error::{At, Result};
use crate::ingest::{
    Chunk, FieldNames, Format, Opener, Piece, Record, Source, Trouble, lines, read_document, read_line,
    read_record, records,
};
use crate::job::Fields;
use onecopy_core::LinkKind;

/// A piece of input, ready to be handed over.
#[derive(Debug, Default)]
pub(super) struct Prepared<'a> {
    /// Its source, by number and name. Of files that are one page each, the items bring their own.
    pub source: u32,
    pub name: String,
    /// How many records it has.
    pub records: u32,
    pub items: Vec<Item<'a>>,
}

/// A record of a piece, and where it is in it, from zero. A file that is one page is at its own name instead.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub place: Result<u32, String>,
    pub made: Made<'a>,
}

/// What was made of a record.
#[derive(Debug, PartialEq)]
pub(super) enum Made<'a> {
    /// A line to put.
    Line(Cow<'a, [u8]>),
    /// An archive says that the page is as it was.
    Unchanged,
    /// It cannot be read; why.
    Rejected(String),
}

/// Prepares the records of a piece.
pub(super) fn prepare<'a>(
    piece: &'a Piece,
    reading: &Reading,
    opener: &Opener,
    names: &FieldNames,
) -> Result<Prepared<'a>> {
    let sources = &reading.inputs.sources;
    match piece {
        Piece::Chunk { source, chunk, .. } => {
            let from = &sources[*source as usize];
            let mut prepared = Prepared { source: *source, name: from.name.clone(), ..Prepared::default() };
            match from.format {
                Format::Records(_) => of_records(chunk, opener, &mut prepared),
                _ => of_lines(chunk, reading, opener, names, &mut prepared),
            }
            if let Some(trouble) = &chunk.trouble {
                prepared.push(Made::Rejected(reason(trouble, opener)));
            }
            Ok(prepared)
        }
        Piece::Documents { sources: range, .. } => {
            of_documents(&sources[range.start as usize..range.end as usize], opener)
        }
    }
}

impl<'a> Prepared<'a> {
    fn push(&mut self, made: Made<'a>) {
        self.items.push(Item { place: Ok(self.records), made });
        self.records += 1;
    }
}

fn reason(trouble: &Trouble, opener: &Opener) -> String {
    match trouble {
        Trouble::Overlong => overlong(opener),
        Trouble::Corrupt(what) => format!("damaged from here on, the rest is not read: {what}"),
        Trouble::Refused(what) => what.clone(),
    }
}

fn overlong(opener: &Opener) -> String {
    let limit = opener.limits.page_bytes;
    format!("longer than the limit of {limit} bytes a page (raise --max-page to take it)")
}

fn of_lines<'a>(
    chunk: &'a Chunk,
    reading: &Reading,
    opener: &Opener,
    names: &FieldNames,
    out: &mut Prepared<'a>,
) {
    let usual = reading.fields == Fields::default();
    for (_, line) in lines(&chunk.bytes) {
        if line.iter().all(u8::is_ascii_whitespace) {
            out.records += 1;
        } else if line.len() > opener.limits.page_bytes {
            out.push(Made::Rejected(overlong(opener)));
        } else if usual {
            // A record under the usual names stays as it is, with all that we do not know of.
            out.push(Made::Line(line.into()));
        } else {
            let record = read_line(line, names, &opener.wanted);
            out.push(record.map_or_else(Made::Rejected, |record| of_record(&record)));
        }
    }
}

fn of_records(chunk: &Chunk, opener: &Opener, out: &mut Prepared<'_>) {
    for item in records(&chunk.bytes) {
        let page = item.record.and_then(|record| read_record(&record, &opener.limits, &opener.wanted));
        match page {
            Ok(Some(record)) => out.push(of_record(&record)),
            Ok(None) => out.records += 1,
            Err(reason) => out.push(Made::Rejected(reason)),
        }
    }
}

fn of_documents(sources: &[Source], opener: &Opener) -> Result<Prepared<'static>> {
    let mut bytes = Vec::new();
    let mut prepared = Prepared::default();
    for source in sources {
        let record = read_document(source, opener, &mut bytes).at("read", &source.path)?;
        let made = record.map_or_else(Made::Rejected, |record| of_record(&record));
        prepared.items.push(Item { place: Err(source.name.clone()), made });
        prepared.records += 1;
    }
    Ok(prepared)
}

fn of_record(record: &Record) -> Made<'static> {
    let own =
        |link: &(LinkKind, String)| link.0 == LinkKind::Revisit && record.url.as_deref() == Some(&link.1);
    if record.links.iter().any(own) {
        return Made::Unchanged;
    }
    Made::Line(record.to_line().into_bytes().into())
}

/// The line with an id: a page that has neither id nor address is known by its place.
pub(super) fn with_name(line: &[u8], name: &str) -> Vec<u8> {
    let Some(open) = line.iter().position(|&byte| byte == b'{') else { return line.to_owned() };
    let name = to_raw_value(name).expect("a string is JSON");
    let mut out = Vec::with_capacity(line.len() + name.get().len() + 8);
    out.extend_from_slice(b"{\"id\":");
    out.extend_from_slice(name.get().as_bytes());
    out.push(b',');
    out.extend_from_slice(&line[open + 1..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_name_gets_its_place() {
        let line = with_name(b" {\"text\":\"a\"}", "in \"x\".jsonl:7");
        assert_eq!(line, br#"{"id":"in \"x\".jsonl:7","text":"a"}"#);
    }
}
