//! `onecopy refine`: groups ranked search results by content.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use onecopy_core::RefineError;
use onecopy_engine::Error;
use serde_json::value::RawValue;

use crate::args::RefineArgs;
use crate::commands::{WrongCall, at, print};
use crate::paint::Paint;
use crate::results::{Answer, Results};
use crate::tell::tell;

pub fn run(args: &RefineArgs) -> Result<ExitCode> {
    args.options()?.check().map_err(told)?;
    let bytes = read(&args.results)?;
    let text = std::str::from_utf8(&bytes).with_context(|| format!("{}: invalid UTF-8", args.results))?;
    let (answer, repeats) = (refined(args, text)?, args.repeats());
    if args.json {
        print(&answer.document(repeats))?;
        return Ok(ExitCode::SUCCESS);
    }
    for note in answer.notes() {
        tell!("onecopy: {note}");
    }
    match args.jsonl {
        true => print(&answer.lines(repeats))?,
        false => print(&answer.for_people(repeats, Paint::for_stdout()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The results in `text`, refined.
pub fn refined<'a>(args: &RefineArgs, text: &'a str) -> Result<Answer<'a>> {
    let options = args.options()?;
    let values = values(text).map_err(|error| anyhow!("{}: {error}", args.results))?;
    let results = Results::read(&values, &args.fields());
    let results = results.map_err(|error| anyhow!("{}: {error}", args.results))?;
    results.refine(&options).map_err(told)
}

fn read(results: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match results {
        "-" => {
            io::stdin().read_to_end(&mut bytes).map(drop).map_err(at("read", Path::new("standard input")))?
        }
        path => bytes = fs::read(path).map_err(at("read", Path::new(path)))?,
    }
    Ok(bytes)
}

/// The values of a JSON array, or of JSON Lines.
fn values(text: &str) -> serde_json::Result<Vec<&RawValue>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text);
    }
    serde_json::Deserializer::from_str(text).into_iter().collect()
}

/// An error with its exit code and remedy.
fn told(error: RefineError) -> anyhow::Error {
    match error {
        RefineError::Config(error) => Error::from(error).into(),
        RefineError::KeepsNothing => WrongCall(format!("{error}; set it with --keep")).into(),
        error => WrongCall(error.to_string()).into(),
    }
}
