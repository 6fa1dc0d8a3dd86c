//! Word-level F1: how much of the gold text was found, and how much else.
//!
//! Words follow the token rule, lower-cased, as a multiset: order and position do not count. A page's precision is the
//! share of its extracted words that are gold. Its recall is the share of gold words that were extracted.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::audit::shingle::is_word;

/// The words of `text`, as hashes, in order.
pub fn words(text: &str) -> Vec<u64> {
    let lower = text.to_lowercase();
    let words = lower.split(|letter| !is_word(letter)).filter(|word| !word.is_empty());
    words.map(|word| xxh3_64(word.as_bytes())).collect()
}

/// A multiset of words.
#[derive(Default)]
pub struct Bag {
    counts: HashMap<u64, u32>,
    size: u64,
}

impl Bag {
    pub fn of(words: &[u64]) -> Bag {
        let mut bag = Bag::default();
        bag.add(words);
        bag
    }

    pub fn add(&mut self, words: &[u64]) {
        self.size += words.len() as u64;
        for &word in words {
            *self.counts.entry(word).or_default() += 1;
        }
    }

    fn shared(&self, other: &Bag) -> u64 {
        let shared =
            |(word, count): (&u64, &u32)| u64::from(*count.min(other.counts.get(word).unwrap_or(&0)));
        self.counts.iter().map(shared).sum()
    }
}

/// How well texts match their gold text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    pages: u64,
    f1: f64,
    precision: f64,
    recall: f64,
    shared: u64,
    sizes: u64,
}

impl Score {
    /// Adds a page and returns its F1.
    pub fn add(&mut self, found: &Bag, gold: &Bag) -> f64 {
        let shared = found.shared(gold);
        let part = |whole: u64| if whole == 0 { 0.0 } else { shared as f64 / whole as f64 };
        let sizes = found.size + gold.size;
        let f1 = if sizes == 0 { 1.0 } else { 2.0 * shared as f64 / sizes as f64 };
        self.pages += 1;
        self.f1 += f1;
        self.precision += part(found.size);
        self.recall += part(gold.size);
        self.shared += shared;
        self.sizes += sizes;
        f1
    }

    /// The mean over pages of F1, precision and recall.
    pub fn means(&self) -> [f64; 3] {
        [self.f1, self.precision, self.recall].map(|sum| sum / self.pages.max(1) as f64)
    }

    /// F1 over all words of all pages: long pages count more.
    pub fn micro(&self) -> f64 {
        2.0 * self.shared as f64 / self.sizes.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_as_often_as_it_stands() {
        let bag = |text: &str| Bag::of(&words(text));
        let mut score = Score::default();
        assert_eq!(score.add(&bag("The the cat"), &bag("the CAT sat")), 2.0 / 3.0);
        assert_eq!(score.add(&bag(""), &bag("x")), 0.0);
        assert_eq!(score.means(), [1.0 / 3.0; 3]);
        assert_eq!(score.micro(), 4.0 / 7.0);
    }
}
