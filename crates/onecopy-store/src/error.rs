//! The errors of a collection. Each variant names the file and, if there is one, the remedy.

use std::io;

/// Why a collection cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {verb} {file}: {source}")]
    Io {
        /// The failed action: `read`, `write`, `create`.
        verb: &'static str,
        /// The name of the file in the collection's folder.
        file: String,
        /// The system error.
        source: io::Error,
    },
    /// The contents of a file are not what was written.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Damaged {
        /// The name of the file in the collection's folder.
        file: String,
        /// The offset of the damage.
        offset: u64,
        /// The kind of damage.
        what: String,
    },
    /// The collection has another version, or cannot be used for another reason.
    #[error("{0}")]
    Refused(String),
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
