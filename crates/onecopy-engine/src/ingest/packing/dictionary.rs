//! The dictionary of a zstd file. A `.warc.zst` file may begin with one that all its frames need. It is stored in a
//! special skippable frame and may itself be compressed.

use std::io::{self, BufRead, Read};

/// The magic number of a dictionary frame.
pub(super) const DICTIONARY_MAGIC: [u8; 4] = 0x184d_2a5d_u32.to_le_bytes();
/// The magic number of a data frame.
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The largest accepted dictionary. Archives use about a megabyte.
const DICTIONARY_BYTES: u64 = 16 << 20;

/// Reads the dictionary at the start of a zstd file; empty if there is none. `file` then continues after it.
pub(super) fn dictionary(file: &mut impl BufRead) -> io::Result<Vec<u8>> {
    // The first fill of the buffer returns the magic number whole, unless the file is shorter than a frame.
    if !file.fill_buf()?.starts_with(&DICTIONARY_MAGIC) {
        return Ok(Vec::new());
    }
    let mut head = [0; 8];
    file.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    let refused = || io::Error::other("its dictionary is too large: refused");
    if u64::from(length) > DICTIONARY_BYTES {
        return Err(refused());
    }
    let mut held = vec![0; length as usize];
    file.read_exact(&mut held)?;
    if !held.starts_with(&ZSTD_MAGIC) {
        return Ok(held);
    }
    let mut unpacked = Vec::new();
    zstd::Decoder::with_buffer(held.as_slice())?.take(DICTIONARY_BYTES + 1).read_to_end(&mut unpacked)?;
    if unpacked.len() as u64 > DICTIONARY_BYTES { Err(refused()) } else { Ok(unpacked) }
}
