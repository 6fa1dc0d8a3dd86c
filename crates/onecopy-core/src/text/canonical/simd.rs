//! `unsafe`: cuts a block of text into words with AVX2, and computes 32 functions of a shingle.
//!
//! `block` and `least` have the scalar versions, and tests hold them equal.
#![allow(unsafe_code)]

use super::block;
use super::fold::Taker;
#[cfg(target_arch = "x86_64")]
use super::wide;
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;

/// The taker of ASCII characters at this level.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn taker(level: Level) -> Taker {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level says that the machine has its instructions.
        Instructions::Avx512 => return |cursor, bytes, out| unsafe { wide::ascii(cursor, bytes, out) },
        // SAFETY: as above.
        Instructions::Avx2 => return |cursor, bytes, out| unsafe { x86::ascii(cursor, bytes, out) },
        Instructions::Scalar => {}
    }
    block::ascii
}

/// Functions of 64-bit values that are computed in parallel: `(low ^ flip) * times ^ high`, on the halves of the
/// value. 64-bit products would mix better, but few machines multiply vectors of them.
#[derive(Clone, Debug)]
pub(crate) struct Functions {
    pub flip: [u32; Functions::COUNT],
    /// Odd, so that each function is one-to-one in the lower half.
    pub times: [u32; Functions::COUNT],
}

impl Functions {
    pub(crate) const COUNT: usize = 32;

    /// The least value of each function over `values`.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
    pub(crate) fn least(&self, level: Level, values: &[u64]) -> [u32; Functions::COUNT] {
        #[cfg(target_arch = "x86_64")]
        if level.instructions() >= Instructions::Avx2 {
            // SAFETY: a level says that the machine has its instructions.
            return unsafe { x86::least(self, values) };
        }
        least(self, values)
    }
}

/// Like [`Functions::least`], on any machine. AVX2 is six to nine times faster, so the level is chosen at run time.
#[inline(always)]
fn least(functions: &Functions, values: &[u64]) -> [u32; Functions::COUNT] {
    let Functions { flip, times } = functions;
    let mut least = [u32::MAX; Functions::COUNT];
    for &value in values {
        let (low, high) = (value as u32, (value >> 32) as u32);
        for i in 0..Functions::COUNT {
            least[i] = least[i].min((low ^ flip[i]).wrapping_mul(times[i]) ^ high);
        }
    }
    least
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Functions;
    use crate::text::canonical::Canonical;
    use crate::text::canonical::block::{BLOCK, Folded, Masks, Place, Way};
    use crate::text::canonical::fold::Cursor;

    /// The plain loop, which the compiler vectorises once AVX2 is enabled.
    #[target_feature(enable = "avx2")]
    pub(super) fn least(functions: &Functions, values: &[u64]) -> [u32; Functions::COUNT] {
        super::least(functions, values)
    }

    /// Takes the ASCII characters at the front of `bytes`; returns how many.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn ascii(cursor: &mut Cursor, bytes: &[u8], out: &mut Canonical) -> usize {
        let way = Way {
            classify: |block: &[u8; BLOCK], folded: &mut Folded| classify(block, folded),
            pack: |folded: &Folded, place: Place, out: &mut Canonical| pack(folded, place, out),
        };
        way.take(cursor, bytes, out)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn classify(block: &[u8; BLOCK], folded: &mut Folded) -> Masks {
        let mut masks = Masks { words: 0, other: 0, backslashes: 0 };
        for half in 0..2 {
            // SAFETY: both halves are 32 bytes inside the block.
            let text = unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * half).cast()) };
            let upper = between(text, b'A', b'Z');
            let lower = _mm256_or_si256(text, _mm256_and_si256(upper, _mm256_set1_epi8(0x20)));
            let letter = between(lower, b'a', b'z');
            let digit = between(text, b'0', b'9');
            let underscore = _mm256_cmpeq_epi8(text, _mm256_set1_epi8(b'_' as i8));
            let word = _mm256_or_si256(_mm256_or_si256(letter, digit), underscore);
            let spaced = _mm256_blendv_epi8(_mm256_set1_epi8(b' ' as i8), lower, word);
            // SAFETY: `folded` is longer than the block.
            unsafe { _mm256_storeu_si256(folded.as_mut_ptr().add(32 * half).cast(), spaced) };
            let backslash = _mm256_cmpeq_epi8(text, _mm256_set1_epi8(b'\\' as i8));
            let bits = |bytes: __m256i| u64::from(_mm256_movemask_epi8(bytes) as u32) << (32 * half);
            masks.words |= bits(word);
            masks.other |= bits(text);
            masks.backslashes |= bits(backslash);
        }
        masks
    }

    /// All ones where a byte is from `low` to `high`. Both are ASCII; bytes above ASCII are negative here, so they
    /// do not match.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn between(text: __m256i, low: u8, high: u8) -> __m256i {
        let above = _mm256_cmpgt_epi8(text, _mm256_set1_epi8(low as i8 - 1));
        let below = _mm256_cmpgt_epi8(_mm256_set1_epi8(high as i8 + 1), text);
        _mm256_and_si256(above, below)
    }

    /// Writes the kept characters in sequence, eight at a time, and where words end.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    fn pack(folded: &Folded, Place { kept, mut ends, length, count }: Place, out: &mut Canonical) {
        let text: &mut [u8; BLOCK] = out.bytes[length..].first_chunk_mut().expect("room for a block");
        let mut at = 0;
        for (part, kept) in folded.as_chunks::<16>().0.iter().zip(kept.to_le_bytes().as_chunks::<2>().0) {
            // SAFETY: `part` has sixteen bytes.
            let part = unsafe { _mm_loadu_si128(part.as_ptr().cast()) };
            let order = kept.map(|kept| PACKED[usize::from(kept)]);
            // The second eight come from the second half.
            let order = _mm_set_epi64x((order[1] | u64::from_le_bytes([8; 8])) as i64, order[0] as i64);
            let packed = _mm_shuffle_epi8(part, order);
            let eights = [_mm_cvtsi128_si64(packed), _mm_extract_epi64::<1>(packed)];
            for (eight, kept) in eights.iter().zip(kept) {
                text[at..at + 8].copy_from_slice(&eight.to_le_bytes());
                at += kept.count_ones() as usize;
            }
        }
        let places: &mut [u32; BLOCK] =
            out.ends[count..].first_chunk_mut().expect("room for a block's words");
        // One before the first kept character, because the count up to an end includes the end itself.
        let before = (length as u32).wrapping_sub(1);
        for eight in places.as_chunks_mut::<8>().0.iter_mut().take(ends.count_ones().div_ceil(8) as usize) {
            for place in eight {
                let up_to = ends ^ ends.wrapping_sub(1);
                *place = before.wrapping_add((kept & up_to).count_ones());
                ends &= ends.wrapping_sub(1);
            }
        }
    }

    /// For each subset of eight bytes, the positions of its members in sequence.
    static PACKED: [u64; 256] = {
        let (mut orders, mut choice) = ([0; 256], 0);
        while choice < 256 {
            let (mut byte, mut shift) = (0, 0);
            while byte < 8 {
                if choice >> byte & 1 == 1 {
                    orders[choice] |= byte << shift;
                    shift += 8;
                }
                byte += 1;
            }
            choice += 1;
        }
        orders
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_level;

    #[test]
    fn the_least_are_the_same_at_every_level() {
        let mixed = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ n << 17;
        let functions = Functions {
            flip: std::array::from_fn(|i| mixed(i as u64) as u32),
            times: std::array::from_fn(|i| (mixed(i as u64) >> 32) as u32 | 1),
        };
        for count in [0, 1, 7, 100] {
            let values: Vec<u64> = (0..count).map(|n| mixed(n + 1_000)).collect();
            let of = |value: u64, i: usize| {
                (value as u32 ^ functions.flip[i]).wrapping_mul(functions.times[i]) ^ (value >> 32) as u32
            };
            let by_hand =
                std::array::from_fn(|i| values.iter().map(|&value| of(value, i)).min().unwrap_or(u32::MAX));
            each_level(|level| assert_eq!(functions.least(level, &values), by_hand, "{level:?}"));
        }
    }
}
