//! Removed pages of a finished run, and the winners that get their links.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use onecopy_core::{AddressRules, digest};
use serde::Deserialize;

use super::named::name_of;
use crate::error::{Error, Result};
use crate::listed::{PageKey, each_line, each_removed};
use crate::run::Run;

/// The winners of removed pages, by the hash of the removed page's name.
#[derive(Default)]
pub(super) struct Merged {
    winners: HashMap<u64, String>,
}

impl Merged {
    /// Reads the lists of the finished run in `folder`. An address that was kept at another time stays itself.
    pub(super) fn read(folder: &Path) -> Result<Merged> {
        if !folder.join("pages.jsonl").exists() {
            return Err(Error::NoPageList { folder: folder.to_owned() });
        }
        let rules = Run::current(folder)?.config.addresses;
        let mut winner_of: HashMap<PageKey, PageKey> = HashMap::new();
        each_removed(folder, |removed| {
            winner_of.insert(removed.page.1, removed.winner.1);
            true
        })?;
        let (names, kept) = names(folder, &rules, &winner_of)?;
        let mut winners: HashMap<u64, String> = HashMap::new();
        for (page, winner) in &winner_of {
            let (Some(page), Some(winner)) = (names.get(page), names.get(winner)) else { continue };
            let hash = digest(page.as_bytes());
            if page == winner || kept.contains(&hash) {
                continue;
            }
            // Captures of one address may have several winners. The choice must not depend on the order of the map.
            winners
                .entry(hash)
                .and_modify(|other| {
                    if winner < other {
                        other.clone_from(winner);
                    }
                })
                .or_insert_with(|| winner.clone());
        }
        Ok(Merged { winners })
    }

    /// The name to use instead of `name`.
    pub(super) fn winner<'a>(&'a self, name: &'a str) -> &'a str {
        if self.winners.is_empty() {
            return name;
        }
        self.winners.get(&digest(name.as_bytes())).map_or(name, String::as_str)
    }

    /// How many pages have a winner.
    pub(super) fn len(&self) -> usize {
        self.winners.len()
    }
}

/// The names of removed pages and of their winners, and the hashes of the names of kept pages.
fn names(
    folder: &Path,
    rules: &AddressRules,
    winner_of: &HashMap<PageKey, PageKey>,
) -> Result<(HashMap<PageKey, String>, HashSet<u64>)> {
    #[derive(Deserialize)]
    struct PageLine {
        page: serde_json::Value,
        url: Option<String>,
        status: String,
        source: String,
        line: Option<u64>,
        record: Option<u64>,
        row: Option<u64>,
    }
    let wanted: HashSet<&PageKey> = winner_of.keys().chain(winner_of.values()).collect();
    let (mut names, mut kept, mut name) = (HashMap::new(), HashSet::new(), String::new());
    each_line(&folder.join("pages.jsonl"), |it: PageLine| {
        if name_of(it.url.as_deref(), &it.page.to_string(), rules, &mut name).is_some() {
            if it.status == "kept" {
                kept.insert(digest(name.as_bytes()));
            }
            let number = it.line.or(it.record).or(it.row).unwrap_or(0);
            let key = PageKey { source: it.source, number };
            if wanted.contains(&key) {
                names.insert(key, name.clone());
            }
        }
        true
    })?;
    Ok((names, kept))
}
