//! A whole run over pages in memory.
//!
//! It runs the same stages as the program, without files and threads. The program's engine streams its input and
//! calls [`settle`](crate::decide::settle::settle) and [`connect()`] in the same way. The answer equals
//! [`crate::reference::dedup`].

use std::collections::HashMap;
use std::convert::Infallible;

use crate::config::{Config, ConfigError};
use crate::decide::candidate::Rarity;
use crate::decide::connect::connect;
use crate::decide::group::Groups;
use crate::decide::order::{base_first, best_first, ranks};
use crate::decide::search::candidates;
use crate::decide::settle::{Buffers, Comparer, Holder, MemoryLists, Settled, settle};
use crate::page::appraise::{Appraised, Appraiser};
use crate::page::link::{AddressBook, Claims, Links};
use crate::page::record::Record;
use crate::page::redirect::End;
use crate::page::{Decision, Kind, PageId};
use crate::similarity::method::{Method, Scratch, Search, method};

/// The decisions about all pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    /// The decision about each page.
    pub of_page: Vec<Decision>,
    /// The group of each page, named by its best page. A rejected page is alone.
    pub group_of: Vec<PageId>,
}

/// Decides which pages stay. Fails only on a configuration that [`Config::check`] refuses.
pub fn dedup(pages: &[Record], config: &Config) -> Result<Decisions, ConfigError> {
    dedup_against(0, pages, config)
}

/// As [`dedup`], but the first `base` pages are given: they come before all others and stay. A page that is similar to
/// one of them goes. Two of them are one group only through another page, or if their texts are equal.
pub fn dedup_against(base: PageId, pages: &[Record], config: &Config) -> Result<Decisions, ConfigError> {
    config.check()?;
    let method = method(config)?;
    let pages = Pages::appraise(pages, config, &*method);
    let links = pages.links(&ranks(&pages.by_rules(), pages.len()));
    Ok(pages.decided(base, &links, config, &*method))
}

/// Decides about pages that were appraised and sketched elsewhere, and whose links were followed there. It is for
/// engines that share the work out. They give all pages that may be similar to one of these.
pub fn decide_appraised(
    appraised: Vec<Appraised>,
    sketches: Vec<Vec<u64>>,
    links: &Links,
    config: &Config,
) -> Result<Decisions, ConfigError> {
    assert_eq!(appraised.len(), sketches.len(), "each page has a sketch");
    config.check()?;
    let method = method(config)?;
    Ok(Pages { appraised, sketches }.decided(0, links, config, &*method))
}

/// All pages, appraised and sketched.
pub(crate) struct Pages<'a> {
    pub appraised: Vec<Appraised<'a>>,
    pub sketches: Vec<Vec<u64>>,
}

impl<'a> Pages<'a> {
    pub fn appraise(records: &[Record<'a>], config: &Config, method: &dyn Method) -> Pages<'a> {
        let mut appraiser = Appraiser::new(config, method);
        let mut pages = Pages { appraised: Vec::new(), sketches: Vec::new() };
        for record in records {
            let mut sketch = Vec::new();
            let text = record.text.plain();
            pages.appraised.push(appraiser.appraise(record, text.as_bytes(), |_| true, &mut sketch));
            pages.sketches.push(sketch);
        }
        pages
    }

    pub fn len(&self) -> usize {
        self.appraised.len()
    }

    /// Decides about all pages, of which the first `base` are given.
    fn decided(&self, base: PageId, links: &Links, config: &Config, method: &dyn Method) -> Decisions {
        let by_rules = self.by_rules();
        let lesser = self.believed(&by_rules, links, method);
        let favoured = |page: PageId| self.is_favoured(page, config);
        let order = best_first(&by_rules, &links.ends, &lesser, favoured);
        let mut contents = self.contents(base_first(order, |page| page < base), method);
        contents.base = contents.best_page.partition_point(|&page| page < base) as u32;
        let (settled, groups) = contents.settle();
        let mut decisions = self.decide(base, &(contents, settled, groups), links);
        self.tell_addresses(&mut decisions);
        decisions
    }

    /// The pages that can be judged, in the order of the winner rules.
    pub fn by_rules(&self) -> Vec<PageId> {
        let judged = |&page: &PageId| self.appraised[page as usize].objection().is_none();
        let mut order: Vec<PageId> = (0..self.len() as PageId).filter(judged).collect();
        order.sort_by(|&a, &b| self.appraised[a as usize].rank.cmp(&self.appraised[b as usize].rank));
        order
    }

    /// Where the pages' links lead.
    pub fn links(&self, ranks: &[u32]) -> Links {
        let judged = || (0..).zip(&self.appraised).filter(|(_, page)| page.objection().is_none());
        let claims: Claims = judged().flat_map(|(number, page)| page.claims(number)).collect();
        let mut book = AddressBook::new(claims, ranks);
        for (number, page) in judged().filter(|(_, page)| !page.silent) {
            book.enter(number, page.address.identity);
        }
        book.links()
    }

    /// Whether a page is in the first market, or no market is configured.
    pub fn is_favoured(&self, page: PageId, config: &Config) -> bool {
        config.markets.is_empty() || self.appraised[page as usize].markets & 1 == 1
    }

    /// The pages whose canonical link names an alike page, ascending.
    fn believed(&self, by_rules: &[PageId], links: &Links, method: &dyn Method) -> Vec<PageId> {
        if links.canonical.is_empty() {
            return Vec::new();
        }
        let contents = self.contents(best_first(by_rules, &links.ends, &[], |_| true), method);
        let of = |page: PageId| contents.of_page[page as usize];
        let mut buffers = Buffers::default();
        let mut alike = |&&(page, target): &&(PageId, PageId)| {
            let Ok(score) = contents.compare(of(page), of(target), &mut buffers);
            score.is_some()
        };
        let mut pages: Vec<PageId> =
            links.canonical.iter().filter(&mut alike).map(|(page, _)| *page).collect();
        pages.dedup();
        pages
    }

    /// The contents of pages, which are given best first.
    fn contents<'c>(&'c self, order: Vec<PageId>, method: &'c dyn Method) -> Contents<'c> {
        let (mut numbers, mut best_page) = (HashMap::new(), Vec::new());
        let mut of_page = vec![u32::MAX; self.len()];
        for page in order {
            let number = *numbers.entry(self.appraised[page as usize].fingerprint).or_insert_with(|| {
                best_page.push(page);
                best_page.len() as u32 - 1
            });
            of_page[page as usize] = number;
        }
        let sketches: Vec<&[u64]> =
            best_page.iter().map(|&page| self.sketches[page as usize].as_slice()).collect();
        let sizes = sketches.iter().map(|sketch| sketch.len() as u32).collect();
        Contents { of_page, best_page, sketches, sizes, base: 0, method }
    }

    /// Marks near copies at the same address as their own kind.
    pub fn tell_addresses(&self, decisions: &mut Decisions) {
        let identity = |page: usize| self.appraised[page].address.identity;
        for (page, decision) in decisions.of_page.iter_mut().enumerate() {
            if let Decision::Removed { winner, kind, .. } = decision {
                *kind = kind.between(identity(page), identity(*winner as usize));
            }
        }
    }

    fn decide(
        &self,
        base: PageId,
        (contents, settled, groups): &(Contents, Settled, Groups),
        links: &Links,
    ) -> Decisions {
        let decision = |page: PageId| match page < base {
            true => Decision::Kept,
            false => contents.decision(page, settled),
        };
        let mut of_page: Vec<Decision> = (0..self.len() as PageId).map(decision).collect();
        let mut group_of: Vec<PageId> = (0..self.len() as PageId).collect();
        for (page, &content) in contents.of_page.iter().enumerate().filter(|(_, of)| **of != u32::MAX) {
            group_of[page] = contents.best_page[groups.of(content) as usize];
        }
        for end in &links.ends {
            if let End::Page(target) = end.end {
                if end.page < base {
                    group_of[end.page as usize] = group_of[target as usize];
                    continue;
                }
                of_page[end.page as usize] = of_page[target as usize].shared(target, end.revisit);
                group_of[end.page as usize] = group_of[target as usize];
            }
        }
        Decisions { of_page, group_of }
    }
}

/// Pages with the same canonical text are one content, and the best of them stands for it. Smaller numbers are
/// better.
pub(crate) struct Contents<'a> {
    /// The content of each page; `u32::MAX` for pages that are not compared.
    pub of_page: Vec<u32>,
    pub best_page: Vec<PageId>,
    pub sketches: Vec<&'a [u64]>,
    pub sizes: Vec<u32>,
    /// How many contents belong to the base; they come first.
    pub base: u32,
    pub method: &'a dyn Method,
}

impl Contents<'_> {
    /// The winner of each content, and its group.
    pub fn settle(&self) -> (Settled, Groups) {
        let (all, lists) = (self.all(), self.lists());
        let settled = self.settled(&all, &lists);
        let mut groups = Groups::new(all.len());
        let Ok(()) = connect(self, &all, &lists, &settled, &mut groups);
        (settled, groups)
    }

    /// The winner of each content.
    pub fn winners(&self) -> Settled {
        self.settled(&self.all(), &self.lists())
    }

    fn all(&self) -> Vec<u32> {
        (0..self.sizes.len() as u32).collect()
    }

    fn settled(&self, all: &[u32], lists: &MemoryLists) -> Settled {
        let mut settled = Settled::new(all.len());
        let Ok(()) = settle(self, all, lists, usize::MAX, &mut settled);
        settled
    }

    /// The contents that may be alike, as lists.
    pub fn lists(&self) -> MemoryLists {
        let mut lists = MemoryLists::default();
        if self.method.search() != Search::Keys {
            let pairs = candidates(self.method, &self.sketches).unwrap_or_default();
            pairs.iter().for_each(|&(a, b)| lists.push(&[[a, 0], [b, 0]]));
            return lists;
        }
        let mut held: Vec<(u64, Holder)> = Vec::new();
        let (rarity, mut scratch, mut keys) = (self.rarity(), Scratch::default(), Vec::new());
        for (content, sketch) in (0..).zip(&self.sketches) {
            keys.clear();
            self.method.keys(sketch, &rarity, &mut scratch, &mut keys);
            held.extend(keys.iter().map(|&(key, rest)| (key, [content, rest])));
        }
        forget_lone(&mut held);
        let held = sorted(held);
        let mut list = Vec::new();
        for holders in held.chunk_by(|a, b| a.0 == b.0).filter(|holders| holders.len() > 1) {
            list.clear();
            list.extend(holders.iter().map(|(_, holder)| holder));
            lists.push(&list);
        }
        lists
    }

    fn rarity(&self) -> Rarity {
        if !self.method.asks_rarity() {
            return Rarity::empty(0);
        }
        let words: usize = self.sketches.iter().map(|sketch| sketch.len()).sum();
        // About eight shingles per counter: common ones still stand out.
        let mut rarity = Rarity::empty((words / 8).max(1 << 10).ilog2().min(24));
        self.sketches.iter().for_each(|sketch| rarity.count(sketch));
        rarity
    }

    fn decision(&self, page: PageId, settled: &Settled) -> Decision {
        let content = self.of_page[page as usize];
        if content == u32::MAX {
            return Decision::Rejected;
        }
        let winner = self.best_page[settled.winner[content as usize] as usize];
        if !settled.stays(content) {
            let similarity = settled.similarity(content, &self.sizes, self.method);
            Decision::Removed { winner, similarity, kind: Kind::Near }
        } else if winner != page {
            Decision::Removed { winner, similarity: 1.0, kind: Kind::Exact }
        } else {
            Decision::Kept
        }
    }
}

/// Removes most keys that one content holds alone, which are nearly all. Sorting would take longer.
fn forget_lone(held: &mut Vec<(u64, Holder)>) {
    let bits = (16 * held.len()).max(1 << 10).ilog2().min(24);
    let (mut once, mut again) = (vec![0u64; 1 << (bits - 6)], vec![0u64; 1 << (bits - 6)]);
    let place = |key: u64| ((key >> (70 - bits)) as usize, 1 << (key >> (64 - bits) & 63));
    for &(key, _) in held.iter() {
        let (word, bit) = place(key);
        again[word] |= once[word] & bit;
        once[word] |= bit;
    }
    held.retain(|&(key, _)| {
        let (word, bit) = place(key);
        again[word] & bit != 0
    });
}

/// Sorts keys, which are hashes: first into as many buckets as there are keys, then each bucket.
fn sorted(held: Vec<(u64, Holder)>) -> Vec<(u64, Holder)> {
    let shift = 64 - held.len().max(2).ilog2();
    let mut ends = vec![0; 1 + (u64::MAX >> shift) as usize];
    held.iter().for_each(|(key, _)| ends[(key >> shift) as usize] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let mut out = vec![(0, [0; 2]); held.len()];
    for entry in held {
        let end = &mut ends[(entry.0 >> shift) as usize];
        out[*end] = entry;
        *end += 1;
    }
    let mut start = 0;
    for end in ends {
        out[start..end].sort_unstable();
        start = end;
    }
    out
}

impl Comparer for Contents<'_> {
    type Error = Infallible;

    fn method(&self) -> &dyn Method {
        self.method
    }

    fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    fn base(&self) -> u32 {
        self.base
    }

    fn sketch<'a>(&'a self, content: u32, _: &'a mut Vec<u64>) -> Result<&'a [u64], Infallible> {
        Ok(self.sketches[content as usize])
    }
}

#[cfg(test)]
mod tests;
