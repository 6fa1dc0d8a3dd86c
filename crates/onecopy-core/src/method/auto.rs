//! The default: the main content of each page is looked for on the other page (see `measure/decision.rs`). Plain text,
//! in which nothing is told apart, is compared by resemblance alone, as `jaccard` does.
//!
//! A word of a sketch is a shingle but for its last bit, which is 0 for main content and 1 for the rest. Sketches of
//! pages that were told apart end with [`TOLD`]. Two of those may be alike though their main contents resemble each other
//! less than the threshold says, so they have more keys.

use super::parameters::Parameters;
use super::{Desk, Held, LooksAt, Method, Subject, billionths, shingles_called};
use crate::candidate::{Rarity, keys};
use crate::config::{CanonicalRules, Config, ConfigError, ShingleRules};
use crate::measure::{MAIN_PART, Shared, agreement, resemblance};
use crate::outline::{compared, draw, most_shared};
use crate::partition::{LengthVector, Lengths};
use crate::sketch::{append_sketch, split};
use crate::verify::{least_rest, overlap, rests_allow, sizes_allow, verify};

pub(super) const ABOUT: &str = "main content found on the other page; plain text as jaccard";

/// The bit of a word that is not main content.
const REST: u64 = 1;
/// The last word of a page whose main content was told apart from the rest.
const TOLD: u64 = u64::MAX;
/// The bit of a score that is a similarity in billionths. Others are the shingles that two plain texts share.
const MIXED: u32 = 1 << 31;
/// The bit of what an outline is of that says that main content was told apart.
const OUTLINE_TOLD: u64 = 1 << 63;
/// A similarity in billionths is less than this above what it was rounded from.
const ROUNDING: f64 = 2e-9;

/// Sets of shingles, of which main content is told apart.
#[derive(Debug)]
struct Auto {
    threshold: f64,
    canonical: CanonicalRules,
    shingles: ShingleRules,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.8)?;
    let (canonical, shingles) = (config.canonical.clone(), config.shingles.clone());
    Ok(Box::new(Auto { threshold, canonical, shingles }))
}

impl Method for Auto {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn measures(&self) -> String {
        format!("mutual containment of main content in {}", shingles_called(&self.shingles))
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { parts: true, ..LooksAt::default() }
    }

    fn sketch(&self, page: &Subject, desk: &mut Desk, out: &mut Vec<u64>) {
        let Some(parts) = page.parts else {
            let start = out.len();
            append_sketch(page.canonical, &self.shingles, &mut desk.sketch, out);
            return out[start..].iter_mut().for_each(|shingle| *shingle &= !REST);
        };
        split(parts.text, parts.main, (&self.canonical, &self.shingles), &mut desk.split);
        let ((main, rest), start) = (desk.split.halves(), out.len());
        out.extend(main.iter().map(|shingle| shingle & !REST));
        out.extend(rest.iter().map(|shingle| shingle | REST));
        out[start..].sort_unstable();
        if out.len() > start {
            out.push(TOLD);
        }
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    fn keys(&self, sketch: &[u64], rarity: &Rarity, desk: &mut Desk, out: &mut Vec<(u64, u32)>) {
        if !is_told(sketch) {
            return keys(sketch, self.threshold, rarity, &mut desk.counts, out);
        }
        let start = out.len();
        desk.words.clear();
        desk.words.extend(sketch.iter().filter(|word| *word & REST == 0));
        keys(&desk.words, self.least_main(true), rarity, &mut desk.counts, out);
        let size = desk.words.len() as u32;
        out[start..].iter_mut().for_each(|(_, rest)| *rest = packed(size, *rest));
    }

    fn may(&self, a: Held, b: Held) -> bool {
        if (a.rest | b.rest) & PACKED == 0 {
            return rests_allow((a.rest, b.rest), (a.size, b.size), self.threshold)
                && sizes_allow(a.size as usize, b.size as usize, self.threshold);
        }
        let least = self.least_main(a.rest & b.rest & PACKED != 0);
        let (a, b) = (unpacked(a), unpacked(b));
        // The larger of two sizes may be as much too small as sizes are rounded.
        rests_allow((a.rest, b.rest), (a.size, b.size), least)
            && sizes_allow(a.size as usize, b.size as usize, least * (1.0 - SIZE_ROUNDING))
    }

    /// Of plain texts only: the number beside a key of a page that was told apart is larger than any of these.
    fn least_rest(&self, size: u32) -> u32 {
        least_rest(size, self.threshold)
    }

    /// Main content counts, which is all of plain text. A page that was told apart may be alike to another such page at
    /// less than a plain text is to any page, so it reaches further than it is reached from plain texts.
    fn lengths(&self, sketch: &[u64]) -> Option<Lengths> {
        let main = sketch.iter().copied().filter(|word| word & REST == 0);
        Some(Lengths { vector: LengthVector::of(main), least: self.least_main(is_told(sketch)) })
    }

    fn has_outlines(&self) -> bool {
        true
    }

    /// The outline of main content, which is all of plain text.
    fn outline(&self, sketch: &[u64], desk: &mut Desk, out: &mut [u64]) {
        if !is_told(sketch) {
            return draw(sketch, sketch.len() as u64, out);
        }
        desk.words.clear();
        desk.words.extend(sketch.iter().filter(|word| *word & REST == 0));
        draw(&desk.words, desk.words.len() as u64 | OUTLINE_TOLD, out);
    }

    fn deny(&self, a: &[u64], b: &[u64]) -> bool {
        let Some((a, b, differing)) = compared(a, b) else { return false };
        let least = match (a | b) & OUTLINE_TOLD {
            0 => self.threshold,
            _ => self.least_main(a & b & OUTLINE_TOLD != 0),
        };
        let (a, b) = ((a & !OUTLINE_TOLD) as usize, (b & !OUTLINE_TOLD) as usize);
        resemblance(most_shared(a, b, differing), a, b) < least
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        if !is_told(a) && !is_told(b) {
            return overlap(a, b) as u32;
        }
        let (shared, main_a, main_b) = (shared(a, b), main_size(a), main_size(b));
        MIXED
            | match is_told(a) && is_told(b) {
                true => billionths::of(agreement(shared, main_a, main_b)),
                false => billionths::ratio(shared.both, main_a + main_b - shared.both),
            }
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        if score & MIXED == 0 {
            resemblance(score as usize, sizes.0, sizes.1)
        } else {
            billionths::similarity(score & !MIXED)
        }
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        if !is_told(a) && !is_told(b) {
            return verify(a, b, self.threshold).map(|shared| shared as u32);
        }
        let score = self.score(a, b);
        (self.similarity(score, (a.len(), b.len())) >= self.threshold).then_some(score)
    }

    /// Of plain texts only.
    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        (score & MIXED == 0).then(|| 1.0 - self.similarity(score, sizes))
    }
}

impl Auto {
    /// How much the main contents of alike pages resemble each other at least, both told apart from the rest or not.
    fn least_main(&self, told: bool) -> f64 {
        let part = if told { MAIN_PART } else { 1.0 };
        ((self.threshold - ROUNDING) * part).max(f64::MIN_POSITIVE)
    }
}

fn is_told(sketch: &[u64]) -> bool {
    sketch.last() == Some(&TOLD)
}

fn main_size(sketch: &[u64]) -> usize {
    sketch.iter().filter(|word| *word & REST == 0).count()
}

/// What two pages share, by which of it is main content where.
fn shared(a: &[u64], b: &[u64]) -> Shared {
    let (mut i, mut j, mut counts) = (0, 0, [0; 4]);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i] | REST, b[j] | REST);
        let kind = (a[i] & REST) + 2 * (b[j] & REST);
        counts[kind as usize] += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    Shared { both: counts[0], second: counts[1], first: counts[2] }
}

/// The bit of the number beside a key of a page that was told apart.
const PACKED: u32 = 1 << 31;

/// The number beside a key of a page that was told apart, whose sketch has more words than its main content: the size of
/// that rounded down, and how much of it comes behind the key rounded up.
fn packed(size: u32, rest: u32) -> u32 {
    let code = shortened(rest);
    let rest = code + u32::from(lengthened(code) < rest);
    PACKED | shortened(size) << 16 | rest
}

/// A holder of a key as it would be if all of the page were main content.
fn unpacked(Held { size, rest }: Held) -> Held {
    if rest & PACKED == 0 {
        return Held { size, rest };
    }
    Held { size: lengthened(rest >> 16 & 0x7fff), rest: lengthened(rest & 0xffff) }
}

/// Bits of a shortened number that are kept exactly.
const DIGITS: u32 = 10;
/// The part of a number that shortening takes away at most.
const SIZE_ROUNDING: f64 = 1.0 / (1 << DIGITS) as f64;

/// A number in 15 bits, rounded down; ascending with it.
fn shortened(number: u32) -> u32 {
    let dropped = (number >> DIGITS).checked_ilog2().unwrap_or(0);
    match number >> DIGITS {
        0 => number,
        _ => (dropped + 1) << DIGITS | number >> dropped & ((1 << DIGITS) - 1),
    }
}

/// The number that was shortened, or a little less.
fn lengthened(code: u32) -> u32 {
    match code >> DIGITS {
        0 => code,
        dropped => (1 << DIGITS | code & ((1 << DIGITS) - 1)) << (dropped - 1),
    }
}

#[cfg(test)]
mod tests;
