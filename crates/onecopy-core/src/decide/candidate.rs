//! Keys: a few shingles of a page. Any similar page must share at least one of them.
//!
//! Order all shingles rare first, in one order for all pages. Two sketches that are at least τ alike share one of
//! the first n − ⌈τn⌉ + 1 shingles of either (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
//! Those are the keys. Ordering by plain hash value would be as correct and a hundred times slower: every page would
//! have boilerplate that thousands of pages share as a key.

mod rarity;
mod wide;

use crate::simd::{Level, level};
use crate::similarity::verify::overlap_within;

pub use rarity::{Rarity, RarityError, count, count_common, is_sampled};

/// Appends the keys of `sketch` to `out`, each with how many of the page's shingles come after it in the order. Keys
/// that no other page holds are left out, because no page can share them.
pub fn keys(
    sketch: &[u64],
    threshold: f64,
    rarity: &Rarity,
    scratch: &mut Vec<u8>,
    out: &mut Vec<(u64, u32)>,
) {
    first_keys(sketch, key_count(sketch.len(), threshold), rarity, scratch, out);
}

/// The most shingles of a set that are in memory a second time while its keys are chosen.
pub(crate) const PIECE: usize = 1 << 14;

/// Like [`keys`], from the first `wanted` shingles in the order.
pub(crate) fn first_keys(
    sketch: &[u64],
    wanted: usize,
    rarity: &Rarity,
    scratch: &mut Vec<u8>,
    out: &mut Vec<(u64, u32)>,
) {
    scratch.clear();
    scratch.extend(sketch.iter().map(|&shingle| rarity.of(shingle)));
    Chooser::new(scratch, wanted).choose(sketch, out);
}

/// Chooses the keys of a sorted set of shingles, which it gets in pieces.
pub(crate) struct Chooser<'a> {
    /// The counts of the shingles that are still to come.
    counts: &'a [u8],
    size: u32,
    wanted: usize,
    /// Where the next shingle with each count is in the order.
    places: [u32; 256],
    /// Shingles that are as common or more come after the wanted ones.
    common: usize,
}

impl<'a> Chooser<'a> {
    /// `counts` says how common each shingle of the set is. Keys are among the first `wanted` in the order.
    pub(crate) fn new(counts: &'a [u8], wanted: usize) -> Chooser<'a> {
        let mut places = [0; 256];
        let common = match few_places(level(), counts, wanted, &mut places) {
            Some(common) => common,
            None => all_places(counts, wanted, &mut places),
        };
        Chooser { counts, size: counts.len() as u32, wanted, places, common }
    }

    /// Appends the keys among the next shingles of the set.
    pub(crate) fn choose(&mut self, next: &[u64], out: &mut Vec<(u64, u32)>) {
        if self.common <= 2 {
            return;
        }
        let (counts, later) = self.counts.split_at(next.len());
        self.counts = later;
        let mut kept = out.len();
        let start = kept;
        wide::select(level(), next, counts, 2..=(self.common - 1) as u8, out);
        for i in start..out.len() {
            let (shingle, count) = out[i];
            // Equally common shingles are ordered by hash, and sketches are sorted by it.
            let place = &mut self.places[count as usize];
            *place += 1;
            out[kept] = (shingle, self.size - *place);
            kept += usize::from(*place as usize <= self.wanted);
        }
        out.truncate(kept);
    }
}

/// How many counts are looked at together.
const BLOCK: usize = 64;

/// Appends the shingles whose count is `chosen`, with the count.
#[inline(always)]
fn select_by(sketch: &[u64], counts: &[u8], out: &mut Vec<(u64, u32)>, chosen: impl Fn(&[u8; BLOCK]) -> u64) {
    let (blocks, rest) = counts.as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (counts, shingles) in blocks.iter().chain([&last]).zip(sketch.chunks(BLOCK)) {
        let mut left = chosen(counts) & u64::MAX >> (BLOCK - shingles.len());
        out.reserve(BLOCK);
        while left != 0 {
            let place = left.trailing_zeros() as usize;
            out.push((shingles[place], u32::from(counts[place])));
            left &= left - 1;
        }
    }
}

/// How many of a page's `n` rarest shingles are keys.
pub(crate) fn key_count(n: usize, threshold: f64) -> usize {
    n + 1 - overlap_within(n, threshold)
}

/// How many shingles have each count. Adjacent shingles use separate tables. Most have the same few counts, and
/// adding to a counter that was just written would wait for that write.
fn histogram(counts: &[u8]) -> [u32; 256] {
    let mut tables = [[0u32; 256]; 4];
    for four in counts.chunks(4) {
        for (table, &count) in tables.iter_mut().zip(four) {
            table[count as usize] += 1;
        }
    }
    std::array::from_fn(|count| tables.iter().map(|table| table[count]).sum())
}

/// How many of the counts are at most `most`, on any machine. The compiler vectorises a sum of bytes. A chunk is
/// therefore as long as a byte can count, rounded down to a multiple of any register.
fn at_most_plain(counts: &[u8], most: u8) -> u32 {
    let sum = |some: &[u8]| some.iter().fold(0, |sum, &count| sum + u8::from(count <= most));
    counts.chunks(3 * BLOCK).map(|some| u32::from(sum(some))).sum()
}

/// Like [`all_places`], but only up to the count that it returns. `None` if that takes too many passes. Most pages
/// have enough rare shingles, so that a few passes suffice.
fn few_places(level: Level, counts: &[u8], wanted: usize, places: &mut [u32; 256]) -> Option<usize> {
    /// How often all counts are read at most.
    const FEW: usize = 24;
    let mut before = 0;
    for (count, place) in places.iter_mut().enumerate().take(FEW) {
        *place = before;
        if before as usize >= wanted {
            return Some(count);
        }
        before = wide::at_most(level, counts, count as u8);
    }
    None
}

/// Notes where the shingles of each count begin in the order. Returns the first count that begins after the `wanted`
/// shingles.
fn all_places(counts: &[u8], wanted: usize, places: &mut [u32; 256]) -> usize {
    let (mut sum, of_each) = (0, histogram(counts));
    for (place, count) in places.iter_mut().zip(of_each) {
        *place = sum;
        sum += count;
    }
    places.partition_point(|&place| (place as usize) < wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_level;

    fn table(sketches: &[&[u64]]) -> Rarity {
        let mut counters = vec![0; 1 << 16];
        for sketch in sketches {
            count(sketch, 16, 0, &mut counters);
        }
        Rarity::new(counters)
    }

    fn spread(values: std::ops::Range<u64>) -> Vec<u64> {
        values.map(|n| n << 48).collect()
    }

    #[test]
    fn keys_are_the_rarest_shingles_that_somebody_shares() {
        let (a, b) = (spread(0..10), spread(5..15));
        let rarity = table(&[&a, &b, &spread(8..10), &spread(9..10)]);
        let mut out = Vec::new();
        keys(&a, 0.8, &rarity, &mut Vec::new(), &mut out);
        assert!(out.is_empty(), "the 3 rarest of 10 are a's alone");
        keys(&a, 0.4, &rarity, &mut Vec::new(), &mut out);
        assert_eq!(out, [(5 << 48, 4), (6 << 48, 3)], "7 rarest: 0-4 are a's alone, 5 and 6 are shared");
        out.clear();
        keys(&spread(9..10), 1.0, &rarity, &mut Vec::new(), &mut out);
        assert_eq!(out, [(9 << 48, 0)]);
    }

    #[test]
    fn shingles_are_selected_alike_many_at_once_and_one_by_one() {
        for length in [0, 1, 63, 64, 65, 200] {
            let sketch: Vec<u64> = (0..length).collect();
            let counts: Vec<u8> = sketch.iter().map(|n| (n * n * 37) as u8).collect();
            for range in [2..=2, 2..=100, 0..=255, 2..=255, 255..=255] {
                let one_by_one = sketch.iter().zip(&counts).filter(|(_, count)| range.contains(*count));
                let mut expected = vec![(7, 7)];
                expected.extend(one_by_one.map(|(&shingle, &count)| (shingle, u32::from(count))));
                each_level(|level| {
                    let mut out = vec![(7, 7)];
                    wide::select(level, &sketch, &counts, range.clone(), &mut out);
                    assert_eq!(out, expected, "{level:?}");
                });
            }
        }
    }

    #[test]
    fn places_are_found_alike_many_at_once_and_one_by_one() {
        for length in [0, 1, 63, 64, 65, 200, 20_000] {
            for rare in [2, 5, 200] {
                let counts: Vec<u8> = (0..length).map(|n: u64| ((n * n * 37) % 31 + rare) as u8).collect();
                for wanted in [0, 1, 2, 40, 64, 200, 300] {
                    let mut all = [0; 256];
                    let common = all_places(&counts, wanted, &mut all);
                    each_level(|level| {
                        let mut few = [0; 256];
                        match few_places(level, &counts, wanted, &mut few) {
                            Some(found) => assert_eq!((found, &few[..found]), (common, &all[..found])),
                            None => assert!(common >= 24, "{level:?}"),
                        }
                    });
                }
            }
        }
    }

    #[test]
    fn counters_saturate_and_a_table_may_have_one_counter() {
        let mut counters = vec![254];
        count(&[1, 2, u64::MAX], 0, 0, &mut counters);
        let rarity = Rarity::new(counters);
        assert_eq!(rarity.of(12345), 255);
        let mut out = Vec::new();
        first_keys(&[1, 2, 3], 3, &rarity, &mut Vec::new(), &mut out);
        assert_eq!(out, [(1, 2), (2, 1), (3, 0)], "the most common are keys where all are wanted");
    }

    #[test]
    fn counting_in_pieces_equals_counting_at_once() {
        let sketch = spread(0..65_536);
        let mut whole = vec![0; 1 << 12];
        count(&sketch, 12, 0, &mut whole);
        let mut pieces = vec![0; 1 << 12];
        let (low, high) = pieces.split_at_mut(1 << 11);
        count(&sketch[..32_768], 12, 0, low);
        count(&sketch[32_768..], 12, 1 << 11, high);
        assert_eq!(whole, pieces);
    }
}
