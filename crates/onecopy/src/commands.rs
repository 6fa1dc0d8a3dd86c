//! The commands, one file each.

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

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use onecopy_engine::Error;

/// Prints a result. A missing reader is no error, because the results are on disk.
pub fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Turns an I/O error on a file into an error of the engine.
pub fn at(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { verb, path, source }
}

/// The exit code: 2 for a wrong call, 130 for a stopped one, 1 for everything else.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Error>() {
        Some(Error::Stopped | Error::StoppedStream) => ExitCode::from(130),
        Some(error) if is_wrong_call(error) => ExitCode::from(2),
        None if error.is::<WrongCall>() => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

/// Whether another call would succeed on the same files.
fn is_wrong_call(error: &Error) -> bool {
    matches!(
        error,
        Error::Config(_)
            | Error::Setting { .. }
            | Error::PageMemory { .. }
            | Error::TooManyPages { .. }
            | Error::StandardInputTwice
            | Error::OutputHoldsAnotherRun { .. }
            | Error::OutputNotOurs { .. }
            | Error::OutputForeign { .. }
            | Error::OutputAnswers { .. }
            | Error::OutputChanged { .. }
            | Error::OutputInUse { .. }
            | Error::InputInOutput { .. }
            | Error::NotLines { .. }
            | Error::AmbiguousPage { .. }
            | Error::RunsDiffer
            | Error::CollectionInUse { .. }
            | Error::CollectionFormat { .. }
            | Error::CollectionAnswers { .. }
            | Error::CollectionConfig { .. }
            | Error::CollectionConfigDamaged { .. }
            | Error::CollectionMethod { .. }
            | Error::CollectionMarkets { .. }
    )
}

/// Arguments that the program itself refuses, with the remedy.
#[derive(Debug)]
pub struct WrongCall(pub String);

impl fmt::Display for WrongCall {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for WrongCall {}
