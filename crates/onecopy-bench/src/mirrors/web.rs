//! A made-up web: families of hosts, some of them mirrors, others only similar.
//!
//! Every family is made from the seed and its number alone. The mirrors are:
//!
//! - whole hosts, also with and without `www.`,
//! - sites under other prefixes, and parts of a host,
//! - incompletely crawled or edited copies,
//! - sets of several hosts, and two folders of one host.
//!
//! The others are:
//!
//! - hosts with one template and the same small pages,
//! - hosts that republish articles, or share a few pages,
//! - hosts that answer every path with one error page,
//! - hosts that share only the names of their paths.

mod alike;
mod mirrored;

use crate::generate::random::{Random, derive};

const KIND_FAMILY: u64 = 31;
const KIND_EDIT: u64 = 32;

const FOLDERS: [&str; 12] = [
    "docs", "blog", "news", "products", "help", "wiki", "archive", "media", "research", "events", "guide",
    "forum",
];
const WORDS: [&str; 16] = [
    "river", "engine", "garden", "market", "winter", "signal", "copper", "bridge", "letter", "island",
    "school", "planet", "harbor", "cotton", "mirror", "forest",
];

/// A web and its mirrors.
pub struct Web {
    pub pages: Vec<WebPage>,
    pub mirrors: Vec<Planted>,
    pub hosts: usize,
}

/// A page of the web.
pub struct WebPage {
    pub url: String,
    /// Determines the template.
    pub site: u64,
    /// Pages with the same content are duplicates.
    pub content: u64,
    /// `Some` for near-duplicates, `None` for exact copies.
    pub edit: Option<u64>,
}

/// A planted pair of prefixes.
pub struct Planted {
    pub left: String,
    pub right: String,
    pub kind: &'static str,
}

/// A path and its content.
type Entry = (String, u64);

impl Web {
    /// A web of about `hosts` hosts. `noise` determines how incomplete crawls are and how much is edited.
    pub fn new(seed: u64, hosts: usize, noise: f64) -> Web {
        let mut web = Web { pages: Vec::new(), mirrors: Vec::new(), hosts: 0 };
        let mut number = 0;
        while web.hosts < hosts {
            let random = Random::new(derive(seed, KIND_FAMILY, number));
            let mut family = Family { web: &mut web, random, number, noise, contents: 0, hosts: 0 };
            match number % 3 {
                0 => mirrored::plant(&mut family),
                1 => alike::plant(&mut family),
                _ if number % 2 == 0 => mirrored::plant(&mut family),
                _ => alike::plant(&mut family),
            }
            number += 1;
        }
        // Pages are in crawl order, not grouped by host.
        web.pages.sort_by_cached_key(|page| {
            derive(seed, KIND_EDIT, xxhash_rust::xxh3::xxh3_64(page.url.as_bytes()))
        });
        web
    }
}

/// A family, which adds its hosts and pages to the web.
struct Family<'a> {
    web: &'a mut Web,
    random: Random,
    number: u64,
    noise: f64,
    contents: u64,
    hosts: u64,
}

/// How the pages of a host were crawled.
#[derive(Clone, Copy)]
struct Fetch {
    /// The share of pages that were fetched.
    crawled: f64,
    /// The share of pages that changed too much to be duplicates.
    edited: f64,
}

const WHOLE: Fetch = Fetch { crawled: 1.0, edited: 0.0 };

impl Family<'_> {
    /// The name of a new host.
    fn host(&mut self) -> String {
        self.hosts += 1;
        self.web.hosts += 1;
        let word = WORDS[self.random.below(16) as usize];
        format!("{word}-{}-{}.example", self.number, self.hosts)
    }

    /// A content that no other page has.
    fn content(&mut self) -> u64 {
        self.contents += 1;
        self.number << 32 | self.contents
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.random.below(high - low + 1)
    }

    fn share(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random.unit()
    }

    /// Different folder names.
    fn folders(&mut self, count: u64) -> Vec<&'static str> {
        let start = self.random.below(12);
        (0..count).map(|i| FOLDERS[((start + 5 * i) % 12) as usize]).collect()
    }

    /// The pages of one folder, named in one of several common styles.
    fn folder(&mut self, folder: &str, pages: u64) -> Vec<Entry> {
        let style = self.random.below(4);
        let name = |number: u64, random: &mut Random| match style {
            0 => format!("{number}.html"),
            1 => format!("view?id={number}"),
            2 => format!("{}/{}-{number}", 2001 + number % 3, WORDS[random.below(16) as usize]),
            _ => format!(
                "{}-{}-{number}.html",
                WORDS[random.below(16) as usize],
                WORDS[random.below(16) as usize]
            ),
        };
        let mut entries = vec![(format!("{folder}/"), self.content())];
        for number in 1..pages {
            let name = name(number, &mut self.random);
            entries.push((format!("{folder}/{name}"), self.content()));
        }
        entries
    }

    /// A whole site.
    fn site(&mut self) -> Vec<Entry> {
        let count = self.between(2, 5);
        let mut entries = vec![(String::new(), self.content()), ("about.html".into(), self.content())];
        for folder in self.folders(count) {
            let pages = self.between(5, 25);
            entries.extend(self.folder(folder, pages));
        }
        entries
    }

    /// Publishes pages on a host below a prefix, which is empty or begins with a slash.
    fn publish(&mut self, host: &str, prefix: &str, entries: &[Entry], fetch: Fetch) {
        let scheme = if self.random.once_in(2) { "http" } else { "https" };
        let light = self.random.once_in(2);
        for (path, content) in entries {
            if self.random.unit() >= fetch.crawled {
                continue;
            }
            let is_edited = self.random.unit() < fetch.edited;
            let content = if is_edited { self.content() } else { *content };
            let url = format!("{scheme}://{host}{prefix}/{path}");
            let edit = light.then(|| self.random.next());
            self.web.pages.push(WebPage { url, site: self.number, content, edit });
        }
    }

    fn planted(&mut self, left: impl Into<String>, right: impl Into<String>, kind: &'static str) {
        self.web.mirrors.push(Planted { left: left.into(), right: right.into(), kind });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_web() {
        let urls = |seed| Web::new(seed, 60, 0.5).pages.into_iter().map(|page| page.url).collect::<Vec<_>>();
        assert_eq!(urls(1), urls(1));
        assert_ne!(urls(1), urls(2));
    }

    #[test]
    fn every_kind_is_planted_and_no_address_twice() {
        let web = Web::new(1, 600, 0.5);
        let kinds: std::collections::BTreeSet<_> = web.mirrors.iter().map(|mirror| mirror.kind).collect();
        assert_eq!(kinds.len(), mirrored::KINDS as usize, "{kinds:?}");
        let mut urls: Vec<&str> = web.pages.iter().map(|page| page.url.as_str()).collect();
        urls.sort_unstable();
        assert!(urls.windows(2).all(|two| two[0] != two[1]));
        assert!(web.pages.iter().all(|page| page.url.bytes().all(|byte| byte != b'"' && byte != b'\\')));
    }
}
