//! Disk I/O: files that bypass the page cache, checksums of what is read back, and standard input copied to a file.

mod blocks;
mod direct;
mod spool;

pub(crate) use blocks::{check, checksum_of, damaged, read_block, write_block};
pub(crate) use direct::{Aligned, BLOCK, Pace, Spill};
pub(crate) use spool::spool;
