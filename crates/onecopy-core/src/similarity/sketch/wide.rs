//! `unsafe`: sorts hashes and makes shingles eight at a time with AVX-512.
//!
//! `sort` and `shingle` have the versions for other machines, and tests hold the two equal.
#![allow(unsafe_code)]

use super::sort::SortTable;
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;

/// How many values a wide instruction takes at once.
#[cfg(target_arch = "x86_64")]
pub(super) const LANES: usize = 8;

/// Sorts the hashes from number `start` on and removes duplicates. Returns `false` and leaves `values` as they were
/// if another way is better.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, clippy::ptr_arg))]
pub(super) fn sort_unique(level: Level, values: &mut Vec<u64>, start: usize, table: &mut SortTable) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level.instructions() == Instructions::Avx512
        && let Some(bits) = super::columns::fill(&values[start..], table)
    {
        // The last values are written eight at a time too.
        values.resize(values.len() + LANES, 0);
        let these = &mut values[start..];
        // SAFETY: a level says that the machine has its instructions.
        let length = unsafe { x86::read_off(&table.slots, &table.next, bits, these) };
        let length = super::columns::merge(&mut table.left, these, length);
        // SAFETY: as above.
        let length = unsafe { x86::unique(these, length) };
        values.truncate(start + length);
        return true;
    }
    false
}

/// Appends a hash for each window of `length` tokens. Returns `false` if another way is better.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, clippy::ptr_arg))]
pub(crate) fn windows(level: Level, tokens: &[u64], length: usize, out: &mut Vec<u64>) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level.instructions() == Instructions::Avx512 {
        // SAFETY: a level says that the machine has its instructions.
        return unsafe { x86::windows(tokens, length, out) };
    }
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::columns::DEEP;
    use super::LANES;
    use crate::hash;

    /// Writes the values of all columns to `out`, ascending; returns how many there are.
    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn read_off(slots: &[u64], next: &[u32], bits: u32, out: &mut [u64]) -> usize {
        let (eights, _) = slots.as_chunks::<LANES>();
        let (behind, level, mut length) = (_mm512_set1_epi64(-1), (1 << bits) / LANES, 0);
        for (at, next) in next.as_chunks::<LANES>().0.iter().enumerate() {
            // SAFETY: `next` has eight numbers of four bytes.
            let ends = unsafe { _mm256_loadu_si256(next.as_ptr().cast()) };
            let mut rows = [behind; DEEP];
            for (deep, row) in rows.iter_mut().enumerate() {
                let used = _mm256_cmpge_epu32_mask(ends, _mm256_set1_epi32(((deep + 1) << bits) as i32));
                let from = &eights[at + deep * level];
                // SAFETY: `from` has eight slots of eight bytes.
                *row = unsafe { _mm512_mask_loadu_epi64(behind, used, from.as_ptr().cast()) };
            }
            for (column, next) in transposed(sorted(rows)).into_iter().zip(next) {
                let Some(to) = out[length..].first_chunk_mut::<LANES>() else { return length };
                // SAFETY: `to` has room for eight values of eight bytes.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), column) };
                length += (next >> bits) as usize;
            }
        }
        length
    }

    /// Sorts eight columns with a network of 19 comparisons.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn sorted(mut rows: [__m512i; DEEP]) -> [__m512i; DEEP] {
        order(&mut rows, [(0, 2), (1, 3), (4, 6), (5, 7)]);
        order(&mut rows, [(0, 4), (1, 5), (2, 6), (3, 7)]);
        order(&mut rows, [(0, 1), (2, 3), (4, 5), (6, 7)]);
        order(&mut rows, [(2, 4), (3, 5)]);
        order(&mut rows, [(1, 4), (3, 6)]);
        order(&mut rows, [(1, 2), (3, 4), (5, 6)]);
        rows
    }

    // A few pairs per call: a loop over all of them is not unrolled, and four times slower.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn order<const N: usize>(rows: &mut [__m512i; DEEP], pairs: [(usize, usize); N]) {
        for (a, b) in pairs {
            let (low, high) = (_mm512_min_epu64(rows[a], rows[b]), _mm512_max_epu64(rows[a], rows[b]));
            (rows[a], rows[b]) = (low, high);
        }
    }

    /// Rows → columns.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn transposed(rows: [__m512i; DEEP]) -> [__m512i; LANES] {
        let mut columns = rows;
        let low = |at: usize| _mm512_unpacklo_epi64(rows[at], rows[at + 1]);
        let high = |at: usize| _mm512_unpackhi_epi64(rows[at], rows[at + 1]);
        for (odd, pairs) in
            [[low(0), low(2), low(4), low(6)], [high(0), high(2), high(4), high(6)]].iter().enumerate()
        {
            let upper = _mm512_shuffle_i64x2::<0x88>(pairs[0], pairs[1]);
            let lower = _mm512_shuffle_i64x2::<0x88>(pairs[2], pairs[3]);
            columns[odd] = _mm512_shuffle_i64x2::<0x88>(upper, lower);
            columns[4 + odd] = _mm512_shuffle_i64x2::<0xdd>(upper, lower);
            let upper = _mm512_shuffle_i64x2::<0xdd>(pairs[0], pairs[1]);
            let lower = _mm512_shuffle_i64x2::<0xdd>(pairs[2], pairs[3]);
            columns[2 + odd] = _mm512_shuffle_i64x2::<0x88>(upper, lower);
            columns[6 + odd] = _mm512_shuffle_i64x2::<0xdd>(upper, lower);
        }
        columns
    }

    /// Leaves each of the first `length` values once, which are in order; returns how many are left. The eight
    /// values after them have no meaning.
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn unique(values: &mut [u64], length: usize) -> usize {
        let mut kept = 0;
        for at in (0..length).step_by(LANES) {
            let Some(these) = values[at..].first_chunk::<{ LANES + 1 }>() else { break };
            // SAFETY: `these` has at least eight values of eight bytes.
            let eight = unsafe { _mm512_loadu_si512(these.as_ptr().cast()) };
            // SAFETY: `these` has nine values, and this reads the last eight.
            let behind = unsafe { _mm512_loadu_si512(these[1..].as_ptr().cast()) };
            let mut keep = _mm512_cmpneq_epi64_mask(eight, behind);
            if length - at <= LANES {
                // No value follows the last one, so it is kept.
                let last = 1 << (length - at - 1);
                keep = keep & (last - 1) | last;
            }
            let Some(to) = values[kept..].first_chunk_mut::<LANES>() else { break };
            // SAFETY: `to` has room for eight values of eight bytes.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(keep, eight)) };
            kept += keep.count_ones() as usize;
        }
        kept
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn windows(tokens: &[u64], length: usize, out: &mut Vec<u64>) -> bool {
        match length {
            2 => each_window::<2>(tokens, out),
            3 => each_window::<3>(tokens, out),
            4 => each_window::<4>(tokens, out),
            5 => each_window::<5>(tokens, out),
            6 => each_window::<6>(tokens, out),
            7 => each_window::<7>(tokens, out),
            8 => each_window::<8>(tokens, out),
            _ => return false,
        }
        true
    }

    /// Computes each window by itself. For a known length, the compiler then computes eight windows at once.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn each_window<const LENGTH: usize>(tokens: &[u64], out: &mut Vec<u64>) {
        let sum = |window: &[u64]| {
            window.iter().fold(0u64, |sum, &token| sum.wrapping_mul(hash::BASE).wrapping_add(token))
        };
        out.extend(tokens.windows(LENGTH).map(sum));
    }
}
