//! What can stop a run. Each variant names the thing and, where there is one, the remedy.
//!
//! A bad page is never one of these: it goes to `rejected.jsonl` and the run goes on.

use std::io;
use std::path::{Path, PathBuf};

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration makes no sense.
    #[error("{0}")]
    Config(String),
    /// An input is not there, or nothing matched it.
    #[error("input `{0}`: {1}")]
    Input(String, String),
    /// A file could not be read or written.
    #[error("cannot {verb} {path}: {source}{}", remedy(.source))]
    Io {
        /// What was tried: `read`, `write`, `create`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The output folder holds something that must not be overwritten.
    #[error("output folder {0}: {1}")]
    Output(PathBuf, String),
    /// A collection is not to be used so.
    #[error("collection {0}: {1}")]
    Collection(PathBuf, String),
    /// The memory limit cannot be kept.
    #[error(
        "{}M of memory are needed {purpose}, and the limit is {}M: give --memory {}M",
        .needed.div_ceil(1 << 20), .limit >> 20, .needed.div_ceil(1 << 20)
    )]
    Memory {
        /// What the stage needs.
        needed: u64,
        /// What was allowed.
        limit: u64,
        /// For what.
        purpose: String,
    },
    /// A finished run's folder lacks something that was asked for.
    #[error("{0}")]
    NotFound(String),
    /// A collection cannot be read or written.
    #[error("the collection: {0}")]
    Store(#[from] onecopy_store::Error),
    /// The run was asked to stop. What is done is on disk.
    #[error("stopped; the same command continues where it left off")]
    Stopped,
}

/// The engine's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => "; free some space, then the same command continues where it left off",
        io::ErrorKind::PermissionDenied => "; check who may read and write there",
        _ => "",
    }
}

/// Gives a system error its file.
pub(crate) trait At<T> {
    /// The error says that `verb` failed on `path`.
    fn at(self, verb: &'static str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, verb: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { verb, path: path.to_owned(), source })
    }
}
