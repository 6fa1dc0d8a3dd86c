//! Copies the kept lines of a plain file. It reads only those lines, adjacent ones together.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::iter::repeat_n;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::{KeptWriter, changed, kept_ranges};
use crate::error::{At, Error, Result};
use crate::ingest::Source;
use crate::io::{Aligned, BLOCK, Spill};

/// Words per write: one large write is much faster than many small ones.
const PIECE: usize = 1 << 17;

impl KeptWriter<'_> {
    /// Writes the kept lines of `source`, a plain local file.
    pub(super) fn plain(&self, source: &Source, segments: Range<usize>, aside: &Path) -> Result<()> {
        let file = File::open(&source.path).at("read", &source.path)?;
        let out = Spill::create(aside, Arc::default())?;
        let mut piece = Aligned::default();
        piece.begin(PIECE).extend(repeat_n(0, PIECE));
        let mut copy = Copy { source, file: &file, out, piece, filled: 0, written: 0 };
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

/// Copies parts of a file.
struct Copy<'a> {
    source: &'a Source,
    file: &'a File,
    out: Spill,
    /// The next piece to write, filled up to `filled`.
    piece: Aligned,
    filled: usize,
    /// Bytes already written.
    written: u64,
}

impl Copy<'_> {
    fn take(&mut self, range: Range<u64>) -> Result<()> {
        let mut start = range.start;
        while start < range.end {
            let room = &mut bytemuck::cast_slice_mut(self.piece.words_mut())[self.filled..];
            let length = room.len().min((range.end - start) as usize);
            let read = self.file.read_exact_at(&mut room[..length], start);
            read.map_err(|error| unread(self.source, error))?;
            self.filled += length;
            start += length as u64;
            if self.filled == PIECE * size_of::<u64>() {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Writes the piece in whole blocks. `finish` truncates the excess of the last block.
    fn write(&mut self) -> Result<()> {
        let words = self.filled.div_ceil(size_of::<u64>()).next_multiple_of(BLOCK);
        self.out.write(&self.piece.words()[..words], self.written)?;
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }

    /// Writes the rest and syncs the file to disk.
    fn finish(mut self) -> Result<()> {
        self.write()?;
        self.out.finish(self.written)
    }
}

/// A file that ends too early has changed.
fn unread(source: &Source, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => changed(source),
        _ => Error::Io { verb: "read", path: source.path.clone(), source: error },
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Silent, dedup};

    #[test]
    fn lines_stay_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let (input, out) = (folder.path().join("pages.jsonl"), folder.path().join("out"));
        // Each page twice, three kinds of line end, and a line that is too long.
        let (mut text, mut expected) = (String::new(), String::new());
        for n in 0..4_000 {
            let end = ["\n", "\r\n", ""][if n == 3_999 { 2 } else { n % 2 }];
            let line = format!("{{\"id\":\"{n}\",\"text\":\"page {n} of many\"}}{end}");
            let copy = format!("{{\"id\":\"{n} again\",\"text\":\"page {n} of many\"}}\n\n");
            let long = if n == 2_000 { "word ".repeat(60_000) + "\n" } else { String::new() };
            text += &[copy, long, line.clone()].concat();
            expected += &line;
        }
        std::fs::write(&input, text).unwrap();
        let mut job = Job::new([input.to_str().unwrap()], &out);
        // Many small chunks.
        (job.threads, job.memory_bytes, job.limits.page_bytes) = (16, 64 << 20, 100_000);
        dedup(&job, &Silent).unwrap();
        let kept = std::fs::read_to_string(out.join("kept/pages.jsonl")).unwrap();
        assert!(kept == expected, "{} bytes of {}", kept.len(), expected.len());
    }
}
