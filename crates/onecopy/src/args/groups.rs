//! What may be typed behind `onecopy groups`.

use clap::Args as ClapArgs;

use super::collection::DataArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy groups --data pages --least 10             groups of ten pages or more
  onecopy groups --data pages --search a.example     groups with such a page
  onecopy groups --data pages 17                     the pages of a group
  onecopy groups --data pages 17 --repair            compare its pages anew";

#[derive(ClapArgs)]
pub struct GroupsArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// A group, by its number [default: a list of groups]
    #[arg(value_name = "GROUP", conflicts_with_all = ["search", "least", "limit", "after"])]
    pub group: Option<u64>,
    /// Only groups with a page whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// Only groups of at least this many pages
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub least: u64,
    /// List this many at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
    /// Only groups with a number above this: the last one of the list before
    #[arg(long, value_name = "GROUP", default_value_t = 0)]
    pub after: u64,
    /// Compare the pages of the group anew
    #[arg(long, requires = "group")]
    pub repair: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}
