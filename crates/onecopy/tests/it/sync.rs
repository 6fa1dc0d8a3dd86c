//! `sync` writes group, winner and status of pages to a real PostgreSQL, and to servers that answer like search engines.

mod bad; //      wrong calls, other collections, servers that are down
mod database; // a PostgreSQL of the test's own
mod encrypted; // PostgreSQL with TLS
mod engines; //  search engines: documented requests and answers, some rows refused
mod fixture; //  a server that answers like a search engine
mod killed; //   a sync that is killed again and again under changes
mod table; //    the table equals the collection, or the run
mod tags; //     tags of pages, in every target
mod tantivy; //  a real full-text index behind a small server

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::Server;
use crate::collection::{on, statuses};
use crate::program::{Call, Finished};
use crate::results::plain;

/// A page in an index: group, winner, status.
pub type Entry = (Option<i64>, Option<String>, String);

/// `onecopy sync` of the collection `pages` in a folder.
pub fn sync(folder: &Path, target: &str) -> Call {
    on("sync", folder).args("--retry-for 2s --to").arg(target)
}

/// The entries that an index should have for the pages of the collection in a folder.
pub fn expected(folder: &Path) -> BTreeMap<String, Entry> {
    statuses(folder).into_iter().map(|(page, status)| (page.clone(), entry(&page, &status))).collect()
}

fn entry(page: &str, status: &Value) -> Entry {
    let word = plain(&status["status"]);
    let winner = match (word.as_str(), &status["winner"]) {
        ("dead", _) => None,
        (_, Value::Null) => Some(page.to_owned()),
        (_, winner) => Some(plain(winner)),
    };
    (status["group"].as_i64(), winner, word)
}

/// The summary that `--json` prints.
pub fn summary(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.stdout))
}

/// Puts a page.
pub fn put(server: &Server, id: &str, text: &str) {
    server.post("/pages", &json!({"id": id, "text": text}).to_string()).with(202);
}
