//! The arguments of `onecopy check`.

use clap::Args as ClapArgs;

use super::collection::DataArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy check --data pages
  onecopy check --data pages --json

It verifies every checksum, compares the tables with each other, and recomputes every decision. It
exits with 1 if something is wrong. If a server uses the collection, it does not recompute decisions.";

#[derive(ClapArgs)]
pub struct CheckArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}
