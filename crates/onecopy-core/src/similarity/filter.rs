//! A page as a Bloom filter of its chunks: a few hundred bytes, compared by AND (Jain, Dahlin and Tewari 2005).

pub(crate) mod simd;

use std::fmt;
use std::ops::RangeInclusive;

use crate::config::ConfigError;
use crate::hash;
use crate::text::canonical::Canonical;
use crate::text::chunk::{CHUNK_BYTES_MAX, chunk_hashes};

/// How to make the filter of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterRules {
    /// The average bytes of a chunk: a power of two. Higher: fewer chunks, and edits cost more similarity.
    pub chunk: usize,
    /// The bits of a filter: a power of two. Higher: longer pages can be distinguished.
    pub bits: usize,
    /// How many bits a chunk sets.
    pub hashes: usize,
}

impl Default for FilterRules {
    /// The authors' sizes. For their 8 bits per chunk, 8 ln 2 = 5.5 hashes are best. With 5, the longest page that
    /// they take, of 64 KB, leaves more than half of its filter empty.
    fn default() -> FilterRules {
        FilterRules { chunk: 256, bits: 2048, hashes: 5 }
    }
}

impl fmt::Display for FilterRules {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "chunk={}:bits={}:hashes={}", self.chunk, self.bits, self.hashes)
    }
}

/// The fewest and the most average bytes of a chunk.
pub(crate) const CHUNK: RangeInclusive<usize> = 16..=CHUNK_BYTES_MAX;
/// The fewest and the most bits.
pub(crate) const BITS: RangeInclusive<usize> = 64..=1 << 20;
/// The fewest and the most hashes.
pub(crate) const HASHES: RangeInclusive<usize> = 1..=16;

impl FilterRules {
    /// Refuses rules that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        let usual = FilterRules::default();
        let parts = [("chunk", self.chunk, CHUNK, usual.chunk), ("bits", self.bits, BITS, usual.bits)];
        for (rule, value, range, usual) in parts {
            if !range.contains(&value) || !value.is_power_of_two() {
                let (from, to) = range.into_inner();
                let allowed = format!("a power of two from {from} to {to}, such as {usual}");
                return Err(ConfigError::Filter { rule, value, allowed });
            }
        }
        if HASHES.contains(&self.hashes) {
            return Ok(());
        }
        let (value, (from, to), usual) = (self.hashes, HASHES.into_inner(), usual.hashes);
        let allowed = format!("a number from {from} to {to}, such as {usual}");
        Err(ConfigError::Filter { rule: "hashes", value, allowed })
    }

    /// The bits that an element with this hash sets. The same bit may occur twice.
    pub(crate) fn positions(&self, hash: u64) -> impl Iterator<Item = usize> {
        let shift = 64 - self.bits.ilog2();
        (0..self.hashes as u64).map(move |function| (hash::repeated(hash, function) >> shift) as usize)
    }
}

/// How many bits both have.
pub(crate) fn shared(a: &[u64], b: &[u64]) -> usize {
    simd::shared(crate::simd::level(), a, b) as usize
}

/// A set of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// The filter of elements with these hashes, by checked rules.
    pub fn of(elements: &[u64], rules: &FilterRules) -> Filter {
        let mut words = vec![0; rules.bits.div_ceil(64)];
        for position in elements.iter().flat_map(|&element| rules.positions(element)) {
            words[position / 64] |= 1 << (position % 64);
        }
        Filter { words }
    }

    /// The filter of the chunks of a page, by checked rules.
    pub fn of_text(canonical: &Canonical, rules: &FilterRules) -> Filter {
        let mut elements = Vec::new();
        chunk_hashes(canonical.as_bytes(), rules.chunk, &mut elements);
        Filter::of(&elements, rules)
    }

    /// How many bits are set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many bits are set in both.
    pub fn shared(&self, other: &Filter) -> usize {
        shared(&self.words, &other.words)
    }

    /// Whether the other filter has all bits of this one: then this page very likely is contained in the other.
    pub fn is_within(&self, other: &Filter) -> bool {
        self.shared(other) == self.count()
    }

    /// The share of the fuller filter's bits that both have. The authors take the share of either, for pages of
    /// equal length. The smaller of the two makes the measure symmetric.
    pub fn similarity(&self, other: &Filter) -> f64 {
        crate::similarity::measure::containment(self.shared(other), self.count().max(other.count()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonicalise;

    fn filter_of(text: &str) -> Filter {
        let mut canonical = Canonical::default();
        canonicalise(text, &Default::default(), &mut canonical);
        Filter::of_text(&canonical, &FilterRules::default())
    }

    #[test]
    fn a_page_is_within_one_that_holds_it() {
        let text = |from: u32, to: u32| (from..to).map(|n| format!("word {} ", n * n)).collect::<String>();
        let (part, whole, other) =
            (filter_of(&text(0, 900)), filter_of(&text(0, 1800)), filter_of(&text(5000, 5900)));
        // The last chunk of the part ends with the part, and is a different chunk in the whole.
        let shared = part.shared(&whole) as f64 / part.count() as f64;
        assert!(shared > 0.9, "{shared}");
        assert!(part.is_within(&part) && !whole.is_within(&part) && !other.is_within(&whole));
        assert_eq!(part.similarity(&part), 1.0);
        assert_eq!(part.similarity(&whole), whole.similarity(&part));
        assert!(part.similarity(&other) < 0.3);
        let subset = Filter::of(&[1, 2], &FilterRules::default());
        assert!(subset.is_within(&Filter::of(&[3, 2, 1], &FilterRules::default())));
        assert!((2..=10).contains(&subset.count()));
    }

    #[test]
    fn rules_are_checked() {
        let usual = FilterRules::default();
        assert_eq!(usual.check(), Ok(()));
        for rules in [
            FilterRules { chunk: 8, ..usual },
            FilterRules { chunk: 300, ..usual },
            FilterRules { bits: 0, ..usual },
            FilterRules { bits: 1000, ..usual },
            FilterRules { hashes: 0, ..usual },
        ] {
            assert!(rules.check().unwrap_err().to_string().contains("give a"));
        }
    }
}
