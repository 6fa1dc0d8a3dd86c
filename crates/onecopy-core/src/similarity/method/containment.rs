//! How much of the smaller page's shingles the larger page contains, by an exact join: finds pages inside pages.

use super::parameters::Parameters;
use super::{Held, Method, Scratch, Subject, shingles_called};
use crate::config::{Config, ConfigError, ShingleRules};
use crate::decide::candidate::{Rarity, first_keys};
use crate::similarity::measure::containment;
use crate::similarity::outline::{compared, draw, most_shared};
use crate::similarity::sketch::append_sketch;
use crate::similarity::verify::{overlap, overlap_at_least, part_needed, shares};

pub(super) const ABOUT: &str = "shared shingles of the smaller page's";

/// Sets of shingles, with the smaller searched for in the larger.
#[derive(Debug)]
struct Containment {
    threshold: f64,
    shingles: ShingleRules,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.9)?;
    Ok(Box::new(Containment { threshold, shingles: config.shingles.clone() }))
}

impl Method for Containment {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        format!("containment of {}", shingles_called(&self.shingles))
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        append_sketch(page.canonical, &self.shingles, &mut scratch.sketch, out);
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    /// Every shingle that another page has is a key. The few rarest would do for the smaller page of a pair. But
    /// each page is the larger one of some pair, and any of its shingles may be the first that the small page has.
    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        first_keys(sketch, sketch.len(), rarity, &mut scratch.counts, out);
    }

    /// They can share at most the first shared key and the shingles after it.
    fn may(&self, a: Held, b: Held) -> bool {
        let most = 1 + a.rest.min(b.rest) as usize;
        containment(most, a.size.min(b.size) as usize) >= self.threshold
    }

    /// A page of a pair with fewer shingles after the key is not the smaller one.
    fn least_rest(&self, size: u32) -> u32 {
        part_needed(size as usize, self.threshold).saturating_sub(1) as u32
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
            containment(most_shared(a, b, differing), a.min(b)) < self.threshold
        })
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        overlap(a, b) as u32
    }

    fn containment(&self, a: &[u64], b: &[u64]) -> Option<(f64, f64)> {
        Some(shares(a, b))
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        // A page without text is contained in no other, or every page would match it.
        if sizes.0.min(sizes.1) == 0 && sizes != (0, 0) {
            return 0.0;
        }
        containment(score as usize, sizes.0.min(sizes.1))
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        if a.is_empty() != b.is_empty() {
            return None;
        }
        let needed = part_needed(a.len().min(b.len()), self.threshold);
        overlap_at_least(a, b, needed).map(|shared| shared as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Book, by_the_book};

    #[test]
    fn similarity_is_what_the_book_says() {
        by_the_book(&["containment", "containment:threshold=0.4"], |a: &Book, b: &Book| {
            let shared = a.shingles().intersection(&b.shingles()).count();
            shared as f64 / a.shingles().len().min(b.shingles().len()) as f64
        });
    }
}
