//! `unsafe`: counts of shingles looked at 64 at once with AVX-512, where the machine has it.
//!
//! The plain versions are in `candidate`, tested equal.
#![allow(unsafe_code)]

use std::ops::RangeInclusive;

/// Appends the shingles whose count is in a range, with the count. False on a machine that cannot.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, clippy::ptr_arg))]
pub(super) fn select(
    sketch: &[u64],
    counts: &[u8],
    range: RangeInclusive<u8>,
    out: &mut Vec<(u64, u32)>,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if x86::supported() {
        // SAFETY: the machine has all that the function asks for.
        unsafe { x86::select(sketch, counts, range, out) };
        return true;
    }
    false
}

/// Notes where the shingles of each count begin in the order, as far as the first count that begins behind the `wanted`
/// shingles; says which that is. `None` where another way is better.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn places(counts: &[u8], wanted: usize, places: &mut [u32; 256]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if x86::supported() {
        // SAFETY: the machine has all that the function asks for.
        return unsafe { x86::places(counts, wanted, places) };
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::ops::RangeInclusive;

    /// Counts that are looked at together.
    const BLOCK: usize = 64;
    /// So often all counts are looked at. Most pages have enough rare shingles long before.
    const FEW: usize = 24;

    /// Asks the machine. The standard library remembers the answer.
    pub(super) fn supported() -> bool {
        use std::arch::is_x86_feature_detected as has;
        has!("avx512f") && has!("avx512bw") && has!("bmi1") && has!("bmi2") && has!("popcnt")
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
    pub(super) fn places(counts: &[u8], wanted: usize, places: &mut [u32; 256]) -> Option<usize> {
        let mut before = 0;
        for (count, place) in places.iter_mut().enumerate().take(FEW) {
            *place = before;
            if before as usize >= wanted {
                return Some(count);
            }
            before = at_most(counts, count as u8);
        }
        None
    }

    /// How many of the counts are at most this.
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
    fn at_most(counts: &[u8], most: u8) -> u32 {
        let (most, mut sum) = (_mm512_set1_epi8(most as i8), 0);
        for counts in counts.chunks(BLOCK) {
            let all = _bzhi_u64(u64::MAX, counts.len() as u32);
            // SAFETY: as many bytes as there are counts.
            let block = unsafe { _mm512_maskz_loadu_epi8(all, counts.as_ptr().cast()) };
            sum += _mm512_mask_cmple_epu8_mask(all, block, most).count_ones();
        }
        sum
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
    pub(super) fn select(
        sketch: &[u64],
        counts: &[u8],
        range: RangeInclusive<u8>,
        out: &mut Vec<(u64, u32)>,
    ) {
        let (low, high) = range.into_inner();
        let (low, width) = (_mm512_set1_epi8(low as i8), _mm512_set1_epi8(high.wrapping_sub(low) as i8));
        for (shingles, counts) in sketch.chunks(BLOCK).zip(counts.chunks(BLOCK)) {
            let all = _bzhi_u64(u64::MAX, counts.len() as u32);
            // SAFETY: as many bytes as there are counts.
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
