//! Finds every pair of pages above the similarity threshold, by an exact join on the real shingle sets.
//!
//! The naive way compares all pairs. This join skips only pairs that cannot qualify (Chaudhuri, Ganti and Kaushik
//! 2006). Two sets with Jaccard ≥ t share one of the n − ⌈t·n⌉ + 1 first shingles of each, in any global order. Rare
//! shingles come first, because few pages have them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Two pages, by position in the input, and their true Jaccard similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The earlier page.
    pub first: u32,
    /// The later page.
    pub second: u32,
    /// |A ∩ B| / |A ∪ B|.
    pub similarity: f64,
}

/// Shingles are already hashes, so they are not hashed again.
#[derive(Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only u64 keys are used");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

type ByShingle<V> = HashMap<u64, V, BuildHasherDefault<AlreadyHashed>>;

/// All pairs of `sets` with similarity ≥ `threshold`, sorted. Each set is sorted and without repeats.
pub fn join(sets: &[Vec<u64>], threshold: f64) -> Vec<Pair> {
    let frequency = frequency(sets);
    let mut by_size: Vec<u32> = (0..sets.len() as u32).collect();
    by_size.sort_by_key(|&page| sets[page as usize].len());
    let mut index: ByShingle<Vec<u32>> = HashMap::default();
    let mut last_seen_by = vec![u32::MAX; sets.len()];
    let mut pairs = vec![];
    for page in by_size {
        let set = &sets[page as usize];
        let smallest = threshold * set.len() as f64 - 1e-9;
        let prefix = prefix(set, &frequency, threshold);
        for other in prefix.iter().filter_map(|shingle| index.get(shingle)).flatten() {
            // Several shared shingles lead to the same page, but it is compared once.
            let last = &mut last_seen_by[*other as usize];
            if *last == page || (sets[*other as usize].len() as f64) < smallest {
                continue;
            }
            *last = page;
            let similarity = jaccard(set, &sets[*other as usize]);
            if similarity >= threshold {
                let (first, second) = (page.min(*other), page.max(*other));
                pairs.push(Pair { first, second, similarity });
            }
        }
        for shingle in prefix {
            index.entry(shingle).or_default().push(page);
        }
    }
    pairs.sort_by_key(|pair| (pair.first, pair.second));
    pairs
}

/// The number of pages with each shingle.
fn frequency(sets: &[Vec<u64>]) -> ByShingle<u32> {
    let mut frequency = ByShingle::default();
    for shingle in sets.iter().flatten() {
        *frequency.entry(*shingle).or_insert(0) += 1;
    }
    frequency
}

/// The shingles of `set` that must match those of a similar page, except those that no other page has.
fn prefix(set: &[u64], frequency: &ByShingle<u32>, threshold: f64) -> Vec<u64> {
    // Rounding must never make the prefix too short.
    let must_share = (threshold * set.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    let length = set.len() + 1 - must_share.min(set.len());
    let mut ranked: Vec<(u32, u64)> = set.iter().map(|shingle| (frequency[shingle], *shingle)).collect();
    if length < ranked.len() {
        ranked.select_nth_unstable(length);
    }
    ranked.into_iter().take(length).filter(|(count, _)| *count > 1).map(|(_, shingle)| shingle).collect()
}

/// The Jaccard similarity of two sorted sets.
pub fn jaccard(left: &[u64], right: &[u64]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0usize);
    while i < left.len() && j < right.len() {
        let (a, b) = (left[i], right[j]);
        shared += usize::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    shared as f64 / (left.len() + right.len() - shared) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::random::Random;

    fn all_pairs(sets: &[Vec<u64>], threshold: f64) -> Vec<Pair> {
        let mut pairs = vec![];
        for (i, left) in sets.iter().enumerate() {
            for (j, right) in sets.iter().enumerate().skip(i + 1) {
                let similarity = jaccard(left, right);
                if similarity >= threshold {
                    pairs.push(Pair { first: i as u32, second: j as u32, similarity });
                }
            }
        }
        pairs
    }

    #[test]
    fn the_join_finds_what_comparing_all_pairs_finds() {
        let mut random = Random::new(7);
        for threshold in [0.2, 0.5, 0.8, 0.9, 1.0] {
            let mut sets: Vec<Vec<u64>> = vec![];
            for _ in 0..120 {
                let mut set: Vec<u64> = (0..1 + random.below(12)).map(|_| random.below(15)).collect();
                set.sort_unstable();
                set.dedup();
                sets.push(set);
            }
            assert_eq!(join(&sets, threshold), all_pairs(&sets, threshold));
        }
    }

    #[test]
    fn similarity_is_that_of_the_sets() {
        assert_eq!(jaccard(&[1, 2, 3, 4], &[2, 3, 4, 5]), 0.6);
        assert_eq!(jaccard(&[1], &[2]), 0.0);
        assert_eq!(jaccard(&[1, 2], &[1, 2]), 1.0);
    }
}
