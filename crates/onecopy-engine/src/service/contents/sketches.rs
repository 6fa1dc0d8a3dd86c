//! The sketches of contents, which are in the log: some are held, the others are read again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use onecopy_store::{LogReader, Place, Version};

use crate::error::{Error, Result};
use onecopy_core::graph::Slot;

/// Sketches that were read, some of them.
#[derive(Debug)]
pub(in crate::service) struct Sketches {
    reader: LogReader,
    held: HashMap<Slot, Arc<[u64]>>,
    /// Words of sketches that are held.
    words: usize,
    /// Those that were held before: all that are not asked for again go at once.
    earlier: HashMap<Slot, Arc<[u64]>>,
    buffer: Vec<u8>,
    /// Contents whose sketch is damaged in the log, and how.
    damaged: BTreeMap<Slot, String>,
}

/// Words of sketches that are held at most, and of those before them: 16 MiB each.
const WORDS: usize = 2 << 20;

impl Sketches {
    pub(super) fn new(reader: LogReader) -> Sketches {
        let (held, earlier) = (HashMap::new(), HashMap::new());
        Sketches { reader, held, words: 0, earlier, buffer: Vec::new(), damaged: BTreeMap::new() }
    }

    /// The sketch of a content; nothing if it is damaged. Such a content is alike to nothing: one page that cannot be
    /// read must not keep all others from being settled.
    pub(super) fn get(&mut self, slot: Slot, at: Place) -> Result<Option<Arc<[u64]>>> {
        if let Some(sketch) = self.held.get(&slot) {
            return Ok(Some(sketch.clone()));
        }
        if let Some(sketch) = self.earlier.remove(&slot) {
            self.put(slot, sketch.clone());
            return Ok(Some(sketch));
        }
        match read_sketch(&self.reader, at, &mut self.buffer) {
            Ok(sketch) => {
                let sketch: Arc<[u64]> = sketch.into();
                self.put(slot, sketch.clone());
                Ok(Some(sketch))
            }
            Err(error) if is_damage(&error) => {
                self.damaged.insert(slot, error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The sketch of a content, as long as nothing is changed; nothing if it cannot be read.
    pub(super) fn look(&self, slot: Slot, at: Place, buffer: &mut Vec<u8>) -> Option<Arc<[u64]>> {
        let held = self.held.get(&slot).or_else(|| self.earlier.get(&slot));
        held.cloned().or_else(|| read_sketch(&self.reader, at, buffer).ok().map(Arc::from))
    }

    /// The sketch at a place; nothing if it is damaged.
    pub(in crate::service) fn read(&mut self, at: Place) -> Result<Option<Arc<[u64]>>> {
        let read = unless_damaged(read_sketch(&self.reader, at, &mut self.buffer))?;
        Ok(read.map(Arc::from))
    }

    /// The contents whose sketch was asked for and is damaged, and how.
    pub(in crate::service) fn damaged(&self) -> &BTreeMap<Slot, String> {
        &self.damaged
    }

    pub(super) fn put(&mut self, slot: Slot, sketch: Arc<[u64]>) {
        self.damaged.remove(&slot);
        if self.words + sketch.len() > WORDS {
            self.earlier = std::mem::take(&mut self.held);
            self.words = 0;
        }
        self.earlier.remove(&slot);
        self.words += sketch.len();
        let replaced = self.held.insert(slot, sketch);
        self.words -= replaced.map_or(0, |replaced| replaced.len());
    }

    pub(in crate::service) fn forget(&mut self, slot: Slot) {
        self.damaged.remove(&slot);
        self.earlier.remove(&slot);
        if let Some(sketch) = self.held.remove(&slot) {
            self.words -= sketch.len();
        }
    }
}

/// Reads the sketch of a version.
pub(in crate::service) fn read_sketch(
    reader: &LogReader,
    at: Place,
    buffer: &mut Vec<u8>,
) -> Result<Vec<u64>> {
    reader.read(at, buffer)?;
    Version::sketch_of(buffer).ok_or_else(|| no_version(at))
}

/// Reads a version.
pub(in crate::service) fn read_version(
    reader: &LogReader,
    at: Place,
    buffer: &mut Vec<u8>,
) -> Result<Version> {
    reader.read(at, buffer)?;
    Version::from_bytes(buffer).ok_or_else(|| no_version(at))
}

/// What was read; nothing if it is damaged.
pub(in crate::service) fn unless_damaged<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if is_damage(&error) => Ok(None),
        read => read.map(Some),
    }
}

/// Whether a file is not what was written, rather than out of reach.
pub(in crate::service) fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Store(onecopy_store::Error::Damaged { .. }))
}

fn no_version(at: Place) -> Error {
    let reason = format!(
        "segment {} of the log has no version of a page at byte {}: another version of onecopy wrote it",
        at.segment, at.offset
    );
    Error::Broken { reason }
}
