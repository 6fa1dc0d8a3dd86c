//! Kept lines of a plain file: they alone are read, each run of neighbours at once, into what is written.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{KeptWriter, changed, kept_ranges};
use crate::error::{At, Error, Result};
use crate::ingest::Source;

/// Bytes that are written at once: the system takes one large piece far quicker than many small ones.
const PIECE_BYTES: usize = 1 << 20;

impl KeptWriter<'_> {
    /// Writes what stays of the lines of `source`, a plain file of this machine.
    pub(super) fn plain(
        &self,
        source: &Source,
        segments: Range<usize>,
        out: File,
        aside: &Path,
    ) -> Result<()> {
        let file = File::open(&source.path).at("read", &source.path)?;
        let mut copy = Copy { source, file: &file, out, aside, piece: vec![0; PIECE_BYTES], filled: 0 };
        let mut reported = 0;
        for number in segments {
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            let length = source.bytes.saturating_sub(segment.at);
            for range in kept_ranges(&segment, first, self.decisions, length) {
                copy.take(segment.at + range.start..segment.at + range.end)?;
            }
            self.progress.advance(segment.at - std::mem::replace(&mut reported, segment.at));
        }
        self.progress.advance(source.bytes.saturating_sub(reported));
        copy.finish()
    }
}

/// A copy of parts of a file.
struct Copy<'a> {
    source: &'a Source,
    file: &'a File,
    out: File,
    aside: &'a Path,
    /// What is written next, as far as `filled`.
    piece: Vec<u8>,
    filled: usize,
}

impl Copy<'_> {
    fn take(&mut self, range: Range<u64>) -> Result<()> {
        let mut start = range.start;
        while start < range.end {
            let room = &mut self.piece[self.filled..];
            let length = room.len().min((range.end - start) as usize);
            let read = self.file.read_exact_at(&mut room[..length], start);
            read.map_err(|error| unread(self.source, error))?;
            self.filled += length;
            start += length as u64;
            if self.filled == self.piece.len() {
                self.write()?;
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        self.out.write_all(&self.piece[..self.filled]).at("write", self.aside)?;
        self.filled = 0;
        Ok(())
    }

    /// Hands the file on to disk.
    fn finish(mut self) -> Result<()> {
        self.write()?;
        self.out.sync_data().at("write", self.aside)
    }
}

/// A file that ends too early is no longer what it was.
fn unread(source: &Source, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => changed(source),
        _ => Error::Io { verb: "read", path: source.path.clone(), source: error },
    }
}
