//! The slow, obvious, correct answer. Everything fast is tested against it.
//!
//! All pairs, exact similarity, then the rule of the promise: pages are visited best first; a page goes if it is
//! similar to one that stays, and the best of those is its winner.

use crate::canonical::{Canonical, canonicalise};
use crate::config::Config;
use crate::group::group;
use crate::hash::digest;
use crate::method::{Desk, Method, Subject, method};
use crate::page::{Decision, Kind, Page, PageId};
use crate::search::candidates;
use crate::winner::{Contender, rank};

/// What becomes of each page, and the group that it is in (by its best page). Pages of one canonical text are alike,
/// whatever the method says, and the best of them speaks for all. The configuration must have been checked.
pub fn dedup(pages: &[Page], config: &Config) -> (Vec<Decision>, Vec<PageId>) {
    let method = method(config).expect("a configuration that was checked");
    let sketches: Vec<(Vec<u64>, Canonical)> =
        pages.iter().map(|page| sketch(page, &*method, config)).collect();
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by_cached_key(|&p| rank_of(&pages[p], &sketches[p].1, config));
    let (text_of, texts) = texts(&order, &sketches);
    // All texts are compared with all, but by methods that look for candidates first and may miss some.
    let candidates = candidates(&*method, &texts);
    let similarity = |a: usize, b: usize| -> f64 {
        let (a, b) = (text_of[a].min(text_of[b]), text_of[a].max(text_of[b]));
        let missed = candidates.as_ref().is_some_and(|pairs| pairs.binary_search(&(a, b)).is_err());
        match () {
            () if a == b => 1.0,
            () if missed => 0.0,
            () => similarity(&*method, &texts[a as usize], &texts[b as usize]),
        }
    };
    let mut decisions = vec![Decision::Kept; pages.len()];
    let mut pairs = Vec::new();
    for (place, &page) in order.iter().enumerate() {
        for (best, &other) in order[..place].iter().enumerate() {
            let similarity = similarity(page, other);
            if similarity < method.threshold() {
                continue;
            }
            pairs.push((best as u32, place as u32));
            if decisions[page] == Decision::Kept && decisions[other] == Decision::Kept {
                let kind = if text_of[page] == text_of[other] { Kind::Exact } else { Kind::Near };
                decisions[page] = Decision::Removed { winner: other as PageId, similarity, kind };
            }
        }
    }
    let groups = group(pages.len(), &pairs);
    let mut group_of = vec![0; pages.len()];
    for (place, &page) in order.iter().enumerate() {
        group_of[page] = order[groups.of(place as u32) as usize] as PageId;
    }
    (decisions, group_of)
}

/// The number of each page's text, and the sketch of each text: that of its best page. Texts are numbered best first.
fn texts(order: &[usize], sketches: &[(Vec<u64>, Canonical)]) -> (Vec<u32>, Vec<Vec<u64>>) {
    let mut best: Vec<usize> = Vec::new();
    let mut text_of = vec![0; order.len()];
    for &page in order {
        let same = |&other: &usize| sketches[other].1.as_bytes() == sketches[page].1.as_bytes();
        let number = best.iter().position(same).unwrap_or(best.len());
        text_of[page] = number as u32;
        if number == best.len() {
            best.push(page);
        }
    }
    (text_of, best.iter().map(|&page| sketches[page].0.clone()).collect())
}

fn similarity(method: &dyn Method, a: &[u64], b: &[u64]) -> f64 {
    method.similarity(method.score(a, b), (a.len(), b.len()))
}

fn sketch(page: &Page, method: &dyn Method, config: &Config) -> (Vec<u64>, Canonical) {
    let (mut canonical, mut out) = (Canonical::default(), Vec::new());
    canonicalise(page.text, &config.canonical, &mut canonical);
    let subject = Subject { canonical: &canonical, text: page.text, links: &[], parts: page.parts };
    method.sketch(&subject, &mut Desk::default(), &mut out);
    (out, canonical)
}

fn rank_of(page: &Page, canonical: &Canonical, config: &Config) -> Vec<u8> {
    let mut out = Vec::new();
    let length = canonical.as_bytes().len();
    let digest = digest(page.text.as_bytes());
    let page = Contender { name: page.name, signals: page.signals, length, digest };
    rank(&page, &config.winner, &mut out);
    out
}
