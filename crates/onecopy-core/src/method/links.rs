//! Bloom filters of the addresses that pages link to (Jain, Dahlin and Tewari 2005, section 1).
//!
//! A page without links is like no other but its copies: that two pages link nowhere says nothing.

use super::parameters::Parameters;
use super::{Desk, Held, LooksAt, Method, Subject, bits};
use crate::candidate::Rarity;
use crate::config::Config;
use crate::filter::FilterRules;
use crate::hash::digest;
use crate::verify::overlap;

pub(super) const ABOUT: &str = "shared bits of Bloom filters of out-links";

/// Pages have more links than chunks of text: with as many bits as for text, some 280 links would be too many.
pub(super) const BITS: usize = 8192;

/// Filters of a page's out-links.
#[derive(Debug)]
struct Links {
    threshold: f64,
    rules: FilterRules,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, String> {
    let threshold = parameters.threshold(config.threshold, 0.7)?;
    let bits = bits::bits(parameters, "bits", BITS)?;
    let rules = FilterRules { bits, hashes: bits::hashes(parameters)?, ..FilterRules::default() };
    Ok(Box::new(Links { threshold, rules }))
}

/// Appends the bits of the filter of a page's out-links; nothing if there are none.
pub(super) fn append_links(page: &Subject, rules: &FilterRules, out: &mut Vec<u64>) {
    bits::append_bits(page.links, rules, digest(page.canonical.as_bytes()), out);
}

impl Method for Links {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        "common bits of the filters of links".into()
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { links: true, ..LooksAt::default() }
    }

    fn sketch(&self, page: &Subject, _: &mut Desk, out: &mut Vec<u64>) {
        append_links(page, &self.rules, out);
        // A page without links is like no other.
        if page.links.is_empty() && page.canonical.token_count() > 0 {
            bits::append_lone(digest(page.canonical.as_bytes()), out);
        }
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    fn keys(&self, sketch: &[u64], rarity: &Rarity, desk: &mut Desk, out: &mut Vec<(u64, u32)>) {
        bits::append_keys(sketch, self.threshold, rarity, &mut desk.counts, out);
    }

    fn may(&self, a: Held, b: Held) -> bool {
        bits::may(a, b, self.threshold)
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        overlap(a, b) as u32
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        bits::similarity(score as usize, sizes)
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        bits::verify(a, b, self.threshold).map(|shared| shared as u32)
    }

    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        Some(1.0 - self.similarity(score, sizes))
    }
}
