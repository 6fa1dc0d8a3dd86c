//! Blocks of values with a checksum, so that damage is an error.
//!
//! A disk that returns wrong bytes would silently change an answer. Each block is checked before any use, because a
//! wrong length or number could do even more harm.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use bytemuck::Pod;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::{At, Result};

/// The length of a block's header: its size and checksum.
const HEAD: usize = 16;

/// Writes some values as a block.
pub(crate) fn write_block<T: Pod>(out: &mut impl Write, values: &[T]) -> io::Result<()> {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let length = bytes.len() as u64;
    out.write_all(&length.to_ne_bytes())?;
    out.write_all(&xxh3_64_with_seed(bytes, length).to_ne_bytes())?;
    out.write_all(bytes)
}

/// Reads the next block into `values`. `left` is the number of unread bytes in the file. Returns whether there was a
/// block.
pub(crate) fn read_block<T: Pod>(
    file: &mut impl Read,
    left: &mut u64,
    values: &mut Vec<T>,
) -> io::Result<bool> {
    if *left == 0 {
        return Ok(false);
    }
    let mut head = [0; HEAD];
    file.read_exact(&mut head)?;
    let number = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let (length, checksum) = (number(0), number(8));
    let fits = length.checked_add(HEAD as u64).is_some_and(|bytes| bytes <= *left);
    if !fits || length % size_of::<T>() as u64 != 0 {
        return Err(damaged());
    }
    *left -= HEAD as u64 + length;
    values.resize(length as usize / size_of::<T>(), T::zeroed());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
    file.read_exact(bytes)?;
    if xxh3_64_with_seed(bytes, length) == checksum { Ok(true) } else { Err(damaged()) }
}

/// Verifies words that were read from the file at `path`.
pub(crate) fn check(words: &[u64], checksum: u64, path: &Path) -> Result<()> {
    if checksum_of(words) == checksum { Ok(()) } else { Err(damaged()).at("read", path) }
}

/// The checksum that [`check`] expects.
pub(crate) fn checksum_of(words: &[u64]) -> u64 {
    xxh3_64(bytemuck::cast_slice(words))
}

/// The error for a file that no longer has the bytes that were written to it.
pub(crate) fn damaged() -> io::Error {
    let reason = "its bytes changed after they were written: check the disk and the memory of this machine, then give the same command again";
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<u32>> {
        let (mut file, mut left) = (bytes, bytes.len() as u64);
        let (mut all, mut block) = (Vec::new(), Vec::new());
        while read_block(&mut file, &mut left, &mut block)? {
            all.extend_from_slice(&block);
        }
        Ok(all)
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let mut bytes = Vec::new();
        write_block(&mut bytes, &[1u32, 2, 3]).unwrap();
        write_block::<u32>(&mut bytes, &[]).unwrap();
        write_block(&mut bytes, &[4u32]).unwrap();
        assert_eq!(read(&bytes).unwrap(), [1, 2, 3, 4]);
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&other).is_err(), "{bit}");
        }
        for cut in 1..bytes.len() {
            let whole = [28, 44].contains(&cut);
            assert_eq!(read(&bytes[..cut]).is_ok(), whole, "{cut}");
        }
    }
}
