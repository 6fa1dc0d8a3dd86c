//! An append-only log of records in segment files, in order of acceptance.
//!
//! A record is durable after [`Log::sync`], which one caller may share among many records. After a power loss, all
//! synced records remain, and a prefix of the rest. Only the end of the last segment can be torn, because a segment
//! begins only after all earlier ones are durable. Any other checksum mismatch is reported as damage.

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

/// The default length of a segment.
pub const SEGMENT_BYTES: u32 = 64 << 20;
/// A longer segment would leave too little room for the last record below 4 GiB.
const MAX_SEGMENT_BYTES: u32 = 1 << 30;

/// The bytes that a probe writes.
const PROBE_BYTES: usize = 4 << 10;

/// The location of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// The number of the segment.
    pub segment: u32,
    /// The offset of the record in the segment.
    pub offset: u32,
    /// The length of the record.
    pub length: u32,
}

/// A boundary between records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The number of the segment.
    pub segment: u32,
    /// The offset in the segment.
    pub offset: u32,
}

/// The log, for its only writer.
#[derive(Debug)]
pub struct Log {
    files: Arc<Files>,
    segment_bytes: u32,
    /// The durable length of each segment.
    segments: BTreeMap<u32, u32>,
    /// The last segment, for writing.
    last: Arc<dyn File>,
    durable: Position,
    /// The end including the buffer.
    end: Position,
    buffer: Vec<Chunk>,
    /// Whether bytes of a failed sync may follow the durable end.
    uncut: bool,
}

/// Bytes to append to one segment.
#[derive(Debug)]
struct Chunk {
    segment: u32,
    bytes: Vec<u8>,
}

impl Log {
    /// Opens the log in `folder`, or creates one. It truncates a torn end and makes the rest durable.
    pub fn open(folder: Arc<dyn Folder>, segment_bytes: u32) -> Result<Log> {
        Log::open_after(folder, segment_bytes, Position::default())
    }

    /// Opens the log if everything before `durable` is known to be synced. If a part of it is missing, that is damage
    /// and nothing is truncated. It is not read here, so damage in it affects only readers of the damaged record.
    pub fn open_after(folder: Arc<dyn Folder>, segment_bytes: u32, durable: Position) -> Result<Log> {
        // Files that an earlier process created or removed may not be durable yet, and new records depend on them.
        folder.sync().map_err(cannot("sync", "the folder"))?;
        let mut segments = list(&*folder)?;
        if segments.is_empty() && durable > Position::default() {
            return Err(damaged(&segment_name(durable.segment), 0, "the file is missing"));
        }
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

    /// Appends a record to the buffer. Its place is valid only after the next successful `sync`.
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

    /// Makes appended records durable. After an error none of them is in the log, and the caller may append and sync
    /// again. Only if the process ends before a successful sync may a prefix of them reappear.
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
                // If this fails too, the next sync starts with it.
                self.cut_back().ok();
            }
        }
        done
    }

    /// Finds out whether records can be written: writes bytes after the durable end, and removes them. If the process
    /// ends in between, they are a torn end.
    pub fn probe(&mut self) -> Result<()> {
        self.cut_back()?;
        self.uncut = true;
        let (name, at) = (segment_name(self.durable.segment), u64::from(self.durable.offset));
        let written = self.last.write_all_at(&[0; PROBE_BYTES], at).map_err(cannot("write", &name));
        let done = written.and_then(|()| self.last.sync().map_err(cannot("sync", &name)));
        let cut = self.cut_back();
        done.and(cut)
    }

    /// The position of the next record, after all appended ones, unless it starts a new segment.
    pub fn end(&self) -> Position {
        self.end
    }

    /// A reader by place, for any thread.
    pub fn reader(&self) -> LogReader {
        LogReader { files: self.files.clone() }
    }

    /// Calls `each` with every synced record from `from`, in order. Stops at damage or at an error of `each`.
    pub fn replay(&self, from: Position, each: &mut dyn FnMut(Place, &[u8]) -> Result<()>) -> Result<()> {
        if from > self.durable {
            let name = segment_name(self.durable.segment);
            return Err(damaged(&name, u64::from(self.durable.offset), "the log is cut short here"));
        }
        for (&segment, &length) in self.segments.range(from.segment..) {
            let offset = if segment == from.segment { from.offset } else { 0 };
            if offset > length {
                let what = "the segment is cut short here";
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

    /// Begins a segment, so that the one before can be removed. Nothing may be appended and not synced. Returns where the
    /// next record comes.
    pub fn roll(&mut self) -> Result<Position> {
        if !self.buffer.is_empty() {
            return Err(Error::Refused("records are appended and not synced".to_owned()));
        }
        self.cut_back()?;
        let next = Position { segment: self.durable.segment + 1, offset: SEGMENT_HEAD_BYTES };
        // A file that an error leaves half made is made again by the next write.
        self.last = create(&*self.files.folder, next.segment)?;
        self.segments.insert(next.segment, next.offset);
        (self.durable, self.end) = (next, next);
        Ok(next)
    }

    /// Removes a segment whose records are no longer needed. The last segment cannot be removed.
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

    /// Reads everything, calls `each` for each damage and continues after it. Returns the number of good records.
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
                    // A record that seems to begin inside a damaged one is part of the same damage.
                    if !std::mem::replace(&mut missing, true) {
                        each(damaged(&segment_name(segment), u64::from(offset), what));
                    }
                    walk.skip()?;
                }
                Step::End => return Ok(good),
            }
        }
    }

    /// Appends to a segment, and creates it if it is new. All earlier segments are already durable.
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

    /// Durably removes the bytes of a failed sync: otherwise they could reappear after the next write.
    fn cut_back(&mut self) -> Result<()> {
        if !self.uncut {
            return Ok(());
        }
        let folder = self.files.folder.clone();
        let sync = || folder.sync().map_err(cannot("sync", "the folder"));
        // Each removal is made durable, last segment first, so that no segment ever exists without its predecessors.
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
