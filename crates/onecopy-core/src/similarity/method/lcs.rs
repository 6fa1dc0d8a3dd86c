//! The longest common subsequence of the sentences of two pages (Huang, Wang and Li 2008).
//!
//! r = |LCS| / (|A| + |B| − |LCS|), where only the trustable portion of the LCS counts: see `trust`. There are two
//! ways to find candidates. `sets` is the authors' way. Sentences fall into m buckets by their hash, and the n
//! smallest of a bucket make a key. Pages are compared within sets of pages that keys join. `all` compares all pages
//! that share a sentence, and misses none.
//!
//! Pages are duplicates from 0.7 on: then about 82 % of the sentences of either are also in the other, in order. One
//! changed word changes a sentence, so the 0.8 that suits shingles finds fewer copies here. Below 0.7, pages that
//! are not copies begin to be joined on marked pages.

mod align;
mod trust;

use super::parameters::Parameters;
use super::{Held, LooksAt, Method, Scratch, Search, Subject, billionths};
use crate::config::{CanonicalRules, Config, ConfigError, Words};
use crate::decide::candidate::Rarity;
use crate::hash::digest;
use crate::text::canonical::canonicalise;
use crate::text::sentence::sentences;

use align::aligned;
use trust::Trust;

pub(super) const ABOUT: &str = "common sentences in common order, of the main text";

/// The most buckets, and the most hashes of a bucket that make a key.
const BUCKETS_LIMIT: usize = 64;

/// Sentences in page order, compared by their longest common subsequence.
#[derive(Clone, Debug)]
struct Lcs {
    threshold: f64,
    canonical: CanonicalRules,
    buckets: usize,
    smallest: usize,
    trust: Trust,
    search: Search,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.7)?;
    let buckets = parameters.count("m", 7, 1..=BUCKETS_LIMIT)?;
    let smallest = parameters.count("n", 3, 1..=BUCKETS_LIMIT)?;
    let limit = parameters.number("limit", 1_000, 2..=10_000_000)?;
    let search = match parameters.word("search", &["sets", "all"])? {
        "all" => Search::Keys,
        _ => Search::Sets { limit },
    };
    let trust = Trust::make(parameters)?;
    Ok(Box::new(Lcs { threshold, canonical: rules_of(config), buckets, smallest, trust, search }))
}

/// The rules by which a sentence is canonicalised. It is compared whole, so it does not matter where its words are
/// cut, and cutting by dictionary is slow.
fn rules_of(config: &Config) -> CanonicalRules {
    let mut rules = config.canonical.clone();
    if rules.words == Words::Auto && rules.stop_words.is_empty() {
        rules.words = Words::Runs;
    }
    rules
}

impl Method for Lcs {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        "common sentences in common order".into()
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { text: true, ..LooksAt::default() }
    }

    /// A hash for each sentence with words, in page order. A page without sentences counts as one.
    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        let before = out.len();
        for sentence in sentences(page.text) {
            canonicalise(sentence, &self.canonical, &mut scratch.part);
            if scratch.part.token_count() > 0 {
                out.push(digest(scratch.part.as_bytes()));
            }
        }
        if out.len() == before && page.canonical.token_count() > 0 {
            out.push(digest(page.canonical.as_bytes()));
        }
    }

    fn keys(&self, sketch: &[u64], _: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        let hashes = &mut scratch.words;
        hashes.clear();
        hashes.extend_from_slice(sketch);
        match self.search {
            Search::Keys => every_hash(hashes, out),
            _ => self.fingerprints(hashes, out),
        }
    }

    fn may(&self, a: Held, b: Held) -> bool {
        let lengths = (a.size as usize, b.size as usize);
        self.reaches(lengths.0.min(lengths.1), lengths)
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        self.trust.score(&aligned(a, b, 0), (a.len(), b.len()))
    }

    fn similarity(&self, score: u32, _: (usize, usize)) -> f64 {
        billionths::similarity(score)
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        let lengths = (a.len(), b.len());
        let needed = self.needed(lengths)?;
        let score = self.trust.score(&aligned(a, b, needed), lengths);
        (billionths::similarity(score) >= self.threshold).then_some(score)
    }

    fn search(&self) -> Search {
        self.search
    }

    fn stands_for(&self) -> Option<Box<dyn Method>> {
        (self.search != Search::Keys)
            .then(|| -> Box<dyn Method> { Box::new(Lcs { search: Search::Keys, ..self.clone() }) })
    }

    /// The n smallest hashes of a bucket agree with a chance of about sⁿ if the pages share a share s of their
    /// sentences.
    fn chance(&self, similarity: f64, _: u64) -> f64 {
        if self.search == Search::Keys {
            return 1.0;
        }
        1.0 - (1.0 - similarity.powi(self.smallest as i32)).powi(self.buckets as i32)
    }
}

impl Lcs {
    /// A key for each bucket with sentences: its smallest hashes and its number.
    fn fingerprints(&self, hashes: &mut Vec<u64>, out: &mut Vec<(u64, u32)>) {
        let buckets = self.buckets as u64;
        hashes.sort_unstable_by_key(|&hash| (hash % buckets, hash));
        hashes.dedup();
        for bucket in hashes.chunk_by(|a, b| a % buckets == b % buckets) {
            let number = bucket[0] % buckets;
            let mut bytes = [0; 8 * (BUCKETS_LIMIT + 1)];
            let mut length = 0;
            for word in bucket.iter().take(self.smallest).chain([&number]) {
                bytes[length..length + 8].copy_from_slice(&word.to_le_bytes());
                length += 8;
            }
            out.push((digest(&bytes[..length]), (buckets - 1 - number) as u32));
        }
    }

    /// Whether pages of these lengths with this many common sentences can be alike, wherever the sentences stand.
    fn reaches(&self, common: usize, lengths: (usize, usize)) -> bool {
        billionths::similarity(self.trust.most(common, lengths)) >= self.threshold
    }

    /// The fewest common sentences that can make pages of these lengths alike. `None` if no number can.
    fn needed(&self, lengths: (usize, usize)) -> Option<usize> {
        let (mut low, mut high) = (0, lengths.0.min(lengths.1));
        if !self.reaches(high, lengths) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if self.reaches(middle, lengths) { (low, middle) } else { (middle + 1, high) };
        }
        Some(low)
    }
}

/// Each hash once, with how many come after it.
fn every_hash(hashes: &mut Vec<u64>, out: &mut Vec<(u64, u32)>) {
    hashes.sort_unstable();
    hashes.dedup();
    let count = hashes.len();
    out.extend(hashes.iter().enumerate().map(|(place, &hash)| (hash, (count - 1 - place) as u32)));
}

#[cfg(test)]
mod tests;
