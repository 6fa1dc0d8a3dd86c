//! The scans of `scan` compiled for machines that count bits at once: with AVX-512 eight words an instruction, with AVX2
//! four in a few, where the common denominator of all machines takes a dozen instructions for two.
//!
//! The code is the plain one, so that nothing can differ but the instructions; `unsafe` is only the promise that the
//! machine has them, and it is asked first.
#![allow(unsafe_code)]

use super::Sketches;
use super::scan::{near_plain, neighbours_plain};

/// See [`super::near`].
pub(super) fn near(sketches: Sketches, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) {
    #[cfg(target_arch = "x86_64")]
    match x86::best() {
        // SAFETY: the machine has these instructions, which is all that the function asks for.
        x86::Best::Avx512 => return unsafe { x86::near_avx512(sketches, query, most, out) },
        // SAFETY: as above.
        x86::Best::Avx2 => return unsafe { x86::near_avx2(sketches, query, most, out) },
        x86::Best::Plain => {}
    }
    near_plain(sketches, query, most, out);
}

/// Appends the places of `values` that differ in at most `most` bits from the value `gap` places behind.
pub(super) fn neighbours(values: &[u64], gap: usize, most: u32, out: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    match x86::best() {
        // SAFETY: the machine has these instructions, which is all that the function asks for.
        x86::Best::Avx512 => return unsafe { x86::neighbours_avx512(values, gap, most, out) },
        // SAFETY: as above.
        x86::Best::Avx2 => return unsafe { x86::neighbours_avx2(values, gap, most, out) },
        x86::Best::Plain => {}
    }
    neighbours_plain(values, gap, most, out);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Sketches, near_plain, neighbours_plain};

    /// What the machine has.
    pub(super) enum Best {
        Avx512,
        Avx2,
        Plain,
    }

    /// Asks the machine. The standard library remembers the answer.
    pub(super) fn best() -> Best {
        use std::arch::is_x86_feature_detected as has;
        match () {
            _ if has!("avx512f") && has!("avx512vpopcntdq") && has!("popcnt") => Best::Avx512,
            _ if has!("avx2") && has!("popcnt") => Best::Avx2,
            _ => Best::Plain,
        }
    }

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
    use super::*;

    #[test]
    fn the_fast_way_equals_the_plain_one() {
        let words: Vec<u64> = (0..777).map(|n| crate::hash::draw(n / 3, 0) ^ ((1 << (n % 7)) - 1)).collect();
        for (width, most) in [(1, 0), (1, 3), (1, 24), (6, 170), (6, 384)] {
            let sketches = Sketches { words: &words, width };
            let query = &words[6 * width..7 * width];
            let (mut fast, mut plain) = (vec![], vec![]);
            near(sketches, query, most, &mut fast);
            near_plain(sketches, query, most, &mut plain);
            assert_eq!(fast, plain);
            assert!(!plain.is_empty());
        }
        for (gap, most) in [(1, 3), (2, 5), (70, 20), (776, 64), (777, 64), (900, 64)] {
            let (mut fast, mut plain) = (vec![], vec![]);
            neighbours(&words, gap, most, &mut fast);
            neighbours_plain(&words, gap, most, &mut plain);
            assert_eq!(fast, plain);
            let by_hand = (0..777usize.saturating_sub(gap))
                .filter(|&i| (words[i] ^ words[i + gap]).count_ones() <= most)
                .map(|i| i as u32);
            assert_eq!(plain, by_hand.collect::<Vec<_>>());
        }
    }
}
