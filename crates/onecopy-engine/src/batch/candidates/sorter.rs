//! External sort: pieces are sorted in memory and spilled to disk, then merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{At, Result};
use crate::io::{damaged, read_block, write_block};

/// A value that can be sorted, and has a fixed size on disk.
pub(crate) trait Sortable: Copy + Ord {
    /// Its bytes on disk.
    type Bytes: AsRef<[u8]> + AsMut<[u8]> + Default;
    fn to_bytes(self) -> Self::Bytes;
    fn from_bytes(bytes: &Self::Bytes) -> Self;
    /// The leading part in the sort order: a hash.
    fn lead(self) -> u64;
}

/// Takes values in any order and returns them sorted, within a memory limit.
pub(crate) struct Sorter<T> {
    values: Vec<T>,
    /// The most values in memory.
    limit: usize,
    spills: Vec<PathBuf>,
    /// The path of the spills, to which each adds its number.
    path: PathBuf,
}

impl<T: Sortable> Sorter<T> {
    pub(crate) fn new(path: PathBuf, memory: u64) -> Sorter<T> {
        let limit = (memory as usize / size_of::<T>()).max(64);
        Sorter { values: Vec::new(), limit, spills: Vec::new(), path }
    }

    /// Takes over the memory of `values` and all values in it. The sorter must be empty.
    pub(crate) fn take(&mut self, values: Vec<T>) {
        self.values = values;
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

    fn spill(&mut self) -> Result<()> {
        self.values.sort_unstable();
        let path = self.path.with_extension(self.spills.len().to_string());
        let mut out = SpillWriter::create(&path)?;
        for value in self.values.drain(..) {
            out.push(value)?;
        }
        out.finish()?;
        self.spills.push(path);
        Ok(())
    }

    /// Drops most values whose lead occurs once, or only in values that are not `strong`. Does nothing if any value was
    /// spilled. Finding them is cheaper than sorting them. `notes` is scratch space.
    pub(crate) fn drop_alone(&mut self, notes: &mut Vec<u8>, strong: impl Fn(&T) -> bool) {
        if !self.spills.is_empty() {
            return;
        }
        const MET: u8 = 1;
        const AGAIN: u8 = 2;
        const STRONG: u8 = 4;
        let bits = self.values.len().max(64).ilog2() + 3;
        // Each byte has notes on two leads, so that one look-up finds all notes on a lead.
        notes.clear();
        notes.resize(1 << (bits - 1), 0);
        // Leads are hashes. Their last bits are as good as any, and the first may be the same for all.
        let place = |value: &T| {
            let slot = value.lead() as usize & ((1 << bits) - 1);
            (slot >> 1, (slot & 1) * 4)
        };
        for value in &self.values {
            let (byte, shift) = place(value);
            let again = (notes[byte] >> shift & MET) * AGAIN;
            let strong = u8::from(strong(value)) * STRONG;
            notes[byte] |= (MET | again | strong) << shift;
        }
        // The outcome is unpredictable, so the loop avoids a branch. `retain` would have one.
        let mut kept = 0;
        for i in 0..self.values.len() {
            let value = self.values[i];
            let (byte, shift) = place(&value);
            self.values[kept] = value;
            kept += usize::from(!(notes[byte] >> shift) & (AGAIN | STRONG) == 0);
        }
        self.values.truncate(kept);
    }

    /// Calls `each` with every value, in order, and deletes the spills. `buffer` is scratch space. Returns the memory
    /// of the values.
    pub(crate) fn drain(
        mut self,
        buffer: &mut Vec<T>,
        mut each: impl FnMut(T) -> Result<()>,
    ) -> Result<Vec<T>> {
        if self.spills.is_empty() {
            // Bucket sort needs room for a second copy, and its offsets have 32 bits.
            let room = self.limit.min(u32::MAX as usize);
            if 2 * self.values.len() <= room {
                sort_in_buckets(&self.values, buffer);
                buffer.iter().copied().try_for_each(each)?;
            } else {
                self.values.sort_unstable();
                self.values.iter().copied().try_for_each(each)?;
            }
            return Ok(self.values);
        }
        self.spill()?;
        self.values = Vec::new();
        let mut merged = self.spills.len();
        while self.spills.len() > FAN_IN {
            let rest = self.spills.split_off(FAN_IN);
            let few = std::mem::replace(&mut self.spills, rest);
            let path = self.path.with_extension(merged.to_string());
            merged += 1;
            let mut out = SpillWriter::create(&path)?;
            self.merge(&few, |value: T| out.push(value))?;
            out.finish()?;
            self.spills.push(path);
        }
        self.merge(&self.spills, &mut each)?;
        Ok(self.values)
    }

    /// Calls `each` with every value of some spills, in order, and deletes them.
    fn merge(&self, spills: &[PathBuf], mut each: impl FnMut(T) -> Result<()>) -> Result<()> {
        let memory = self.limit * size_of::<T>();
        let buffer = (memory / 2 / self.spills.len()).clamp(1 << 12, 1 << 18);
        let mut readers =
            spills.iter().map(|path| SpillReader::<T>::open(path, buffer)).collect::<Result<Vec<_>>>()?;
        let mut heap = BinaryHeap::new();
        for (i, reader) in readers.iter_mut().enumerate() {
            heap.extend(reader.next()?.map(|value| Reverse((value, i))));
        }
        while let Some(mut top) = heap.peek_mut() {
            let Reverse((value, i)) = *top;
            match readers[i].next()? {
                Some(next) => *top = Reverse((next, i)),
                None => {
                    std::collections::binary_heap::PeekMut::pop(top);
                }
            }
            each(value)?;
        }
        for path in spills {
            std::fs::remove_file(path).at("delete", path)?;
        }
        Ok(())
    }
}

/// Reserves memory for `more` values, up to `limit` in total. Growth by doubling could take twice that. The first
/// reservation is large enough for the system to move by whole pages: unwritten pages take no memory, and growth does
/// not copy.
pub(super) fn make_room<T>(values: &mut Vec<T>, more: usize, limit: usize) {
    if values.capacity() < values.len() + more {
        let first = (1 << 20) / size_of::<T>() + 1;
        let wanted = (2 * values.len()).max(first).clamp(more, (limit - values.len()).max(more));
        values.reserve_exact(wanted);
    }
}

/// Sorts values into `out`. Leads are hashes, so a lead predicts the position of its value. Small buckets are twice as
/// fast as comparing all values. Leads that are not uniform only make larger buckets.
fn sort_in_buckets<T: Sortable>(values: &[T], out: &mut Vec<T>) {
    /// The approximate number of values per bucket.
    const FEW: usize = 2;
    out.clear();
    out.extend_from_slice(values);
    let leads = values.iter().map(|value| value.lead());
    let (Some(low), Some(high)) = (leads.clone().min(), leads.max()) else { return };
    // At least two buckets, because a shift by all 64 bits is not allowed.
    let bits = (values.len() / FEW).max(2).ilog2();
    let shift = (u64::BITS - (high - low).leading_zeros()).saturating_sub(bits);
    let bucket = |value: &T| ((value.lead() - low) >> shift) as usize;
    // The start of each bucket. It advances as the bucket fills, up to the start of the next one.
    let mut starts = vec![0u32; (1 << bits) + 1];
    values.iter().for_each(|value| starts[bucket(value) + 1] += 1);
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    for value in values {
        let start = &mut starts[bucket(value)];
        out[*start as usize] = *value;
        *start += 1;
    }
    let mut start = 0;
    for &end in &starts[..1 << bits] {
        out[start..end as usize].sort_unstable();
        start = end as usize;
    }
}

/// The most spills that are open at once.
const FAN_IN: usize = 128;

/// The approximate number of bytes per block on disk.
const BLOCK_BYTES: usize = 4_000;

/// Writes the sorted values of a spill.
struct SpillWriter<'a> {
    out: BufWriter<File>,
    block: Vec<u8>,
    path: &'a Path,
}

impl<'a> SpillWriter<'a> {
    /// Creates a spill. It replaces one that an earlier run left.
    fn create(path: &'a Path) -> Result<SpillWriter<'a>> {
        let file = File::create(path).at("create", path)?;
        Ok(SpillWriter { out: BufWriter::with_capacity(1 << 18, file), block: Vec::new(), path })
    }

    fn push<T: Sortable>(&mut self, value: T) -> Result<()> {
        self.block.extend_from_slice(value.to_bytes().as_ref());
        if self.block.len() < BLOCK_BYTES { Ok(()) } else { self.write_block() }
    }

    fn write_block(&mut self) -> Result<()> {
        write_block(&mut self.out, &self.block).at("write", self.path)?;
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.write_block()?;
        self.out.flush().at("write", self.path)
    }
}

/// Reads the values of a spill.
struct SpillReader<'a, T: Sortable> {
    reader: BufReader<File>,
    path: &'a Path,
    /// The number of unread bytes.
    left: u64,
    block: Vec<u8>,
    /// The number of bytes read from the block.
    taken: usize,
    bytes: T::Bytes,
}

impl<'a, T: Sortable> SpillReader<'a, T> {
    fn open(path: &'a Path, buffer: usize) -> Result<SpillReader<'a, T>> {
        let file = File::open(path).at("read", path)?;
        let left = file.metadata().at("read", path)?.len();
        let (reader, bytes) = (BufReader::with_capacity(buffer, file), T::Bytes::default());
        Ok(SpillReader { reader, path, left, block: Vec::new(), taken: 0, bytes })
    }

    fn next(&mut self) -> Result<Option<T>> {
        if self.taken == self.block.len() {
            self.taken = 0;
            let more = read_block(&mut self.reader, &mut self.left, &mut self.block).at("read", self.path)?;
            if !more || self.block.is_empty() {
                self.block.clear();
                return Ok(None);
            }
        }
        let bytes = self.bytes.as_mut();
        let value = self.block.get(self.taken..self.taken + bytes.len()).ok_or_else(damaged);
        bytes.copy_from_slice(value.at("read", self.path)?);
        self.taken += bytes.len();
        Ok(Some(T::from_bytes(&self.bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_on_disk_are_merged_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let values: Vec<[u64; 2]> =
            (0..10_000u64).map(|n| [n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50, n << 32 | 7]).collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        for memory in [1 << 20, 0] {
            let mut sorter = Sorter::new(folder.path().join("keys"), memory);
            for part in values.chunks(700) {
                sorter.extend(part).unwrap();
            }
            assert_eq!(sorter.spills.is_empty(), memory > 0);
            let mut found = Vec::new();
            sorter
                .drain(&mut Vec::new(), |value| {
                    found.push(value);
                    Ok(())
                })
                .unwrap();
            assert_eq!(found, expected);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn buckets_equal_the_standard_sort() {
        let hash = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for shape in
            [|n| n, |n: u64| n >> 4, |n: u64| n >> 60, |n: u64| n | 0xffff << 48, |_| 7, |_| u64::MAX]
        {
            for count in [0, 1, 2, 63, 5_000] {
                let values: Vec<[u64; 2]> = (0..count).map(|n| [shape(hash(n)), hash(n + 9)]).collect();
                let mut expected = values.clone();
                expected.sort_unstable();
                let mut sorted = vec![[0; 2]; 3];
                sort_in_buckets(&values, &mut sorted);
                assert_eq!(sorted, expected);
            }
        }
    }

    #[test]
    fn values_that_share_a_lead_are_not_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let hash = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut sorter = Sorter::new(folder.path().join("keys"), 1 << 20);
        let alone: Vec<_> = (0..1_000).map(|n| [hash(n), n]).collect();
        let shared: Vec<_> = (900..950).map(|n| [hash(n), 7]).collect();
        sorter.extend(&alone).unwrap();
        sorter.extend(&shared).unwrap();
        sorter.drop_alone(&mut Vec::new(), |_| true);
        assert!(shared.iter().all(|value| sorter.values.contains(value)));
        assert!(alone[900..950].iter().all(|value| sorter.values.contains(value)));
        assert!(sorter.values.len() < 400, "{} are left", sorter.values.len());
        sorter.drop_alone(&mut vec![9; 3], |value| value[1] == 949);
        assert!(sorter.values.contains(&alone[949]) && sorter.values.contains(&shared[49]));
        assert!(sorter.values.len() < 40, "{} are left", sorter.values.len());
    }

    #[test]
    fn damage_on_disk_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path().join("keys"), 0);
        let values: Vec<[u64; 2]> = (0..2_000u64).map(|n| [n, n]).collect();
        sorter.extend(&values).unwrap();
        let mut bytes = std::fs::read(&sorter.spills[3]).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&sorter.spills[3], bytes).unwrap();
        assert!(sorter.drain(&mut Vec::new(), |_| Ok(())).is_err());
    }
}
