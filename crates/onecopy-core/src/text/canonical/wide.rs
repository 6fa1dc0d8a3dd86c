//! `unsafe`, like `simd`: cuts a block of text into words at once with AVX-512.
//!
//! One instruction packs all words of a block together, wherever they end.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::Canonical;
use super::block::{BLOCK, Place};
use super::fold::{Cursor, Written};
use super::json::escaped;

/// Takes the ASCII characters at the front of `bytes`; returns how many. No branch depends on where words are.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn ascii(cursor: &mut Cursor, bytes: &[u8], out: &mut Canonical) -> usize {
    let json = cursor.written == Written::Json;
    let (mut length, mut count, mut in_word) = (cursor.length, cursor.count, cursor.in_word as u64);
    let mut taken = 0;
    loop {
        let rest = &bytes[taken..];
        let room = rest.len().min(BLOCK);
        // SAFETY: the mask admits as many bytes as are left, at most a block.
        let text = unsafe { _mm512_maskz_loadu_epi8(first(room), rest.as_ptr().cast()) };
        let (folded, mut words) = classify(text);
        let mut other = _mm512_movepi8_mask(text);
        if json {
            let (letters, stray) = escapes(text, room);
            words &= !letters;
            other |= stray;
        }
        let ascii = room.min(other.trailing_zeros() as usize);
        let inside = first(ascii);
        words &= inside;
        // A separator is kept if it ends a word.
        let ends = !words & inside & (words << 1 | in_word);
        let place = Place { kept: words | ends, ends, length, count };
        pack(folded, place, out);
        length += place.kept.count_ones() as usize;
        count += ends.count_ones() as usize;
        // The last character decides, if any was taken.
        in_word = if ascii == BLOCK { words >> (BLOCK - 1) } else { (words << 1 | in_word) >> ascii & 1 };
        taken += ascii;
        if ascii < BLOCK || taken == bytes.len() {
            break;
        }
    }
    (cursor.length, cursor.count, cursor.in_word) = (length, count, in_word as usize);
    taken
}

/// A mask of the first `many` of 64 bits.
#[target_feature(enable = "bmi2")]
#[inline]
fn first(many: usize) -> u64 {
    _bzhi_u64(u64::MAX, many as u32)
}

/// The text in lower case, and a mask of the characters in words.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn classify(text: __m512i) -> (__m512i, u64) {
    let upper = between(text, b'A', b'Z');
    let lower = _mm512_mask_add_epi8(text, upper, text, _mm512_set1_epi8(0x20));
    let underscore = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(b'_' as i8));
    (lower, between(lower, b'a', b'z') | between(text, b'0', b'9') | underscore)
}

/// A bit for each byte from `low` to `high`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn between(text: __m512i, low: u8, high: u8) -> u64 {
    let above = _mm512_sub_epi8(text, _mm512_set1_epi8(low as i8));
    _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((high - low) as i8))
}

/// The letters of simple escapes, which stand for separators, and the backslashes of the others. Those give a
/// character by number, or the end of the block cuts them off.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn escapes(text: __m512i, room: usize) -> (u64, u64) {
    let backslashes = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(b'\\' as i8));
    let (letters, _) = escaped(backslashes, false);
    let numbered = letters & _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(b'u' as i8));
    let cut_off = backslashes & !letters & 1 << (room - 1);
    (letters, numbered >> 1 | cut_off)
}

/// Writes the kept characters in sequence, with a space for each that ends a word, and where those spaces are.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
#[inline]
fn pack(folded: __m512i, Place { kept, ends, length, count }: Place, out: &mut Canonical) {
    let text: &mut [u8; BLOCK] = out.bytes[length..].first_chunk_mut().expect("room for a block");
    let places: &mut [u32; BLOCK] = out.ends[count..].first_chunk_mut().expect("room for a block's words");
    let spaced = _mm512_mask_blend_epi8(ends, folded, _mm512_set1_epi8(b' ' as i8));
    let packed = _mm512_maskz_compress_epi8(kept, spaced);
    // SAFETY: the text has room for a block.
    unsafe { _mm512_storeu_si512(text.as_mut_ptr().cast(), packed) };
    // SAFETY: `NUMBERS` has as many bytes as a block.
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
        let sum = _mm512_add_epi32(_mm512_cvtepu8_epi32(*group), _mm512_set1_epi32(length as i32));
        // SAFETY: `to` has room for sixteen numbers of four bytes.
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
