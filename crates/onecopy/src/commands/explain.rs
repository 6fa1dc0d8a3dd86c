//! `onecopy explain`: why two pages of a finished run were or were not joined.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::ExplainArgs;

pub fn run(_args: &ExplainArgs) -> Result<ExitCode> {
    anyhow::bail!("under way")
}
