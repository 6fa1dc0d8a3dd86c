//! Alg. B (Broder and others; as Henzinger 2006 gives it): min-values of Rabin fingerprints, fingerprinted in groups.
//!
//! Each window of k tokens of a page has a 64-bit Rabin fingerprint. Each of m functions of the fingerprints has a
//! least value over the page, its min-value. Two pages agree in a min-value with a chance equal to their
//! resemblance. Groups of min-values are fingerprinted to supershingles, which are the sketch. Pages are alike if
//! enough supershingles agree. By default these are two: then one megashingle, the fingerprint of two supershingles,
//! is the same. Megashingles are the keys, so that all pages that are alike by this definition are found.
//!
//! Min-values have 32 bits. On pages of n shingles, two different shingles give the same min-value with a chance of
//! about n / 2³², which is negligible.

use super::binomial::at_least;
use super::parameters::Parameters;
use super::{Method, Scratch, Subject, jaccard, shingles_called};
use crate::config::{Config, ConfigError, Replicas, SHINGLE_LENGTH_LIMIT, ShingleRules};
use crate::decide::candidate::Rarity;
use crate::simd::level;
use crate::similarity::measure::containment;
use crate::similarity::verify::part_needed;
use crate::text::canonical::Functions;
use crate::text::rabin::{POLYNOMIAL, Rabin, WordWindow};
use crate::text::shingle::token_hashes;

pub(super) const ABOUT: &str = "agreeing supershingles of min-values (Alg. B)";

/// The most keys of a page.
const KEYS_LIMIT: usize = 500;
/// The resemblance that the method was designed to find.
const STANDS_FOR: f64 = 0.9;

/// Min-values, in groups.
#[derive(Debug)]
pub(super) struct ShinglesB {
    pub(super) shingles: ShingleRules,
    window: WordWindow,
    rabin: Rabin,
    /// The functions whose least values are kept, and more to fill the last lanes.
    functions: Vec<Functions>,
    /// How many min-values make a supershingle.
    group: usize,
    pub(super) supershingles: usize,
    pub(super) agree: usize,
    /// Which supershingles make each megashingle, one bit per supershingle.
    choices: Vec<u64>,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let agree = |parameters: &mut Parameters, supershingles| {
        let usual = 2.min(supershingles);
        let threshold = parameters.threshold(config.threshold, usual as f64 / supershingles as f64)?;
        parameters.count("agree", part_needed(supershingles, threshold), 1..=supershingles)
    };
    Ok(Box::new(ShinglesB::read(parameters, config, agree)?))
}

impl ShinglesB {
    /// Makes Alg. B from its parameters. `agree` reads how many of the supershingles must agree.
    pub(super) fn read(
        parameters: &mut Parameters,
        config: &Config,
        agree: impl FnOnce(&mut Parameters, usize) -> Result<usize, ConfigError>,
    ) -> Result<ShinglesB, ConfigError> {
        let k = parameters.count("k", 10, 1..=SHINGLE_LENGTH_LIMIT)?;
        let min_values = parameters.count("min-values", 84, 1..=1_024)?;
        let supershingles = parameters.count("supershingles", 6, 1..=32)?;
        if min_values % supershingles != 0 {
            return Err(parameters.conflict(format!(
                "{min_values} min-values cannot be divided among {supershingles} supershingles: \
                 give a multiple of {supershingles}, such as {}",
                supershingles * min_values.div_ceil(supershingles)
            )));
        }
        let agree = agree(parameters, supershingles)?;
        let Some(choices) = choices(supershingles, agree) else {
            return Err(parameters.conflict(format!(
                "{agree} of {supershingles} supershingles make more than {KEYS_LIMIT} megashingles: \
                 give fewer supershingles, or an agree closer to 1 or {supershingles}"
            )));
        };
        Ok(ShinglesB {
            shingles: ShingleRules { length: k, replicas: Replicas::Ignore, ..config.shingles.clone() },
            window: Rabin::new(POLYNOMIAL).words(k),
            rabin: Rabin::new(POLYNOMIAL),
            functions: (0..min_values.div_ceil(Functions::COUNT)).map(functions).collect(),
            group: min_values / supershingles,
            supershingles,
            agree,
            choices,
        })
    }
}

impl Method for ShinglesB {
    fn threshold(&self) -> f64 {
        containment(self.agree, self.supershingles)
    }

    fn measures(&self) -> String {
        format!("agreeing supershingles of {}", shingles_called(&self.shingles))
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        token_hashes(page.canonical, self.shingles.unit, &mut scratch.words);
        let shingles = roll(&self.window, self.shingles.length, &mut scratch.words);
        if shingles.is_empty() {
            return;
        }
        let least: Vec<_> = self.functions.iter().map(|some| some.least(level(), shingles)).collect();
        let groups = least.as_flattened().chunks_exact(self.group).take(self.supershingles);
        out.extend(groups.map(|group| fingerprint(&self.rabin, group.iter().map(|&value| u64::from(value)))));
    }

    fn keys(&self, sketch: &[u64], _rarity: &Rarity, _scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        if sketch.is_empty() {
            return;
        }
        out.extend(self.choices.iter().map(|&choice| {
            let chosen = sketch.iter().enumerate().filter(|(place, _)| choice >> place & 1 == 1);
            let parts = std::iter::once(choice).chain(chosen.map(|(_, &supershingle)| supershingle));
            (fingerprint(&self.rabin, parts), 0)
        }));
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        a.iter().zip(b).filter(|(x, y)| x == y).count() as u32
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        if sizes == (0, 0) { 1.0 } else { containment(score as usize, self.supershingles) }
    }

    /// The share of positions at which two rows differ is a metric.
    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        Some(1.0 - self.similarity(score, sizes))
    }

    fn stands_for(&self) -> Option<Box<dyn Method>> {
        Some(jaccard::whole(STANDS_FOR, &self.shingles))
    }

    fn chance(&self, similarity: f64, _pages: u64) -> f64 {
        at_least(self.agree, self.supershingles, similarity.powi(self.group as i32))
    }
}

/// Turns hashes of tokens into fingerprints of windows of `length` tokens; one window of all if there are fewer.
fn roll<'a>(window: &WordWindow, length: usize, tokens: &'a mut [u64]) -> &'a [u64] {
    let mut fingerprint = 0;
    let filled = length.min(tokens.len());
    for &token in &tokens[..filled] {
        fingerprint = window.roll(fingerprint, 0, token);
    }
    // A fingerprint overwrites the token that leaves the window, which is not read again.
    for place in filled..tokens.len() {
        let leaves = std::mem::replace(&mut tokens[place - filled], fingerprint);
        fingerprint = window.roll(fingerprint, leaves, tokens[place]);
    }
    let count = tokens.len() - filled + usize::from(filled > 0);
    if let Some(last) = tokens[..count].last_mut() {
        *last = fingerprint;
    }
    &tokens[..count]
}

/// A fingerprint of numbers, which depends on their order.
fn fingerprint(rabin: &Rabin, numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(1, |sum, number| rabin.append_word(sum, number))
}

/// The functions of one block, numbered from `block` times their count. They are frozen, because min-values are
/// stored.
fn functions(block: usize) -> Functions {
    let seed = |i: usize| mixed((block * Functions::COUNT + i) as u64);
    Functions {
        flip: std::array::from_fn(|i| seed(i) as u32),
        times: std::array::from_fn(|i| (seed(i) >> 32) as u32 | 1),
    }
}

/// The numbers of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(index: u64) -> u64 {
    let mut z = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Every subset of `chosen` out of `of` elements, one bit per element. `None` if there are too many.
fn choices(of: usize, chosen: usize) -> Option<Vec<u64>> {
    let mut choices = Vec::new();
    let mut choice: u64 = (1 << chosen) - 1;
    while choice >> of == 0 {
        if choices.len() == KEYS_LIMIT {
            return None;
        }
        choices.push(choice);
        // The next larger number with as many bits: the top bit of the lowest run of ones moves up, the others to
        // the end.
        let low = choice & choice.wrapping_neg();
        let up = choice + low;
        choice = up | (((up ^ choice) >> 2) / low);
    }
    Some(choices)
}

#[cfg(test)]
mod tests;
