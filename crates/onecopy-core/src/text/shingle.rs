//! Tokens → shingles: a 64-bit hash for each window of tokens.
//!
//! A shingle is a polynomial of its tokens' hashes, so that the next window costs two multiplications for any
//! length. A page with fewer tokens than a window is one shingle.

use crate::config::{ShingleRules, Unit};
use crate::hash;
use crate::simd::{Level, level};
use crate::similarity::sketch::wide;
use crate::text::canonical::Canonical;

/// Appends the shingles of `canonical` to `out` in text order, repetitions included.
pub fn shingle(canonical: &Canonical, rules: &ShingleRules, tokens: &mut Vec<u64>, out: &mut Vec<u64>) {
    token_hashes(canonical, rules.unit, tokens);
    windows(tokens, rules.length, out);
}

/// Like [`shingle`], but `tokens` holds only a piece of a large page: its tokens would take as much memory as its
/// shingles.
pub(crate) fn shingle_in_pieces(
    canonical: &Canonical,
    rules: &ShingleRules,
    tokens: &mut Vec<u64>,
    out: &mut Vec<u64>,
) {
    if canonical.as_bytes().len() < LARGE_BYTES || rules.unit != Unit::Words || rules.length >= PIECE {
        return shingle(canonical, rules, tokens, out);
    }
    let (padded, mut spans) = (canonical.padded(), canonical.spans());
    tokens.clear();
    loop {
        let held = tokens.len();
        tokens.extend(spans.by_ref().take(PIECE).map(|(start, end)| hash::token(padded, start, end)));
        // The tokens of the piece before have no window of their own.
        if held == 0 || tokens.len() > held {
            windows(tokens, rules.length, out);
        }
        if tokens.len() < held + PIECE {
            return;
        }
        tokens.drain(..tokens.len() - (rules.length - 1));
    }
}

/// Pages of fewer bytes are small.
const LARGE_BYTES: usize = 1 << 19;
/// The tokens of a piece of a large page.
const PIECE: usize = 1 << 16;

/// Writes the hashes of the tokens of `canonical` into `out` in text order, replacing its contents.
pub fn token_hashes(canonical: &Canonical, unit: Unit, out: &mut Vec<u64>) {
    out.clear();
    append_tokens(canonical, unit, out);
}

/// Appends the hashes of the tokens of `canonical`.
pub(crate) fn append_tokens(canonical: &Canonical, unit: Unit, out: &mut Vec<u64>) {
    let padded = canonical.padded();
    match unit {
        Unit::Words => {
            out.extend(canonical.spans().map(|(start, end)| hash::token(padded, start, end)));
        }
        Unit::Chars => {
            let starts = canonical.text().char_indices().map(|(start, c)| (start, start + c.len_utf8()));
            out.extend(starts.map(|(start, end)| hash::token(padded, start, end)));
        }
    }
}

/// Appends a hash for each window of `length` tokens; one hash of all tokens if there are fewer.
pub(crate) fn windows(tokens: &[u64], length: usize, out: &mut Vec<u64>) {
    if tokens.is_empty() {
        return;
    }
    windows_by(level(), tokens, length.min(tokens.len()), out);
}

/// Like [`windows`], with the instructions of `level`. There must be at least `length` tokens.
fn windows_by(level: Level, tokens: &[u64], length: usize, out: &mut Vec<u64>) {
    let start = out.len();
    if !wide::windows(level, tokens, length, out) {
        out.resize(start + tokens.len() - length + 1, 0);
        roll(tokens, length, &mut out[start..]);
    }
}

/// Writes a hash for each window of `length` tokens into `out`, each from the one before.
fn roll(tokens: &[u64], length: usize, out: &mut [u64]) {
    let (Some((first, others)), (before, rest)) = (out.split_first_mut(), tokens.split_at(length)) else {
        return;
    };
    let mut window = before.iter().fold(0u64, |sum, &token| sum.wrapping_mul(hash::BASE).wrapping_add(token));
    let leaving = (0..length).fold(1u64, |power, _| power.wrapping_mul(hash::BASE));
    *first = window;
    let change = |i: usize| rest[i].wrapping_sub(tokens[i].wrapping_mul(leaving));
    // Two at a time: each window waits for the multiplication of the one before, but the second can start from there
    // too.
    let mut pairs = others.chunks_exact_mut(2);
    for (pair, i) in pairs.by_ref().zip((0..).step_by(2)) {
        let (first, second) = (change(i), change(i + 1));
        pair[0] = window.wrapping_mul(hash::BASE).wrapping_add(first);
        let both = first.wrapping_mul(hash::BASE).wrapping_add(second);
        window = window.wrapping_mul(hash::BASE.wrapping_mul(hash::BASE)).wrapping_add(both);
        pair[1] = window;
    }
    if let [last] = pairs.into_remainder() {
        *last = window.wrapping_mul(hash::BASE).wrapping_add(change(rest.len() - 1));
    }
}

/// The passages of `canonical` that no shingle of `other` covers: text that only this page has.
pub fn unshared<'a>(canonical: &'a Canonical, rules: &ShingleRules, other: &[u64]) -> Vec<&'a str> {
    let (mut tokens, mut shingles) = (Vec::new(), Vec::new());
    shingle(canonical, rules, &mut tokens, &mut shingles);
    let mut covered = vec![false; tokens.len()];
    for (start, shingle) in shingles.iter().enumerate() {
        if other.binary_search(shingle).is_ok() {
            let end = (start + rules.length).min(covered.len());
            covered[start..end].fill(true);
        }
    }
    let text = canonical.text();
    let places: Vec<(usize, usize)> = match rules.unit {
        Unit::Words => canonical.spans().collect(),
        Unit::Chars => text.char_indices().map(|(start, c)| (start, start + c.len_utf8())).collect(),
    };
    let runs = places.iter().zip(&covered).collect::<Vec<_>>();
    let bare = runs.chunk_by(|a, b| a.1 == b.1).filter(|run| !run[0].1);
    bare.map(|run| &text[run[0].0.0..run[run.len() - 1].0.1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_level;

    #[test]
    fn passages_that_the_other_page_lacks() {
        let rules = ShingleRules { length: 2, ..Default::default() };
        let page = |text: &str| {
            let mut out = Canonical::default();
            crate::canonicalise(text, &Default::default(), &mut out);
            out
        };
        let (a, b) = (page("one two three four five"), page("one two 3 four five"));
        let mut other = crate::Sketch::default();
        crate::sketch(&b, &rules, &mut other);
        assert_eq!(unshared(&a, &rules, other.shingles()), ["three"]);
        assert_eq!(unshared(&a, &rules, &[]), ["one two three four five"]);
    }

    #[test]
    fn a_large_page_in_pieces_has_the_same_shingles() {
        for words in [PIECE, PIECE + 1, PIECE + 3, PIECE + 4, PIECE + 5, 2 * PIECE, 2 * PIECE + 7] {
            let text: String = (0..words).map(|word| format!("{word:08} ")).collect();
            let mut page = Canonical::default();
            crate::canonicalise(&text, &Default::default(), &mut page);
            assert!(page.text().len() >= LARGE_BYTES);
            for length in [1, 2, 5] {
                let rules = ShingleRules { length, ..Default::default() };
                let (mut tokens, mut whole, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
                shingle(&page, &rules, &mut tokens, &mut whole);
                shingle_in_pieces(&page, &rules, &mut tokens, &mut pieces);
                assert!(
                    tokens.len() <= PIECE + length && pieces == whole,
                    "{words} words, {length} in a shingle"
                );
            }
        }
    }

    #[test]
    fn every_level_equals_hashing_each_window() {
        let all: Vec<u64> = (1..50u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for (length, tokens) in
            (1..12).chain([48, 49]).flat_map(|length| (length..50).map(move |end| (length, end)))
        {
            let tokens = &all[..tokens];
            let direct: Vec<u64> = tokens
                .windows(length)
                .map(|w| w.iter().fold(0u64, |h, &t| h.wrapping_mul(hash::BASE).wrapping_add(t)))
                .collect();
            each_level(|level| {
                let mut out = Vec::new();
                windows_by(level, tokens, length, &mut out);
                assert_eq!(out, direct, "length {length}, {level:?}");
            });
        }
    }

    #[test]
    fn fewer_tokens_than_a_window_are_one_shingle() {
        let mut out = Vec::new();
        windows(&[7, 9], 5, &mut out);
        assert_eq!(out.len(), 1);
        windows(&[], 5, &mut out);
        assert_eq!(out.len(), 1);
    }
}
