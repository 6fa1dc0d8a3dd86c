//! A block: 63 sorted postings and a checksum. It is the unit of a read. Smaller blocks would need as many system
//! calls; larger ones would copy and check unneeded bytes.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Posting;

pub(super) const BLOCK_BYTES: usize = 1024;
/// The number of postings per block; the last block may have fewer.
pub(super) const BLOCK_POSTINGS: usize = (BLOCK_BYTES - HEAD_BYTES) / POSTING_BYTES;
const HEAD_BYTES: usize = 16;
const POSTING_BYTES: usize = 16;

/// Identifies a block: its checksum fails in any other place.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockId {
    pub(super) part: u32,
    pub(super) index: u32,
}

/// Appends the block of these postings to `bytes`.
pub(super) fn write(postings: &[Posting], id: BlockId, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&(postings.len() as u64).to_le_bytes());
    for posting in postings {
        bytes.extend_from_slice(&posting.key.to_le_bytes());
        bytes.extend_from_slice(&posting.content.to_le_bytes());
        bytes.extend_from_slice(&posting.rest.to_le_bytes());
    }
    bytes.resize(start + BLOCK_BYTES, 0);
    let checksum = checksum(&bytes[start..], id);
    bytes[start..start + 8].copy_from_slice(&checksum.to_le_bytes());
}

/// The number of postings in the block; `None` if its bytes are damaged.
pub(super) fn check(bytes: &[u8], id: BlockId) -> Option<usize> {
    let count = u64_at(bytes, 8);
    let right = u64_at(bytes, 0) == checksum(bytes, id) && (1..=BLOCK_POSTINGS as u64).contains(&count);
    right.then_some(count as usize)
}

/// The posting at an index below the count.
pub(super) fn posting(bytes: &[u8], at: usize) -> Posting {
    let start = HEAD_BYTES + at * POSTING_BYTES;
    let rest = u64_at(bytes, start + 8);
    Posting { key: u64_at(bytes, start), content: rest as u32, rest: (rest >> 32) as u32 }
}

/// The first index whose key is not below `key`.
pub(super) fn first_of(bytes: &[u8], count: usize, key: u64) -> usize {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = (from + to) / 2;
        if u64_at(bytes, HEAD_BYTES + middle * POSTING_BYTES) < key {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

fn checksum(block: &[u8], id: BlockId) -> u64 {
    xxh3_64_with_seed(&block[8..BLOCK_BYTES], u64::from(id.part) << 32 | u64::from(id.index))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}
