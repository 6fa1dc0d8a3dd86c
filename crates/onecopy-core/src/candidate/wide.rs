//! `unsafe`: the shingles of some counts, found 64 at once with AVX-512, where the machine has it.
//!
//! `select` is the plain version, tested equal.
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
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("bmi1") && has!("bmi2") {
            // SAFETY: the machine has all that the function asks for.
            unsafe { x86::select(sketch, counts, range, out) };
            return true;
        }
    }
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::ops::RangeInclusive;

    /// Counts that are looked at together.
    const BLOCK: usize = 64;

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
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
