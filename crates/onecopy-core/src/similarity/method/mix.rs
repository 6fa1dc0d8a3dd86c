//! Similarity of text and similarity of out-links, weighted (Jain, Dahlin and Tewari 2005, section 1).
//!
//! If neither page has links, only the text is compared. If one page has none, the links are not alike.
//!
//! A key of one part does not bound the similarity of the other part. Outlines of the text exclude most pairs, unless
//! links weigh so much that pages with different texts may be alike. Then the method is for small collections.

use super::bloom::{append_text, text_rules};
use super::links::{BITS, append_links};
use super::parameters::Parameters;
use super::{LooksAt, Method, Scratch, Subject, billionths, bits};
use crate::config::{Config, ConfigError};
use crate::decide::candidate::Rarity;
use crate::similarity::filter::FilterRules;
use crate::similarity::outline::{draw, mixed};
use crate::similarity::verify::overlap;

pub(super) const ABOUT: &str = "bloom of text and of out-links, weighted";

/// Set in words of links, clear in words of text.
const LINK: u64 = 1 << 63;
/// A mix is at most the better of its parts, and rounding raises its score by less than this.
const ROUNDING: f64 = 2e-9;

/// Filters of a page's chunks and of its out-links.
#[derive(Debug)]
struct Mix {
    threshold: f64,
    most_pages: usize,
    /// The weight of the text; links have the rest.
    weight: f64,
    text: FilterRules,
    links: FilterRules,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.7)?;
    let weight = parameters.number("text", 0.7, 0.0..=1.0)?;
    let text = text_rules(parameters)?;
    let links = FilterRules { bits: bits::bits(parameters, "link-bits", BITS)?, ..text };
    Ok(Box::new(Mix { threshold, most_pages: parameters.most_pages()?, weight, text, links }))
}

/// The words of a sketch that come from the text, and those that come from links.
fn parts(sketch: &[u64]) -> (&[u64], &[u64]) {
    sketch.split_at(sketch.partition_point(|word| word & LINK == 0))
}

fn alike(a: &[u64], b: &[u64]) -> f64 {
    if a.is_empty() && b.is_empty() { 0.0 } else { bits::similarity(overlap(a, b), (a.len(), b.len())) }
}

impl Mix {
    /// How alike the texts of alike pages are at least: as if their links were equal.
    fn least_text(&self) -> f64 {
        (self.threshold - ROUNDING - (1.0 - self.weight)) / self.weight.max(f64::MIN_POSITIVE)
    }
}

impl Method for Mix {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn most_pages(&self) -> usize {
        self.most_pages
    }

    fn measures(&self) -> String {
        "a mix of common chunks and common links".into()
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { links: true, ..LooksAt::default() }
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        let start = out.len();
        append_text(page, &self.text, scratch, out);
        let middle = out.len();
        append_links(page, &self.links, out);
        out[start..].iter_mut().for_each(|word| *word >>= 1);
        out[middle..].iter_mut().for_each(|word| *word |= LINK);
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    /// If the mix reaches the threshold, so does one of its parts. The keys are those of both parts at the
    /// threshold.
    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        let (text, links) = parts(sketch);
        let threshold = (self.threshold - ROUNDING).max(f64::MIN_POSITIVE);
        let start = out.len();
        bits::append_keys(text, threshold, rarity, &mut scratch.counts, out);
        out[start..].iter_mut().for_each(|(_, rest)| *rest += links.len() as u32);
        bits::append_keys(links, threshold, rarity, &mut scratch.counts, out);
    }

    fn has_outlines(&self) -> bool {
        self.least_text() > 0.0
    }

    /// The outline of the text.
    fn outline(&self, sketch: &[u64], scratch: &mut Scratch, out: &mut [u64]) {
        if self.has_outlines() {
            let (text, _) = parts(sketch);
            draw(mixed(text, &mut scratch.words), text.len() as u64, out);
        }
    }

    fn outlined<'a>(&self, sketch: &'a [u64], scratch: &'a mut Scratch) -> &'a [u64] {
        mixed(parts(sketch).0, &mut scratch.words)
    }

    fn deny(&self, a: &[u64], b: &[u64]) -> bool {
        bits::outlines_deny(a, b, self.least_text())
    }

    fn slack(&self, outline: &[u64]) -> Option<u32> {
        bits::outline_slack(outline, self.least_text())
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        let ((text_a, links_a), (text_b, links_b)) = (parts(a), parts(b));
        let text = alike(text_a, text_b);
        if links_a.is_empty() && links_b.is_empty() {
            return billionths::of(text);
        }
        let links = alike(links_a, links_b);
        let mixed = self.weight * text + (1.0 - self.weight) * links;
        billionths::of(mixed.min(text.max(links)))
    }

    fn similarity(&self, score: u32, _: (usize, usize)) -> f64 {
        billionths::similarity(score)
    }
}
