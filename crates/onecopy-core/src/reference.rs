//! The slow, obvious, correct answer. Everything fast is tested against it.
//!
//! It compares all pairs exactly and applies the rule of the promise. Pages are visited best first. A page goes if
//! it is similar to one that stays, and the best of those is its winner.

mod refine;

use crate::config::Config;
use crate::decide::group::group;
use crate::decide::order::{base_first, best_first, ranks};
use crate::decide::search::candidates;
use crate::dedup::{Decisions, Pages};
use crate::page::link::Links;
use crate::page::record::Record;
use crate::page::redirect::End;
use crate::page::{Decision, Kind, PageId};
use crate::similarity::method::{Method, method};
use crate::text::canonical::Canonical;

pub use refine::refine;

/// Decides about each page and its group. Pages with the same canonical text are alike under every method, and the
/// best of them stands for all. The configuration must have been checked.
pub fn dedup(records: &[Record], config: &Config) -> Decisions {
    dedup_against(0, records, config)
}

/// As [`dedup`], but the first `base` pages are given. They come before all others, and all of them stay. Two of them
/// make a pair only if their texts are equal, and a page with the text of one of them counts as that one.
pub fn dedup_against(base: PageId, records: &[Record], config: &Config) -> Decisions {
    let method = method(config).expect("a configuration that was checked");
    let pages = Pages::appraise(records, config, &*method);
    let by_rules = pages.by_rules();
    let links = pages.links(&ranks(&by_rules, pages.len()));
    let first =
        Texts::new(best_first(&by_rules, &links.ends, &[], |_| true), records, &pages, config, &*method);
    let believed = links.canonical.iter().filter(|&&(page, target)| first.alike(page, target));
    let lesser: Vec<PageId> = believed.map(|(page, _)| *page).collect();
    let order = best_first(&by_rules, &links.ends, &lesser, |page| pages.is_favoured(page, config));
    let order = base_first(order, |page| page < base);
    let texts = Texts::new(order, records, &pages, config, &*method);
    let mut decisions = texts.decide(base, pages.len());
    share(base, &mut decisions, &links);
    pages.tell_addresses(&mut decisions);
    decisions
}

/// Gives pages that stand for another the same decision and group.
fn share(base: PageId, decisions: &mut Decisions, links: &Links) {
    for end in &links.ends {
        if let End::Page(target) = end.end {
            let fate = decisions.of_page[target as usize].shared(target, end.revisit);
            decisions.of_page[end.page as usize] = if end.page < base { Decision::Kept } else { fate };
            decisions.group_of[end.page as usize] = decisions.group_of[target as usize];
        }
    }
}

/// The canonical texts of pages that are compared.
struct Texts<'a> {
    /// The pages, best first.
    order: Vec<PageId>,
    /// The number of each page's text.
    of_page: Vec<u32>,
    /// The sketch of each text: that of its best page.
    sketches: Vec<&'a [u64]>,
    /// The pairs of texts that are compared. `None` means all: the method's search misses no alike pair.
    candidates: Option<Vec<(u32, u32)>>,
    method: &'a dyn Method,
}

impl<'a> Texts<'a> {
    fn new(
        order: Vec<PageId>,
        records: &[Record],
        pages: &'a Pages,
        config: &Config,
        method: &'a dyn Method,
    ) -> Texts<'a> {
        let canonical: Vec<Canonical> = records.iter().map(|record| canonical(record, config)).collect();
        let mut best: Vec<PageId> = Vec::new();
        let mut of_page = vec![0; records.len()];
        for &page in &order {
            let text = canonical[page as usize].as_bytes();
            let same = |&other: &PageId| canonical[other as usize].as_bytes() == text;
            let number = best.iter().position(same).unwrap_or(best.len());
            of_page[page as usize] = number as u32;
            if number == best.len() {
                best.push(page);
            }
        }
        let sketches: Vec<&[u64]> =
            best.iter().map(|&page| pages.sketches[page as usize].as_slice()).collect();
        let candidates = candidates(method, &sketches);
        Texts { order, of_page, sketches, candidates, method }
    }

    /// Whether a page is alike to the one that it names as its own. The two are always compared.
    fn alike(&self, page: PageId, target: PageId) -> bool {
        self.compared(self.of_page[page as usize], self.of_page[target as usize]) >= self.method.threshold()
    }

    fn similarity(&self, a: PageId, b: PageId) -> f64 {
        let (a, b) = (self.of_page[a as usize], self.of_page[b as usize]);
        let pair = (a.min(b), a.max(b));
        let missed = self.candidates.as_ref().is_some_and(|pairs| pairs.binary_search(&pair).is_err());
        if a != b && missed { 0.0 } else { self.compared(a, b) }
    }

    /// The similarity of two texts.
    fn compared(&self, a: u32, b: u32) -> f64 {
        if a == b {
            return 1.0;
        }
        let (a, b) = (self.sketches[a as usize], self.sketches[b as usize]);
        self.method.similarity(self.method.score(a, b), (a.len(), b.len()))
    }

    /// Applies the promise over all pairs. Pages that are not compared are rejected.
    fn decide(&self, base: PageId, pages: usize) -> Decisions {
        let mut of_page = vec![Decision::Rejected; pages];
        of_page[..base as usize].fill(Decision::Kept);
        let given = self.order.iter().filter(|&&page| page < base);
        let base_texts = given.map(|&page| self.of_page[page as usize] + 1).max().unwrap_or(0);
        let is_given = |page: PageId| self.of_page[page as usize] < base_texts;
        let mut pairs = Vec::new();
        for (place, &page) in self.order.iter().enumerate() {
            of_page[page as usize] = Decision::Kept;
            for (best, &other) in self.order[..place].iter().enumerate() {
                let similarity = self.similarity(page, other);
                let same = self.of_page[page as usize] == self.of_page[other as usize];
                if similarity < self.method.threshold() || (is_given(page) && is_given(other) && !same) {
                    continue;
                }
                pairs.push((best as u32, place as u32));
                let both =
                    of_page[page as usize] == Decision::Kept && of_page[other as usize] == Decision::Kept;
                if page >= base && both {
                    let kind = if same { Kind::Exact } else { Kind::Near };
                    of_page[page as usize] = Decision::Removed { winner: other, similarity, kind };
                }
            }
        }
        let groups = group(self.order.len(), &pairs);
        let mut group_of: Vec<PageId> = (0..pages as PageId).collect();
        for (place, &page) in self.order.iter().enumerate() {
            group_of[page as usize] = self.order[groups.of(place as u32) as usize];
        }
        Decisions { of_page, group_of }
    }
}

fn canonical(record: &Record, config: &Config) -> Canonical {
    let mut out = Canonical::default();
    record.text.canonicalise(&config.canonical, &mut out);
    out
}
