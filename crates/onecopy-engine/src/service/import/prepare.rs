//! Turns a piece of input into changes, each with its position. All expensive work happens here.

use onecopy_core::LinkKind;
use onecopy_store::Version;
use serde_json::value::to_raw_value;

use super::plan::ImportReading;
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, FieldNames, Format, Opener, Piece, Reason, RecordReader, Source, ends_in_a_record, read_document,
    walk,
};
use crate::job::Fields;
use crate::report::Unreadable;
use crate::service::Refusal;
use crate::service::prepare::{NAMELESS, Preparation, PreparationBuffers};
use onecopy_core::Record;

/// The state that all preparing threads share.
pub(super) struct Intake<'a> {
    pub reading: &'a ImportReading,
    pub opener: &'a Opener,
    pub names: &'a FieldNames,
    pub preparation: &'a Preparation,
}

/// A prepared piece of input.
#[derive(Debug, Default)]
pub(super) struct PreparedPiece {
    /// The number and name of its source. Items of files that are one page each have their own.
    pub source: u32,
    pub name: String,
    /// The number of its records.
    pub records: u32,
    pub items: Vec<PreparedRecord>,
    /// The number of records of an archive that are not meant to be pages.
    pub others: u32,
    /// If its source breaks off here.
    pub unreadable: Option<Unreadable>,
}

/// A record of a piece and its position in it, from zero. A file that is one page has its own name instead.
#[derive(Debug)]
pub(super) struct PreparedRecord {
    pub place: Result<u32, String>,
    pub made: Made,
}

/// The result of preparing a record.
#[derive(Debug)]
pub(super) enum Made {
    /// A change that adds a page.
    Change(Box<Version>),
    /// A line without a name. Its position becomes its name once that is known.
    Nameless(Vec<u8>),
    /// A record that says the page has not changed.
    Unchanged,
    /// An unreadable record, with the reason.
    Rejected(Reason),
    /// A refused page.
    Refused(Refusal),
}

impl Intake<'_> {
    /// Prepares the records of a piece.
    pub(super) fn prepare(&self, piece: &Piece) -> Result<PreparedPiece> {
        let sources = &self.reading.inputs.sources;
        let mut buffers = self.preparation.buffers().map_err(broken)?;
        match piece {
            Piece::Chunk { source, chunk, .. } => {
                let from = &sources[*source as usize];
                let mut out =
                    PreparedPiece { source: *source, name: from.name.clone(), ..PreparedPiece::default() };
                self.chunk(chunk, from.format, &mut buffers, &mut out);
                Ok(out)
            }
            Piece::Documents { sources: range, .. } => {
                self.documents(&sources[range.start as usize..range.end as usize], &mut buffers)
            }
        }
    }

    fn chunk(
        &self,
        chunk: &Chunk,
        format: Format,
        buffers: &mut PreparationBuffers,
        out: &mut PreparedPiece,
    ) {
        let Opener { limits, needs, .. } = self.opener;
        let reader = RecordReader { limits, names: self.names, needs };
        let usual = self.reading.fields == Fields::default();
        for raw in walk(chunk, format) {
            if usual && reader.is_page_line(&raw) {
                // A record with the usual field names stays unchanged, including unknown fields.
                out.push(made(self.preparation.put(raw.bytes, buffers), raw.bytes));
                continue;
            }
            match reader.read(&raw) {
                Ok(Some(record)) => out.push(self.record(&record, buffers)),
                Ok(None) => {
                    out.records += 1;
                    out.others += u32::from(format.is_archive());
                }
                Err(reason) => out.push(Made::Rejected(reason)),
            }
        }
        if ends_in_a_record(chunk, format) {
            out.unreadable = Some(Unreadable::of(&out.name, "the file ends within a record"));
        }
        if let Some(trouble) = &chunk.trouble {
            let reason = reader.reason(trouble);
            if trouble.ends_file() {
                out.unreadable =
                    Some(Unreadable { lost: chunk.lost, ..Unreadable::of(&out.name, &reason.text) });
            }
            out.push(Made::Rejected(reason));
        }
    }

    fn documents(&self, sources: &[Source], buffers: &mut PreparationBuffers) -> Result<PreparedPiece> {
        let mut bytes = Vec::new();
        let mut out = PreparedPiece::default();
        for source in sources {
            let record = read_document(source, self.opener, &mut bytes).at("read", &source.path)?;
            let made = record.map_or_else(Made::Rejected, |record| self.record(&record, buffers));
            out.items.push(PreparedRecord { place: Err(source.name.clone()), made });
            out.records += 1;
        }
        Ok(out)
    }

    /// A record of any format, stored as a line of JSON.
    fn record(&self, record: &Record, buffers: &mut PreparationBuffers) -> Made {
        let own =
            |link: &(LinkKind, String)| link.0 == LinkKind::Revisit && record.url.as_deref() == Some(&link.1);
        if record.links.iter().any(own) {
            return Made::Unchanged;
        }
        let line = crate::ingest::to_line(record);
        made(self.preparation.page(record, line.as_bytes(), buffers), line.as_bytes())
    }
}

impl PreparedPiece {
    fn push(&mut self, made: Made) {
        self.items.push(PreparedRecord { place: Ok(self.records), made });
        self.records += 1;
    }
}

/// An unwritable collection stops the import.
pub(super) fn broken(refusal: Refusal) -> Error {
    Error::Broken { reason: refusal.to_string() }
}

fn made(version: Result<Version, Refusal>, line: &[u8]) -> Made {
    match version {
        Ok(version) => Made::Change(Box::new(version)),
        Err(Refusal::Bad(reason)) if reason == NAMELESS => Made::Nameless(line.to_owned()),
        Err(refusal) => Made::Refused(refusal),
    }
}

/// Adds an id to a line. A page with neither id nor address is named by its position.
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
