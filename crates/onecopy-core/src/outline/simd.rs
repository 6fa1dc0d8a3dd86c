//! Drawing and comparing outlines, compiled for machines that count and shift bits at once.
//!
//! The code is the plain one; `unsafe` is only the promise that the machine has the instructions, and it is asked first.
#![allow(unsafe_code)]

use super::flip_plain;
use crate::measure::hamming;

/// Flips a bit for each shingle.
pub(super) fn flip(shingles: &[u64], bits: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if x86::supported() {
        // SAFETY: the machine has all that the function asks for.
        return unsafe { x86::flip(shingles, bits) };
    }
    flip_plain(shingles, bits);
}

/// In how many bits two outlines differ.
pub(super) fn differing(a: &[u64], b: &[u64]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if x86::supported() {
        // SAFETY: the machine has all that the function asks for.
        return unsafe { x86::differing(a, b) };
    }
    hamming(a, b)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{flip_plain, hamming};

    /// Asks the machine. The standard library remembers the answer.
    pub(super) fn supported() -> bool {
        use std::arch::is_x86_feature_detected as has;
        has!("popcnt") && has!("bmi2")
    }

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

    #[test]
    fn all_machines_say_the_same() {
        let shingles: Vec<u64> = (0..500u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for words in [1, 3, 7, 15] {
            let (mut here, mut plain) = (vec![0; words], vec![0; words]);
            flip(&shingles, &mut here);
            flip_plain(&shingles, &mut plain);
            assert_eq!(here, plain);
            let other: Vec<u64> = shingles[..words].to_vec();
            assert_eq!(differing(&here, &other), hamming(&plain, &other));
        }
    }
}
