//! Iterates over the records of a segment, and finds the next good one after damage.

use super::layout::{HEAD_BYTES, Head, SEGMENT_HEAD_BYTES, check_segment_head, segment_name};
use super::{Place, Position};
use crate::Result;
use crate::disk::{File, read_at};

/// Bytes read at once, unless a record is longer.
const WINDOW_BYTES: u32 = 1 << 20;

/// An iteration over one segment.
pub(super) struct Walk<'a> {
    file: &'a dyn File,
    name: String,
    at: Position,
    end: u32,
    window: Vec<u8>,
    window_offset: u32,
}

/// The item at the current position.
pub(super) enum Step<'a> {
    /// A record; the position is now after it.
    Record { place: Place, since: u32, bytes: &'a [u8] },
    /// Damage and its kind; the position is unchanged.
    Damage { offset: u32, what: &'static str },
    /// The end of the segment.
    End,
}

impl<'a> Walk<'a> {
    /// Iterates over `file` from `at`, the start of a record, to `end`. Reads the segment header.
    pub(super) fn new(file: &'a dyn File, at: Position, end: u32) -> Result<Walk<'a>> {
        let name = segment_name(at.segment);
        let mut head = [0; SEGMENT_HEAD_BYTES as usize];
        read_at(file, &name, &mut head, 0)?;
        check_segment_head(&head, at.segment)?;
        let at = Position { offset: at.offset.max(SEGMENT_HEAD_BYTES), ..at };
        Ok(Walk { file, name, at, end, window: Vec::new(), window_offset: 0 })
    }

    pub(super) fn step(&mut self) -> Result<Step<'_>> {
        let at = self.at;
        if at.offset >= self.end {
            return Ok(Step::End);
        }
        let damage = |what| Ok(Step::Damage { offset: at.offset, what });
        if !self.load(at.offset, HEAD_BYTES)? {
            return damage("the record is cut short");
        }
        let Some(head) = Head::from_bytes(self.loaded(at.offset, HEAD_BYTES), at) else {
            return damage("no record begins here");
        };
        let start = at.offset + HEAD_BYTES;
        if !self.load(start, head.length)? {
            return damage("the record is cut short");
        }
        if !head.fits(self.loaded(start, head.length)) {
            return damage("the record's checksum does not match");
        }
        self.at.offset = start + head.length;
        let place = Place { segment: at.segment, offset: at.offset, length: head.length };
        Ok(Step::Record { place, since: head.since, bytes: self.loaded(start, head.length) })
    }

    /// Moves to the next position where a record seems to begin, or to the end.
    pub(super) fn skip(&mut self) -> Result<()> {
        let segment = self.at.segment;
        let mut from = self.at.offset + 1;
        self.at.offset = self.end;
        while self.end.saturating_sub(from) >= HEAD_BYTES {
            let count = (self.end - from).min(WINDOW_BYTES);
            self.load(from, count)?;
            let mut heads = self.loaded(from, count).windows(HEAD_BYTES as usize).zip(from..);
            let begins =
                |bytes: &[u8], offset| Head::from_bytes(bytes, Position { segment, offset }).is_some();
            if let Some((_, offset)) = heads.find(|(bytes, offset)| begins(bytes, *offset)) {
                self.at.offset = offset;
                break;
            }
            // A head may cross the boundary of two windows.
            from += count - HEAD_BYTES + 1;
        }
        Ok(())
    }

    /// Loads `count` bytes at `offset` into the window. Returns false if there are fewer bytes.
    fn load(&mut self, offset: u32, count: u32) -> Result<bool> {
        if self.end.saturating_sub(offset) < count {
            return Ok(false);
        }
        let window_end = self.window_offset + self.window.len() as u32;
        if offset < self.window_offset || offset + count > window_end {
            let wanted = count.max(WINDOW_BYTES.min(self.end - offset));
            self.window.resize(wanted as usize, 0);
            self.window_offset = offset;
            read_at(self.file, &self.name, &mut self.window, u64::from(offset))?;
        }
        Ok(true)
    }

    /// Bytes that `load` confirmed.
    fn loaded(&self, offset: u32, count: u32) -> &[u8] {
        let from = (offset - self.window_offset) as usize;
        &self.window[from..from + count as usize]
    }
}
