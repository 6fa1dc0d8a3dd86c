//! The arguments of `onecopy groups`.

use clap::Args as ClapArgs;

use super::collection::DataArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy groups --data pages --least 10             groups of ten or more pages
  onecopy groups --data pages --search a.example     groups with a page whose name contains this
  onecopy groups --data pages 17                     the pages of a group
  onecopy groups --data pages 17 --repair            compare its pages again";

#[derive(ClapArgs)]
pub struct GroupsArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// Show the pages of this group, by its number [default: list groups]
    #[arg(value_name = "GROUP", conflicts_with_all = ["search", "least", "limit", "after"])]
    pub group: Option<u64>,
    /// List only groups with a page whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// List only groups of at least this many pages
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub least: u64,
    /// List at most this many groups
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
    /// List only groups with a larger number; give the last one of the previous list
    #[arg(long, value_name = "GROUP", default_value_t = 0)]
    pub after: u64,
    /// Compare the pages of the group again, and correct it. No server may be using the collection
    #[arg(long, requires = "group")]
    pub repair: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
