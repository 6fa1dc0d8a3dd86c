//! The collection on disk: pages, contents, groups, queue and feed, crash-safe.
//!
//! It keeps what it is given and knows no method: what is alike is for others to find out.

mod disk;
mod error;
mod log;
mod postings;
mod tables;

#[doc(hidden)]
pub use disk::Volatile;
pub use disk::{Backend, Disk, File, Folder, Lock, Open};
pub use error::{Error, Result};
pub use log::{Log, LogReader, MAX_RECORD_BYTES, Place, Position, SEGMENT_BYTES};
pub use postings::{MergePlan, Merged, Posting, Postings, SealPlan, Sealed};
