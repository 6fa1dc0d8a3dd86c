//! The scans of `scan`, compiled for machines that count bits of several words at once. AVX-512 counts eight words
//! per instruction, AVX2 four in a few instructions. The baseline of all machines takes a dozen instructions for
//! two.
//!
//! The code is the scalar one, so that only the instructions can differ. `unsafe` is only the promise that the
//! machine has them, which a `Level` proves.
#![allow(unsafe_code)]

use super::Sketches;
use super::scan::{near_plain, neighbours_plain};
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;

/// See [`super::near`].
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn near(level: Level, sketches: Sketches, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level says that the machine has its instructions.
        Instructions::Avx512 => return unsafe { x86::near_avx512(sketches, query, most, out) },
        // SAFETY: as above.
        Instructions::Avx2 => return unsafe { x86::near_avx2(sketches, query, most, out) },
        Instructions::Scalar => {}
    }
    near_plain(sketches, query, most, out);
}

/// Appends the places of `values` that differ in at most `most` bits from the value `gap` places later.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn neighbours(level: Level, values: &[u64], gap: usize, most: u32, out: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level says that the machine has its instructions.
        Instructions::Avx512 => return unsafe { x86::neighbours_avx512(values, gap, most, out) },
        // SAFETY: as above.
        Instructions::Avx2 => return unsafe { x86::neighbours_avx2(values, gap, most, out) },
        Instructions::Scalar => {}
    }
    neighbours_plain(values, gap, most, out);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Sketches, near_plain, neighbours_plain};

    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    pub(super) fn near_avx512(sketches: Sketches, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) {
        near_plain(sketches, query, most, out);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn near_avx2(sketches: Sketches, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) {
        near_plain(sketches, query, most, out);
    }

    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    pub(super) fn neighbours_avx512(values: &[u64], gap: usize, most: u32, out: &mut Vec<u32>) {
        neighbours_plain(values, gap, most, out);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn neighbours_avx2(values: &[u64], gap: usize, most: u32, out: &mut Vec<u32>) {
        neighbours_plain(values, gap, most, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::distance;
    use super::*;
    use crate::simd::each_level;

    #[test]
    fn every_level_finds_what_one_finds_by_hand() {
        let words: Vec<u64> = (0..777).map(|n| crate::hash::draw(n / 3, 0) ^ ((1 << (n % 7)) - 1)).collect();
        for (width, most) in [(1, 0), (1, 3), (1, 24), (6, 170), (6, 384)] {
            let sketches = Sketches { words: &words, width };
            let query = &words[6 * width..7 * width];
            let by_hand = (0..).zip(words.chunks_exact(width).map(|sketch| distance(sketch, query)));
            let by_hand: Vec<(u32, u32)> = by_hand.filter(|&(_, distance)| distance <= most).collect();
            assert!(!by_hand.is_empty());
            each_level(|level| {
                let mut found = vec![];
                near(level, sketches, query, most, &mut found);
                assert_eq!(found, by_hand, "{level:?}");
            });
        }
        for (gap, most) in [(1, 3), (2, 5), (70, 20), (776, 64), (777, 64), (900, 64)] {
            let by_hand = (0..777usize.saturating_sub(gap))
                .filter(|&i| (words[i] ^ words[i + gap]).count_ones() <= most)
                .map(|i| i as u32);
            let by_hand: Vec<u32> = by_hand.collect();
            each_level(|level| {
                let mut found = vec![];
                neighbours(level, &words, gap, most, &mut found);
                assert_eq!(found, by_hand, "{level:?}");
            });
        }
    }
}
