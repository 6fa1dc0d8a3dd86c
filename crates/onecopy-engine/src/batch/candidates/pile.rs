//! Unsorted values that await sorting: in memory while they fit, then in a file.
//!
//! Several piles, each of values with the same leading bits, give an external sort without merging. Values are spilled
//! in any order and read back one pile at a time. Most are dropped before the sort.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytemuck::Pod;

use crate::batch::candidates::sorter::{Sortable, Sorter, make_room};
use crate::error::{At, Result};
use crate::io::{Aligned, BLOCK, Pace, Spill, check, checksum_of};

/// The number of words to write or read at once, at most.
const PIECE: usize = 1 << 17;

/// Ends the filling of some piles. If any was spilled, all are, so that sorting may use all of the memory.
pub(crate) fn filled<T: Pod>(piles: Vec<Mutex<Pile<T>>>) -> Result<Vec<Pile<T>>> {
    let unlocked = |pile: Mutex<Pile<T>>| pile.into_inner().expect("no thread panics with this lock");
    let mut piles: Vec<Pile<T>> = piles.into_iter().map(unlocked).collect();
    if piles.iter().any(Pile::is_spilled) {
        let mut buffer = Aligned::default();
        piles.iter_mut().try_for_each(|pile| pile.spill_all(&mut buffer))?;
    }
    Ok(piles)
}

/// Values that await sorting.
pub(crate) struct Pile<T> {
    values: Vec<T>,
    /// The most values in memory.
    limit: usize,
    path: PathBuf,
    pace: Arc<Pace>,
    /// The spilled values in whole blocks, and their number.
    file: Option<Spill>,
    spilled: usize,
    /// The number of words and the checksum of each piece of the file.
    pieces: Vec<(usize, u64)>,
}

impl<T: Pod> Pile<T> {
    const WORDS: usize = size_of::<T>() / size_of::<u64>();
    /// The fewest words that are whole blocks and whole values.
    const WHOLE: usize = BLOCK * Self::WORDS;

    pub(crate) fn new(path: PathBuf, memory: u64, pace: Arc<Pace>) -> Pile<T> {
        let limit = (memory as usize / size_of::<T>()).max(2 * BLOCK);
        let (values, pieces) = (Vec::new(), Vec::new());
        Pile { values, limit, path, pace, file: None, spilled: 0, pieces }
    }

    /// Adds values. `buffer` is scratch space.
    pub(crate) fn extend(&mut self, values: &[T], buffer: &mut Aligned) -> Result<()> {
        for part in values.chunks(self.limit / 2) {
            if self.values.len() + part.len() > self.limit {
                self.spill(buffer)?;
            }
            make_room(&mut self.values, part.len(), self.limit);
            self.values.extend_from_slice(part);
        }
        Ok(())
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.spilled + self.values.len()
    }

    /// Whether some of the values are on disk.
    pub(crate) fn is_spilled(&self) -> bool {
        self.file.is_some()
    }

    /// Spills all values except those that do not fill blocks, and frees their memory.
    pub(crate) fn spill_all(&mut self, buffer: &mut Aligned) -> Result<()> {
        self.spill(buffer)?;
        self.values.shrink_to_fit();
        Ok(())
    }

    /// Spills as many values as fill whole blocks.
    fn spill(&mut self, buffer: &mut Aligned) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(Spill::create(&self.path, self.pace.clone())?),
        };
        let words: &[u64] = bytemuck::cast_slice(&self.values);
        let whole = words.len() / Self::WHOLE * Self::WHOLE;
        for piece in words[..whole].chunks(PIECE / Self::WHOLE * Self::WHOLE) {
            buffer.begin(piece.len()).extend_from_slice(piece);
            file.write(buffer.blocks(), (self.spilled * size_of::<T>()) as u64)?;
            self.spilled += piece.len() / Self::WORDS;
            self.pieces.push((piece.len(), checksum_of(piece)));
        }
        self.values.drain(..whole / Self::WORDS);
        Ok(())
    }

    /// All values, in the order they were added. They are in `buffer` if any was spilled.
    pub(crate) fn values<'a>(&'a self, buffer: &'a mut Aligned) -> Result<&'a [T]> {
        let Some(file) = &self.file else { return Ok(&self.values) };
        let words = buffer.room(self.len() * Self::WORDS);
        let (spilled, rest) = words.split_at_mut(self.spilled * Self::WORDS);
        file.read_blocks(0, spilled)?;
        let mut unchecked = &*spilled;
        for &(words, checksum) in &self.pieces {
            let (piece, behind) = unchecked.split_at(words);
            check(piece, checksum, &self.path)?;
            unchecked = behind;
        }
        rest.copy_from_slice(bytemuck::cast_slice(&self.values));
        Ok(bytemuck::cast_slice(words))
    }

    /// Deletes the file.
    pub(crate) fn delete(self) -> Result<()> {
        self.file.map_or(Ok(()), |_| std::fs::remove_file(&self.path).at("delete", &self.path))
    }
}

impl<T: Sortable + Pod> Pile<T> {
    /// Moves all values into a sorter with this much `memory`. It reuses the memory of `used`, which is cheaper than
    /// new memory.
    pub(crate) fn into_sorter(
        self,
        memory: u64,
        mut used: Vec<T>,
        buffer: &mut Aligned,
    ) -> Result<Sorter<T>> {
        let mut sorter = Sorter::new(self.path.clone(), memory);
        let Some(file) = &self.file else {
            sorter.take(self.values);
            return Ok(sorter);
        };
        used.clear();
        sorter.take(used);
        let mut at = 0;
        for &(words, checksum) in &self.pieces {
            let piece = file.read_once(at, words, buffer)?;
            check(piece, checksum, &self.path)?;
            sorter.extend(bytemuck::cast_slice(piece))?;
            at += Spill::bytes(words);
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
        let values: Vec<[u64; 2]> =
            (0..100_000u64).map(|n| [n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50, n << 32 | 7]).collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        let (mut buffer, enough) = (Aligned::default(), 1 << 21);
        for (memory, room) in
            [(enough, enough), (0, enough), (90_000, 0), (enough, 0), (enough - 1_000_000, 0)]
        {
            let mut pile = Pile::new(folder.path().join("keys"), memory, Arc::default());
            std::fs::write(folder.path().join("keys"), "left by an earlier run").unwrap();
            for part in values.chunks(700) {
                pile.extend(part, &mut buffer).unwrap();
            }
            assert_eq!(pile.is_spilled(), memory < enough);
            if memory == 90_000 {
                pile.spill_all(&mut buffer).unwrap();
            }
            assert_eq!((pile.len(), pile.values(&mut buffer).unwrap()), (values.len(), &values[..]));
            let used = vec![[1; 2]; 10];
            let (sorter, mut found) = (pile.into_sorter(room, used, &mut buffer).unwrap(), Vec::new());
            let push = |value| {
                found.push(value);
                Ok(())
            };
            sorter.drain(&mut Vec::new(), push).unwrap();
            assert!(found == expected, "{memory} {room}");
        }
    }

    #[test]
    fn values_need_not_divide_a_block() {
        let folder = tempfile::tempdir().unwrap();
        let values: Vec<[u64; 3]> = (0..100_000u64).map(|n| [n, n + 1, n + 2]).collect();
        let (mut buffer, mut pile) =
            (Aligned::default(), Pile::new(folder.path().join("keys"), 9_000, Arc::default()));
        values.chunks(700).for_each(|part| pile.extend(part, &mut buffer).unwrap());
        let piles = filled(vec![Mutex::new(pile)]).unwrap();
        assert!(piles[0].values.len() < BLOCK && piles[0].values(&mut buffer).unwrap() == values);
    }

    #[test]
    fn damage_on_disk_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, mut buffer) = (folder.path().join("keys"), Aligned::default());
        let spilled = || {
            let (mut pile, mut buffer) = (Pile::new(path.clone(), 0, Arc::default()), Aligned::default());
            pile.extend(&vec![[7u64, 8]; 3_000], &mut buffer).unwrap();
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, b"x", 9_001).unwrap();
            file.sync_all().unwrap();
            pile
        };
        assert!(spilled().values(&mut buffer).is_err());
        assert!(spilled().into_sorter(1 << 20, Vec::new(), &mut buffer).is_err());
    }
}
