//! Cuts a stream of lines into chunks of whole lines.
//!
//! The cuts depend only on the bytes and the chunk size. A line over the page limit is skipped without holding it in
//! memory. Damage in a compressed file ends the file. Both are reported in place of the line.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::packing::is_no_damage;
use super::rows::ChunkRows;
use crate::parallel::{Gate, Permit};

/// Some whole lines of a source.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Its number in the source, from zero.
    pub index: u32,
    /// The offset of its bytes among the source's unpacked bytes.
    pub at: u64,
    pub bytes: Vec<u8>,
    /// The problem with the next line, if any.
    pub trouble: Option<Trouble>,
    /// How many records are lost with that line, if the format tells.
    pub lost: Option<u64>,
    /// The rows, if the source is in memory; there are no bytes then.
    pub rows: Option<ChunkRows>,
    /// Held while a line longer than a usual chunk is in memory.
    pub permit: Option<Permit>,
}

/// Why a line could not be delivered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The line is over the page limit.
    Overlong,
    /// The record is over the page limit, and where it ends is unknown.
    Endless,
    /// The compressed file is damaged from this point.
    Corrupt(String),
    /// The compressed file grows too much from this point.
    Bomb(String),
    /// The file cannot be read at all.
    Refused(String),
}

impl Trouble {
    /// The damage that a reader met. A decompression bomb is a file that is too large.
    pub(crate) fn of(error: &io::Error) -> Trouble {
        match error.kind() {
            ErrorKind::FileTooLarge => Trouble::Bomb(error.to_string()),
            _ => Trouble::Corrupt(error.to_string()),
        }
    }

    /// Whether nothing of the file follows.
    pub(crate) fn ends_file(&self) -> bool {
        matches!(self, Trouble::Corrupt(_) | Trouble::Bomb(_) | Trouble::Refused(_))
    }
}

/// A source that yields chunks.
pub(crate) trait Chunks: Send {
    /// The next chunk, or `None` at the end. Returns an error only if the system or the network fails. `spare` is a
    /// buffer to reuse, such as that of a finished chunk: allocating memory costs more than reading.
    fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Chunk>>;

    /// Copies the record that was too long for the last chunk to `out`, unchanged. Only archives need this: `kept`
    /// leaves out lines that cannot be read.
    fn overlong(&mut self, _out: &mut dyn Write) -> io::Result<Copied> {
        Ok(Copied::Nothing)
    }
}

/// How much of an overlong record was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    /// There is no such record, or its end is unknown.
    Nothing,
    /// The whole record, with the line ends after it.
    Whole { line_ends: usize, arc: bool },
    /// Only a part: the file ends inside the record.
    Cut,
}

impl<R: Read + Send> Chunks for LineChunks<R> {
    fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        LineChunks::next(self, spare)
    }
}

/// The lines of a chunk: the offset of each, and its bytes without the newline. Includes blank lines.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let ends = memchr_iter(b'\n', bytes).map(|end| (end, end + 1));
    let rest = bytes.len() - memrchr(b'\n', bytes).map_or(0, |end| end + 1);
    let last = (rest > 0).then_some((bytes.len(), bytes.len()));
    let mut start = 0;
    ends.chain(last).map(move |(end, next)| {
        let line = (start, &bytes[start..end]);
        start = next;
        line
    })
}

/// Cuts the bytes of `reader` into chunks.
pub(crate) struct LineChunks<R> {
    reader: R,
    chunk_bytes: usize,
    page_bytes: usize,
    /// The beginning of a line that is not complete yet.
    carry: Vec<u8>,
    /// Bytes read so far.
    read: u64,
    next: u32,
    ended: bool,
    large: Arc<Gate>,
}

impl<R: Read> LineChunks<R> {
    /// A chunk that needs more than `chunk_bytes` must pass the gate `large` first.
    pub(crate) fn new(reader: R, chunk_bytes: usize, page_bytes: usize, large: Arc<Gate>) -> LineChunks<R> {
        LineChunks {
            reader,
            chunk_bytes,
            page_bytes,
            carry: Vec::new(),
            read: 0,
            next: 0,
            ended: false,
            large,
        }
    }

    /// The next chunk, or `None` at the end. Returns an error only if the system or the network fails. `spare` is a
    /// buffer to reuse, such as that of a finished chunk: allocating memory costs more than reading.
    pub(crate) fn next(&mut self, mut spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        if self.ended {
            return Ok(None);
        }
        // The old contents are overwritten, not cleared: filling with zeros would be one more write.
        let carried = self.carry.len();
        spare.resize(spare.len().max(carried), 0);
        spare[..carried].copy_from_slice(&self.carry);
        self.carry.clear();
        let at = self.read - carried as u64;
        let mut chunk = Chunk { index: self.next, at, bytes: spare, ..Chunk::default() };
        self.next += 1;
        if let Err(error) = self.fill(&mut chunk, carried) {
            self.ended = true;
            if is_no_damage(&error) {
                return Err(error);
            }
            let whole = memrchr(b'\n', &chunk.bytes).map_or(0, |end| end + 1);
            chunk.bytes.truncate(whole);
            chunk.trouble = Some(Trouble::of(&error));
        }
        Ok((!chunk.bytes.is_empty() || chunk.trouble.is_some()).then_some(chunk))
    }

    /// Reads until the chunk is full of whole lines, the stream ends, or a line is too long. The first `length` bytes
    /// are already filled.
    fn fill(&mut self, chunk: &mut Chunk, mut length: usize) -> io::Result<()> {
        let mut wanted = self.chunk_bytes;
        let mut searched = 0;
        loop {
            length = self.read_to(&mut chunk.bytes, length, wanted)?;
            if length < wanted {
                self.ended = true;
                if chunk.bytes.len() > self.page_bytes && memchr(b'\n', &chunk.bytes).is_none() {
                    chunk.bytes.clear();
                    chunk.trouble = Some(Trouble::Overlong);
                }
                return Ok(());
            }
            if let Some(end) = memrchr(b'\n', &chunk.bytes[searched..]) {
                let line_end = searched + end + 1;
                self.carry.extend_from_slice(&chunk.bytes[line_end..]);
                chunk.bytes.truncate(line_end);
                return Ok(());
            }
            searched = chunk.bytes.len();
            if searched > self.page_bytes {
                chunk.bytes.clear();
                chunk.trouble = Some(Trouble::Overlong);
                return self.skip_line();
            }
            if chunk.permit.is_none() {
                chunk.permit = Some(self.large.enter());
            }
            wanted = (2 * wanted).min(self.page_bytes + 1).max(wanted + 1);
        }
    }

    /// Reads after the first `length` bytes until there are `wanted` bytes or the stream ends. Returns the number of
    /// bytes.
    fn read_to(&mut self, bytes: &mut Vec<u8>, mut length: usize, wanted: usize) -> io::Result<usize> {
        bytes.resize(bytes.len().max(wanted), 0);
        while length < wanted {
            match self.reader.read(&mut bytes[length..wanted]) {
                Ok(0) => break,
                Ok(n) => {
                    length += n;
                    self.read += n as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    bytes.truncate(length);
                    return Err(error);
                }
            }
        }
        bytes.truncate(length);
        Ok(length)
    }

    /// Skips the rest of a line.
    fn skip_line(&mut self) -> io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            if self.read_to(&mut buffer, 0, 1 << 16)? == 0 {
                self.ended = true;
                return Ok(());
            }
            if let Some(end) = memchr(b'\n', &buffer) {
                self.carry = buffer.split_off(end + 1);
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Yields `bytes` in small pieces, then an error if there is one.
    struct Stuttering<'a>(&'a [u8], Option<&'static str>);

    impl Read for Stuttering<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match (self.0, self.1.take()) {
                ([], Some(text)) => return Err(io::Error::other(text)),
                (_, error) => self.1 = error,
            }
            let n = buffer.len().min(3).min(self.0.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn chunks(bytes: &[u8], error: Option<&'static str>, chunk: usize, page: usize) -> Vec<Chunk> {
        let mut reader = LineChunks::new(Stuttering(bytes, error), chunk, page, Gate::new(1));
        let mut chunks: Vec<Chunk> = Vec::new();
        while let Some(mut chunk) = reader.next(vec![1, 2, 3]).unwrap() {
            assert!(chunk.bytes.len() <= reader.chunk_bytes || chunk.permit.is_some());
            chunk.permit = None;
            chunks.push(chunk);
        }
        chunks
    }

    #[test]
    fn damage_costs_the_line_it_is_in_and_what_follows() {
        let found = chunks(b"one\ntwo\nthr", Some("bad block"), 100, 100);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].bytes, b"one\ntwo\n");
        assert_eq!(found[0].trouble, Some(Trouble::Corrupt("bad block".into())));
    }

    #[test]
    fn an_overlong_line_is_passed_over() {
        let text = format!("a\n{}\nb\n{}", "x".repeat(200_000), "y".repeat(50));
        let found = chunks(text.as_bytes(), None, 16, 20);
        let kept: Vec<u8> = found.iter().flat_map(|c| c.bytes.clone()).collect();
        assert_eq!(kept, b"a\nb\n");
        assert_eq!(found.iter().filter(|c| c.trouble == Some(Trouble::Overlong)).count(), 2);
        assert!(found.iter().enumerate().all(|(i, c)| c.index == i as u32));
    }

    #[test]
    fn lines_know_where_they_start() {
        let found: Vec<_> = lines(b"ab\n\ncd").collect();
        assert_eq!(found, [(0, &b"ab"[..]), (3, b""), (4, b"cd")]);
        assert_eq!(lines(b"").count(), 0);
        assert_eq!(lines(b"\n").count(), 1);
    }

    proptest! {
        #[test]
        fn chunks_put_together_are_the_stream(text in "[ab\n]{0,200}", chunk in 1usize..40) {
            let found = chunks(text.as_bytes(), None, chunk, 1_000);
            let joined: Vec<u8> = found.iter().flat_map(|c| c.bytes.clone()).collect();
            prop_assert_eq!(joined, text.as_bytes());
            for cut in found.iter().rev().skip(1) {
                prop_assert!(cut.bytes.ends_with(b"\n"));
            }
        }

        #[test]
        fn chunks_begin_where_they_say(text in "[ab\n]{0,200}", chunk in 1usize..40, page in 1usize..40) {
            let mut reader = LineChunks::new(text.as_bytes(), chunk, page, Gate::new(1));
            while let Some(Chunk { at, bytes, .. }) = reader.next(Vec::new()).unwrap() {
                prop_assert_eq!(&bytes[..], &text.as_bytes()[at as usize..at as usize + bytes.len()]);
            }
        }
    }
}
