//! The plain search: it scans every sketch.

use super::{Near, Sketches, distance, simd};
use crate::simd::level;

/// Appends the sketches that differ from `query` in at most `most` bits to `out`, with the number of those bits.
pub fn near(sketches: Sketches, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) {
    simd::near(level(), sketches, query, most, out);
}

/// All pairs that differ in at most `most` bits, in order. The time is quadratic, so this is for few sketches.
pub fn near_by_scan(sketches: Sketches, most: u32) -> Vec<Near> {
    let (mut pairs, mut found) = (Vec::new(), Vec::new());
    for a in 0..sketches.count() as u32 {
        let rest = Sketches { words: &sketches.words[(a as usize + 1) * sketches.width..], ..sketches };
        near(rest, sketches.get(a), most, &mut found);
        pairs.extend(found.drain(..).map(|(b, distance)| Near { a, b: a + 1 + b, distance }));
    }
    pairs
}

/// [`near`] for any machine. `simd` compiles it again for some.
#[inline(always)]
pub(super) fn near_plain(sketches: Sketches, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) {
    if sketches.width > 1 {
        let all = sketches.words.chunks_exact(sketches.width).map(|sketch| distance(sketch, query));
        out.extend((0..).zip(all).filter(|&(_, distance)| distance <= most));
        return;
    }
    let query = query[0];
    for (block, words) in sketches.words.chunks(BLOCK).enumerate() {
        if words.iter().map(|word| (word ^ query).count_ones()).min().is_some_and(|least| least <= most) {
            let all = words.iter().map(|word| (word ^ query).count_ones());
            let numbers = (block * BLOCK) as u32..;
            out.extend(numbers.zip(all).filter(|&(_, distance)| distance <= most));
        }
    }
}

/// Appends the places of `values` that differ in at most `most` bits from the value `gap` places later, on any
/// machine.
#[inline(always)]
pub(super) fn neighbours_plain(values: &[u64], gap: usize, most: u32, out: &mut Vec<u32>) {
    let behind = values.get(gap..).unwrap_or_default();
    for (block, (a, b)) in values.chunks(BLOCK).zip(behind.chunks(BLOCK)).enumerate() {
        let all = || a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones());
        if all().min().is_some_and(|least| least <= most) {
            let places = (block * BLOCK) as u32..;
            out.extend(places.zip(all()).filter(|&(_, distance)| distance <= most).map(|(place, _)| place));
        }
    }
}

/// How many words share one test of their least distance, so that most words need no branch of their own.
const BLOCK: usize = 64;
