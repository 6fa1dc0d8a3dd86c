//! The crash-safe collection on disk: pages, contents, groups, queue and feed.
//!
//! It stores what it is given and knows no method: its callers find duplicates.

mod codec;
mod disk;
mod error;
mod log;
mod postings;
mod rows;
mod tables;
mod version;
mod whole;

#[doc(hidden)]
pub use disk::Volatile;
pub use disk::{Backend, Disk, File, Folder, Lock, Open, Overlay};
pub use error::{Error, Result};
pub use log::{Log, LogReader, MAX_RECORD_BYTES, Place, Position, SEGMENT_BYTES};
pub use postings::{
    Alive, MergePlan, Merged, Posting, PostingParts, Postings, PostingsView, SealPlan, Sealed, Seeker,
};
pub use rows::{ContentRow, EndRow, Heads, LinkRow, PageNumber, PageRow, Slot};
pub use tables::{
    Batch, EachRow, FeedLimits, FeedSubject, KeysAndValues, Look, Role, Snapshot, TableRow, Tables, Writing,
};
pub use version::{Deed, Version};
pub use whole::{read_whole, write_whole};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
