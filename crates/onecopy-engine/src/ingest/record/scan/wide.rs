//! `unsafe`: finds the end of a string with AVX2 and AVX-512, 64 bytes at a time.
//!
//! All levels share the loop `inside_by`, and tests check that their results are equal.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use onecopy_core::simd::Instructions;
use onecopy_core::simd::Level;

use super::{inside_by, masks};

/// The number of bytes before the closing quote of a string. `None` if there is no such quote or the string is invalid.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
#[inline]
pub(super) fn inside(level: Level, bytes: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level guarantees that the machine has its instructions.
        Instructions::Avx512 => return unsafe { x86::inside_avx512(bytes) },
        // SAFETY: as above.
        Instructions::Avx2 => return unsafe { x86::inside_avx2(bytes) },
        Instructions::Scalar => {}
    }
    inside_by(bytes, masks)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::{Masks, inside_by};

    #[target_feature(enable = "avx2,bmi1")]
    pub(super) fn inside_avx2(bytes: &[u8]) -> Option<usize> {
        let bits = |half: __m256i| u64::from(_mm256_movemask_epi8(half) as u32);
        inside_by(bytes, |block| {
            // SAFETY: both halves are 32 bytes inside the block.
            let halves = unsafe {
                let start = block.as_ptr();
                [_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast())]
            };
            let both = |[low, high]: [__m256i; 2]| bits(low) | bits(high) << 32;
            let equal =
                |byte: u8| both(halves.map(|half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))));
            let most = _mm256_set1_epi8(b' ' as i8 - 1);
            Masks {
                quotes: equal(b'"'),
                backslashes: equal(b'\\'),
                controls: both(halves.map(|half| _mm256_cmpeq_epi8(_mm256_min_epu8(half, most), half))),
                line_ends: equal(b'n'),
            }
        })
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1")]
    pub(super) fn inside_avx512(bytes: &[u8]) -> Option<usize> {
        inside_by(bytes, |block| {
            // SAFETY: a block has 64 bytes.
            let text = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let equal = |byte: u8| _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(byte as i8));
            Masks {
                quotes: equal(b'"'),
                backslashes: equal(b'\\'),
                controls: _mm512_cmplt_epu8_mask(text, _mm512_set1_epi8(b' ' as i8)),
                line_ends: equal(b'n'),
            }
        })
    }
}
