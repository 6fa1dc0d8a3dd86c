//! Values in no order: in memory while they fit, else in a file, until all of them are sorted.
//!
//! Many piles, each of values that begin alike, are an external sort without merging: what was put on disk in any order
//! comes back a pile at a time, and most of it is dropped before it is sorted.

use std::path::PathBuf;

use super::sorter::{Run, RunWriter, Sortable, Sorter, make_room};
use crate::error::{At, Result};

/// Values that are brought back from disk at once.
const SOME: usize = 1 << 13;

/// Values that are being piled up.
pub(crate) struct Pile<T> {
    values: Vec<T>,
    /// Most values in memory.
    limit: usize,
    path: PathBuf,
    /// Whether some of the values are in the file.
    spilled: bool,
}

impl<T: Sortable> Pile<T> {
    pub(crate) fn new(path: PathBuf, memory: u64) -> Pile<T> {
        Pile { values: Vec::new(), limit: (memory as usize / size_of::<T>()).max(4), path, spilled: false }
    }

    pub(crate) fn extend(&mut self, values: &[T]) -> Result<()> {
        for part in values.chunks(self.limit) {
            if self.values.len() + part.len() > self.limit {
                self.spill()?;
            }
            make_room(&mut self.values, part.len(), self.limit);
            self.values.extend_from_slice(part);
        }
        Ok(())
    }

    /// Whether some of the values are on disk.
    pub(crate) fn is_spilled(&self) -> bool {
        self.spilled
    }

    /// Puts all values on disk, and gives their memory back.
    pub(crate) fn spill_all(&mut self) -> Result<()> {
        self.spill()?;
        self.values = Vec::new();
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let begin = if self.spilled { RunWriter::append } else { RunWriter::create };
        let mut out = begin(&self.path)?;
        self.spilled = true;
        for value in self.values.drain(..) {
            out.push(value)?;
        }
        out.finish()
    }

    /// All values, to be sorted in so much `memory`.
    pub(crate) fn into_sorter(mut self, memory: u64) -> Result<Sorter<T>> {
        let mut sorter = Sorter::new(self.path.clone(), memory);
        if !self.spilled {
            sorter.take(self.values);
            return Ok(sorter);
        }
        self.spill()?;
        let mut spilled = Run::open(&self.path, 1 << 18)?;
        while let Some(value) = spilled.next()? {
            self.values.push(value);
            if self.values.len() == SOME {
                sorter.extend(&self.values)?;
                self.values.clear();
            }
        }
        sorter.extend(&self.values)?;
        std::fs::remove_file(&self.path).at("delete", &self.path)?;
        Ok(sorter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_piled_up_comes_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let values: Vec<(u64, [u32; 2])> =
            (0..10_000u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50, [n as u32, 7])).collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        for (memory, room) in [(1 << 20, 1 << 20), (0, 1 << 20), (9_000, 0), (1 << 20, 0)] {
            let mut pile = Pile::new(folder.path().join("keys"), memory);
            std::fs::write(folder.path().join("keys"), "left by an earlier run").unwrap();
            for part in values.chunks(700) {
                pile.extend(part).unwrap();
            }
            assert_eq!(pile.is_spilled(), memory < 1 << 20);
            let (sorter, mut found) = (pile.into_sorter(room).unwrap(), Vec::new());
            let push = |value| {
                found.push(value);
                Ok(())
            };
            sorter.drain(&mut Vec::new(), push).unwrap();
            assert!(found == expected, "{memory} {room}");
        }
    }
}
