//! The arguments of `onecopy export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::collection::DataArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy export --data pages --out kept.jsonl            the kept pages, as they were put
  onecopy export --data pages --status losers | wc -l
  onecopy export --data pages --status all --statuses     one status per line, with winner and group
  onecopy export --data pages --status all --tags         one tag per line, as `onecopy tag` writes them
  onecopy export --data pages | onecopy dedup - --out check

Lines are sorted by name. Changes that wait to be compared are settled first. If a server uses the
collection, the export has the pages that are settled at this moment.";

#[derive(ClapArgs)]
pub struct ExportArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// The pages to write
    #[arg(long, value_enum, default_value_t)]
    pub status: ExportStatus,
    /// Write the status of the pages instead of the pages
    #[arg(long)]
    pub statuses: bool,
    /// Write the tags of the pages instead of the pages. The collection must have tags (--tags of serve and import)
    #[arg(long, conflicts_with = "statuses")]
    pub tags: bool,
    /// The file to write; it appears only when complete [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportStatus {
    /// Kept pages
    #[default]
    Kept,
    /// Losers: pages removed for a kept page
    Losers,
    /// All pages, including dead and rejected ones
    All,
}
