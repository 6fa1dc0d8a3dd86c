//! An append-only log of records in segment files: what was accepted, in the order of acceptance.
//!
//! A record is durable after [`Log::sync`], which the caller shares between many. A loss of power leaves all that
//! was synced and some first part of the rest. Only the end of the last segment can be torn, since a segment is
//! begun when all before it is durable; whatever else does not fit its checksum is damage, and is said.

mod layout;
mod reader;
mod segment;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use layout::MAX_RECORD_BYTES;
pub use reader::LogReader;

use crate::disk::{File, Folder, cannot, damaged};
use crate::{Error, Result};
use layout::{HEAD_BYTES, Head, SEGMENT_HEAD_BYTES, segment_name};
use reader::Files;
use segment::{create, cut, find_end, is_unborn, list, numbers, open_to_write};
use walk::{Step, Walk};

/// The usual length of a segment.
pub const SEGMENT_BYTES: u32 = 64 << 20;
/// Larger ones would not leave room for the last record below 4 GiB.
const MAX_SEGMENT_BYTES: u32 = 1 << 30;

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// The number of the segment.
    pub segment: u32,
    /// Where the record begins in it.
    pub offset: u32,
    /// Of the record's bytes.
    pub length: u32,
}

/// A boundary between records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The number of the segment.
    pub segment: u32,
    /// Where in it.
    pub offset: u32,
}

/// The log, for its one writer.
#[derive(Debug)]
pub struct Log {
    files: Arc<Files>,
    segment_bytes: u32,
    /// What is durable: each segment with its length.
    segments: BTreeMap<u32, u32>,
    /// The last of them, to write.
    last: Arc<dyn File>,
    durable: Position,
    /// With what is in the buffer.
    end: Position,
    buffer: Vec<Chunk>,
    /// There may be bytes behind what is durable, of a sync that failed.
    uncut: bool,
}

/// Bytes for one segment, which follow what it has.
#[derive(Debug)]
struct Chunk {
    segment: u32,
    bytes: Vec<u8>,
}

impl Log {
    /// Opens the log in `folder`, or begins one. Cuts a torn end, and makes what stays durable.
    pub fn open(folder: Arc<dyn Folder>, segment_bytes: u32) -> Result<Log> {
        Log::open_after(folder, segment_bytes, Position::default())
    }

    /// The same, where all before `durable` is known to have been synced: if it is not there, that is damage and
    /// nothing is cut. It is not read: what is damaged of it is found by who asks for it, and does not stop the rest.
    pub fn open_after(folder: Arc<dyn Folder>, segment_bytes: u32, durable: Position) -> Result<Log> {
        // What an earlier process created or removed may be on disk only in part, and is built on now.
        folder.sync().map_err(cannot("sync", "the folder"))?;
        let mut segments = list(&*folder)?;
        let last_segment = segments.last_key_value().map_or(1, |(segment, _)| *segment);
        let last = match segments.get(&last_segment) {
            Some(&length) if !is_unborn(&*folder, last_segment, length)? => {
                open_to_write(&*folder, last_segment)?
            }
            _ => create(&*folder, last_segment)?,
        };
        let end = find_end(&*last, last_segment, durable)?;
        segments.insert(end.segment, end.offset);
        cut(&*last, end)?;
        Ok(Log {
            files: Arc::new(Files::new(folder)),
            segment_bytes: segment_bytes.min(MAX_SEGMENT_BYTES),
            segments,
            last,
            durable: end,
            end,
            buffer: Vec::new(),
            uncut: false,
        })
    }

    /// Adds a record, in memory until the next `sync`. The place holds only if that succeeds.
    pub fn append(&mut self, bytes: &[u8]) -> Result<Place> {
        if bytes.len() > MAX_RECORD_BYTES as usize {
            let length = bytes.len();
            return Err(Error::Refused(format!(
                "a record has {length} bytes, and {MAX_RECORD_BYTES} are allowed"
            )));
        }
        let needed = HEAD_BYTES + bytes.len() as u32;
        if self.end.offset > SEGMENT_HEAD_BYTES && self.end.offset.saturating_add(needed) > self.segment_bytes
        {
            self.end = Position { segment: self.end.segment + 1, offset: SEGMENT_HEAD_BYTES };
        }
        let at = self.end;
        let since = if at.segment == self.durable.segment { self.durable.offset } else { SEGMENT_HEAD_BYTES };
        let chunk = chunk_for(&mut self.buffer, at.segment);
        chunk.bytes.extend_from_slice(&Head::of(bytes, since).to_bytes(at));
        chunk.bytes.extend_from_slice(bytes);
        self.end.offset += needed;
        Ok(Place { segment: at.segment, offset: at.offset, length: bytes.len() as u32 })
    }

    /// Makes what was appended durable. After an error none of it is in the log, the log is as after the last
    /// success, and the caller may append and sync again. Only if the process ends before that succeeds may some
    /// first part of it be found again.
    pub fn sync(&mut self) -> Result<()> {
        let chunks = std::mem::take(&mut self.buffer);
        let done = self.cut_back().and_then(|()| chunks.iter().try_for_each(|chunk| self.write(chunk)));
        match done {
            Ok(()) => {
                for chunk in &chunks {
                    let length = self.segments.entry(chunk.segment).or_insert(SEGMENT_HEAD_BYTES);
                    *length += chunk.bytes.len() as u32;
                }
                self.durable = self.end;
            }
            Err(_) => {
                self.end = self.durable;
                self.uncut = true;
                // If this fails as well, the next sync begins with it.
                self.cut_back().ok();
            }
        }
        done
    }

    /// Where the next record begins, after what was appended; unless it needs a segment of its own.
    pub fn end(&self) -> Position {
        self.end
    }

    /// To read records by place, from any thread.
    pub fn reader(&self) -> LogReader {
        LogReader { files: self.files.clone() }
    }

    /// Gives each synced record from `from` on, in order. Stops at damage, and at the error of `each`.
    pub fn replay(&self, from: Position, each: &mut dyn FnMut(Place, &[u8]) -> Result<()>) -> Result<()> {
        if from > self.durable {
            let name = segment_name(self.durable.segment);
            return Err(damaged(&name, u64::from(self.durable.offset), "the log ends here and was longer"));
        }
        for (&segment, &length) in self.segments.range(from.segment..) {
            let offset = if segment == from.segment { from.offset } else { 0 };
            if offset > length {
                let what = "the segment ends here and was longer";
                return Err(damaged(&segment_name(segment), u64::from(length), what));
            }
            self.reader().records(Position { segment, offset }, length, each)?;
        }
        Ok(())
    }

    /// The segments with their length in bytes, in order.
    pub fn segments(&self) -> Vec<(u32, u64)> {
        self.segments.iter().map(|(&segment, &length)| (segment, u64::from(length))).collect()
    }

    /// Removes a segment whose records are no longer wanted; never the last one, where the log goes on.
    pub fn remove(&mut self, segment: u32) -> Result<()> {
        let name = segment_name(segment);
        if segment >= self.durable.segment || !self.segments.contains_key(&segment) {
            return Err(Error::Refused(format!(
                "{name} cannot be removed: it is not an older segment of the log"
            )));
        }
        self.files.folder.remove(&name).map_err(cannot("remove", &name))?;
        self.files.forget(segment);
        self.segments.remove(&segment);
        self.files.folder.sync().map_err(cannot("sync", "the folder"))
    }

    /// Reads everything, gives each damage and goes on behind it. How many records are good.
    pub fn check(&self, each: &mut dyn FnMut(Error)) -> Result<u64> {
        let mut good = 0;
        for (&segment, &length) in &self.segments {
            match self.check_segment(segment, length, each) {
                Ok(count) => good += count,
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => each(error),
            }
        }
        Ok(good)
    }

    fn check_segment(&self, segment: u32, length: u32, each: &mut dyn FnMut(Error)) -> Result<u64> {
        let file = self.files.get(segment)?;
        let mut walk = Walk::new(&*file, Position { segment, offset: 0 }, length)?;
        let (mut good, mut missing) = (0, false);
        loop {
            match walk.step()? {
                Step::Record { .. } => (good, missing) = (good + 1, false),
                Step::Damage { offset, what } => {
                    // What seems to begin inside a damaged record is part of the same damage.
                    if !std::mem::replace(&mut missing, true) {
                        each(damaged(&segment_name(segment), u64::from(offset), what));
                    }
                    walk.skip()?;
                }
                Step::End => return Ok(good),
            }
        }
    }

    /// Appends to a segment, which is begun if it is not the last. All segments before are durable by now.
    fn write(&mut self, chunk: &Chunk) -> Result<()> {
        let name = segment_name(chunk.segment);
        let mut offset = self.durable.offset;
        if chunk.segment != self.durable.segment {
            self.last = create(&*self.files.folder, chunk.segment)?;
            offset = SEGMENT_HEAD_BYTES;
        }
        self.last.write_all_at(&chunk.bytes, u64::from(offset)).map_err(cannot("write", &name))?;
        self.last.sync().map_err(cannot("sync", &name))
    }

    /// Removes what a failed sync has left, durably: else it could be found behind what is written next.
    fn cut_back(&mut self) -> Result<()> {
        if !self.uncut {
            return Ok(());
        }
        let folder = self.files.folder.clone();
        let sync = || folder.sync().map_err(cannot("sync", "the folder"));
        // From the last on and each durably, so that there is never a later one without those before it.
        sync()?;
        for segment in numbers(&*folder)?.into_iter().rev().filter(|segment| *segment > self.durable.segment)
        {
            let name = segment_name(segment);
            self.files.forget(segment);
            folder.remove(&name).map_err(cannot("remove", &name))?;
            sync()?;
        }
        self.last = open_to_write(&*folder, self.durable.segment)?;
        cut(&*self.last, self.durable)?;
        self.uncut = false;
        Ok(())
    }
}

fn chunk_for(buffer: &mut Vec<Chunk>, segment: u32) -> &mut Chunk {
    if buffer.last().is_none_or(|chunk| chunk.segment != segment) {
        buffer.push(Chunk { segment, bytes: Vec::new() });
    }
    buffer.last_mut().expect("one was pushed if there was none")
}
