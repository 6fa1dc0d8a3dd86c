//! Bloom filters of the addresses that pages link to (Jain, Dahlin and Tewari 2005, section 1).
//!
//! A page without links is like no page except its copies: two pages that both link nowhere need not be alike.

use super::bits::Filters;
use super::parameters::Parameters;
use super::{LooksAt, Method, Scratch, Subject, bits};
use crate::config::{Config, ConfigError};
use crate::hash::digest;
use crate::similarity::filter::FilterRules;

pub(super) const ABOUT: &str = "shared bits of Bloom filters of out-links";

/// Pages have more links than chunks of text. With as many bits as for text, about 280 links would be too many.
pub(super) const BITS: usize = 8192;

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.7)?;
    let bits = bits::bits(parameters, "bits", BITS)?;
    Ok(Box::new(Filters {
        threshold,
        rules: FilterRules { bits, hashes: bits::hashes(parameters)?, ..FilterRules::default() },
        measures: "common bits of the filters of links",
        looks_at: LooksAt { links: true, ..LooksAt::default() },
        append: append_own,
    }))
}

/// Appends the bits of the filter of a page's out-links; nothing if there are none.
pub(super) fn append_links(page: &Subject, rules: &FilterRules, out: &mut Vec<u64>) {
    bits::append_bits(page.links, rules, digest(page.canonical.as_bytes()), out);
}

/// Like [`append_links`], but a page without links gets a word of its own.
fn append_own(page: &Subject, rules: &FilterRules, _: &mut Scratch, out: &mut Vec<u64>) {
    append_links(page, rules, out);
    if page.links.is_empty() && page.canonical.token_count() > 0 {
        bits::append_lone(digest(page.canonical.as_bytes()), out);
    }
}
