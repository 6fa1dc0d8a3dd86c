//! How bytes reach and leave the disk: files past the page cache, prefaulted memory, checksums, standard input kept as a file.

mod blocks;
mod direct;
mod prefault;
mod spool;

pub(crate) use blocks::{check, checksum_of, damaged, read_block, write_block};
pub(crate) use direct::{Aligned, BLOCK, Pace, Spill};
pub(crate) use prefault::Fresh;
pub(crate) use spool::spool;
