//! The arguments of `onecopy pages`.

use clap::Args as ClapArgs;
use onecopy_core::Language;
use onecopy_engine::{PageFilter, StatusKind};

use super::collection::DataArgs;
use crate::selection::{language, status};

pub const EXAMPLES: &str = "\
Examples:
  onecopy pages --data pages                                   all pages, by name
  onecopy pages --data pages --host a.example --status loser
  onecopy pages --data pages --prefix http://a.example/old/ --json
  onecopy pages --data pages --changed-since 1200 --json       as JSON Lines

Pages whose changes wait to be compared are listed with a provisional status.";

#[derive(ClapArgs)]
pub struct PagesArgs {
    #[command(flatten)]
    pub collection: DataArgs,
    /// List only pages whose names begin with this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub prefix: String,
    /// List only pages with an address on this host
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// List only pages with this status: unique, winner, loser, pending, dead, rejected
    #[arg(long, value_name = "STATUS", value_parser = status)]
    pub status: Option<StatusKind>,
    /// List only the pages of this group
    #[arg(long, value_name = "GROUP")]
    pub group: Option<u64>,
    /// List only pages in this language, such as en
    #[arg(long, value_name = "CODE", value_parser = language)]
    pub language: Option<Language>,
    /// List only pages that the feed has a change of after this number
    #[arg(long, value_name = "NUMBER")]
    pub changed_since: Option<u64>,
    /// Print JSON Lines, with address, language and the number in the feed
    #[arg(long)]
    pub json: bool,
}

impl PagesArgs {
    /// The pages to list.
    pub fn filter(&self) -> PageFilter {
        PageFilter {
            prefix: self.prefix.clone(),
            host: self.host.clone(),
            status: self.status,
            group: self.group,
            language: self.language,
            changed_since: self.changed_since,
        }
    }
}
