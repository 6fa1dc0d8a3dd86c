//! `unsafe`: selects and counts many shingle counts at once with AVX2 and AVX-512.
//!
//! `candidate` has the scalar versions, and tests hold them equal.
#![allow(unsafe_code)]

use std::ops::RangeInclusive;

use super::{at_most_plain, select_by};
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::{Level, mask};

/// Appends the shingles whose count is in a range, with the count.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn select(
    level: Level,
    sketch: &[u64],
    counts: &[u8],
    range: RangeInclusive<u8>,
    out: &mut Vec<(u64, u32)>,
) {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level says that the machine has its instructions.
        Instructions::Avx512 => return unsafe { x86::select_avx512(sketch, counts, range, out) },
        // SAFETY: as above.
        Instructions::Avx2 => return unsafe { x86::select_avx2(sketch, counts, range, out) },
        Instructions::Scalar => {}
    }
    let (low, width) = (*range.start(), range.end() - range.start());
    let chosen = |block: &[u8; 64]| mask(block, |count| count.wrapping_sub(low) <= width);
    select_by(sketch, counts, out, chosen);
}

/// How many of the counts are at most `most`.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn at_most(level: Level, counts: &[u8], most: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if level.instructions() == Instructions::Avx512 {
        // SAFETY: a level says that the machine has its instructions.
        return unsafe { x86::at_most(counts, most) };
    }
    at_most_plain(counts, most)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::ops::RangeInclusive;

    use super::super::BLOCK;
    use super::select_by;

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
    pub(super) fn at_most(counts: &[u8], most: u8) -> u32 {
        let (most, mut sum) = (_mm512_set1_epi8(most as i8), 0);
        for counts in counts.chunks(BLOCK) {
            let all = _bzhi_u64(u64::MAX, counts.len() as u32);
            // SAFETY: the mask admits as many bytes as there are counts.
            let block = unsafe { _mm512_maskz_loadu_epi8(all, counts.as_ptr().cast()) };
            sum += _mm512_mask_cmple_epu8_mask(all, block, most).count_ones();
        }
        sum
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn select_avx2(
        sketch: &[u64],
        counts: &[u8],
        range: RangeInclusive<u8>,
        out: &mut Vec<(u64, u32)>,
    ) {
        let (low, high) = range.into_inner();
        let (low, width) = (_mm256_set1_epi8(low as i8), _mm256_set1_epi8(high.wrapping_sub(low) as i8));
        let chosen = |counts: &[u8; 32]| {
            // SAFETY: the array has 32 bytes.
            let counts = unsafe { _mm256_loadu_si256(counts.as_ptr().cast()) };
            let above = _mm256_sub_epi8(counts, low);
            let inside = _mm256_cmpeq_epi8(_mm256_min_epu8(above, width), above);
            u64::from(_mm256_movemask_epi8(inside) as u32)
        };
        select_by(sketch, counts, out, |block| {
            let (halves, _) = block.as_chunks::<32>();
            chosen(&halves[0]) | chosen(&halves[1]) << 32
        });
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
    pub(super) fn select_avx512(
        sketch: &[u64],
        counts: &[u8],
        range: RangeInclusive<u8>,
        out: &mut Vec<(u64, u32)>,
    ) {
        let (low, high) = range.into_inner();
        let (low, width) = (_mm512_set1_epi8(low as i8), _mm512_set1_epi8(high.wrapping_sub(low) as i8));
        for (shingles, counts) in sketch.chunks(BLOCK).zip(counts.chunks(BLOCK)) {
            let all = _bzhi_u64(u64::MAX, counts.len() as u32);
            // SAFETY: the mask admits as many bytes as there are counts.
            let block = unsafe { _mm512_maskz_loadu_epi8(all, counts.as_ptr().cast()) };
            let mut chosen = _mm512_mask_cmple_epu8_mask(all, _mm512_sub_epi8(block, low), width);
            out.reserve(BLOCK);
            while chosen != 0 {
                let place = chosen.trailing_zeros() as usize;
                out.push((shingles[place], u32::from(counts[place])));
                chosen &= chosen - 1;
            }
        }
    }
}
