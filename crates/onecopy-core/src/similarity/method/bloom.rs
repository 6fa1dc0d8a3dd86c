//! Bloom filters of content-defined chunks, compared by AND (Jain, Dahlin and Tewari 2005).
//!
//! The search is exact for the similarity of filters, which is the measure of this method. Filters are small, so
//! many pages set each bit and keys select little. Most pages are compared by their outlines. The method is for a hundred
//! thousand pages, not for millions.

use super::bits::Filters;
use super::parameters::Parameters;
use super::{LooksAt, Method, Scratch, Subject, bits};
use crate::config::{Config, ConfigError};
use crate::hash::digest;
use crate::similarity::filter::{CHUNK, FilterRules};
use crate::text::chunk::chunk_hashes;

pub(super) const ABOUT: &str = "shared bits of Bloom filters of chunks";

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    Ok(Box::new(Filters {
        threshold: parameters.threshold(config.threshold, 0.7)?,
        rules: text_rules(parameters)?,
        measures: "common bits of the filters of chunks",
        looks_at: LooksAt::default(),
        append: append_text,
    }))
}

/// The rules of the filters that `choice` compares, if it is this method.
pub(crate) fn filter_rules(choice: &str) -> Option<FilterRules> {
    let mut parameters = Parameters::parse(choice).ok()?;
    (parameters.name() == "bloom").then(|| text_rules(&mut parameters).ok())?
}

/// Reads the rules of text filters.
pub(super) fn text_rules(parameters: &mut Parameters) -> Result<FilterRules, ConfigError> {
    let usual = FilterRules::default();
    let chunk = parameters.power("chunk", usual.chunk, CHUNK)?;
    let bits = bits::bits(parameters, "bits", usual.bits)?;
    Ok(FilterRules { chunk, bits, hashes: bits::hashes(parameters)? })
}

/// Appends the bits of the filter of a page's text.
pub(super) fn append_text(page: &Subject, rules: &FilterRules, scratch: &mut Scratch, out: &mut Vec<u64>) {
    let text = page.canonical.as_bytes();
    chunk_hashes(text, rules.chunk, &mut scratch.words);
    bits::append_bits(&scratch.words, rules, digest(text), out);
}
