//! `unsafe`: asks all questions of 32 blocks at once with AVX-512. The leaves of a tree fill one register, so that one
//! instruction looks up those of all blocks.
//!
//! `model` has the version for other machines, and a test holds the two equal.
#![allow(unsafe_code)]

use super::{Batch, LANES};
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;

/// The sums of the blocks; nothing if another way is better.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn sums(
    level: Level,
    questions: &[(u8, i16)],
    leaves: &[i16],
    batch: &Batch,
) -> Option<[i32; LANES]> {
    #[cfg(target_arch = "x86_64")]
    if level.instructions() == Instructions::Avx512 {
        // SAFETY: a level says that the machine has its instructions.
        return Some(unsafe { x86::sums(questions, leaves, batch) });
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::DEPTH;
    use super::{Batch, LANES};

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn sums(questions: &[(u8, i16)], leaves: &[i16], batch: &Batch) -> [i32; LANES] {
        let trees = questions.as_chunks::<DEPTH>().0.iter().zip(leaves.as_chunks::<{ 1 << DEPTH }>().0);
        let mut halves = [_mm512_setzero_si512(); 2];
        for (questions, leaves) in trees {
            let mut places = _mm512_setzero_si512();
            for (level, (feature, above)) in questions.iter().enumerate() {
                let column: &[i16; LANES] = &batch.0[usize::from(*feature)];
                // SAFETY: `column` has 32 numbers of two bytes.
                let column = unsafe { _mm512_loadu_si512(column.as_ptr().cast()) };
                let yes = _mm512_cmpgt_epi16_mask(column, _mm512_set1_epi16(*above));
                places = _mm512_or_si512(places, _mm512_maskz_set1_epi16(yes, 1 << level));
            }
            // SAFETY: `leaves` has 32 numbers of two bytes.
            let leaves = unsafe { _mm512_loadu_si512(leaves.as_ptr().cast()) };
            let found = _mm512_permutexvar_epi16(places, leaves);
            let parts = [_mm512_castsi512_si256(found), _mm512_extracti64x4_epi64::<1>(found)];
            halves = std::array::from_fn(|half| {
                _mm512_add_epi32(halves[half], _mm512_cvtepi16_epi32(parts[half]))
            });
        }
        let mut sums = [0; LANES];
        for (sums, half) in sums.as_chunks_mut::<16>().0.iter_mut().zip(halves) {
            // SAFETY: `sums` has room for 16 numbers of four bytes.
            unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), half) };
        }
        sums
    }
}
