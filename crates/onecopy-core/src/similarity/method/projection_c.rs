//! Alg. C: random projections of token frequencies (Charikar 2002, as described and studied by Henzinger 2006).
//!
//! Each token has a vector of `bits` entries, drawn from its hash. An entry is a multiple of 1/15 from -1 to 1. It
//! has sixteen values, all odd multiples, so that none is zero. The vectors of all tokens of a page are added, each
//! as often as the token occurs. Bit `i` of the sketch is 1 if the sum is positive there. Two pages are alike if at
//! least `agree` bits agree.
//!
//! Pages that differ in at most `bits - agree` bits agree on one of `bits - agree + 1` pieces of the sketch. The
//! pieces, each hashed with its number, are the keys, so that no such pair is missed.

use super::binomial::at_least;
use super::parameters::Parameters;
use super::{Method, Scratch, Subject, angle};
use crate::config::{Config, ConfigError, Unit};
use crate::decide::candidate::Rarity;
use crate::hash;
use crate::similarity::hamming::{Choices, distance};
use crate::text::canonical::Canonical;
use crate::text::shingle::token_hashes;

pub(super) const ABOUT: &str = "agreeing bits of 384 random projections (Alg. C)";

/// How many binary digits an entry of a token's vector has. With one digit, entries would be -1 and 1. A few
/// frequent words that make up most of the vector's length would then decide the whole sketch.
const PLANES: usize = 4;
/// The most bits of a sketch.
const MOST_BITS: usize = 64 * hash::DRAWS / PLANES;
/// The fewest bits of a piece. With shorter pieces, each page would share some with a large part of all others.
const LEAST_PIECE: usize = 8;
/// The most pieces: each is a key of every page.
const MOST_PIECES: usize = 64;

/// Bits that say on which side of random planes a page lies.
#[derive(Debug)]
struct Projection {
    bits: usize,
    agree: usize,
    pieces: Choices,
    config: Config,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let bits = bits(parameters)?;
    let agree = agree(parameters, config.threshold, 372.0 / 384.0, bits)?;
    let pieces = bits - agree + 1;
    let most = (bits / LEAST_PIECE).min(MOST_PIECES);
    if pieces > most {
        let least = bits + 1 - most;
        return Err(parameters.conflict(format!(
            "{agree} of {bits} bits make {pieces} keys of {} bits, which pages share by chance: give agree={least} \
             or more, or a threshold of {:.3} or more",
            bits / pieces,
            (1000.0 * least as f64 / bits as f64).ceil() / 1000.0
        )));
    }
    let pieces = Choices::new(bits, pieces, bits - agree);
    Ok(Box::new(Projection { bits, agree, pieces, config: config.clone() }))
}

/// How many bits a sketch has.
pub(super) fn bits(parameters: &mut Parameters) -> Result<usize, ConfigError> {
    let bits = parameters.count("bits", 384, 64..=MOST_BITS)?;
    if !bits.is_multiple_of(64) {
        return Err(parameters.refused("bits", bits, "a multiple of 64, such as 384".into()));
    }
    Ok(bits)
}

/// How many bits must agree: the given number, or the fewest that reach the threshold.
pub(super) fn agree(
    parameters: &mut Parameters,
    configured: Option<f64>,
    usual: f64,
    bits: usize,
) -> Result<usize, ConfigError> {
    let threshold = parameters.threshold(configured, usual)?;
    let reached = (1..bits).find(|&agree| agree as f64 / bits as f64 >= threshold);
    parameters.count("agree", reached.unwrap_or(bits), 1..=bits)
}

/// Appends the sketch of a page, of `bits` bits, to `out`.
pub(super) fn project(page: &Canonical, bits: usize, scratch: &mut Scratch, out: &mut Vec<u64>) {
    token_hashes(page, Unit::Words, &mut scratch.words);
    if scratch.words.is_empty() {
        return;
    }
    scratch.words.sort_unstable();
    scratch.tally.start(PLANES * bits / 64);
    scratch.tally.add_sorted(&scratch.words, |token, row| {
        row.iter_mut().enumerate().for_each(|(number, word)| *word = hash::draw(token, number));
    });
    scratch.tally.signs(PLANES, out);
}

/// How many of `bits` bits agree; zero if one of the pages has no tokens.
pub(super) fn agreeing(a: &[u64], b: &[u64], bits: usize) -> u32 {
    if a.len() != b.len() || a.is_empty() { 0 } else { bits as u32 - distance(a, b) }
}

impl Method for Projection {
    fn threshold(&self) -> f64 {
        self.agree as f64 / self.bits as f64
    }

    fn measures(&self) -> String {
        "agreeing bits of projections".into()
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        project(page.canonical, self.bits, scratch, out);
    }

    fn keys(&self, sketch: &[u64], _rarity: &Rarity, _scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        if !sketch.is_empty() {
            let hashes = (0..self.pieces.count()).map(|number| self.pieces.hash(sketch, number));
            out.extend(hashes.zip((0..self.pieces.count() as u32).rev()));
        }
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        agreeing(a, b, self.bits)
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        if sizes == (0, 0) { 1.0 } else { f64::from(score) / self.bits as f64 }
    }

    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        Some(1.0 - self.similarity(score, sizes))
    }

    fn stands_for(&self) -> Option<Box<dyn Method>> {
        angle::exact(self.threshold(), &self.config)
    }

    fn chance(&self, similarity: f64, _pages: u64) -> f64 {
        at_least(self.agree, self.bits, angle::agreement(similarity))
    }
}

#[cfg(test)]
mod tests;
