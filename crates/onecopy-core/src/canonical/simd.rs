//! `unsafe`, the core's other being `hamming/simd.rs`: 64 characters classified at once with AVX2, where the
//! machine has it, and 32 functions of a shingle.
//!
//! `classify` and `least` are the plain versions, tested equal. Instructions are chosen at run time, so that one program
//! is fast on every machine and gives the same answer on all.
#![allow(unsafe_code)]

use super::fold::{BLOCK, COPY};

/// A block of text: lower-cased and padded for copying, and a bit for each of its characters that is in a word, is not
/// ASCII, or is a backslash.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Classified {
    pub folded: [u8; BLOCK + COPY],
    pub words: u64,
    pub other: u64,
    pub escapes: u64,
}

impl Default for Classified {
    fn default() -> Classified {
        Classified { folded: [0; BLOCK + COPY], words: 0, other: 0, escapes: 0 }
    }
}

impl Classified {
    /// Takes escapes of one letter for separators, which is what they stand for. Those of a number, and one that is cut
    /// off by the end of the block, are put among the characters that are not ASCII.
    pub(super) fn skip_escapes(&mut self, block: &[u8]) {
        let mut escapes = self.escapes;
        while escapes != 0 {
            let at = escapes.trailing_zeros() as usize;
            if matches!(block.get(at + 1), None | Some(b'u')) {
                self.other |= 1 << at;
                return;
            }
            let letter = 1 << (at + 1);
            self.words &= !letter;
            escapes &= !letter & (escapes - 1);
        }
    }
}

/// How blocks are classified on this machine.
pub(super) type Classifier = fn(&[u8; BLOCK], &mut Classified);

/// The fastest way that this machine has.
pub(super) fn classifier() -> Classifier {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all that the function asks for.
        return |block, out| unsafe { x86::classify_avx2(block, out) };
    }
    classify
}

/// Classifies a block, on any machine.
pub(super) fn classify(block: &[u8; BLOCK], out: &mut Classified) {
    (out.words, out.other, out.escapes) = (0, 0, 0);
    for (i, &byte) in block.iter().enumerate() {
        out.folded[i] = byte.to_ascii_lowercase();
        out.words |= u64::from(byte.is_ascii_alphanumeric() || byte == b'_') << i;
        out.other |= u64::from(byte >= 0x80) << i;
        out.escapes |= u64::from(byte == b'\\') << i;
    }
}

/// Functions of 64-bit values that are worked out side by side: `(low ^ flip) * times ^ high`, by the halves of the
/// value. 64-bit products would mix better, but few machines multiply vectors of them.
#[derive(Clone, Debug)]
pub(crate) struct Functions {
    pub flip: [u32; Functions::COUNT],
    /// Odd, so that each is one to one in the lower half.
    pub times: [u32; Functions::COUNT],
}

impl Functions {
    pub(crate) const COUNT: usize = 32;

    /// The least that each function is of any of `values`.
    pub(crate) fn least(&self, values: &[u64]) -> [u32; Functions::COUNT] {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, which is all that the function asks for.
            return unsafe { x86::least_avx2(self, values) };
        }
        least(self, values)
    }
}

/// As [`Functions::least`], on any machine. Six to nine times slower without AVX2, so that is chosen at run time.
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

    use super::{BLOCK, Classified, Functions, least};

    /// The plain loop; the compiler knows how to put it into wider registers once it may.
    #[target_feature(enable = "avx2")]
    pub(super) fn least_avx2(functions: &Functions, values: &[u64]) -> [u32; Functions::COUNT] {
        least(functions, values)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn classify_avx2(block: &[u8; BLOCK], out: &mut Classified) {
        (out.words, out.other, out.escapes) = (0, 0, 0);
        for half in 0..2 {
            // SAFETY: both halves are 32 bytes inside the block.
            let text = unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * half).cast()) };
            let upper = between(text, b'A', b'Z');
            let lower = _mm256_or_si256(text, _mm256_and_si256(upper, _mm256_set1_epi8(0x20)));
            let letter = between(lower, b'a', b'z');
            let digit = between(text, b'0', b'9');
            let underscore = _mm256_cmpeq_epi8(text, _mm256_set1_epi8(b'_' as i8));
            let word = _mm256_or_si256(_mm256_or_si256(letter, digit), underscore);
            // SAFETY: `folded` is longer than the block.
            unsafe { _mm256_storeu_si256(out.folded.as_mut_ptr().add(32 * half).cast(), lower) };
            let escape = _mm256_cmpeq_epi8(text, _mm256_set1_epi8(b'\\' as i8));
            let bits = |bytes: __m256i| u64::from(_mm256_movemask_epi8(bytes) as u32) << (32 * half);
            out.words |= bits(word);
            out.other |= bits(text);
            out.escapes |= bits(escape);
        }
    }

    /// All ones where a byte is from `low` to `high`. Both are ASCII, so bytes above, negative here, are not.
    #[target_feature(enable = "avx2")]
    fn between(text: __m256i, low: u8, high: u8) -> __m256i {
        let above = _mm256_cmpgt_epi8(text, _mm256_set1_epi8(low as i8 - 1));
        let below = _mm256_cmpgt_epi8(_mm256_set1_epi8(high as i8 + 1), text);
        _mm256_and_si256(above, below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_way_equals_the_plain_one() {
        let fast = classifier();
        for shift in 0..=255u8 {
            let block: [u8; BLOCK] = std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(shift));
            let (mut a, mut b) = (Classified::default(), Classified::default());
            fast(&block, &mut a);
            classify(&block, &mut b);
            assert_eq!(a, b, "{block:?}");
        }
    }

    #[test]
    fn the_least_are_the_same_on_all_machines() {
        let mixed = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ n << 17;
        let functions = Functions {
            flip: std::array::from_fn(|i| mixed(i as u64) as u32),
            times: std::array::from_fn(|i| (mixed(i as u64) >> 32) as u32 | 1),
        };
        for count in [0, 1, 7, 100] {
            let values: Vec<u64> = (0..count).map(|n| mixed(n + 1_000)).collect();
            assert_eq!(functions.least(&values), least(&functions, &values));
        }
    }
}
