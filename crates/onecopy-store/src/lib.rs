//! The collection on disk: pages, contents, groups, queue and feed, crash-safe.
//!
//! It keeps what it is given and knows no method: what is alike is for others to find out.

mod error;
mod tables;

pub use error::{Error, Result};
