//! `unsafe`, beside `simd`: a block of text classified and packed at once with AVX-512, where the machine has it.
//!
//! Packing takes all words of a block together, wherever they end, in place of a copy a word. On machines without it
//! words are copied (`fold`), and tests hold the two equal.
#![allow(unsafe_code)]

use super::fold::BLOCK;
use super::simd::Classified;

/// Writes the `kept` characters of a block one behind the other into `text`, those that end a word as a space, and where
/// those are into `places`, counted from `at`. What is behind the last of either is of no meaning.
pub(super) type Packer = fn(&Classified, Packing, &mut [u8; BLOCK], &mut [u32; BLOCK]);

/// What to keep of a block, a bit for each character.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    pub kept: u64,
    /// The separators among them: one behind each word that ends in the block.
    pub ends: u64,
    /// Where the block begins in the canonical text.
    pub at: u32,
}

/// How blocks are classified and packed with AVX-512, if this machine has it.
pub(super) fn wide() -> Option<(super::simd::Classifier, Packer)> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512vbmi2") && has!("bmi2") && has!("popcnt") {
            // SAFETY: the machine has all that the functions ask for.
            let classify = |block: &[u8; BLOCK], out: &mut Classified| unsafe { x86::classify(block, out) };
            let pack: Packer = |block, packing, text, places| {
                // SAFETY: as above.
                unsafe { x86::pack(block, packing, text, places) }
            };
            return Some((classify, pack));
        }
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BLOCK, Classified, Packing};

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn classify(block: &[u8; BLOCK], out: &mut Classified) {
        // SAFETY: a block has 64 bytes.
        let text = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let upper = between(text, b'A', b'Z');
        let lower = _mm512_mask_add_epi8(text, upper, text, _mm512_set1_epi8(0x20));
        let underscore = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(b'_' as i8));
        // SAFETY: `folded` is longer than a block.
        unsafe { _mm512_storeu_si512(out.folded.as_mut_ptr().cast(), lower) };
        out.words = between(lower, b'a', b'z') | between(text, b'0', b'9') | underscore;
        out.other = _mm512_movepi8_mask(text);
        out.escapes = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(b'\\' as i8));
    }

    /// A bit for each byte that is from `low` to `high`.
    #[target_feature(enable = "avx512f,avx512bw")]
    fn between(text: __m512i, low: u8, high: u8) -> u64 {
        let above = _mm512_sub_epi8(text, _mm512_set1_epi8(low as i8));
        _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((high - low) as i8))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
    pub(super) fn pack(
        block: &Classified,
        Packing { kept, ends, at }: Packing,
        text: &mut [u8; BLOCK],
        places: &mut [u32; BLOCK],
    ) {
        // SAFETY: `folded` is longer than a block.
        let folded = unsafe { _mm512_loadu_si512(block.folded.as_ptr().cast()) };
        let spaced = _mm512_mask_blend_epi8(ends, folded, _mm512_set1_epi8(b' ' as i8));
        let packed = _mm512_maskz_compress_epi8(kept, spaced);
        // SAFETY: the text has room for a block.
        unsafe { _mm512_storeu_si512(text.as_mut_ptr().cast(), packed) };
        // SAFETY: there are as many numbers as a block has characters.
        let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
        let moved = _pext_u64(ends, kept);
        let spaces = _mm512_maskz_compress_epi8(moved, numbers);
        let groups: [__m128i; 4] = [
            _mm512_castsi512_si128(spaces),
            _mm512_extracti32x4_epi32::<1>(spaces),
            _mm512_extracti32x4_epi32::<2>(spaces),
            _mm512_extracti32x4_epi32::<3>(spaces),
        ];
        // Few blocks have more words than the first group.
        for (group, to) in
            groups.iter().zip(places.chunks_exact_mut(16)).take(moved.count_ones().div_ceil(16) as usize)
        {
            let sum = _mm512_add_epi32(_mm512_cvtepu8_epi32(*group), _mm512_set1_epi32(at as i32));
            // SAFETY: sixteen numbers of four bytes.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), sum) };
        }
    }

    const NUMBERS: [u8; BLOCK] = {
        let (mut numbers, mut n) = ([0; BLOCK], 0);
        while n < BLOCK {
            numbers[n] = n as u8;
            n += 1;
        }
        numbers
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::simd::classify;

    #[test]
    fn the_wide_way_equals_the_plain_one() {
        let Some((wide, pack)) = wide() else {
            println!("skipped: this machine has no AVX-512");
            return;
        };
        for shift in 0..=255u8 {
            let block: [u8; BLOCK] = std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(shift));
            let (mut a, mut b) = (Classified::default(), Classified::default());
            wide(&block, &mut a);
            classify(&block, &mut b);
            assert_eq!(a, b, "{block:?}");
            let (kept, at) = (u64::from(shift).wrapping_mul(0x9e37_79b9_7f4a_7c15), u32::from(shift));
            let ends = kept & kept >> 1;
            let (mut text, mut places) = ([0; BLOCK], [0; BLOCK]);
            pack(&a, Packing { kept, ends, at }, &mut text, &mut places);
            let bit = |bits: u64, i: &usize| bits >> i & 1 == 1;
            let places_of: Vec<usize> = (0..BLOCK).filter(|i| bit(kept, i)).collect();
            let expected = places_of.iter().map(|i| if bit(ends, i) { b' ' } else { b.folded[*i] });
            assert!(expected.eq(text[..places_of.len()].iter().copied()));
            let expected =
                places_of.iter().enumerate().filter(|(_, i)| bit(ends, i)).map(|(n, _)| n as u32 + at);
            assert!(expected.eq(places[..ends.count_ones() as usize].iter().copied()));
        }
    }
}
