//! What can go wrong with a collection. Each variant names the file and, where there is one, the remedy.

use std::io;

/// Why a collection cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {verb} {file}: {source}")]
    Io {
        /// What was tried: `read`, `write`, `create`.
        verb: &'static str,
        /// The file, by its name in the collection's folder.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what was written.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Damaged {
        /// The file, by its name in the collection's folder.
        file: String,
        /// Where.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// The collection is of another version, or otherwise not for us.
    #[error("{0}")]
    Refused(String),
}

/// The store's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;
