//! The default method: it looks for the main content of each page on the other page (see `measure/decision.rs`).
//! Plain text has no separate main content, so it is compared by resemblance alone, as `jaccard` does.
//!
//! A word of a sketch has a tag (`sketch/tag.rs`). It says whether the word is a shingle of main content, and where, a
//! shingle of the rest, or a word of the title. A page whose main content was separated from the rest is a separated
//! page, and its sketch ends with [`TOLD`]. Two separated pages may be alike although their main contents resemble each
//! other less than the threshold. They therefore have more keys.

mod census;

use super::parameters::Parameters;
use super::{Held, KeySink, LooksAt, Method, Scratch, Subject, billionths, shingles_called};
use crate::config::{CanonicalRules, Config, ConfigError, ShingleRules, Words};
use crate::decide::candidate::{Chooser, PIECE, Rarity, key_count};
use crate::similarity::elsewhere::Elsewhere;
use crate::similarity::measure::{
    Common, EVIDENCE, SharedShingles, containment, least_agreement, least_agreement_of_kin, least_main,
    least_main_by_stretch, least_main_by_words, least_main_by_words_of_kin, page_similarity, resemblance,
};
use crate::similarity::outline::{Leeway, compared, draw_more, most_shared, outside, slack};
use crate::similarity::sketch::tag::{is_main, untagged};
use crate::similarity::sketch::{SplitRules, append_sketch, split};
use crate::similarity::verify::{least_rest, overlap, rests_allow, shares, sizes_allow, verify};

use census::{common, covered, has_template, may_count, told};

pub(super) const ABOUT: &str = "main content found on the other page; plain text as jaccard";

/// The last word of the sketch of a separated page.
const TOLD: u64 = u64::MAX;
/// Marks a score that is a similarity in billionths. Other scores count the shingles that two plain texts share.
const MIXED: u32 = 1 << 31;
/// Marks the outline of a separated page.
const OUTLINE_TOLD: u64 = 1 << 63;
/// Rounding up to billionths raises a similarity by less than this.
const ROUNDING: f64 = 2e-9;

/// Room for sketches grows by at most this many words, unless one needs more.
const LARGE_WORDS: usize = 1 << 19;

/// Sets of shingles, with main content separated from the rest.
#[derive(Debug)]
struct Auto {
    threshold: f64,
    /// How many shared shingles prove nothing.
    evidence: usize,
    canonical: CanonicalRules,
    shingles: ShingleRules,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let threshold = parameters.threshold(config.threshold, 0.8)?;
    let evidence = parameters.count("evidence", EVIDENCE, 0..=1_000_000)?;
    let (mut canonical, shingles) = (config.canonical.clone(), config.shingles.clone());
    // A clause of Chinese or Japanese is too long for a word if a page has few of them.
    if canonical.words == Words::Auto {
        canonical.words = Words::Segmented;
    }
    Ok(Box::new(Auto { threshold, evidence, canonical, shingles }))
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

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        let Some(parts) = page.parts else {
            let start = out.len();
            append_sketch(page.canonical, &self.shingles, &mut scratch.sketch, out);
            return out[start..].iter_mut().for_each(|shingle| *shingle = untagged(*shingle));
        };
        let rules = SplitRules { canonical: &self.canonical, shingles: &self.shingles };
        split(parts, rules, &mut scratch.split);
        let start = out.len();
        // Growth by doubling could take twice the memory.
        let words = scratch.split.len() + 1;
        if words > out.capacity() - start && start > 0 {
            out.reserve_exact(words.max(start.min(LARGE_WORDS)));
        }
        scratch.split.append_to(out);
        if out.len() > start && scratch.split.is_told() {
            out.push(TOLD);
        }
    }

    fn asks_rarity(&self) -> bool {
        true
    }

    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        self.keys_in_pieces(sketch, rarity, scratch, &mut |keys| out.extend_from_slice(keys));
    }

    fn keys_in_pieces(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, each: &mut KeySink) {
        let is_told = is_told(sketch);
        let Scratch { counts, words, keys, .. } = scratch;
        counts.clear();
        for piece in sketch.chunks(PIECE) {
            counts.extend(main_of(piece, is_told, words).iter().map(|&shingle| rarity.of(shingle)));
        }
        let size = counts.len();
        let least = if is_told { self.least_main(true) } else { self.threshold };
        let mut chooser = Chooser::new(counts, key_count(size, least));
        for piece in sketch.chunks(PIECE) {
            // The main content of the only piece is there already.
            let main: &[u64] =
                if is_told && sketch.len() <= PIECE { words } else { main_of(piece, is_told, words) };
            keys.clear();
            chooser.choose(main, keys);
            if is_told {
                keys.iter_mut().for_each(|(_, rest)| *rest = packed(size as u32, *rest));
            }
            each(keys);
        }
    }

    fn may(&self, a: Held, b: Held) -> bool {
        if (a.rest | b.rest) & PACKED == 0 {
            return rests_allow(a, b, self.threshold)
                && sizes_allow(a.size as usize, b.size as usize, self.threshold);
        }
        let least = self.least_main(a.rest & b.rest & PACKED != 0);
        let (a, b) = (unpacked(a), unpacked(b));
        // Rounding may have made the larger size smaller by up to `SIZE_ROUNDING`.
        rests_allow(a, b, least)
            && sizes_allow(a.size as usize, b.size as usize, least * (1.0 - SIZE_ROUNDING))
    }

    /// This bound is for plain texts only: the number beside a key of a separated page is larger than any of these.
    fn least_rest(&self, size: u32) -> u32 {
        least_rest(size, self.threshold)
    }

    /// Only main content counts, which is all of a plain text. Two separated pages may be alike at a lower
    /// resemblance than a plain text and another page. The reach of a separated page is therefore wider than that of
    /// a plain text.
    fn has_outlines(&self) -> bool {
        true
    }

    /// The outline of main content, which is all of a plain text.
    fn outline(&self, sketch: &[u64], scratch: &mut Scratch, out: &mut [u64]) {
        let (is_told, mut size) = (is_told(sketch), 0);
        let told = if is_told { OUTLINE_TOLD } else { 0 };
        out.fill(0);
        for piece in sketch.chunks(PIECE) {
            let main = main_of(piece, is_told, &mut scratch.words);
            size += main.len() as u64;
            draw_more(main, size | told, out);
        }
    }

    fn outlined<'a>(&self, sketch: &'a [u64], scratch: &'a mut Scratch) -> &'a [u64] {
        if !is_told(sketch) {
            return sketch;
        }
        write_main(sketch, &mut scratch.words);
        &scratch.words
    }

    fn deny(&self, a: &[u64], b: &[u64]) -> bool {
        let Some((a, b, differing)) = compared(a, b) else { return false };
        let least = match (a | b) & OUTLINE_TOLD {
            0 => self.threshold,
            _ => self.least_main(a & b & OUTLINE_TOLD != 0),
        };
        let [a, b] = [a, b].map(main_size);
        resemblance(most_shared(a, b, differing), a, b) < least
    }

    fn slack(&self, outline: &[u64]) -> Option<u32> {
        slack(outline, |about| outside(main_size(about), self.least_main(about & OUTLINE_TOLD != 0)))
    }

    /// All words but main content: a word that is shared is found, whatever it is on the other page.
    fn note_rest(&self, sketch: &[u64], elsewhere: &Elsewhere) {
        sketch.iter().filter(|word| !is_main(**word)).for_each(|word| elsewhere.add(*word));
    }

    /// For two separated pages, the second bound is that of their agreement. Suppose that `p` and `q` shingles of the
    /// main contents, with `a` and `b` shingles, are elsewhere on some page. If c are in both, then x <= c + p and
    /// y <= c + q. An agreement s needs a/x + b/y <= k, with k = 1 + 1/s. By the inequality of Cauchy and Schwarz,
    /// (a + b)² <= k (a (c + p) + b (c + q)). So the main contents differ in a + b - 2c <= (a + b) (1 - s) / (1 + s) +
    /// 2 (ap + bq) / (a + b) shingles. No main content is more than 1 / (1 + least_main) of both together. If the words
    /// or the stretch of a page may count, its part is at least the one that they ask for. Kin have one template, so they
    /// must agree by more, and stretches never count.
    fn leeway(&self, outline: &[u64], sketch: &[u64], elsewhere: &Elsewhere) -> Option<Leeway> {
        let weak = self.slack(outline)?;
        if !is_told(sketch) {
            return Some(Leeway { slacks: [weak; 2], kin: weak });
        }
        let found = sketch.iter().filter(|word| is_main(**word) && elsewhere.may_have(**word)).count() as f64;
        let more = 2.0 * found / (1.0 + self.least_main(true));
        let may_count = may_count(sketch, self.evidence);
        let least = |may, bound: fn(f64) -> f64| if may { self.least(bound) } else { 1.0 };
        let words = least(may_count.words, least_main_by_words);
        let stretch = least(may_count.stretch, least_main_by_stretch);
        let strong = |agreement: fn(f64) -> f64, by_words: f64| {
            let agreement = self.least(agreement);
            let most = |size: usize| (outside(size, agreement) + more).max(outside(size, by_words));
            slack(outline, |about| most(main_size(about)))
        };
        let kin = strong(least_agreement_of_kin, least(may_count.words, least_main_by_words_of_kin))?;
        Some(Leeway { slacks: [weak, strong(least_agreement, words.min(stretch))?], kin })
    }

    fn has_template(&self, sketch: &[u64], model: &[u64]) -> bool {
        is_told(sketch) && is_told(model) && has_template(sketch, model, self.evidence)
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        if !is_told(a) && !is_told(b) {
            return overlap(a, b) as u32;
        }
        self.mixed_score(a, b, common(a, b))
    }

    /// The main content of each page is searched for in all of the other.
    fn containment(&self, a: &[u64], b: &[u64]) -> Option<(f64, f64)> {
        if !is_told(a) && !is_told(b) {
            return Some(shares(a, b));
        }
        let Common { shared: SharedShingles { both, first, second, .. }, sizes, .. } = common(a, b);
        Some((containment(both + first, sizes[0].main), containment(both + second, sizes[1].main)))
    }

    fn evidence(&self, a: &[u64], b: &[u64]) -> Option<String> {
        (is_told(a) && is_told(b)).then(|| told(a, b, self.shingles.length, self.evidence))
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
        let common = common(a, b);
        let [main_a, main_b] = common.sizes.map(|size| size.main);
        // Most pairs need no look at their words.
        if resemblance(common.shared.both, main_a, main_b) < self.least_main(is_told(a) && is_told(b)) {
            return None;
        }
        let score = self.mixed_score(a, b, common);
        (self.similarity(score, (a.len(), b.len())) >= self.threshold).then_some(score)
    }

    /// Defined for plain texts only.
    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        (score & MIXED == 0).then(|| 1.0 - self.similarity(score, sizes))
    }
}

impl Auto {
    /// The score of two pages, of which one is separated at least.
    fn mixed_score(&self, a: &[u64], b: &[u64], common: Common) -> u32 {
        let Common { shared, sizes, .. } = common;
        if !is_told(a) || !is_told(b) {
            return MIXED | billionths::ratio(shared.both, sizes[0].main + sizes[1].main - shared.both);
        }
        let words = || covered(a, b, self.shingles.length);
        MIXED | billionths::of(page_similarity(&common, self.evidence, words))
    }

    /// How much the main contents of alike pages resemble each other at least. `told` says whether both pages are
    /// separated.
    fn least_main(&self, told: bool) -> f64 {
        if told { self.least(least_main) } else { (self.threshold - ROUNDING).max(f64::MIN_POSITIVE) }
    }

    /// A bound that pages reach if their similarity reaches the threshold, in spite of rounding.
    fn least(&self, bound: fn(f64) -> f64) -> f64 {
        (bound(self.threshold - ROUNDING) - ROUNDING).max(f64::MIN_POSITIVE)
    }
}

/// The size of a main content, from the last word of its outline.
fn main_size(about: u64) -> usize {
    (about & !OUTLINE_TOLD) as usize
}

fn is_told(sketch: &[u64]) -> bool {
    sketch.last() == Some(&TOLD)
}

/// Writes the shingles of main content without their places into `out`.
fn write_main(sketch: &[u64], out: &mut Vec<u64>) {
    out.clear();
    out.extend(sketch.iter().filter(|word| is_main(**word)).map(|word| untagged(*word)));
}

/// The shingles of main content in a piece of a sketch. They are in `out` if the page is separated.
fn main_of<'a>(piece: &'a [u64], is_told: bool, out: &'a mut Vec<u64>) -> &'a [u64] {
    if !is_told {
        return piece;
    }
    write_main(piece, out);
    out
}

/// Marks the number beside a key of a separated page.
const PACKED: u32 = 1 << 31;

/// The number beside a key of a separated page. The sketch has more words than the main content, so this packs the
/// size of the main content, rounded down. It also packs how much of it comes after the key, rounded up.
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

/// How many bits of a shortened number are exact.
const DIGITS: u32 = 10;
/// The largest share of a number that shortening removes.
const SIZE_ROUNDING: f64 = 1.0 / (1 << DIGITS) as f64;

/// A number in 15 bits, rounded down. Larger numbers never get smaller codes.
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
