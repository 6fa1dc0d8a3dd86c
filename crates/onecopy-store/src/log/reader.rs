//! Reads records by place, from any thread, while the log is being written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::layout::{HEAD_BYTES, Head, MAX_RECORD_BYTES, segment_name};
use super::walk::{Step, Walk};
use super::{Place, Position};
use crate::Result;
use crate::disk::{File, Folder, cannot, damaged, open_to_read, read_at};

/// How many segments are open at a time. The usual limit of a process is 1,024 files.
const HANDLES: usize = 256;

/// A record up to this length is read without asking for the length of the file first.
const SMALL_BYTES: u32 = 64 << 10;

/// Reads a log by place. Clones share their open files.
#[derive(Debug, Clone)]
pub struct LogReader {
    pub(super) files: Arc<Files>,
}

impl LogReader {
    /// Reads the synced record at `place` into `bytes`, replacing their contents.
    pub fn read(&self, place: Place, bytes: &mut Vec<u8>) -> Result<()> {
        let name = segment_name(place.segment);
        let wrong = |what| Err(damaged(&name, u64::from(place.offset), what));
        if place.length > MAX_RECORD_BYTES {
            return wrong("no record is that long");
        }
        let file = self.files.get(place.segment)?;
        // The length comes from a row, which may be wrong: no memory is taken for bytes that the file lacks.
        let end = u64::from(place.offset) + u64::from(HEAD_BYTES) + u64::from(place.length);
        if place.length > SMALL_BYTES && file.len().map_err(cannot("read", &name))? < end {
            return wrong("the file ends too early");
        }
        bytes.resize((HEAD_BYTES + place.length) as usize, 0);
        read_at(&*file, &name, bytes, u64::from(place.offset))?;
        match Head::from_bytes(bytes, place.position()) {
            None => return wrong("no record begins here"),
            Some(head) if head.length != place.length => return wrong("the record's length does not match"),
            Some(head) if !head.fits(&bytes[HEAD_BYTES as usize..]) => {
                return wrong("the record's checksum does not match");
            }
            Some(_) => {}
        }
        // This is cheaper than a second system call for the head.
        bytes.drain(..HEAD_BYTES as usize);
        Ok(())
    }
}

impl LogReader {
    /// Calls `each` with every record of a segment from `from`; `length` bytes of the segment were synced. Stops at
    /// damage.
    pub fn records(
        &self,
        from: Position,
        length: u32,
        each: &mut dyn FnMut(Place, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let file = self.files.get(from.segment)?;
        let mut walk = Walk::new(&*file, from, length)?;
        loop {
            match walk.step()? {
                Step::Record { place, bytes, .. } => each(place, bytes)?,
                Step::Damage { offset, what } => {
                    return Err(damaged(&segment_name(from.segment), u64::from(offset), what));
                }
                Step::End => return Ok(()),
            }
        }
    }
}

/// The folder and its open segments.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) folder: Arc<dyn Folder>,
    open: Mutex<Handles>,
}

#[derive(Debug, Default)]
struct Handles {
    /// The open files, each with the time of its last use.
    files: HashMap<u32, (u64, Arc<dyn File>)>,
    uses: u64,
}

impl Files {
    pub(super) fn new(folder: Arc<dyn Folder>) -> Files {
        Files { folder, open: Mutex::default() }
    }

    /// A segment opened for reading.
    pub(super) fn get(&self, segment: u32) -> Result<Arc<dyn File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.uses += 1;
        let now = open.uses;
        if let Some((used, file)) = open.files.get_mut(&segment) {
            *used = now;
            return Ok(file.clone());
        }
        let name = segment_name(segment);
        let file = open_to_read(&*self.folder, &name)?;
        if open.files.len() >= HANDLES {
            let oldest = open.files.iter().min_by_key(|(_, (used, _))| *used).map(|(segment, _)| *segment);
            oldest.and_then(|oldest| open.files.remove(&oldest));
        }
        open.files.insert(segment, (now, file.clone()));
        Ok(file)
    }

    /// Closes a segment that was removed or replaced.
    pub(super) fn forget(&self, segment: u32) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).files.remove(&segment);
    }
}
