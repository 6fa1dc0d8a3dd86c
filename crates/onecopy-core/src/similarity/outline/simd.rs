//! Draws and compares outlines, compiled for machines that count and shift several words at once.
//!
//! The code is the scalar one. `unsafe` is only the promise that the machine has the instructions, which a `Level`
//! proves.
#![allow(unsafe_code)]

use super::crowd::{Blocks, Look, near_plain};
use super::flip_plain;
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;
use crate::similarity::measure::hamming;

/// Flips a bit for each shingle.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn flip(level: Level, shingles: &[u64], bits: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if level.instructions() >= Instructions::Avx2 {
        // SAFETY: a level says that the machine has its instructions.
        return unsafe { x86::flip(shingles, bits) };
    }
    flip_plain(shingles, bits);
}

/// How many bits of two outlines differ.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn differing(level: Level, a: &[u64], b: &[u64]) -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a level says that the machine has its instructions.
    match level.instructions() {
        Instructions::Avx512 if a.len() == b.len() => return unsafe { x86::differing_avx512(a, b) },
        Instructions::Avx512 | Instructions::Avx2 => return unsafe { x86::differing(a, b) },
        Instructions::Scalar => {}
    }
    hamming(a, b)
}

/// Calls `found` with each block that has outlines near the probe, and with a bit for each of them.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn near(level: Level, look: Look, blocks: Blocks, found: &mut impl FnMut(usize, u8)) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a level says that the machine has its instructions.
    unsafe {
        match (level.instructions(), look.glance.len()) {
            (Instructions::Avx512, 1) => return x86::near_avx512::<1>(look, blocks, found),
            (Instructions::Avx512, 2) => return x86::near_avx512::<2>(look, blocks, found),
            (Instructions::Avx512, 4) => return x86::near_avx512::<4>(look, blocks, found),
            (Instructions::Avx512, 8) => return x86::near_avx512::<8>(look, blocks, found),
            (Instructions::Avx512, 16) => return x86::near_avx512::<16>(look, blocks, found),
            (Instructions::Avx512 | Instructions::Avx2, _) => return x86::near(look, blocks, found),
            (Instructions::Scalar, _) => {}
        }
    }
    near_plain(look, blocks, found);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi64, _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_maskz_loadu_epi64,
        _mm512_min_epu64, _mm512_popcnt_epi64, _mm512_reduce_add_epi64, _mm512_set1_epi64,
        _mm512_setzero_si512, _mm512_xor_si512,
    };

    use super::{flip_plain, hamming};
    use crate::similarity::outline::crowd::{Blocks, Look, Row, STEP, near_plain};
    use crate::similarity::outline::glance::most_differing;

    #[target_feature(enable = "popcnt,bmi2")]
    pub(super) fn flip(shingles: &[u64], bits: &mut [u64]) {
        flip_plain(shingles, bits);
    }

    #[target_feature(enable = "popcnt,bmi2")]
    pub(super) fn differing(a: &[u64], b: &[u64]) -> usize {
        hamming(a, b)
    }

    #[target_feature(enable = "avx2,popcnt,bmi2")]
    pub(super) fn near(look: Look, blocks: Blocks, found: &mut impl FnMut(usize, u8)) {
        near_plain(look, blocks, found);
    }

    /// As [`near_plain`], with a row in a register, and glances of `G` words.
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(super) fn near_avx512<const G: usize>(look: Look, blocks: Blocks, found: &mut impl FnMut(usize, u8)) {
        // SAFETY: a row is as long as a register.
        let load = |row: &Row| unsafe { _mm512_loadu_si512(row.as_ptr().cast()) };
        let spread = |word: u64| _mm512_set1_epi64(word.cast_signed());
        let differing = |row: &Row, word| _mm512_popcnt_epi64(_mm512_xor_si512(load(row), word));
        let (own, words) = (look.slacks, look.bits.len());
        let (own_steps, own_rest) = look.bits.as_chunks::<STEP>();
        let glance: [__m512i; G] = std::array::from_fn(|at| spread(look.glance[at]));
        let glances = blocks.glances.as_chunks::<G>().0;
        'blocks: for (block, (rows, &quotas)) in glances.iter().zip(blocks.quotas).enumerate() {
            let mut sum = _mm512_setzero_si512();
            for (row, &word) in rows.iter().zip(&glance) {
                sum = _mm512_add_epi64(sum, differing(row, word));
            }
            // Only those that the glance does not exclude.
            let mut near = _mm512_cmple_epu64_mask(sum, spread(most_differing(look.quotas, quotas)));
            if near == 0 {
                continue;
            }
            let slacks = &blocks.slacks[block];
            let [one, other] = [0, 1].map(|i| _mm512_add_epi64(spread(own[i]), load(&slacks[i])));
            let most = _mm512_min_epu64(one, other);
            let mut sum = _mm512_setzero_si512();
            let (steps, rest) = blocks.rows[block * words..][..words].as_chunks::<STEP>();
            for (words, rows) in own_steps.iter().zip(steps) {
                for (row, &word) in rows.iter().zip(words) {
                    sum = _mm512_add_epi64(sum, differing(row, spread(word)));
                }
                near &= _mm512_cmple_epu64_mask(sum, most);
                if near == 0 {
                    continue 'blocks;
                }
            }
            for (row, &word) in rest.iter().zip(own_rest) {
                sum = _mm512_add_epi64(sum, differing(row, spread(word)));
            }
            near &= _mm512_cmple_epu64_mask(sum, most);
            if near != 0 {
                found(block, near);
            }
        }
    }

    /// Eight words at a time. Both have the same number of words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(super) fn differing_avx512(a: &[u64], b: &[u64]) -> usize {
        let mut sum = _mm512_setzero_si512();
        for (a, b) in a.chunks(8).zip(b.chunks(8)) {
            let mask = u8::MAX >> (8 - a.len().min(b.len()));
            // SAFETY: the mask has a bit for each word of both chunks, and only those are read.
            let [a, b] = [a, b].map(|part| unsafe { _mm512_maskz_loadu_epi64(mask, part.as_ptr().cast()) });
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_si512(a, b)));
        }
        _mm512_reduce_add_epi64(sum) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_level;

    #[test]
    fn all_machines_say_the_same() {
        let shingles: Vec<u64> = (0..500u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for words in [1, 3, 7, 15] {
            let mut plain = vec![0; words];
            flip_plain(&shingles, &mut plain);
            let other = &shingles[..words];
            each_level(|level| {
                let mut here = vec![0; words];
                flip(level, &shingles, &mut here);
                assert_eq!(here, plain, "{level:?}");
                assert_eq!(differing(level, &here, other), hamming(&plain, other), "{level:?}");
            });
        }
    }
}
