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

    use super::super::escape;

    /// Bytes that are looked at together.
    const BLOCK: usize = 64;

    /// What a block holds, a bit for each byte.
    struct Marks {
        quotes: u64,
        backslashes: u64,
        control: u64,
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1")]
    pub(super) fn inside(bytes: &[u8]) -> Option<usize> {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        // Whether the first byte of the block belongs to an escape.
        let mut escaped = false;
        for (at, block) in (0..).step_by(BLOCK).zip(blocks) {
            if let Some(end) = end(mark(block), bytes, at, &mut escaped)? {
                return Some(end);
            }
        }
        let mut last = [b' '; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        end(mark(&last), bytes, bytes.len() - rest.len(), &mut escaped)?
    }

    /// Where the string ends, if it does so in the block at `at`. None if something is strange before that.
    #[target_feature(enable = "bmi1")]
    #[inline]
    fn end(marks: Marks, bytes: &[u8], at: usize, escaped: &mut bool) -> Option<Option<usize>> {
        let first = !u64::from(std::mem::take(escaped));
        let (mut quotes, mut backslashes) = (marks.quotes & first, marks.backslashes & first);
        while backslashes != 0 && (quotes == 0 || backslashes.trailing_zeros() < quotes.trailing_zeros()) {
            let place = backslashes.trailing_zeros() as usize;
            escape(&bytes[at + place + 1..])?;
            // Of the bytes of an escape, only the second may look like something else.
            let done = !(0b11 << place);
            (quotes, backslashes) = (quotes & done, backslashes & done);
            *escaped = place == BLOCK - 1;
        }
        let before = quotes.wrapping_sub(1) & !quotes;
        if marks.control & before != 0 {
            return None;
        }
        Some((quotes != 0).then(|| at + quotes.trailing_zeros() as usize))
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn mark(block: &[u8; BLOCK]) -> Marks {
        // SAFETY: a block has 64 bytes.
        let text = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        Marks {
            quotes: _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(b'"' as i8)),
            backslashes: _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(b'\\' as i8)),
            control: _mm512_cmplt_epu8_mask(text, _mm512_set1_epi8(b' ' as i8)),
        }
    }
}
