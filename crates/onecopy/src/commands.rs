//! One file a command.

pub mod check;
pub mod collection;
pub mod compare;
pub mod completions;
pub mod dedup;
pub mod eval;
pub mod explain;
pub mod export;
pub mod groups;
pub mod import;
pub mod man;
pub mod methods;
pub mod mirrors;
pub mod rules;
pub mod serve;
pub mod status;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use onecopy_engine::Error;

/// Prints a result. Nobody reading it is no error: the results are on disk.
pub fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// What the system said of a file, as the engine tells it.
pub fn at(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { verb, path, source }
}

/// What scripts see: 2 for a call that cannot work, 130 for one that was stopped, 1 for all else.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Error>() {
        Some(Error::Config(_) | Error::Output(..) | Error::Collection(..)) => ExitCode::from(2),
        Some(Error::Stopped) => ExitCode::from(130),
        _ => ExitCode::FAILURE,
    }
}
