//! The arguments of `onecopy status`.

use clap::Args as ClapArgs;

use super::collection::DataArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy status --data pages                              the collection in numbers
  onecopy status --data pages http://a.example/x page-7    the status of pages
  onecopy status --data pages page-7 --verify --json";

#[derive(ClapArgs)]
pub struct StatusArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// Show the status of these pages, by id, else by address [default: numbers of the collection]
    #[arg(value_name = "PAGE")]
    pub pages: Vec<String>,
    /// Compare losers with their winner again
    #[arg(long, requires = "pages")]
    pub verify: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
