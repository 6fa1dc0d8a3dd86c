//! The system's side: files that bypass the page cache, blocks with checksums, standard input copied to a file, and how
//! memory is used.

mod advice;
mod blocks;
mod direct;
mod spool;

pub(crate) use advice::{drop_words, zeros};
pub(crate) use blocks::{check, checksum_of, damaged, read_block, write_block};
pub(crate) use direct::{Aligned, BLOCK, Pace, Spill};
pub(crate) use spool::spool;
