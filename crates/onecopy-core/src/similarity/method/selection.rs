//! Selects some shingles instead of all: those that are 0 mod m (Manber 1994), or the s smallest (Broder 1997).
//!
//! Sketches are smaller, and the similarity is an estimate. The join is exact for that estimate: it finds all pages
//! that are alike by the selected shingles.

use super::binomial::at_least;
use super::parameters::Parameters;
use super::{Held, Method, Scratch, Subject, jaccard, shingles_called};
use crate::config::{ConfigError, ShingleRules};
use crate::decide::candidate::{Rarity, keys};
use crate::similarity::measure::{containment, resemblance};
use crate::similarity::sketch::sketch;
use crate::similarity::verify::{overlap, part_needed, rests_allow, sizes_allow, verify};

/// Which shingles are selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Selection {
    /// The shingles that are 0 mod this; the smallest shingle if there are none.
    Mod(u64),
    /// This many of the smallest shingles.
    Min(usize),
}

use Selection::{Min, Mod};

/// The selection that the parameters ask for, if any.
pub(super) fn parse(parameters: &mut Parameters) -> Result<Option<Selection>, ConfigError> {
    let modulus = parameters.count_if_given("mod", 16, 1..=1_000_000)?;
    let least = parameters.count_if_given("min", 128, 1..=65_536)?;
    match (modulus, least) {
        (Some(_), Some(_)) => {
            Err(parameters.conflict("mod and min both select shingles: give one of them".into()))
        }
        (Some(modulus), None) => Ok(Some(Mod(modulus as u64))),
        (None, least) => Ok(least.map(Min)),
    }
}

pub(super) fn make(selection: Selection, threshold: f64, shingles: &ShingleRules) -> Box<dyn Method> {
    Box::new(Selected { selection, threshold, shingles: shingles.clone() })
}

/// Sets of selected shingles.
#[derive(Debug)]
struct Selected {
    selection: Selection,
    threshold: f64,
    shingles: ShingleRules,
}

impl Method for Selected {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        format!("resemblance of selected {}", shingles_called(&self.shingles))
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        sketch(page.canonical, &self.shingles, &mut scratch.sketch);
        let shingles = scratch.sketch.shingles();
        let before = out.len();
        match self.selection {
            Mod(modulus) => out.extend(shingles.iter().filter(|&shingle| shingle % modulus == 0)),
            Min(least) => out.extend(shingles.iter().take(least)),
        }
        if out.len() == before {
            out.extend(shingles.first());
        }
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    /// The keys of plain resemblance. They suffice for [`Min`] too. Let u be the number of the s smallest shingles
    /// of the union, of which x are in both pages, with x ≥ τu. No sketch has more than s shingles. A shingle of a
    /// page that is among the s smallest of the union is also among the s smallest of the page. Therefore u is at
    /// least the size n of either sketch, and both sketches contain all x. They share at least ⌈τn⌉, which is all
    /// that keys need.
    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        keys(sketch, self.threshold, rarity, &mut scratch.counts, out);
    }

    fn may(&self, a: Held, b: Held) -> bool {
        let rests = match self.selection {
            Mod(_) => rests_allow(a, b, self.threshold),
            // They share at least τu, and u is at least the larger size: see `keys`.
            Min(_) => {
                let most = 1 + a.rest.min(b.rest) as usize;
                containment(most, a.size.max(b.size) as usize) >= self.threshold
            }
        };
        rests && sizes_allow(a.size as usize, b.size as usize, self.threshold)
    }

    /// Defined for [`Mod`] only: whole sketches of [`Min`] may resemble each other less than the smallest of their
    /// union do.
    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        match self.selection {
            Mod(_) => overlap(a, b) as u32,
            Min(least) => overlap_of_least(a, b, least),
        }
    }

    /// For [`Min`], the share of the s smallest shingles of the union that both pages have. If the union has fewer
    /// than s, all shared shingles were counted, and its size is the sum of sizes less those. Otherwise that sum is
    /// at least s.
    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        let shared = score as usize;
        match self.selection {
            Mod(_) => resemblance(shared, sizes.0, sizes.1),
            Min(least) => containment(shared, least.min(sizes.0 + sizes.1 - shared)),
        }
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        match self.selection {
            Mod(_) => verify(a, b, self.threshold).map(|shared| shared as u32),
            Min(_) => {
                let score = self.score(a, b);
                (self.similarity(score, (a.len(), b.len())) >= self.threshold).then_some(score)
            }
        }
    }

    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        (matches!(self.selection, Mod(_))).then(|| 1.0 - self.similarity(score, sizes))
    }

    fn stands_for(&self) -> Option<Box<dyn Method>> {
        Some(jaccard::whole(self.threshold, &self.shingles))
    }

    /// Each shingle of the union that is looked at is shared with a chance equal to the similarity. That is binomial
    /// if the sample is small compared with the page. A page with fewer shingles than are selected is compared
    /// whole, and its chance is better. How many are 0 mod m depends on the page: this assumes one of medium size.
    fn chance(&self, similarity: f64, _pages: u64) -> f64 {
        const MIDDLING: usize = 1_000;
        let looked_at = match self.selection {
            Mod(modulus) => (MIDDLING / modulus as usize).max(1),
            Min(least) => least,
        };
        at_least(part_needed(looked_at, self.threshold), looked_at, similarity)
    }
}

/// How many of the `least` smallest shingles of the union are in both.
fn overlap_of_least(a: &[u64], b: &[u64], least: usize) -> u32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    // Shingles that are in both count once.
    while i < a.len() && j < b.len() && i + j - (shared as usize) < least {
        let (x, y) = (a[i], b[j]);
        shared += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{Book, by_the_book, made};

    #[test]
    fn the_smallest_are_compared_as_the_book_says() {
        by_the_book(&["jaccard:min=5", "jaccard:min=9:threshold=0.5"], |a: &Book, b: &Book| {
            let least = if a.choice.contains("=5") { 5 } else { 9 };
            let (a, b) = (a.hashes(), b.hashes());
            let union: BTreeSet<u64> = a.union(&b).copied().take(least).collect();
            union.iter().filter(|x| a.contains(x) && b.contains(x)).count() as f64 / union.len() as f64
        });
    }

    #[test]
    fn those_that_are_0_mod_m_are_compared_as_the_book_says() {
        by_the_book(&["jaccard:mod=3"], |a: &Book, b: &Book| {
            let selected = |page: &Book| -> BTreeSet<u64> {
                let all = page.hashes();
                let some: BTreeSet<u64> = all.iter().copied().filter(|x| x % 3 == 0).collect();
                if some.is_empty() { all.into_iter().take(1).collect() } else { some }
            };
            let (a, b) = (selected(a), selected(b));
            a.intersection(&b).count() as f64 / a.union(&b).count() as f64
        });
    }

    #[test]
    fn the_chance_grows_with_similarity_and_with_what_is_looked_at() {
        for choice in ["jaccard:min=100", "jaccard:mod=10"] {
            let method = made(choice);
            assert_eq!((method.chance(1.0, 9), method.chance(0.0, 9)), (1.0, 0.0));
            let chance = method.chance(0.8, 9);
            assert!((0.4..0.7).contains(&chance), "{chance}");
            assert!(method.chance(0.9, 9) > 0.99);
            assert_eq!(method.stands_for().unwrap().threshold(), 0.8);
        }
        assert!(made("jaccard:min=1000").chance(0.85, 9) > made("jaccard:min=100").chance(0.85, 9));
    }
}
