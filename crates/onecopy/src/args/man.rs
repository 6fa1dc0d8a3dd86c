//! The arguments of `onecopy man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy man dedup | man -l -
  onecopy man --out ~/.local/share/man/man1";

#[derive(ClapArgs)]
pub struct ManArgs {
    /// The command that the page is about [default: onecopy itself]
    pub command: Option<String>,
    /// Write the pages of onecopy and all its commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}
