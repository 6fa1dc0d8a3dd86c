//! Disk I/O: files that bypass the page cache, and standard input copied to a file.

mod direct;
mod spool;

pub(crate) use direct::{Aligned, BLOCK, Pace, Spill};
pub(crate) use spool::spool;
