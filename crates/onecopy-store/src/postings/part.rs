//! A part: an immutable file of sorted postings. Memory holds its filter and the first key of each block.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::block::{self, BLOCK_BYTES, BLOCK_POSTINGS, BlockId, u64_at};
use super::cursor::Cursor;
use super::filter::{BATCH, Filter};
use super::tail::{TAIL_BYTES, Tail};
use crate::Result;
use crate::disk::{File, Folder, cannot, damaged, open_to_read, read_at};

/// The largest number with eight digits.
const MAX_NUMBER: u32 = 99_999_999;
/// The first step of the search around the guessed block.
const FENCE_STEP: usize = 8;
/// Bytes written and read at once: a whole number of blocks.
pub(super) const PIECE_BYTES: usize = 256 * BLOCK_BYTES;

/// A part, open for reading.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) number: u32,
    pub(super) postings: u64,
    pub(super) bytes: u64,
    /// The checksum of the tail, which identifies the part in the manifest.
    pub(super) checksum: u64,
    /// Contents that were born later have no postings here. The manifest says it, and how many contents have.
    pub(super) covered: u64,
    pub(super) contents: u64,
    pub(super) name: String,
    pub(super) file: Arc<dyn File>,
    /// The first key of each block.
    pub(super) fence: Vec<u64>,
    pub(super) filter: Filter,
}

impl Part {
    /// Opens a part and checks everything except its blocks, which are checked on reading.
    pub(super) fn open(folder: &dyn Folder, number: u32) -> Result<Part> {
        let name = part_name(number);
        let file = open_to_read(folder, &name)?;
        let bytes = file.len().map_err(cannot("read", &name))?;
        let (tail, checksum) = Tail::read(&*file, &name, bytes)?;
        if tail.number != number {
            return Err(damaged(&name, bytes - TAIL_BYTES as u64, "it has the number of another part"));
        }
        let fence_offset = tail.blocks * BLOCK_BYTES as u64;
        let filter_offset = fence_offset + tail.blocks * 8;
        let mut fence = Vec::with_capacity(tail.blocks as usize);
        let first_keys = |piece: &[u8]| fence.extend(piece.chunks_exact(8).map(|bytes| u64_at(bytes, 0)));
        if read_pieces(&*file, &name, fence_offset..filter_offset, first_keys)? != tail.fence_checksum {
            return Err(damaged(&name, fence_offset, "the checksum of the first keys does not match"));
        }
        let mut filter = Filter::default();
        let end = bytes - TAIL_BYTES as u64;
        if read_pieces(&*file, &name, filter_offset..end, |piece| filter.extend(piece))?
            != tail.filter_checksum
        {
            return Err(damaged(&name, filter_offset, "the checksum of the filter does not match"));
        }
        let (covered, contents) = (0, 0);
        Ok(Part {
            number,
            postings: tail.postings,
            bytes,
            checksum,
            covered,
            contents,
            name,
            file,
            fence,
            filter,
        })
    }

    /// Calls `each` with the index of each key that may be present, and an upper bound of its postings.
    pub(super) fn sift(&self, keys: &[u64], each: &mut dyn FnMut(usize, u8)) {
        let mut held = [0; BATCH];
        for (batch, start) in keys.chunks(BATCH).zip((0..).step_by(BATCH)) {
            let count = self.filter.sift(batch, &mut held);
            for at in held[..count].iter().map(|at| usize::from(*at)) {
                each(start + at, self.filter.most(batch[at]));
            }
        }
    }

    /// Calls `found` with the content and rest of each posting of the key.
    pub(super) fn find_key(
        &self,
        key: u64,
        block: &mut Block,
        found: &mut dyn FnMut(u32, u32),
    ) -> Result<()> {
        // The postings of a key may begin in the block before the first block that begins with the key.
        let mut index = first_of(&self.fence, key).saturating_sub(1);
        loop {
            self.load(index as u32, block)?;
            let from = block::first_of(&block.bytes, block.count, key);
            let postings = (from..block.count).map(|at| block::posting(&block.bytes, at));
            postings.take_while(|posting| posting.key == key).for_each(|p| found(p.content, p.rest));
            index += 1;
            if self.fence.get(index).is_none_or(|first| *first > key) {
                return Ok(());
            }
        }
    }

    fn load(&self, index: u32, block: &mut Block) -> Result<()> {
        if block.id == Some((self.number, index)) {
            return Ok(());
        }
        block.id = None;
        let offset = u64::from(index) * BLOCK_BYTES as u64;
        read_at(&*self.file, &self.name, &mut block.bytes, offset)?;
        block.count = self.check_block(&block.bytes, index)?;
        block.id = Some((self.number, index));
        Ok(())
    }

    pub(super) fn check_block(&self, bytes: &[u8], index: u32) -> Result<usize> {
        let offset = u64::from(index) * BLOCK_BYTES as u64;
        block::check(bytes, BlockId { part: self.number, index })
            .ok_or_else(|| damaged(&self.name, offset, "the block's checksum does not match"))
    }

    /// Reads all blocks and returns the first error.
    pub(super) fn check(self: &Arc<Self>) -> Result<()> {
        let (mut cursor, mut count, mut last) = (Cursor::new(self.clone()), 0, None);
        while let Some(posting) = cursor.next()? {
            let known = self.filter.sift(&[posting.key], &mut [0; BATCH]) == 1;
            let fenced = cursor.begun().is_none_or(|block| self.fence[block] == posting.key);
            if !known || !fenced || last > Some(posting) {
                let offset = count / BLOCK_POSTINGS as u64 * BLOCK_BYTES as u64;
                return Err(damaged(&self.name, offset, "a posting is in the wrong block"));
            }
            (count, last) = (count + 1, Some(posting));
        }
        if count == self.postings { Ok(()) } else { Err(damaged(&self.name, 0, "postings are missing")) }
    }
}

/// The first index whose key is not below `key`. Keys are uniformly distributed, so it is near the interpolated
/// position. A binary search over all keys would have more cache misses.
fn first_of(fence: &[u64], key: u64) -> usize {
    let guess = ((u128::from(key) * fence.len() as u128) >> 64) as usize;
    let (mut from, mut to, mut step) = (guess, guess, FENCE_STEP);
    while from > 0 && fence[from] >= key {
        from = from.saturating_sub(step);
        step *= 2;
    }
    step = FENCE_STEP;
    while to < fence.len() && fence[to] < key {
        to = (to + step).min(fence.len());
        step *= 2;
    }
    from + fence[from..to].partition_point(|first| *first < key)
}

/// The last block read, which may contain the next key.
pub(super) struct Block {
    /// The part and the index of the block.
    id: Option<(u32, u32)>,
    count: usize,
    bytes: [u8; BLOCK_BYTES],
}

impl Default for Block {
    fn default() -> Block {
        Block { id: None, count: 0, bytes: [0; BLOCK_BYTES] }
    }
}

/// Reads a range of the file in pieces. Returns its checksum.
fn read_pieces(
    file: &dyn File,
    name: &str,
    range: std::ops::Range<u64>,
    mut each: impl FnMut(&[u8]),
) -> Result<u64> {
    let mut checksum = Xxh3::new();
    let mut piece = Vec::new();
    let mut offset = range.start;
    while offset < range.end {
        piece.resize((range.end - offset).min(PIECE_BYTES as u64) as usize, 0);
        read_at(file, name, &mut piece, offset)?;
        checksum.update(&piece);
        each(&piece);
        offset += piece.len() as u64;
    }
    Ok(checksum.digest())
}

pub(super) fn part_name(number: u32) -> String {
    format!("postings-{number:08}")
}

/// The number of the part with this name. Accepts only names in our own format.
pub(super) fn part_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix("postings-")?.parse().ok()?;
    (part_name(number) == name && number <= MAX_NUMBER).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::first_of;

    #[test]
    fn the_first_place_is_found_in_any_fence() {
        let even: Vec<u64> = (0..1000).map(|at| at << 54).collect();
        let low: Vec<u64> = (0..100).flat_map(|at| [at * at; 3]).collect();
        let high: Vec<u64> = (0..300).map(|at| u64::MAX - 600 + at * 2).collect();
        for fence in [&even[..], &low, &high, &[7], &[0, u64::MAX]] {
            let near = fence.iter().flat_map(|key| [key.saturating_sub(1), *key, key.saturating_add(1)]);
            for key in near.chain([0, u64::MAX]) {
                assert_eq!(first_of(fence, key), fence.partition_point(|first| *first < key));
            }
        }
    }
}
