//! Bloom filters of chunks that the text itself cuts, compared by AND (Jain, Dahlin and Tewari 2005).
//!
//! Exact for the similarity of filters, which is what the method is about. Filters are small, so each bit is set in many
//! pages and keys tell little apart: meant for thousands of pages, such as the results of a search, not for millions.

use super::parameters::Parameters;
use super::{Desk, Held, Method, Subject, bits};
use crate::candidate::Rarity;
use crate::chunk::chunk_hashes;
use crate::config::Config;
use crate::filter::{CHUNK, FilterRules};
use crate::hash::digest;
use crate::verify::overlap;

pub(super) const ABOUT: &str = "shared bits of Bloom filters of chunks";

/// Filters of a page's chunks.
#[derive(Debug)]
struct Bloom {
    threshold: f64,
    rules: FilterRules,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, String> {
    let threshold = parameters.threshold(config.threshold, 0.7)?;
    let rules = text_rules(parameters)?;
    Ok(Box::new(Bloom { threshold, rules }))
}

/// How filters of text are made.
pub(super) fn text_rules(parameters: &mut Parameters) -> Result<FilterRules, String> {
    let usual = FilterRules::default();
    let chunk = parameters.power("chunk", usual.chunk, CHUNK)?;
    let bits = bits::bits(parameters, "bits", usual.bits)?;
    Ok(FilterRules { chunk, bits, hashes: bits::hashes(parameters)? })
}

/// Appends the bits of the filter of a page's text.
pub(super) fn append_text(page: &Subject, rules: &FilterRules, desk: &mut Desk, out: &mut Vec<u64>) {
    let text = page.canonical.as_bytes();
    chunk_hashes(text, rules.chunk, &mut desk.words);
    bits::append_bits(&desk.words, rules, digest(text), out);
}

impl Method for Bloom {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        "common bits of the filters of chunks".into()
    }

    fn sketch(&self, page: &Subject, desk: &mut Desk, out: &mut Vec<u64>) {
        append_text(page, &self.rules, desk, out);
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

    /// What the fuller set has alone, of its size: a distance by the triangle inequality of sets.
    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        Some(1.0 - self.similarity(score, sizes))
    }
}
