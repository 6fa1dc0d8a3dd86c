//! The scan of `anchors`, compiled for machines that count bits of several words at once.
//!
//! The code is the scalar one, so that only the instructions can differ. `unsafe` is only the promise that the
//! machine has them, which a `Level` proves.
#![allow(unsafe_code)]

use super::anchors::{Anchors, Probe, next_plain};
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;

/// The first place from `from` on whose tag is similar.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn next(level: Level, anchors: &Anchors, tag: Probe, from: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level says that the machine has its instructions.
        Instructions::Avx512 => return unsafe { x86::next_avx512(anchors, tag, from) },
        // SAFETY: as above.
        Instructions::Avx2 => return unsafe { x86::next_avx2(anchors, tag, from) },
        Instructions::Scalar => {}
    }
    next_plain(anchors, tag, from)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Anchors, Probe, next_plain};

    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    pub(super) fn next_avx512(anchors: &Anchors, tag: Probe, from: usize) -> Option<usize> {
        next_plain(anchors, tag, from)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn next_avx2(anchors: &Anchors, tag: Probe, from: usize) -> Option<usize> {
        next_plain(anchors, tag, from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Needed;
    use super::*;
    use crate::simd::each_level;

    #[test]
    fn every_level_finds_what_one_finds_by_hand() {
        for width in [1, 8, 32, 64] {
            let tags: Vec<Vec<u64>> = (0..90u64)
                .map(|n| (0..width).map(|word| crate::hash::draw(n / 3 * 64 + word, 0) | (n % 3)).collect())
                .collect();
            let mut anchors = Anchors::new(width as usize, Needed::Both);
            (0..).zip(&tags).for_each(|(result, tag)| anchors.push(result, probe(tag)));
            for (tag, from) in tags.iter().zip([0, 1, 40, 89, 90].into_iter().cycle()) {
                let is_alike = |place: &usize| {
                    let other = &tags[*place];
                    let shared: u32 = tag.iter().zip(other).map(|(a, b)| (a & b).count_ones()).sum();
                    shared >= probe(other).needed.max(probe(tag).needed)
                };
                let by_hand = (from..tags.len()).find(is_alike);
                each_level(|level| assert_eq!(next(level, &anchors, probe(tag), from), by_hand, "{level:?}"));
            }
        }
    }

    fn probe(words: &[u64]) -> Probe<'_> {
        let count = words.iter().map(|word| word.count_ones()).sum();
        Probe { words, count, needed: count * 9 / 10 }
    }
}
