//! Cuts files whose records are not lines into chunks of lines: CSV and TSV, JSON arrays, and JSON objects that take
//! several lines each.
//!
//! Each record becomes a JSON line, which the rest of the engine reads. Kept records are copied in a second pass, which
//! knows them by their numbers, so `kept/` has their own bytes.

mod array;
mod table;

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::ops::Range;
use std::sync::Arc;

pub(crate) use self::array::ArraySplit;
pub(crate) use self::table::{TableSplit, failed_row, titles};
use super::chunks::{Chunk, Chunks, Trouble};
use super::packing::is_no_damage;
use crate::parallel::Gate;

/// Finds records in a stream of bytes.
pub(crate) trait Split: Send {
    /// Takes bytes from the front of `input`, which is empty at the end of the file.
    fn take(&mut self, input: &[u8]) -> Taken;
    /// Appends the last record as a line.
    fn line(&self, out: &mut Vec<u8>);
    /// Whether a header comes before the records.
    fn has_header(&self) -> bool;
    /// What is written around kept records. Known once a record has begun.
    fn frame(&self) -> Frame;
}

/// The bytes that were taken.
pub(crate) struct Taken {
    pub bytes: usize,
    /// Those of them that belong to the record or to the header.
    pub content: Range<usize>,
    pub event: SplitEvent,
}

/// What the taken bytes end with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SplitEvent {
    /// The middle of a record, or nothing.
    More,
    /// The header, which `kept/` always has.
    Header,
    Record,
    /// A record over the page limit.
    Overlong,
    /// The end of the file, and the damage before it.
    End(Option<&'static str>),
    /// The reason why nothing of the file can be read.
    Refused(String),
}

/// What is written around records.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub open: &'static [u8],
    pub between: &'static [u8],
    /// After the header and each record.
    pub after: &'static [u8],
    pub close: &'static [u8],
    /// If there is no record.
    pub empty: &'static [u8],
}

/// How many bytes are read at once.
const PIECE_BYTES: usize = 128 << 10;

/// Cuts the records of a file into chunks.
pub(crate) struct SplitChunks<R> {
    reader: BufReader<R>,
    split: Box<dyn Split>,
    chunk_bytes: usize,
    next: u32,
    ended: bool,
    large: Arc<Gate>,
}

impl<R: Read> SplitChunks<R> {
    /// A record that needs more than `chunk_bytes` must pass the gate `large`.
    pub(crate) fn new(
        reader: R,
        split: Box<dyn Split>,
        chunk_bytes: usize,
        large: Arc<Gate>,
    ) -> SplitChunks<R> {
        let reader = BufReader::with_capacity(PIECE_BYTES, reader);
        SplitChunks { reader, split, chunk_bytes, next: 0, ended: false, large }
    }

    /// Reads on to the next event. Returns the problem with the next record, if there is one.
    fn advance(&mut self, chunk: &mut Chunk) -> io::Result<Option<Trouble>> {
        let taken = self.split.take(fill(&mut self.reader)?);
        self.reader.consume(taken.bytes);
        self.ended = matches!(taken.event, SplitEvent::End(_) | SplitEvent::Refused(_));
        Ok(match taken.event {
            SplitEvent::More | SplitEvent::Header | SplitEvent::End(None) => None,
            SplitEvent::Record => {
                let start = chunk.bytes.len();
                self.split.line(&mut chunk.bytes);
                if chunk.bytes.len() - start > self.chunk_bytes && chunk.permit.is_none() {
                    chunk.permit = Some(self.large.enter());
                }
                None
            }
            SplitEvent::Overlong => Some(Trouble::Overlong),
            SplitEvent::End(Some(damage)) => Some(Trouble::Corrupt(damage.into())),
            SplitEvent::Refused(reason) => Some(Trouble::Refused(reason)),
        })
    }
}

impl<R: Read + Send> Chunks for SplitChunks<R> {
    fn next(&mut self, mut spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        if self.ended {
            return Ok(None);
        }
        spare.clear();
        let mut chunk = Chunk { index: self.next, bytes: spare, ..Chunk::default() };
        self.next += 1;
        while chunk.bytes.len() < self.chunk_bytes && chunk.trouble.is_none() && !self.ended {
            chunk.trouble = match self.advance(&mut chunk) {
                Ok(trouble) => trouble,
                Err(error) if is_no_damage(&error) => return Err(error),
                Err(error) => {
                    self.ended = true;
                    Some(Trouble::of(&error))
                }
            };
        }
        Ok((!chunk.bytes.is_empty() || chunk.trouble.is_some()).then_some(chunk))
    }
}

/// Copies the records whose numbers, from zero, `keep` accepts. What follows damage is left out.
pub(crate) fn copy_kept(
    reader: impl Read,
    split: &mut dyn Split,
    keep: impl Fn(u64) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(PIECE_BYTES, reader);
    let (mut number, mut kept, mut begun) = (0, 0u64, false);
    let mut heading = split.has_header();
    loop {
        let input = match fill(&mut reader) {
            Err(error) if !is_no_damage(&error) => break,
            input => input?,
        };
        let Taken { bytes, content, event } = split.take(input);
        let stays = heading || keep(number);
        if stays && !content.is_empty() {
            let frame = split.frame();
            if !begun && !heading {
                out.write_all(if kept == 0 { frame.open } else { frame.between })?;
                kept += 1;
            }
            begun = true;
            out.write_all(&input[content])?;
        }
        reader.consume(bytes);
        match event {
            SplitEvent::More => continue,
            SplitEvent::End(_) | SplitEvent::Refused(_) => break,
            SplitEvent::Header => heading = false,
            SplitEvent::Record | SplitEvent::Overlong => number += 1,
        }
        if stays {
            out.write_all(split.frame().after)?;
        }
        begun = false;
    }
    let frame = split.frame();
    out.write_all(if kept == 0 { frame.empty } else { frame.close })
}

/// The next bytes of a file; none at its end.
fn fill<R: Read>(reader: &mut BufReader<R>) -> io::Result<&[u8]> {
    loop {
        match reader.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    Ok(reader.buffer())
}

#[cfg(test)]
mod tests;
