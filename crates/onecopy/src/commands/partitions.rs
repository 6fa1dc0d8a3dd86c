//! `onecopy partitions`: divides pages among machines by their lengths.

mod apply;
mod figure;
mod plan;
mod source;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::{PartitionsArgs, PartitionsCommand};

pub fn run(args: &PartitionsArgs) -> Result<ExitCode> {
    match &args.command {
        PartitionsCommand::Plan(args) => plan::run(args),
        PartitionsCommand::Apply(args) => apply::run(args),
    }
}
