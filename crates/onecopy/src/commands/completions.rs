//! `onecopy completions`: a script that makes a shell complete our commands.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};

pub fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    clap_complete::generate(args.shell, &mut Args::command(), "onecopy", &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}
