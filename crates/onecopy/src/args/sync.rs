//! The arguments of `onecopy sync`.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs};

use super::age::Age;
use crate::sync::{Address, Parts};

pub const EXAMPLES: &str = "\
Examples:
  onecopy sync --data pages --to postgres://me@localhost/search
  onecopy sync --data pages --to elasticsearch://localhost:9200/web --follow
  onecopy sync --run clean --to solr://localhost:8983/solr/web
  onecopy sync --from http://localhost:7171 --state cursors --to opensearch+https://user:password@search.example/web
  onecopy sync --data pages --to typesense://localhost:8108/web --key-file key --json

Each page of the collection has a document with the same id in the index. sync adds the fields
onecopy_group, onecopy_winner and onecopy_status to it. Collapse the results of a search by
onecopy_winner, and each content is shown once: docs/SEARCH.md has the query of each engine.
PostgreSQL gets the tables onecopy_pages and onecopy_cursor, and needs nothing before.

The next sync sends only what changed since. It continues after a crash, and misses nothing.
Pages that the index refuses are listed in DIR.sync, the exit status is 3, and the next sync tries
them again.";

/// Seconds between two looks at the feed.
const POLL: &str = "2s";

#[derive(ClapArgs)]
#[command(group(ArgGroup::new("source").required(true).args(["data", "run", "from"])))]
pub struct SyncArgs {
    /// The folder of a collection. A server may use it at the same time
    #[arg(long, short, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The output folder of a finished run, which is read once
    #[arg(long, value_name = "DIR", conflicts_with = "follow")]
    pub run: Option<PathBuf>,
    /// The address of a service on another machine
    #[arg(long, value_name = "URL", requires = "state")]
    pub from: Option<String>,
    /// A file with the token of that service
    #[arg(long, value_name = "FILE", requires = "from")]
    pub token_file: Option<PathBuf>,
    /// The index or database: ENGINE://HOST:PORT/INDEX with elasticsearch, opensearch, solr, meilisearch or typesense
    /// (ENGINE+https:// for TLS), or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "TARGET")]
    pub to: Address,
    /// A file with the API key of the search engine
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Continue with changes as they come, until SIGTERM
    #[arg(long)]
    pub follow: bool,
    /// Look for changes this often
    #[arg(long, value_name = "TIME", default_value = POLL, requires = "follow")]
    pub poll: Age,
    /// Send all pages again, and replace what another collection wrote
    #[arg(long)]
    pub restart: bool,
    /// The beginning of the names of fields in a search engine
    #[arg(long, value_name = "TEXT", default_value = "onecopy_")]
    pub prefix: String,
    /// The field of documents with their id, in Solr and Meilisearch [default: id in Solr; as the index says in
    /// Meilisearch]
    #[arg(long, value_name = "FIELD")]
    pub id_field: Option<String>,
    /// Pages per request. Higher: faster, with larger requests
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub batch: u32,
    /// How long to try again while the index is down or busy
    #[arg(long, value_name = "TIME", default_value = "1m")]
    pub retry_for: Age,
    /// The folder for cursors and for lists of failed pages [default: DIR.sync]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Write the tag of each page too, as the field onecopy_tag. The collection must have tags (--tags of serve and
    /// import). If the index was synced without them, add --restart once
    #[arg(long, conflicts_with = "run")]
    pub tags: bool,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

impl SyncArgs {
    /// What is written of each page.
    pub fn parts(&self) -> Parts {
        if self.tags { Parts::StatusAndTag } else { Parts::Status }
    }

    /// The folder for cursors and for lists of failed pages: beside the collection or the run.
    pub fn state(&self) -> PathBuf {
        let beside = self.data.as_ref().or(self.run.as_ref());
        let default = || {
            let mut folder = beside.cloned().unwrap_or_default().into_os_string();
            folder.push(".sync");
            PathBuf::from(folder)
        };
        self.state.clone().unwrap_or_else(default)
    }
}
