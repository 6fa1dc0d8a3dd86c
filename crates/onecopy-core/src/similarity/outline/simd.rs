//! Draws and compares outlines, compiled for machines that count and shift several words at once.
//!
//! The code is the scalar one. `unsafe` is only the promise that the machine has the instructions, which a `Level`
//! proves.
#![allow(unsafe_code)]

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

/// Calls `near` with those of `contents` for which `is_far` is false. It takes the last word of an outline, and the
/// number of bits that differ from `outline`.
pub(super) fn sift(
    level: Level,
    (outline, all): (&[u64], &[u64]),
    contents: &[u32],
    is_far: impl Fn(u64, usize) -> bool,
    near: impl FnMut(u32),
) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a level says that the machine has its instructions.
    match level.instructions() {
        Instructions::Avx512 => return unsafe { x86::sift_avx512((outline, all), contents, is_far, near) },
        Instructions::Avx2 => return unsafe { x86::sift((outline, all), contents, is_far, near) },
        Instructions::Scalar => {}
    }
    sift_by((outline, all), contents, |a, b| differing(level, a, b), is_far, near);
}

#[inline(always)]
fn sift_by(
    (outline, all): (&[u64], &[u64]),
    contents: &[u32],
    differing: impl Fn(&[u64], &[u64]) -> usize,
    is_far: impl Fn(u64, usize) -> bool,
    mut near: impl FnMut(u32),
) {
    let Some((_, own)) = outline.split_last() else { return };
    for &content in contents {
        let other = &all[content as usize * outline.len()..][..outline.len()];
        let Some((about, bits)) = other.split_last() else { continue };
        if !is_far(*about, differing(own, bits)) {
            near(content);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm512_add_epi64, _mm512_maskz_loadu_epi64, _mm512_popcnt_epi64, _mm512_reduce_add_epi64,
        _mm512_setzero_si512, _mm512_xor_si512,
    };

    use super::{flip_plain, hamming, sift_by};

    #[target_feature(enable = "popcnt,bmi2")]
    pub(super) fn flip(shingles: &[u64], bits: &mut [u64]) {
        flip_plain(shingles, bits);
    }

    #[target_feature(enable = "popcnt,bmi2")]
    pub(super) fn differing(a: &[u64], b: &[u64]) -> usize {
        hamming(a, b)
    }

    #[target_feature(enable = "popcnt,bmi2")]
    pub(super) fn sift(
        outlines: (&[u64], &[u64]),
        contents: &[u32],
        is_far: impl Fn(u64, usize) -> bool,
        near: impl FnMut(u32),
    ) {
        sift_by(outlines, contents, |a, b| differing(a, b), is_far, near);
    }

    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(super) fn sift_avx512(
        outlines: (&[u64], &[u64]),
        contents: &[u32],
        is_far: impl Fn(u64, usize) -> bool,
        near: impl FnMut(u32),
    ) {
        sift_by(outlines, contents, |a, b| differing_avx512(a, b), is_far, near);
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
                let (mut near, all) = (Vec::new(), [plain.as_slice(), other, &plain].concat());
                sift(level, (&plain, &all), &[0, 1, 2], |_, differing| differing > 3, |c| near.push(c));
                assert_eq!(near, if words == 1 { vec![0, 1, 2] } else { vec![0, 2] }, "{level:?} {words}");
            });
        }
    }
}
