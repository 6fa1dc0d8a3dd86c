//! A set of pages whose main content people marked: `docs.jsonl` with `id`, `html` and `gold` or `content`. The gold
//! text may also be `content` in `content.jsonl`. Either file may be packed (`.zst`).

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::score::{Bag, words};
use crate::jsonl;

/// A set, read.
pub struct Set {
    pub name: String,
    pub pages: Vec<Page>,
    /// Whether it holds versions of the pages of one site.
    pub is_one_site: bool,
}

/// A page and the words of its main content, in order.
pub struct Page {
    pub id: String,
    pub html: String,
    pub gold: Vec<u64>,
    /// The group of similar pages, of one site or service. A group is never split between training and testing.
    pub group: String,
}

impl Page {
    pub fn gold_bag(&self) -> Bag {
        Bag::of(&self.gold)
    }
}

#[derive(Deserialize)]
struct Record {
    id: String,
    html: Option<String>,
    gold: Option<String>,
    content: Option<String>,
    page: Option<String>,
    service: Option<String>,
    path: Option<String>,
}

impl Set {
    /// Reads the set in `folder`. If there are several captures of one page, the first counts. If there are several
    /// versions at one path, the first and the last count, since the template may have changed.
    pub fn read(folder: &Path) -> Result<Set> {
        let content = records(folder, "content.jsonl")?.unwrap_or_default();
        let mut gold: HashMap<String, String> =
            content.into_iter().filter_map(|record| Some((record.id, record.content?))).collect();
        let docs = records(folder, "docs.jsonl")?;
        let docs = docs.with_context(|| format!("there is no docs.jsonl in {}", folder.display()))?;
        let paths = docs.iter().enumerate().filter_map(|(at, record)| Some((record.path.clone()?, at)));
        let last: HashMap<String, usize> = paths.collect();
        let mut seen = HashSet::new();
        let mut pages = vec![];
        for (at, record) in docs.into_iter().enumerate() {
            let gold = record.gold.or(record.content).or_else(|| gold.remove(&record.id));
            let is_last = record.path.as_ref().is_some_and(|path| last.get(path) == Some(&at));
            let name = record.page.or(record.path.clone());
            let counts = is_last || name.is_none_or(|name| seen.insert(name));
            if let (Some(html), Some(gold), true) = (record.html, gold, counts) {
                let site = record.id.split_once('_').map(|(site, _)| site.to_owned());
                let group = record.service.or(record.path).or(site).unwrap_or_else(|| record.id.clone());
                let html = unwrapped(&html).to_owned();
                pages.push(Page { id: record.id, html, gold: words(&gold), group });
            }
        }
        ensure!(!pages.is_empty(), "no page in {} has html and gold", folder.display());
        let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Set { name, pages, is_one_site: !last.is_empty() })
    }

    /// The bytes of all pages.
    pub fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.html.len()).sum()
    }
}

/// CleanEval wraps each page in lines of its own, `<text id=...>` and `</text>`, which mislead parsers.
fn unwrapped(html: &str) -> &str {
    let trimmed = html.trim();
    match trimmed.split_once('\n') {
        Some((first, rest)) if first.starts_with("<text id=") => rest.strip_suffix("</text>").unwrap_or(rest),
        _ => html,
    }
}

fn records(folder: &Path, name: &str) -> Result<Option<Vec<Record>>> {
    let candidates = [folder.join(name), folder.join(format!("{name}.zst"))];
    let Some(path): Option<&PathBuf> = candidates.iter().find(|path| path.exists()) else { return Ok(None) };
    let parse = |line: std::io::Result<String>| {
        let line = line.with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&line).with_context(|| format!("{} has a line that is no page", path.display()))
    };
    jsonl::open(path)?.lines().map(parse).collect::<Result<_>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_out_of_their_wrappers() {
        assert_eq!(
            unwrapped("\n<text id=\"u\" title=\"a > b\"> \n<html>x</html></text>\n"),
            "<html>x</html>"
        );
        assert_eq!(unwrapped(" <html>\nx"), " <html>\nx");
    }
}
