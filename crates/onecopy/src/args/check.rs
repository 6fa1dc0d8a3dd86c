//! What may be typed behind `onecopy check`.

use clap::Args as ClapArgs;

use super::collection::DataArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy check --data pages
  onecopy check --data pages --json

Every checksum is read, tables are held against each other, and every decision is made anew. Ends
with 1 if something is wrong.";

#[derive(ClapArgs)]
pub struct CheckArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// Print the findings as JSON, for programs
    #[arg(long)]
    pub json: bool,
}
