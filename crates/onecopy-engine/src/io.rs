//! How bytes reach and leave the disk: files past the page cache, and standard input kept as a file.

mod direct;
mod spool;

pub(crate) use direct::{Aligned, BLOCK, Pace, Spill};
pub(crate) use spool::spool;
