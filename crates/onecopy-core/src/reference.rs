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
/// whatever the method says. The configuration must have been checked.
pub fn dedup(pages: &[Page], config: &Config) -> (Vec<Decision>, Vec<PageId>) {
    let method = method(config).expect("a configuration that was checked");
    let sketches: Vec<(Vec<u64>, Canonical)> =
        pages.iter().map(|page| sketch(page, &*method, config)).collect();
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by_cached_key(|&p| rank_of(&pages[p], &sketches[p].1, config));
    let compared = compared(&*method, &order, &sketches);
    let mut decisions = vec![Decision::Kept; pages.len()];
    let mut pairs = Vec::new();
    for (place, &page) in order.iter().enumerate() {
        for (best, &other) in order[..place].iter().enumerate() {
            let exact = sketches[page].1.as_bytes() == sketches[other].1.as_bytes();
            let similarity =
                if exact { 1.0 } else { similarity(&*method, &sketches[page].0, &sketches[other].0) };
            if similarity < method.threshold() || !(exact || compared(page, other)) {
                continue;
            }
            pairs.push((best as u32, place as u32));
            if decisions[page] == Decision::Kept && decisions[other] == Decision::Kept {
                let kind = if exact { Kind::Exact } else { Kind::Near };
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

/// Whether two pages are compared: all are, but for methods that look for candidates and may miss some. Those look among
/// pages of different texts, best first.
fn compared(
    method: &dyn Method,
    order: &[usize],
    sketches: &[(Vec<u64>, Canonical)],
) -> impl Fn(usize, usize) -> bool {
    let mut texts: Vec<&[u8]> = Vec::new();
    let mut number_of = vec![0; order.len()];
    let mut first = Vec::new();
    for &page in order {
        let text = sketches[page].1.as_bytes();
        number_of[page] = texts.iter().position(|&other| other == text).unwrap_or(texts.len()) as u32;
        if number_of[page] as usize == texts.len() {
            texts.push(text);
            first.push(sketches[page].0.clone());
        }
    }
    let candidates = candidates(method, &first);
    move |a, b| {
        let (a, b) = (number_of[a], number_of[b]);
        candidates.as_ref().is_none_or(|pairs| pairs.binary_search(&(a.min(b), a.max(b))).is_ok())
    }
}

fn similarity(method: &dyn Method, a: &[u64], b: &[u64]) -> f64 {
    method.similarity(method.score(a, b), (a.len(), b.len()))
}

fn sketch(page: &Page, method: &dyn Method, config: &Config) -> (Vec<u64>, Canonical) {
    let (mut canonical, mut out) = (Canonical::default(), Vec::new());
    canonicalise(page.text, &config.canonical, &mut canonical);
    let subject = Subject { canonical: &canonical, text: page.text, links: &[] };
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
