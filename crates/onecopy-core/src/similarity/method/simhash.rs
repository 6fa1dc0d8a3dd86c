//! Simhash (Charikar 2002; Manku, Jain and Sarma 2007): sketches of 64 bits; alike pages differ in few of them.
//!
//! The features of a page are its words, or with `k` its shingles of k tokens. Each feature is hashed, and each bit
//! of the hash is a vote: 1 for, 0 against. A bit of the sketch is 1 if most votes are for it. A feature votes as
//! often as it occurs.
//!
//! Two searches find pairs. Tables miss none. Rotation, as in the lectures, rotates and sorts the sketches and
//! compares neighbours. For tables, the bits are cut into blocks. Pages that differ in `distance` bits agree on all
//! except at most `distance` blocks. Every choice of the remaining blocks is a key. For a distance of 3, these are
//! 20 choices of 3 out of 6 blocks, with about 32 bits each.

mod rotation;

use super::binomial::at_least;
use super::parameters::Parameters;
use super::{Method, Scratch, Search, Subject, angle};
use crate::config::{Config, ConfigError, SHINGLE_LENGTH_LIMIT, ShingleRules, Unit};
use crate::decide::candidate::Rarity;
use crate::hash;
use crate::similarity::hamming::{Choices, distance};
use crate::text::shingle::shingle;

pub(super) const ABOUT: &str = "agreeing bits of 64 that words vote for";

const BITS: usize = 64;
/// The bits of a key, as long as that takes at most 120 keys. Few pages of a million share a key this long by
/// chance.
const KEY_BITS: usize = 32;
/// The largest distance. Above it, keys have fewer than 8 bits, and each page shares some with a large part of all
/// others.
const MOST_DISTANCE: usize = 14;

/// The majority of hashes, bit by bit.
#[derive(Debug)]
struct Simhash {
    features: ShingleRules,
    distance: usize,
    search: Search,
    choices: Choices,
    config: Config,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    parameters.count("bits", BITS, BITS..=BITS)?;
    let length = parameters.count("k", 1, 1..=SHINGLE_LENGTH_LIMIT)?;
    let distance = most_distance(parameters, config)?;
    let search = match parameters.word("search", &["tables", "rotate"])? {
        "rotate" => Search::Neighbours {
            most: distance as u32,
            step: parameters.number("step", 1, 1..=32)?,
            window: parameters.number("window", 4, 1..=1000)?,
        },
        _ => Search::Keys,
    };
    let features = ShingleRules { length, ..config.shingles.clone() };
    let choices = Choices::fitting(BITS, distance, KEY_BITS);
    Ok(Box::new(Simhash { features, distance, search, choices, config: config.clone() }))
}

/// How many bits of alike pages may differ: the given number, or as many as the threshold allows.
fn most_distance(parameters: &mut Parameters, config: &Config) -> Result<usize, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 61.0 / 64.0)?;
    let allowed = (0..BITS).rev().find(|&distance| alike(distance) >= threshold);
    let distance = parameters.count("distance", allowed.unwrap_or(0), 0..=BITS)?;
    if distance > MOST_DISTANCE {
        return Err(parameters.conflict(format!(
            "a distance of {distance} bits leaves keys so short that pages share them by chance: give a distance of \
             up to {MOST_DISTANCE}, or a threshold of at least {}",
            alike(MOST_DISTANCE)
        )));
    }
    Ok(distance)
}

/// The similarity of sketches that differ in this many bits.
fn alike(distance: usize) -> f64 {
    (BITS - distance) as f64 / BITS as f64
}

impl Method for Simhash {
    fn threshold(&self) -> f64 {
        alike(self.distance)
    }

    fn measures(&self) -> String {
        "agreeing bits of simhash".into()
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        let start = out.len();
        shingle(page.canonical, &self.features, &mut scratch.words, out);
        if out.len() > start {
            scratch.tally.start(1);
            out.drain(start..).for_each(|feature| scratch.tally.add(|row| row[0] = hash::draw(feature, 0)));
            scratch.tally.signs(1, out);
        }
    }

    fn keys(&self, sketch: &[u64], _rarity: &Rarity, _scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        if self.search == Search::Keys && !sketch.is_empty() {
            let hashes = (0..self.choices.count()).map(|number| self.choices.hash(sketch, number));
            out.extend(hashes.zip((0..self.choices.count() as u32).rev()));
        }
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        if a.len() != b.len() || a.is_empty() { 0 } else { BITS as u32 - distance(a, b) }
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        if sizes == (0, 0) { 1.0 } else { f64::from(score) / BITS as f64 }
    }

    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        Some(1.0 - self.similarity(score, sizes))
    }

    fn search(&self) -> Search {
        self.search
    }

    fn stands_for(&self) -> Option<Box<dyn Method>> {
        let words = self.features.length == 1 && self.features.unit == Unit::Words;
        words.then(|| angle::exact(self.threshold(), &self.config)).flatten()
    }

    fn chance(&self, similarity: f64, pages: u64) -> f64 {
        let agree = angle::agreement(similarity);
        match self.search {
            Search::Neighbours { step, window, .. } => {
                let seen = rotation::seen(self.distance, step as usize, window, pages);
                (0..).zip(seen).map(|(differ, seen)| seen * angle::exactly(BITS - differ, BITS, agree)).sum()
            }
            _ => at_least(BITS - self.distance, BITS, agree),
        }
    }
}

#[cfg(test)]
mod tests;
