//! System errors with the file that they are about.

use std::io;
use std::path::Path;

use super::{Error, Result};

/// The error of a reader that needs more than the memory limit.
#[derive(Debug, thiserror::Error)]
#[error("it needs {needed} bytes of memory, and the limit is {limit}")]
pub(crate) struct MoreMemory {
    /// A sufficient memory limit.
    pub needed: u64,
    /// The memory limit.
    pub limit: u64,
}

/// Adds the file to a system error.
pub(crate) trait At<T> {
    /// Converts the error: `verb` failed on `path`.
    fn at(self, verb: &'static str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, verb: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| match source.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(&MoreMemory { needed, limit }) => {
                Error::Memory { needed, limit, purpose: format!("to unpack {}", path.display()) }
            }
            None => Error::Io { verb, path: path.to_owned(), source },
        })
    }
}
