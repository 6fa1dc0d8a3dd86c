//! Writes tags in the order of the input, and counts.

use super::Tagged;
use super::file::TagFile;
use super::reading::{Made, TaggedPiece};
use crate::error::Result;
use crate::ingest::{Inputs, as_json};
use crate::report::Unreadable;
use crate::service::{ImportRejection, OnRejection};

/// Takes pieces in their order.
pub(super) struct Clerk<'a, 'r> {
    pub file: TagFile,
    pub rejected: &'a mut OnRejection<'r>,
    pub tagged: Tagged,
    pub current: Current,
}

/// The source that is read.
#[derive(Default)]
pub(super) struct Current {
    source: u32,
    name: String,
    /// Records before the chunk.
    before: u64,
    read: u64,
    unread: u64,
    /// The reason of the first record that could not be read.
    first: String,
    ending: Option<Unreadable>,
}

impl Clerk<'_, '_> {
    /// Begins new sources. Some inputs are not read, with a reason.
    pub(super) fn begin(&mut self, inputs: &Inputs) -> Result<()> {
        for (source, reason) in inputs.unread() {
            self.tagged.read += 1;
            self.reject(source, None, reason.text)?;
        }
        let lost = inputs.unreadable.iter().map(|(name, reason)| Unreadable::of(name, reason));
        self.tagged.unreadable.extend(lost);
        Ok(())
    }

    /// Writes the tags of a piece.
    pub(super) fn take(&mut self, piece: TaggedPiece) -> Result<()> {
        if let Some(source) = piece.chunk_of {
            if self.current.source != source {
                self.end();
            }
            (self.current.source, self.current.name) = (source, piece.name);
        }
        let is_chunk = piece.chunk_of.is_some();
        for record in piece.records {
            self.current.before += u64::from(is_chunk);
            let line = is_chunk.then_some(self.current.before);
            let source = record.own_name.unwrap_or_else(|| self.current.name.clone());
            match &record.made {
                Made::Other => self.current.read += u64::from(piece.is_archive),
                Made::Unread(reason) if is_chunk => self.current.miss(reason),
                Made::Unread(_) => {}
                _ => self.current.read += u64::from(is_chunk),
            }
            self.record(record.made, &source, line)?;
        }
        self.current.ending = piece.ending.or(self.current.ending.take());
        Ok(())
    }

    fn record(&mut self, made: Made, source: &str, line: Option<u64>) -> Result<()> {
        self.tagged.read += u64::from(!matches!(made, Made::Other));
        match made {
            Made::Other | Made::Pointing => Ok(()),
            Made::Silent => self.reject(source, line, "no words to compare".into()),
            Made::Unread(reason) => self.reject(source, line, reason),
            Made::Tag(name, tag) => {
                self.tagged.tagged += 1;
                self.file.write(&name.unwrap_or_else(|| place(source, line)), &tag)
            }
        }
    }

    fn reject(&mut self, source: &str, line: Option<u64>, reason: String) -> Result<()> {
        self.tagged.rejected += 1;
        (self.rejected)(&ImportRejection { source: source.into(), line, reason })
    }

    /// Ends a source: one without a readable record, or that breaks off, is named.
    pub(super) fn end(&mut self) {
        let Current { name, read, unread, first, ending, .. } = std::mem::take(&mut self.current);
        let lost = match ending {
            Some(ending) => Some(Unreadable { pages: read, ..ending }),
            None if read > 0 || unread == 0 => None,
            None => Some(Unreadable { lost: Some(unread), ..Unreadable::of(&name, &first) }),
        };
        self.tagged.unreadable.extend(lost);
    }
}

impl Current {
    fn miss(&mut self, reason: &str) {
        if self.unread == 0 {
            self.first = reason.to_owned();
        }
        self.unread += 1;
    }
}

/// The name as JSON of a page that has neither id nor address: its place.
fn place(source: &str, line: Option<u64>) -> String {
    as_json(&line.map_or_else(|| source.to_owned(), |line| format!("{source}:{line}")))
}
