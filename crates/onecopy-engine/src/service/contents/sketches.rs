//! The sketches of contents: a cache over the log.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use onecopy_store::{LogReader, Place, Version};

use crate::error::{Error, Result};
use onecopy_core::graph::Slot;

/// A cache of sketches.
#[derive(Debug)]
pub(in crate::service) struct Sketches {
    reader: LogReader,
    most_words: usize,
    held: HashMap<Slot, Arc<[u64]>>,
    /// The number of words in `held`.
    words: usize,
    /// The previous half of the cache. Sketches that are not requested again leave with it.
    earlier: HashMap<Slot, Arc<[u64]>>,
    buffer: Vec<u8>,
    /// Contents whose sketch is damaged in the log, and the damage.
    damaged: BTreeMap<Slot, String>,
}

impl Sketches {
    /// A cache whose halves have at most `most_words` words each.
    pub(super) fn new(reader: LogReader, most_words: usize) -> Sketches {
        let (held, earlier) = (HashMap::new(), HashMap::new());
        let (buffer, damaged) = (Vec::new(), BTreeMap::new());
        Sketches { reader, most_words, held, words: 0, earlier, buffer, damaged }
    }

    /// The sketch of a content; `None` if it is damaged. Such a content is alike to no other: one unreadable page must
    /// not block all others.
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

    /// The sketch of a content, without changing the cache; `None` if it cannot be read.
    pub(super) fn look(&self, slot: Slot, at: Place, buffer: &mut Vec<u8>) -> Option<Arc<[u64]>> {
        let held = self.held.get(&slot).or_else(|| self.earlier.get(&slot));
        held.cloned().or_else(|| read_sketch(&self.reader, at, buffer).ok().map(Arc::from))
    }

    /// The sketch at a position; `None` if it is damaged.
    pub(in crate::service) fn read(&mut self, at: Place) -> Result<Option<Arc<[u64]>>> {
        let read = unless_damaged(read_sketch(&self.reader, at, &mut self.buffer))?;
        Ok(read.map(Arc::from))
    }

    /// The contents whose requested sketch is damaged, and the damage.
    pub(in crate::service) fn damaged(&self) -> &BTreeMap<Slot, String> {
        &self.damaged
    }

    pub(super) fn put(&mut self, slot: Slot, sketch: Arc<[u64]>) {
        self.damaged.remove(&slot);
        if self.words + sketch.len() > self.most_words {
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

/// Turns a damage error into `None`.
pub(in crate::service) fn unless_damaged<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if is_damage(&error) => Ok(None),
        read => read.map(Some),
    }
}

/// Whether an error means damaged data, not an unreachable file.
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
