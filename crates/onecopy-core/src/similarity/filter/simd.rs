//! Counting the common bits of two filters, compiled for machines that count bits of several words at once.
//!
//! The code is the scalar one, so that only the instructions can differ. `unsafe` is only the promise that the
//! machine has them, which a `Level` proves.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;

/// How many bits both have.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn shared(level: Level, a: &[u64], b: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level says that the machine has its instructions.
        Instructions::Avx512 => return unsafe { x86::shared_avx512(a, b) },
        // SAFETY: as above.
        Instructions::Avx2 => return unsafe { x86::shared_avx2(a, b) },
        Instructions::Scalar => {}
    }
    shared_plain(a, b)
}

/// How many bits both have, in the instructions of the caller.
#[inline(always)]
pub(crate) fn shared_plain(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::shared_plain;

    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    pub(super) fn shared_avx512(a: &[u64], b: &[u64]) -> u64 {
        shared_plain(a, b)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn shared_avx2(a: &[u64], b: &[u64]) -> u64 {
        shared_plain(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_level;

    #[test]
    fn every_level_counts_what_one_counts_by_hand() {
        let words: Vec<u64> = (0..128).map(|n| crate::hash::draw(n, 0)).collect();
        for width in [1, 7, 8, 32, 33, 64] {
            let (a, b) = (&words[..width], &words[64..64 + width]);
            let is_set = |words: &[u64], bit: usize| words[bit / 64] >> (bit % 64) & 1 == 1;
            let by_hand = (0..width * 64).filter(|&bit| is_set(a, bit) && is_set(b, bit)).count() as u64;
            each_level(|level| assert_eq!(shared(level, a, b), by_hand, "{level:?}"));
        }
    }
}
