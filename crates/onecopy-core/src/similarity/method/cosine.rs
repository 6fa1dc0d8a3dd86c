//! Cosine of word frequencies, by an exact join. The order of words makes no difference.
//!
//! A word of a sketch is a token and its frequency. Order tokens rare first, in one order for all pages. All tokens
//! that two pages share are at or after the first one that they share. Their product is therefore at most the
//! product of both norms from there on (after Bayardo, Ma and Srikant 2007). A token needs no key if the norm from
//! there on is less than the threshold as a share of the page's whole norm.

use super::parameters::Parameters;
use super::{Held, Method, Scratch, Subject};
use crate::config::{Config, ConfigError, Unit};
use crate::decide::candidate::Rarity;
use crate::similarity::measure::angle;
use crate::text::shingle::token_hashes;

pub(super) const ABOUT: &str = "angle between word frequencies";

/// How many bits of a sketch's word hold the frequency of its token. Higher frequencies are cut to the maximum.
const FREQUENCY_BITS: u32 = 16;
const MOST: u64 = (1 << FREQUENCY_BITS) - 1;
/// The score of equal pages. A decimal threshold of up to nine digits is a whole score, so rounding does not affect
/// it.
const WHOLE: f64 = 4e9;
/// The tolerance of bounds: far larger than the rounding errors of a score and of a norm in 32 bits.
const ROOM: f64 = 1e-6;

/// Token frequencies.
#[derive(Debug)]
struct Cosine {
    threshold: f64,
    most_pages: usize,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.95)?;
    Ok(Box::new(Cosine { threshold, most_pages: parameters.most_pages()? }))
}

impl Method for Cosine {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn most_pages(&self) -> usize {
        self.most_pages
    }

    fn measures(&self) -> String {
        "cosine of word frequencies".into()
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        token_hashes(page.canonical, Unit::Words, &mut scratch.words);
        scratch.words.sort_unstable();
        let runs = scratch.words.chunk_by(|a, b| token(*a) == token(*b));
        out.extend(runs.map(|run| token(run[0]) | (run.len() as u64).min(MOST)));
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    /// The number beside a key is the norm from there on.
    fn keys(&self, sketch: &[u64], rarity: &Rarity, _scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        let mut before = [0; 256];
        for &word in sketch {
            before[rarity.of(word) as usize] += square(word);
        }
        let mut whole: u64 = 0;
        for sum in &mut before {
            whole += std::mem::replace(sum, whole);
        }
        for &word in sketch {
            // Equally common tokens are ordered by hash, and sketches are sorted by it.
            let count = rarity.of(word);
            let sum = &mut before[count as usize];
            let norm = ((whole - *sum) as f64 / whole as f64).sqrt();
            *sum += square(word);
            if count > 1 && norm >= self.threshold - ROOM {
                out.push((token(word), (norm as f32).to_bits() + 1));
            }
        }
    }

    fn may(&self, a: Held, b: Held) -> bool {
        let norm = |held: Held| f64::from(f32::from_bits(held.rest));
        norm(a) * norm(b) >= self.threshold - ROOM
    }

    fn has_outlines(&self) -> bool {
        true
    }

    fn outline(&self, sketch: &[u64], scratch: &mut Scratch, out: &mut [u64]) {
        draw(sketch, &mut scratch.words, out);
    }

    fn deny(&self, a: &[u64], b: &[u64]) -> bool {
        let (Some((&told_a, a)), Some((&told_b, b))) = (a.split_last(), b.split_last()) else { return false };
        let product: u32 = a.iter().zip(b).map(|(&x, &y)| product(x.to_le_bytes(), y.to_le_bytes())).sum();
        told_a & told_b == 1 && f64::from(product) < (self.threshold - ROOM) * SCALE * SCALE
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        score_at_least(a, b, 0.0).expect("every product is at least none")
    }

    fn similarity(&self, score: u32, _sizes: (usize, usize)) -> f64 {
        f64::from(score) / WHOLE
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        let score = score_at_least(a, b, self.threshold - ROOM)?;
        (self.similarity(score, (a.len(), b.len())) >= self.threshold).then_some(score)
    }
}

/// The token of a word of a sketch.
fn token(word: u64) -> u64 {
    word & !MOST
}

/// The squared frequency of a token. A page has fewer than 2³² tokens, so its squares sum to less than 2⁴⁸.
fn square(word: u64) -> u64 {
    (word & MOST) * (word & MOST)
}

/// The norm of a page in an outline.
const SCALE: f64 = 254.0;

/// Draws an outline. Tokens are divided into as many parts as it has bytes, without the last word. Each byte is the norm
/// of one part, rounded up. The cosine of two pages is at most the product of their outlines, by the inequality of
/// Cauchy and Schwarz in each part. The last word is 1 if there are tokens.
fn draw(sketch: &[u64], sums: &mut Vec<u64>, out: &mut [u64]) {
    let Some((told, lanes)) = out.split_last_mut() else { return };
    let parts = 8 * lanes.len();
    sums.clear();
    sums.resize(parts, 0);
    for &word in sketch {
        let hash = u64::from((word >> FREQUENCY_BITS) as u32);
        sums[((hash * parts as u64) >> 32) as usize] += square(word);
    }
    let whole = sums.iter().sum::<u64>() as f64;
    let byte = |sum: u64| (SCALE * (sum as f64 / whole).sqrt()).ceil() as u8;
    for (lane, sums) in lanes.iter_mut().zip(sums.as_chunks::<8>().0) {
        *lane = u64::from_le_bytes(sums.map(byte));
    }
    *told = u64::from(whole > 0.0);
}

/// The product of eight bytes with eight others.
#[inline]
fn product(a: [u8; 8], b: [u8; 8]) -> u32 {
    a.iter().zip(b).map(|(&x, y)| u32::from(x) * u32::from(y)).sum()
}

/// The score of two sketches. It stops once their cosine surely is less than `least`.
fn score_at_least(a: &[u64], b: &[u64], least: f64) -> Option<u32> {
    let squares = |sketch: &[u64]| sketch.iter().copied().map(square).sum::<u64>();
    let (whole_a, whole_b) = (squares(a), squares(b));
    let wholes = (whole_a as f64, whole_b as f64);
    let least = least * (wholes.0 * wholes.1).sqrt();
    let mut merge = Merge { left: (whole_a, whole_b), ..Merge::default() };
    // Steps run in blocks without a branch on the data. The bound is checked between blocks.
    while merge.places.0 + Merge::STEPS <= a.len() && merge.places.1 + Merge::STEPS <= b.len() {
        (0..Merge::STEPS).for_each(|_| merge.step(a, b));
        if merge.most() < least {
            return None;
        }
    }
    while merge.places.0 < a.len() && merge.places.1 < b.len() {
        merge.step(a, b);
    }
    Some((angle(merge.product as f64, wholes) * WHOLE).round() as u32)
}

/// A merge of two sketches in progress.
#[derive(Default)]
struct Merge {
    places: (usize, usize),
    product: u64,
    /// The sums of the squares that are still to come.
    left: (u64, u64),
}

impl Merge {
    const STEPS: usize = 32;

    #[inline]
    fn step(&mut self, a: &[u64], b: &[u64]) {
        let (x, y) = (a[self.places.0], b[self.places.1]);
        let (passed_x, passed_y) = (u64::from(token(x) <= token(y)), u64::from(token(y) <= token(x)));
        self.product += passed_x * passed_y * (x & MOST) * (y & MOST);
        self.left.0 -= passed_x * square(x);
        self.left.1 -= passed_y * square(y);
        self.places.0 += passed_x as usize;
        self.places.1 += passed_y as usize;
    }

    /// The largest value that the product can reach.
    fn most(&self) -> f64 {
        self.product as f64 + (self.left.0 as f64 * self.left.1 as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::{Book, by_the_book, made, sketch_of};

    fn vector(page: &Book) -> BTreeMap<&str, f64> {
        let mut vector = BTreeMap::new();
        page.tokens.iter().for_each(|token| *vector.entry(token.as_str()).or_default() += 1.0);
        vector
    }

    #[test]
    fn similarity_is_what_the_book_says() {
        by_the_book(&["cosine", "cosine:threshold=0.4"], |a: &Book, b: &Book| {
            let (a, b) = (vector(a), vector(b));
            let product: f64 = a.iter().map(|(token, x)| x * b.get(token).unwrap_or(&0.0)).sum();
            let norm = |v: &BTreeMap<&str, f64>| v.values().map(|x| x * x).sum::<f64>().sqrt();
            product / (norm(&a) * norm(&b))
        });
    }

    #[test]
    fn a_decimal_threshold_is_reached_and_frequencies_stop_somewhere() {
        let method = made("cosine:threshold=0.96");
        let (a, b) = (sketch_of(&*method, "x x x y y y y"), sketch_of(&*method, "x x x x y y y"));
        assert_eq!(method.verify(&a, &b), Some(3_840_000_000), "24 / 25");
        let many = sketch_of(&*method, &"x ".repeat(70_000));
        assert_eq!((many.len(), many[0] & 0xffff), (1, 65_535));
    }

    /// Random pages are too small for the bound to be checked.
    #[test]
    fn ending_early_loses_none_that_is_alike() {
        let text = |from: usize, step: usize| -> String {
            (0..400).map(|n| format!("w{} ", if n % step == 0 { n + from } else { n })).collect()
        };
        let mut found = 0;
        for threshold in ["0.3", "0.5", "0.75", "0.9", "1"] {
            let method = made(&format!("cosine:threshold={threshold}"));
            let a = sketch_of(&*method, &text(0, 1));
            for step in 1..40 {
                let b = sketch_of(&*method, &text(1_000, step));
                let score = method.score(&a, &b);
                let alike = method.similarity(score, (a.len(), b.len())) >= method.threshold();
                assert_eq!(method.verify(&a, &b), alike.then_some(score));
                found += usize::from(alike);
            }
        }
        assert!((50..180).contains(&found), "{found} of 195");
    }
}
