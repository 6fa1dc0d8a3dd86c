//! The lengths of a page by which it is mapped, and how much they vary (Zhu and others 2012, section 4.2).

use serde::Serialize;

use super::{DIMENSIONS, LengthVector, folded};
use crate::config::ShingleRules;
use crate::text::canonical::Canonical;
use crate::text::shingle::shingle;

/// The lengths of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageLengths {
    /// Its words in each sub-dictionary, repeated ones too. The hash of a word decides its dictionary.
    pub words: LengthVector,
    /// Its different shingles in each class.
    pub shingles: LengthVector,
}

impl PageLengths {
    /// The lengths of a page with words.
    pub fn of(page: &Canonical, rules: &ShingleRules) -> PageLengths {
        let (mut words, mut shingles) = (Vec::new(), Vec::new());
        shingle(page, rules, &mut words, &mut shingles);
        shingles.sort_unstable();
        shingles.dedup();
        PageLengths { words: LengthVector::of(words), shingles: LengthVector::of(shingles) }
    }
}

/// How much lengths vary between the pages of a sample: the medians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Variation {
    /// δ: how far the length of a sub-document is from its share of the page, in its worst dimension.
    pub delta: f64,
    /// ε: how far the number of shingles is from that of words.
    pub epsilon: f64,
}

/// The variation of a sample in this number of dimensions.
pub fn variation(sample: &[PageLengths], dimensions: usize) -> Variation {
    let deltas = sample.iter().map(|page| delta(&page.words, dimensions));
    let epsilons = sample.iter().map(|page| {
        let words = page.words.total().max(1) as f64;
        (page.shingles.total() as f64 / words - 1.0).abs()
    });
    Variation { delta: median(deltas.collect()), epsilon: median(epsilons.collect()) }
}

fn delta(words: &LengthVector, dimensions: usize) -> f64 {
    let parts = folded(words, dimensions);
    let off = |dimension: usize| {
        let classes = if dimension + 1 == dimensions { DIMENSIONS - dimension } else { 1 };
        let share = words.total() as f64 * classes as f64 / DIMENSIONS as f64;
        (share / f64::from(parts[dimension]).max(f64::MIN_POSITIVE) - 1.0).abs()
    };
    (0..dimensions).map(off).fold(0.0, f64::max)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
