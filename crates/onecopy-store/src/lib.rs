//! The collection on disk: pages, contents, groups, queue and feed, crash-safe.
//!
//! It keeps what it is given and knows no method: what is alike is for others to find out.

mod codec;
mod error;
mod rows;
mod tables;
mod version;

pub use error::{Error, Result};
pub use rows::{At, ContentRow, EndRow, Heads, LinkRow, PageNumber, PageRow, Slot};
pub use tables::{Batch, Look, Role, Snapshot, Tables, Writing};
pub use version::{Deed, Version};
