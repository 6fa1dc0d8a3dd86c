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
    if level.instructions() >= Instructions::Avx2 {
        // SAFETY: a level says that the machine has its instructions.
        return unsafe { x86::differing(a, b) };
    }
    hamming(a, b)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{flip_plain, hamming};

    #[target_feature(enable = "popcnt,bmi2")]
    pub(super) fn flip(shingles: &[u64], bits: &mut [u64]) {
        flip_plain(shingles, bits);
    }

    #[target_feature(enable = "popcnt,bmi2")]
    pub(super) fn differing(a: &[u64], b: &[u64]) -> usize {
        hamming(a, b)
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
