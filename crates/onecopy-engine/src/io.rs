//! How bytes reach and leave the disk: files past the page cache, prefaulted memory, standard input kept as a file.

mod direct;
mod prefault;
mod spool;

pub(crate) use direct::{Aligned, BLOCK, Pace, Spill};
pub(crate) use prefault::Fresh;
pub(crate) use spool::spool;
