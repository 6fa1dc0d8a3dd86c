//! The system's side: files that bypass the page cache, blocks with checksums, standard input copied to a file, and large
//! tables in huge pages.

mod blocks;
mod direct;
mod huge;
mod spool;

pub(crate) use blocks::{check, checksum_of, damaged, read_block, write_block};
pub(crate) use direct::{Aligned, BLOCK, Pace, Spill};
pub(crate) use huge::zeros;
pub(crate) use spool::spool;
