//! The commands, one file each.

pub mod backup;
pub mod check;
pub mod collection;
pub mod compare;
pub mod completions;
pub mod cost;
pub mod dedup;
pub mod eval;
pub mod explain;
pub mod export;
pub mod groups;
pub mod import;
pub mod layout;
pub mod man;
pub mod methods;
pub mod mirrors;
pub mod pages;
pub mod partitions;
pub mod proxy;
pub mod rank;
pub mod refine;
pub mod rules;
pub mod serve;
pub mod sketch;
pub mod status;
pub mod sync;
pub mod tag;

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use onecopy_engine::{Error, Unreadable};

use crate::columns::shown;
use crate::remedy::explained;
use crate::size::count;
use crate::summary;
use crate::tell::tell;

/// Prints a result. Text that a full disk or a closed pipe does not take is an error.
pub fn print(text: &str) -> Result<(), NotPrinted> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(NotPrinted)
}

/// Prints what the parser of the command line has to say. Help must arrive like any other result.
pub fn print_parsed(said: clap::Error) -> ExitCode {
    if said.use_stderr() {
        said.exit();
    }
    match said.print().and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&NotPrinted(error).into()),
    }
}

/// Says why a command failed. Nobody reads about a pipe that its reader closed, so only the exit code tells.
pub fn failure(error: &anyhow::Error) -> ExitCode {
    let is_closed = |NotPrinted(error): &NotPrinted| error.kind() == ErrorKind::BrokenPipe;
    if !error.downcast_ref().is_some_and(is_closed) {
        tell!("onecopy: {}", explained(error));
    }
    exit_code(error)
}

/// Turns an I/O error on a file into an error of the engine.
pub fn at(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { verb, path, source }
}

/// Refuses to replace a file unasked. A device is never replaced.
pub fn may_write(path: &Path, overwrite: bool) -> Result<(), Error> {
    match path.exists() && !(overwrite && path.is_file()) {
        true => Err(Error::FileExists { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// The exit code of an error: 2 for a wrong call, 130 for a stopped one, 1 for everything else.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Error>() {
        Some(Error::Stopped | Error::StoppedStream) => ExitCode::from(130),
        Some(error) if is_wrong_call(error) => ExitCode::from(2),
        None if error.is::<WrongCall>() => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

/// The exit code of a command that did its work without some of the input.
const UNREADABLE_INPUT: u8 = 3;
/// The most inputs that are named.
const NAMED: usize = 20;

/// Names the inputs that could not be read, on standard error. Returns the exit code.
pub fn report_unreadable(inputs: &[Unreadable], all: &str) -> ExitCode {
    if inputs.is_empty() {
        return ExitCode::SUCCESS;
    }
    for input in inputs.iter().take(NAMED) {
        let (source, reason) = (shown(&input.source, NAME), shown(&input.reason, REASON));
        tell!("onecopy: input `{source}` {}: {reason}", summary::loss(input));
    }
    if inputs.len() > NAMED {
        tell!("onecopy: and {} more inputs; {all} has all", count((inputs.len() - NAMED) as u64));
    }
    ExitCode::from(UNREADABLE_INPUT)
}

/// The most characters shown of a name and of a reason.
const NAME: usize = 200;
const REASON: usize = 400;

/// Whether another call would succeed on the same files.
fn is_wrong_call(error: &Error) -> bool {
    matches!(
        error,
        Error::Config(_)
            | Error::Layout(_)
            | Error::Setting { .. }
            | Error::PageMemory { .. }
            | Error::TooManyPages { .. }
            | Error::StandardInputTwice
            | Error::NoField { .. }
            | Error::RepeatedId { .. }
            | Error::NoPageInMarket { .. }
            | Error::OutputHoldsAnotherRun { .. }
            | Error::OutputNotOurs { .. }
            | Error::OutputForeign { .. }
            | Error::OutputAnswers { .. }
            | Error::OutputChanged { .. }
            | Error::OutputInUse { .. }
            | Error::InputInOutput { .. }
            | Error::FileExists { .. }
            | Error::ScoreFormat { .. }
            | Error::NotLines { .. }
            | Error::OtherSketches { .. }
            | Error::AmbiguousPage { .. }
            | Error::RunsDiffer
            | Error::CollectionInUse { .. }
            | Error::RestoreUnfinished { .. }
            | Error::RestoreNotEmpty { .. }
            | Error::CollectionFormat { .. }
            | Error::CollectionAnswers { .. }
            | Error::CollectionWithoutPages { .. }
            | Error::CollectionConfig { .. }
            | Error::CollectionConfigDamaged { .. }
            | Error::CollectionMethod { .. }
            | Error::CollectionMarkets { .. }
            | Error::CollectionTags { .. }
    )
}

/// Standard output did not take a result.
#[derive(Debug)]
pub struct NotPrinted(pub io::Error);

impl fmt::Display for NotPrinted {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "cannot write to standard output: {}", self.0)
    }
}

impl std::error::Error for NotPrinted {}

/// Arguments that the program itself refuses, with the remedy.
#[derive(Debug)]
pub struct WrongCall(pub String);

impl fmt::Display for WrongCall {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for WrongCall {}
