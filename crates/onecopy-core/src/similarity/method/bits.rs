//! The set bits of a filter as a sketch: one word per bit, so that bits are compared, counted and keyed like
//! shingles.

use super::parameters::Parameters;
use super::{Held, LooksAt, Method, Scratch, Subject};
use crate::config::ConfigError;
use crate::decide::candidate::{Rarity, keys};
use crate::similarity::filter::{BITS, FilterRules, HASHES};
use crate::similarity::measure::containment;
use crate::similarity::outline::{compared, draw, mixed, most_shared, slack};
use crate::similarity::verify::{overlap, overlap_at_least, overlap_within, shares};

/// A method that compares the filters of one kind of element.
#[derive(Debug)]
pub(super) struct Filters {
    pub threshold: f64,
    pub rules: FilterRules,
    pub measures: &'static str,
    pub looks_at: LooksAt,
    /// Appends the bits of a page's filter.
    pub append: fn(&Subject, &FilterRules, &mut Scratch, &mut Vec<u64>),
}

impl Method for Filters {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        self.measures.into()
    }

    fn looks_at(&self) -> LooksAt {
        self.looks_at
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        (self.append)(page, &self.rules, scratch, out);
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        append_keys(sketch, self.threshold, rarity, &mut scratch.counts, out);
    }

    /// Whether filters can be alike if they share this key and none before it.
    fn may(&self, a: Held, b: Held) -> bool {
        let most = (1 + a.rest.min(b.rest)).min(a.size).min(b.size);
        similarity(most as usize, (a.size as usize, b.size as usize)) >= self.threshold
    }

    fn has_outlines(&self) -> bool {
        true
    }

    fn outline(&self, sketch: &[u64], scratch: &mut Scratch, out: &mut [u64]) {
        draw(self.outlined(sketch, scratch), sketch.len() as u64, out);
    }

    fn outlined<'a>(&self, sketch: &'a [u64], scratch: &'a mut Scratch) -> &'a [u64] {
        mixed(sketch, &mut scratch.words)
    }

    fn deny(&self, a: &[u64], b: &[u64]) -> bool {
        outlines_deny(a, b, self.threshold)
    }

    fn slack(&self, outline: &[u64]) -> Option<u32> {
        outline_slack(outline, self.threshold)
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        overlap(a, b) as u32
    }

    fn containment(&self, a: &[u64], b: &[u64]) -> Option<(f64, f64)> {
        Some(shares(a, b))
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        similarity(score as usize, sizes)
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        let needed = overlap_within(a.len().max(b.len()), self.threshold);
        if needed > a.len().min(b.len()) {
            return None;
        }
        overlap_at_least(a, b, needed).map(|shared| shared as u32)
    }

    /// One minus the similarity: the share of the fuller set that the other does not have, which is a metric.
    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        Some(1.0 - self.similarity(score, sizes))
    }
}

/// Reads the number of bits of a filter from the parameter called `key`.
pub(super) fn bits(
    parameters: &mut Parameters,
    key: &'static str,
    usual: usize,
) -> Result<usize, ConfigError> {
    parameters.power(key, usual, BITS)
}

/// Reads how many bits an element sets.
pub(super) fn hashes(parameters: &mut Parameters) -> Result<usize, ConfigError> {
    parameters.count("hashes", FilterRules::default().hashes, HASHES)
}

/// Appends the bits that `elements` set, ascending.
///
/// A filter that is more than half full says little: any two such pages look alike. It is replaced by one word made
/// of `lone`, the hash of the whole page. Only copies share this word, and it is not a bit.
pub(super) fn append_bits(elements: &[u64], rules: &FilterRules, lone: u64, out: &mut Vec<u64>) {
    let start = out.len();
    let shift = 64 - rules.bits.ilog2();
    out.extend(
        elements.iter().flat_map(|&element| rules.positions(element)).map(|bit| (bit as u64) << shift),
    );
    out[start..].sort_unstable();
    let mut kept = start;
    for place in start..out.len() {
        if place == start || out[place] != out[kept - 1] {
            out[kept] = out[place];
            kept += 1;
        }
    }
    out.truncate(kept);
    if 2 * (kept - start) > rules.bits {
        out.truncate(start);
        append_lone(lone, out);
    }
}

/// Appends a word that is not a bit.
pub(super) fn append_lone(lone: u64, out: &mut Vec<u64>) {
    out.push(lone | 3);
}

/// The share of the fuller filter's bits that both have.
pub(super) fn similarity(shared: usize, sizes: (usize, usize)) -> f64 {
    containment(shared, sizes.0.max(sizes.1))
}

/// Whether the outlines of two filters prove that they are less than `least` alike.
pub(super) fn outlines_deny(a: &[u64], b: &[u64], least: f64) -> bool {
    compared(a, b).is_some_and(|(a, b, differing)| {
        let (a, b) = (a as usize, b as usize);
        similarity(most_shared(a, b, differing), (a, b)) < least
    })
}

/// Filters of a and b bits that are at least `least` alike differ in at most a + b - 2 least max(a, b) bits.
pub(super) fn outline_slack(outline: &[u64], least: f64) -> Option<u32> {
    slack(outline, |about| about as f64 * (1.0 - least))
}

/// Appends the keys of a filter. It shares one with every filter that is at least `threshold` alike.
///
/// Such a filter holds at least that share of this one's bits. The keys of resemblance rely on the same property.
pub(super) fn append_keys(
    bits: &[u64],
    threshold: f64,
    rarity: &Rarity,
    scratch: &mut Vec<u8>,
    out: &mut Vec<(u64, u32)>,
) {
    if !bits.is_empty() {
        keys(bits, threshold, rarity, scratch, out);
    }
}

#[cfg(test)]
mod tests;
