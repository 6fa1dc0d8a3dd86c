//! The tail of a part file: its sizes and checksums.

use xxhash_rust::xxh3::xxh3_64;

use super::block::{BLOCK_BYTES, BLOCK_POSTINGS, u64_at};
use crate::disk::{File, damaged, read_at};
use crate::{Error, Result};

pub(super) const TAIL_BYTES: usize = 64;
const MAGIC: [u8; 8] = *b"1copyprt";
const VERSION: u64 = 2;

/// The contents of the tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    pub(super) number: u32,
    pub(super) postings: u64,
    pub(super) blocks: u64,
    pub(super) filter_bytes: u64,
    pub(super) fence_checksum: u64,
    pub(super) filter_checksum: u64,
}

impl Tail {
    /// Reads the tail of a file of `file_bytes` bytes, and its checksum. It checks that all sizes fit the file, so none
    /// can cause an oversized allocation.
    pub(super) fn read(file: &dyn File, name: &str, file_bytes: u64) -> Result<(Tail, u64)> {
        let offset = file_bytes.saturating_sub(TAIL_BYTES as u64);
        let mut bytes = [0; TAIL_BYTES];
        read_at(file, name, &mut bytes, offset)?;
        let checksum = u64_at(&bytes, 56);
        if bytes[..8] != MAGIC || xxh3_64(&bytes[..56]) != checksum {
            return Err(damaged(name, offset, "its footer is not that of a part"));
        }
        let version = u64_at(&bytes, 8) & u64::from(u32::MAX);
        if version != VERSION {
            let text = format!(
                "{name} has format version {version}, and this build reads version {VERSION}: use the version that wrote it"
            );
            return Err(Error::Refused(text));
        }
        let tail = Tail {
            number: (u64_at(&bytes, 8) >> 32) as u32,
            postings: u64_at(&bytes, 16),
            blocks: u64_at(&bytes, 24),
            filter_bytes: u64_at(&bytes, 32),
            fence_checksum: u64_at(&bytes, 40),
            filter_checksum: u64_at(&bytes, 48),
        };
        let blocks_bytes = u128::from(tail.blocks) * (BLOCK_BYTES as u128 + 8);
        if blocks_bytes + u128::from(tail.filter_bytes) != u128::from(offset)
            || !tail.filter_bytes.is_multiple_of(64)
        {
            return Err(damaged(name, offset, "the file's length does not match"));
        }
        let most = tail.blocks.saturating_mul(BLOCK_POSTINGS as u64);
        if !(1..=most).contains(&tail.postings) || tail.filter_bytes == 0 {
            return Err(damaged(name, offset, "its number of postings does not match"));
        }
        Ok((tail, checksum))
    }

    pub(super) fn to_bytes(self) -> (Vec<u8>, u64) {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((u64::from(self.number) << 32 | VERSION).to_le_bytes());
        let counts = [self.postings, self.blocks, self.filter_bytes];
        let checksums = [self.fence_checksum, self.filter_checksum];
        bytes.extend(counts.iter().chain(&checksums).flat_map(|number| number.to_le_bytes()));
        let checksum = xxh3_64(&bytes);
        bytes.extend(checksum.to_le_bytes());
        (bytes, checksum)
    }
}
