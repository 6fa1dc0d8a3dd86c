//! Makes files of a collection with valid checksums and invalid contents, in the layout of `docs/FORMAT.md`.
//!
//! A fuzzer never guesses a checksum. Without these files it would only test the comparison of checksums.

use std::io;
use std::sync::Arc;

use onecopy_store::{Folder, Open, Posting, Volatile};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::Draw;

const BLOCK_BYTES: usize = 1024;
const BLOCK_POSTINGS: usize = 63;
const LINE_BYTES: usize = 64;

/// An in-memory folder with these files.
pub fn folder(files: &[(String, Vec<u8>)]) -> io::Result<Arc<dyn Folder>> {
    let folder = Volatile::new();
    for (name, bytes) in files {
        folder.open(name, Open::Create)?.write_all_at(bytes, 0)?;
    }
    Ok(Arc::new(folder))
}

/// The header of a log segment.
pub fn segment_head(number: u32) -> Vec<u8> {
    [&b"1copylog"[..], &1_u32.to_le_bytes(), &number.to_le_bytes()].concat()
}

/// The head of a log record at this place.
pub fn record_head(place: (u32, u32), length: u32, since: u32, checksum: u64) -> Vec<u8> {
    let head = [&length.to_le_bytes()[..], &since.to_le_bytes(), &checksum.to_le_bytes()].concat();
    let check = xxh3_64_with_seed(&head, u64::from(place.0) << 32 | u64::from(place.1)) as u32;
    [&check.to_le_bytes()[..], &head].concat()
}

/// The contents of a part of the postings, and the counts that it states.
pub struct Part {
    /// The postings of each block, and the count that the block states.
    pub blocks: Vec<(Vec<Posting>, u64)>,
    /// The first key of each block.
    pub fence: Vec<u64>,
    /// Whole lines of the filter.
    pub filter: Vec<u8>,
    /// The number of postings that the tail states.
    pub postings: u64,
}

impl Part {
    /// A part with few or no errors.
    pub fn draw(draw: &mut Draw) -> Part {
        let mut postings: Vec<Posting> = (0..draw.below(140) + 1).map(|_| posting(draw)).collect();
        if !draw.rarely() {
            postings.sort_unstable();
            postings.dedup();
        }
        let step = if draw.rarely() { 1 + draw.below(BLOCK_POSTINGS) } else { BLOCK_POSTINGS };
        let count = |some: &[Posting]| (some.to_vec(), some.len() as u64);
        let mut blocks: Vec<_> = postings.chunks(step).map(count).collect();
        let mut fence: Vec<u64> = postings.chunks(step).map(|some| some[0].key).collect();
        let mut filter = vec![0xff; LINE_BYTES * (1 + draw.below(3))];
        let mut told = postings.len() as u64;
        match draw.byte() {
            0 => blocks[0].1 = draw.long(),
            1 => fence.iter_mut().for_each(|key| *key = draw.long()),
            2 => filter.fill(draw.byte()),
            3 => told = draw.long(),
            _ => {}
        }
        Part { blocks, fence, filter, postings: told }
    }

    /// The postings that a reader can find. If a block states more than it has, zeros follow, and they are read as
    /// postings of key 0: no checksum tells them from real ones.
    pub fn readable(&self) -> Vec<Posting> {
        const PADDING: Posting = Posting { key: 0, content: 0, rest: 0 };
        let readable = |(some, count): &(Vec<Posting>, u64)| {
            let mut read = some[..some.len().min(*count as usize)].to_vec();
            read.resize(BLOCK_POSTINGS.min(*count as usize), PADDING);
            read
        };
        self.blocks.iter().flat_map(readable).collect()
    }

    /// The file of the part with this number, and its checksum.
    pub fn file(&self, number: u32) -> (Vec<u8>, u64) {
        let mut bytes = Vec::new();
        for (index, (postings, count)) in self.blocks.iter().enumerate() {
            let mut block: Vec<u8> = count.to_le_bytes().to_vec();
            block.extend(postings.iter().flat_map(posting_bytes));
            block.resize(BLOCK_BYTES - 8, 0);
            let seed = u64::from(number) << 32 | index as u64;
            bytes.extend(xxh3_64_with_seed(&block, seed).to_le_bytes());
            bytes.extend(block);
        }
        let fence: Vec<u8> = self.fence.iter().flat_map(|key| key.to_le_bytes()).collect();
        let counts = [self.postings, self.blocks.len() as u64, self.filter.len() as u64];
        let checksums = [xxh3_64(&fence), xxh3_64(&self.filter)];
        let numbers = [u64::from(number) << 32 | 2].into_iter().chain(counts).chain(checksums);
        let mut tail = b"1copyprt".to_vec();
        tail.extend(numbers.flat_map(u64::to_le_bytes));
        let checksum = xxh3_64(&tail);
        tail.extend(checksum.to_le_bytes());
        bytes.extend([fence, self.filter.clone(), tail].concat());
        (bytes, checksum)
    }
}

/// There are few keys, so that several postings share one. They include both ends of the range.
fn posting(draw: &mut Draw) -> Posting {
    let key = (draw.byte() as i8 as i64 as u64).rotate_right(4);
    Posting { key, content: u32::from(draw.byte()), rest: 1 }
}

fn posting_bytes(posting: &Posting) -> Vec<u8> {
    [&posting.key.to_le_bytes()[..], &posting.content.to_le_bytes(), &posting.rest.to_le_bytes()].concat()
}

/// A manifest that names parts by number, length and checksum.
pub fn manifest(parts: &[(u64, u64, u64)], told: u64, covered: u64) -> Vec<u8> {
    let mut bytes = b"1copypos".to_vec();
    let numbers = [told << 32 | 2, covered];
    // Each part covers as much as all of them, and has the postings of one content.
    let parts = parts.iter().flat_map(|&(number, length, checksum)| [number, length, checksum, covered, 1]);
    bytes.extend(numbers.into_iter().chain(parts).flat_map(u64::to_le_bytes));
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}
