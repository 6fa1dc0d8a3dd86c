//! Cosine of word frequencies, by an exact join: the order of words makes no difference.
//!
//! A word of a sketch is a token and how often it occurs. Order tokens rare first, in one order for all pages. What
//! two pages have in common lies at and behind the first token that they share, so their product is at most that of
//! the norms of both from there on (after Bayardo, Ma and Srikant 2007). Where that norm, as a part of the page's
//! whole norm, is below the threshold, no key is needed.

use std::cmp::Ordering;

use super::parameters::Parameters;
use super::{Desk, Held, Method, Subject};
use crate::candidate::Rarity;
use crate::config::{Config, Unit};
use crate::measure::angle;
use crate::shingle::token_hashes;

pub(super) const ABOUT: &str = "angle between word frequencies, exact";

/// Bits of a sketch's word that say how often its token occurs. Tokens that occur more often are counted as that many.
const FREQUENCY_BITS: u32 = 16;
const MOST: u64 = (1 << FREQUENCY_BITS) - 1;
/// The score of equal pages. A decimal threshold of up to nine digits is a score, so that rounding is no matter there.
const WHOLE: f64 = 4e9;
/// What a bound gives way for rounding: far more than a score and a norm in 32 bits are off.
const ROOM: f64 = 1e-6;

/// Token frequencies.
#[derive(Debug)]
struct Cosine {
    threshold: f64,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, String> {
    Ok(Box::new(Cosine { threshold: parameters.threshold(config.threshold, 0.95)? }))
}

impl Method for Cosine {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn sketch(&self, page: &Subject, desk: &mut Desk, out: &mut Vec<u64>) {
        token_hashes(page.canonical, Unit::Words, &mut desk.words);
        desk.words.sort_unstable();
        let runs = desk.words.chunk_by(|a, b| token(*a) == token(*b));
        out.extend(runs.map(|run| token(run[0]) | (run.len() as u64).min(MOST)));
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    /// The number beside a key is the norm from there on.
    fn keys(&self, sketch: &[u64], rarity: &Rarity, _desk: &mut Desk, out: &mut Vec<(u64, u32)>) {
        let mut before = [0; 256];
        for &word in sketch {
            before[rarity.of(word) as usize] += square(word);
        }
        let mut whole: u64 = 0;
        for sum in &mut before {
            whole += std::mem::replace(sum, whole);
        }
        for &word in sketch {
            // Among equally common tokens the smaller hash comes first, and sketches are sorted by it.
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

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        let squares = |sketch: &[u64]| sketch.iter().copied().map(square).sum::<u64>() as f64;
        (angle(product(a, b) as f64, (squares(a), squares(b))) * WHOLE).round() as u32
    }

    fn similarity(&self, score: u32, _sizes: (usize, usize)) -> f64 {
        f64::from(score) / WHOLE
    }
}

/// Which token a word of a sketch is.
fn token(word: u64) -> u64 {
    word & !MOST
}

/// How often it occurs, squared. A page has fewer than 2³² tokens, so its squares add up to less than 2⁴⁸.
fn square(word: u64) -> u64 {
    (word & MOST) * (word & MOST)
}

fn product(a: &[u64], b: &[u64]) -> u64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match token(a[i]).cmp(&token(b[j])) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                sum += (a[i] & MOST) * (b[j] & MOST);
                i += 1;
                j += 1;
            }
        }
    }
    sum
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
}
