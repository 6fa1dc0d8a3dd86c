//! Outlines: sets of shingles in some hundred bits, which prove for most dissimilar pages that they are not alike.
//!
//! Each shingle flips one bit. A shingle that two pages share flips the same bit in both outlines. The outlines
//! therefore differ in at most as many bits as there are shingles in only one of the pages (Sandes, Teodoro and Melo
//! 2020). Two cache lines distinguish a page of 600 shingles from one that is at most 0.76 alike. A comparison would
//! read both sketches.

mod crowd;
mod glance;
mod simd;

pub(crate) use crowd::{Crowd, Probe};
pub use crowd::{Leeway, Slacks};
pub(crate) use glance::place;

use crate::simd::level;

/// The last word of an outline says what it describes, as its owner defines. Zero means that the outline says
/// nothing.
fn parts(outline: &[u64]) -> (&[u64], u64) {
    outline.split_last().map_or((&[], 0), |(about, bits)| (bits, *about))
}

/// Draws the outline of distinct shingles into all words of `out`, at least two.
pub(crate) fn draw(shingles: &[u64], about: u64, out: &mut [u64]) {
    out.fill(0);
    draw_more(shingles, about, out);
}

/// Draws further shingles into an outline, and replaces its last word.
pub(crate) fn draw_more(shingles: &[u64], about: u64, out: &mut [u64]) {
    if let Some((last, bits)) = out.split_last_mut() {
        simd::flip(level(), shingles, bits);
        *last = about;
    }
}

/// Hashes of numbers whose last bits say nothing. `scratch` is a buffer.
pub(crate) fn mixed<'a>(numbers: &[u64], scratch: &'a mut Vec<u64>) -> &'a [u64] {
    scratch.clear();
    scratch.extend(numbers.iter().map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32));
    scratch
}

/// The last words of two outlines of the same length, and the least number of shingles that only one of them has.
/// `None` if one of them says nothing.
#[inline]
pub(crate) fn compared(a: &[u64], b: &[u64]) -> Option<(u64, u64, usize)> {
    let ((bits_a, about_a), (bits_b, about_b)) = (parts(a), parts(b));
    let tell = about_a != 0 && about_b != 0;
    tell.then(|| (about_a, about_b, simd::differing(level(), bits_a, bits_b)))
}

/// How many shingles sets of these sizes share at most, if `differing` are in only one of them.
pub(crate) fn most_shared(a: usize, b: usize, differing: usize) -> usize {
    ((a + b).saturating_sub(differing) / 2).min(a).min(b)
}

/// The part of a page in the difference of two outlines, if that can be bounded. `part` computes it from the last word
/// of the outline.
pub(crate) fn slack(outline: &[u64], part: impl Fn(u64) -> f64) -> Option<u32> {
    let about = parts(outline).1;
    // One more, because of rounding. An outline that says nothing may differ in all bits.
    Some(if about == 0 { u32::MAX / 4 } else { part(about) as u32 + 1 })
}

/// The part of a set of `size` in the difference from another set that resembles it by at least `least`. Sets of a and b
/// shingles share at least (a + b) least / (1 + least) shingles then, and the rest of both is the difference.
pub(crate) fn outside(size: usize, least: f64) -> f64 {
    size as f64 * (1.0 - least) / (1.0 + least)
}

#[inline(always)]
fn flip_plain(shingles: &[u64], bits: &mut [u64]) {
    let count = 64 * bits.len() as u64;
    for &shingle in shingles {
        // The last bits of a hash are as good as any. With them, neighbours in a sketch are in different words, so
        // that no write waits for the one before.
        let bit = (u64::from(shingle as u32) * count) >> 32;
        bits[(bit >> 6) as usize] ^= 1 << (bit & 63);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn outlines_never_differ_by_more_than_the_sets(
            a in prop::collection::btree_set(any::<u64>(), 0..300),
            shared in prop::collection::btree_set(any::<u64>(), 0..300),
            b in prop::collection::btree_set(any::<u64>(), 0..300),
            words in 2usize..20,
        ) {
            let sets = [&a | &shared, &b | &shared];
            let drawn = sets.each_ref().map(|set: &BTreeSet<u64>| {
                let mut outline = vec![77; words];
                draw(&set.iter().copied().collect::<Vec<_>>(), set.len() as u64 + 1, &mut outline);
                outline
            });
            let (of_a, of_b, differing) = compared(&drawn[0], &drawn[1]).unwrap();
            prop_assert_eq!((of_a - 1, of_b - 1), (sets[0].len() as u64, sets[1].len() as u64));
            prop_assert!(differing <= sets[0].symmetric_difference(&sets[1]).count());
            let most = most_shared(sets[0].len(), sets[1].len(), differing);
            prop_assert!(most >= sets[0].intersection(&sets[1]).count());
        }
    }

    #[test]
    fn sets_with_little_in_common_are_told_apart() {
        let set =
            |from: u64| (from..from + 600).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect::<Vec<_>>();
        let drawn = |from: u64| {
            let mut outline = [0; 16];
            draw(&set(from), 600, &mut outline);
            outline
        };
        // Each has 200 shingles that the other does not have.
        let (_, _, differing) = compared(&drawn(0), &drawn(200)).unwrap();
        assert!((250..=400).contains(&differing), "{differing}");
        assert_eq!(compared(&drawn(5), &drawn(5)), Some((600, 600, 0)));
    }

    #[test]
    fn an_outline_of_nothing_tells_nothing() {
        let mut outline = [0; 4];
        assert_eq!(compared(&outline, &outline), None);
        draw(&[1, 2, 3], 3, &mut outline);
        assert_eq!(compared(&outline, &[0; 4]), None);
        assert_eq!(compared(&[], &[]), None);
        assert_eq!(most_shared(3, 4, 100), 0);
        assert_eq!(most_shared(3, 40, 1), 3);
    }
}
