//! Resemblance of whole sets of shingles, by an exact join. Other methods are measured against it.

use super::parameters::Parameters;
use super::selection;
use super::{Held, Method, Scratch, Subject, shingles_called};
use crate::config::{Config, ConfigError, ShingleRules};
use crate::decide::candidate::{Rarity, keys};
use crate::similarity::measure::resemblance;
use crate::similarity::outline::{compared, draw, most_shared, outside, slack};
use crate::similarity::sketch::append_sketch;
use crate::similarity::verify::{least_rest, overlap, rests_allow, shares, sizes_allow, verify};

pub(super) const ABOUT: &str = "shared shingles of all shingles";

/// Whole sets of shingles.
#[derive(Debug)]
struct Jaccard {
    threshold: f64,
    shingles: ShingleRules,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.8)?;
    if let Some(selection) = selection::parse(parameters)? {
        return Ok(selection::make(selection, threshold, &config.shingles));
    }
    Ok(whole(threshold, &config.shingles))
}

/// The method without a selection.
pub(super) fn whole(threshold: f64, shingles: &ShingleRules) -> Box<dyn Method> {
    Box::new(Jaccard { threshold, shingles: shingles.clone() })
}

impl Method for Jaccard {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        format!("resemblance of {}", shingles_called(&self.shingles))
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        append_sketch(page.canonical, &self.shingles, &mut scratch.sketch, out);
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        keys(sketch, self.threshold, rarity, &mut scratch.counts, out);
    }

    fn may(&self, a: Held, b: Held) -> bool {
        rests_allow(a, b, self.threshold) && sizes_allow(a.size as usize, b.size as usize, self.threshold)
    }

    fn least_rest(&self, size: u32) -> u32 {
        least_rest(size, self.threshold)
    }

    fn has_outlines(&self) -> bool {
        true
    }

    fn outline(&self, sketch: &[u64], _: &mut Scratch, out: &mut [u64]) {
        draw(sketch, sketch.len() as u64, out);
    }

    fn deny(&self, a: &[u64], b: &[u64]) -> bool {
        compared(a, b).is_some_and(|(a, b, differing)| {
            let (a, b) = (a as usize, b as usize);
            resemblance(most_shared(a, b, differing), a, b) < self.threshold
        })
    }

    fn slack(&self, outline: &[u64]) -> Option<u32> {
        slack(outline, |about| outside(about as usize, self.threshold))
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        overlap(a, b) as u32
    }

    fn containment(&self, a: &[u64], b: &[u64]) -> Option<(f64, f64)> {
        Some(shares(a, b))
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        resemblance(score as usize, sizes.0, sizes.1)
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        verify(a, b, self.threshold).map(|shared| shared as u32)
    }

    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        Some(1.0 - self.similarity(score, sizes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Book, by_the_book};

    #[test]
    fn similarity_is_what_the_book_says() {
        by_the_book(&["jaccard", "jaccard:threshold=0.4"], |a: &Book, b: &Book| {
            let (a, b) = (a.shingles(), b.shingles());
            a.intersection(&b).count() as f64 / a.union(&b).count() as f64
        });
    }
}
