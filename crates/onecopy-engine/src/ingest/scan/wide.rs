//! `unsafe`: where a string ends, found 64 bytes at once with AVX-512, where the machine has it.
//!
//! `inside_plain` is the plain version, tested equal. It stops at every escape, of which a text has one a line.
#![allow(unsafe_code)]

/// How many bytes there are before the quote that ends a string; none if nothing does, or if something is strange. Nothing
/// is said on a machine that cannot.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
#[inline]
pub(super) fn inside(bytes: &[u8]) -> Option<Option<usize>> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("bmi1") {
            // SAFETY: the machine has all that the function asks for.
            return Some(unsafe { x86::inside(bytes) });
        }
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use onecopy_core::escaped;

    use super::super::escape;

    /// Bytes that are looked at together.
    const BLOCK: usize = 64;

    #[target_feature(enable = "avx512f,avx512bw,bmi1")]
    pub(super) fn inside(bytes: &[u8]) -> Option<usize> {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut last = [b' '; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        // Whether the first byte of the block belongs to an escape.
        let mut first = false;
        for (at, block) in (0..).step_by(BLOCK).zip(blocks.iter().chain([&last])) {
            // SAFETY: a block has 64 bytes.
            let text = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let equal = |byte: u8| _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(byte as i8));
            let (mut quotes, backslashes) = (equal(b'"'), equal(b'\\'));
            let mut letters = 0;
            if first || backslashes != 0 {
                (letters, first) = escaped(backslashes, first);
                quotes &= !letters;
            }
            let before = quotes.wrapping_sub(1) & !quotes;
            let control = _mm512_cmplt_epu8_mask(text, _mm512_set1_epi8(b' ' as i8));
            // Most are line ends and quotes.
            let rare = letters & before & !(equal(b'n') | equal(b'"') | backslashes);
            if control & before != 0 || !valid(text, rare, &bytes[at..]) {
                return None;
            }
            if quotes != 0 {
                return Some(at + quotes.trailing_zeros() as usize);
            }
        }
        None
    }

    /// Whether the `letters`, of the block at the front of `bytes`, make an escape of the backslash before them.
    #[target_feature(enable = "avx512f,avx512bw,bmi1")]
    #[inline]
    fn valid(text: __m512i, letters: u64, bytes: &[u8]) -> bool {
        if letters == 0 {
            return true;
        }
        let equal = |byte: u8| _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(byte as i8));
        let mut odd = letters & !b"/tbfr".iter().fold(0, |found, &letter| found | equal(letter));
        // Those of a number are longer, and in most texts rare.
        while odd != 0 {
            if escape(&bytes[odd.trailing_zeros() as usize..]).is_none() {
                return false;
            }
            odd &= odd - 1;
        }
        true
    }
}
