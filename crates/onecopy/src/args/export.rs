//! What may be typed behind `onecopy export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::collection::DataArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy export --data pages --out kept.jsonl            the pages that stay, as they were put
  onecopy export --data pages --status losers | wc -l
  onecopy export --data pages --status all --statuses     a line a page: its status, winner, group
  onecopy export --data pages | onecopy dedup - --out check

Lines are by name. What waits to be compared is settled first.";

#[derive(ClapArgs)]
pub struct ExportArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// Which pages
    #[arg(long, value_enum, default_value_t)]
    pub status: ExportStatus,
    /// Write what became of the pages instead of the pages
    #[arg(long)]
    pub statuses: bool,
    /// The file to write, whole or not at all [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportStatus {
    /// Those that stay
    #[default]
    Kept,
    /// Those that go for a page that stays
    Losers,
    /// All, also those that are dead or cannot be judged
    All,
}
