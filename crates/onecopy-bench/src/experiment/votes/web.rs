//! The pages of a labelled set, the links between them, and which of them are copies.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::BufRead;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use crate::generate::random::{Random, derive, mix};
use crate::jsonl;

#[derive(Deserialize)]
struct Doc {
    id: String,
    url: String,
    html: String,
}

/// Which links there are.
#[derive(Clone, Copy)]
pub enum Links {
    /// As the pages have them: to pages of the same version.
    Written,
    /// Each leads to any copy of its page.
    AnyCopy,
    /// Likewise, and half of the pages have one copy only.
    Uneven,
}

impl Links {
    pub const ALL: [Links; 3] = [Links::Written, Links::AnyCopy, Links::Uneven];

    pub fn name(self) -> &'static str {
        match self {
            Links::Written => "as written",
            Links::AnyCopy => "each to a random copy",
            Links::Uneven => "likewise, half of the pages without copies",
        }
    }
}

/// A labelled set. Its copies are numbered.
pub struct Web {
    docs: Vec<Doc>,
    /// The page of each copy: its first copy.
    pub page_of: Vec<u32>,
    /// The copies of each page.
    pub copies: HashMap<u32, Vec<u32>>,
    written: Vec<(u32, u32)>,
}

impl Web {
    pub fn read(folder: &Path) -> Result<Web> {
        let path = folder.join("docs.jsonl.zst");
        let mut docs: Vec<Doc> = Vec::new();
        for line in jsonl::open(&path)?.lines() {
            let doc = serde_json::from_str(&line?).with_context(|| format!("{}: no page", path.display()))?;
            docs.push(doc);
        }
        let page_of = pages(folder, &docs)?;
        let mut copies: HashMap<u32, Vec<u32>> = HashMap::new();
        page_of.iter().zip(0..).for_each(|(&page, copy)| copies.entry(page).or_default().push(copy));
        let written = written(&docs);
        Ok(Web { docs, page_of, copies, written })
    }

    /// The pages as `onecopy dedup` reads them, named by their numbers.
    pub fn lines(&self) -> String {
        let line = |(number, doc): (usize, &Doc)| {
            json!({"id": number.to_string(), "html": doc.html}).to_string() + "\n"
        };
        self.docs.iter().enumerate().map(line).collect()
    }

    /// Links between copies.
    pub fn links(&self, kind: Links) -> Vec<(u32, u32)> {
        let mut random = Random::new(derive(19, 1, 0));
        let mut redirected = |to: u32| {
            let copies = &self.copies[&self.page_of[to as usize]];
            copies[random.below(copies.len() as u64) as usize]
        };
        let is_alone = |page: u32| mix(u64::from(page)).is_multiple_of(2);
        let only = |copy: u32| {
            if is_alone(self.page_of[copy as usize]) { self.page_of[copy as usize] } else { copy }
        };
        self.written
            .iter()
            .map(|&(from, to)| match kind {
                Links::Written => (from, to),
                Links::AnyCopy => (from, redirected(to)),
                Links::Uneven => (only(from), only(redirected(to))),
            })
            .collect()
    }
}

/// The page of each copy, by the labels.
fn pages(folder: &Path, docs: &[Doc]) -> Result<Vec<u32>> {
    let path = folder.join("clusters.csv");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let cluster_of: HashMap<&str, &str> =
        text.lines().skip(1).filter_map(|line| line.rsplit_once(',')).collect();
    let mut first: HashMap<&str, u32> = HashMap::new();
    let page = |(doc, number): (&Doc, u32)| match cluster_of.get(doc.id.as_str()) {
        Some(cluster) => *first.entry(cluster).or_insert(number),
        None => number,
    };
    // A closure with state must see the copies in order.
    Ok(docs.iter().zip(0..).map(page).collect())
}

/// The links of pages to other pages of the set, each once.
fn written(docs: &[Doc]) -> Vec<(u32, u32)> {
    let number: HashMap<&str, u32> =
        docs.iter().zip(0..).map(|(doc, number)| (doc.url.as_str(), number)).collect();
    let mut links = Vec::new();
    for (doc, from) in docs.iter().zip(0..) {
        let found = hrefs(&doc.html).filter_map(|href| number.get(resolved(&doc.url, href).as_str()));
        let to: HashSet<u32> = found.copied().filter(|&to| to != from).collect();
        let mut to: Vec<u32> = to.into_iter().collect();
        to.sort_unstable();
        links.extend(to.into_iter().map(|to| (from, to)));
    }
    links
}

/// The values of all `href`s in quotation marks.
fn hrefs(html: &str) -> impl Iterator<Item = &str> {
    html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// The address that a link leads to, without query and fragment.
fn resolved(base: &str, href: &str) -> String {
    let href = href.split(['#', '?']).next().unwrap_or_default();
    if href.contains(':') {
        return href.to_owned();
    }
    let (scheme, rest) = base.split_once("://").unwrap_or(("http", base));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut parts: Vec<&str> = if href.starts_with('/') { Vec::new() } else { path.split('/').collect() };
    parts.pop();
    for part in href.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            name => parts.push(name),
        }
    }
    format!("{scheme}://{host}/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_a_browser_goes() {
        let base = "https://x.example/doc/1/a/b.html";
        for (href, wanted) in [
            ("c.html#top", "https://x.example/doc/1/a/c.html"),
            ("../../2/./c.html?q=1", "https://x.example/doc/2/c.html"),
            ("/c.html", "https://x.example/c.html"),
            ("https://y.example/c", "https://y.example/c"),
        ] {
            assert_eq!(resolved(base, href), wanted);
        }
        assert_eq!(hrefs("<a href=\"x\">y</a> <a class=z href=\"\">").collect::<Vec<_>>(), ["x", ""]);
    }

    #[test]
    fn labels_say_which_pages_are_copies() {
        let folder = tempfile::tempdir().unwrap();
        let doc = |id: &str, link: &str| json!({"id": id, "url": format!("http://x.example/{id}"), "html": format!("<a href=\"{link}\">")});
        let docs: String = [doc("a", "b"), doc("b", "nowhere"), doc("c", "a"), doc("d", "d")]
            .map(|doc| format!("{doc}\n"))
            .concat();
        fs::write(folder.path().join("docs.jsonl.zst"), zstd::encode_all(docs.as_bytes(), 1).unwrap())
            .unwrap();
        fs::write(folder.path().join("clusters.csv"), "id,cluster\na,1\nc,1\nb,2\n").unwrap();
        let web = Web::read(folder.path()).unwrap();
        assert_eq!(web.page_of, [0, 1, 0, 3]);
        assert_eq!(web.links(Links::Written), [(0, 1), (2, 0)]);
        assert_eq!(web.lines().lines().count(), 4);
    }
}
