//! `onecopy layout`: places the files of an index on servers, and simulates the requests to them.

mod plan;
mod simulate;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::{LayoutArgs, LayoutCommand};

pub fn run(args: &LayoutArgs) -> Result<ExitCode> {
    match &args.command {
        LayoutCommand::Plan(args) => plan::run(args),
        LayoutCommand::Simulate(args) => simulate::run(args),
    }
}
