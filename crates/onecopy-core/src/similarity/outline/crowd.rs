//! Many outlines side by side: one pass over them finds those that are near another.
//!
//! Pages of one template share so much that each must be compared with all others. Here a comparison takes less than a
//! nanosecond. Eight outlines lie beside each other, word by word, and the first words exclude most of them.

use super::simd;
use crate::simd::level;

/// How many outlines lie beside each other.
pub(super) const LANES: usize = 8;
/// The same word of eight outlines.
pub(super) type Row = [u64; LANES];
/// Outlines that stay in the processor's cache while several others are compared with them, in eights.
const TILE: usize = 64;

/// In how many bits the outlines of alike pages may differ: at most in the sum of both first numbers, and at most in the
/// sum of both second numbers.
pub type Slacks = [u32; 2];

/// An outline that is compared with a crowd. Only its first words need be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe<'a> {
    pub bits: &'a [u64],
    pub slacks: Slacks,
}

/// Outlines with the contents they belong to, ascending.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    /// The words of each outline.
    words: usize,
    /// `words` rows for each eight outlines.
    rows: Vec<Row>,
    /// The slacks of each eight outlines.
    slacks: Vec<[Row; 2]>,
    contents: Vec<u32>,
}

/// A part of a crowd.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub rows: &'a [Row],
    pub slacks: &'a [[Row; 2]],
}

impl Crowd {
    /// An empty crowd of outlines, of which it keeps this many words.
    pub(crate) fn new(words: usize) -> Crowd {
        Crowd { words, ..Crowd::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.contents.len()
    }

    /// Adds the outline of a content. Contents must be added in ascending order.
    pub(crate) fn push(&mut self, content: u32, probe: Probe) {
        let lane = self.contents.len() % LANES;
        if lane == 0 {
            self.rows.resize(self.rows.len() + self.words, [0; LANES]);
            self.slacks.push([[0; LANES]; 2]);
        }
        let start = self.rows.len() - self.words;
        for (row, &word) in self.rows[start..].iter_mut().zip(probe.bits) {
            row[lane] = word;
        }
        if let Some(slacks) = self.slacks.last_mut() {
            slacks.iter_mut().zip(probe.slacks).for_each(|(row, slack)| row[lane] = u64::from(slack));
        }
        self.contents.push(content);
    }

    /// Appends the contents from number `from` on that may be alike to each probe, to the list beside it.
    pub(crate) fn near(&self, probes: &[Probe], from: u32, out: &mut [Vec<u32>]) {
        let first = self.contents.partition_point(|&content| content < from) / LANES;
        for start in (first..self.slacks.len()).step_by(TILE) {
            let end = (start + TILE).min(self.slacks.len());
            let rows = &self.rows[start * self.words..end * self.words];
            let blocks = Blocks { rows, slacks: &self.slacks[start..end] };
            for (probe, out) in probes.iter().zip(out.iter_mut()) {
                let probe = Probe { bits: &probe.bits[..self.words], ..*probe };
                simd::near(level(), probe, blocks, &mut |block, lanes| {
                    self.take((start + block) * LANES, lanes, from, out);
                });
            }
        }
    }

    /// Appends the contents of some lanes, from place `first` on.
    fn take(&self, first: usize, mut lanes: u8, from: u32, out: &mut Vec<u32>) {
        while lanes != 0 {
            let place = first + lanes.trailing_zeros() as usize;
            out.extend(self.contents.get(place).filter(|&&content| content >= from));
            lanes &= lanes - 1;
        }
    }
}

/// Calls `found` with each block that has outlines near the probe, and with a bit for each of them.
#[inline(always)]
pub(super) fn near_plain(probe: Probe, blocks: Blocks, found: &mut impl FnMut(usize, u8)) {
    let own = probe.slacks.map(u64::from);
    let outlines = blocks.rows.chunks_exact(probe.bits.len().max(1));
    for (block, (rows, slacks)) in outlines.zip(blocks.slacks).enumerate() {
        let most: Row = std::array::from_fn(|i| (own[0] + slacks[0][i]).min(own[1] + slacks[1][i]));
        let (mut sums, mut near) = ([0; LANES], 0);
        for (words, rows) in probe.bits.chunks(GLANCE).zip(rows.chunks(GLANCE)) {
            for (word, row) in words.iter().zip(rows) {
                let differing = row.map(|other| u64::from((word ^ other).count_ones()));
                sums.iter_mut().zip(differing).for_each(|(sum, more)| *sum += more);
            }
            near = (0..LANES).fold(0, |near, i| near | u8::from(sums[i] <= most[i]) << i);
            if near == 0 {
                break;
            }
        }
        if near != 0 {
            found(block, near);
        }
    }
}

/// How many words are compared before it is checked whether any outline may still be near.
pub(super) const GLANCE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_level;
    use crate::similarity::measure::hamming;

    #[test]
    fn a_crowd_finds_what_one_finds_by_hand() {
        for words in [1, 3, 4, 5, 15, 63] {
            let outline = |n: u64| -> Vec<u64> {
                // Neighbours differ in few bits.
                (0..words).map(|word| crate::hash::draw(n / 5, word) ^ (1 << (n % 64))).collect()
            };
            let slacks = |n: u64| [(n % 9) as u32 * words as u32 * 4, (n % 7) as u32 * words as u32 * 5];
            let mut crowd = Crowd::new(words);
            for n in 0..700u64 {
                crowd.push(2 * n as u32, Probe { bits: &outline(n), slacks: slacks(n) });
            }
            assert_eq!(crowd.len(), 700);
            let probes: Vec<(Vec<u64>, Slacks)> = (0..60).map(|n| (outline(n * 7), slacks(n))).collect();
            for from in [0, 1, 900, 1_398, 1_399] {
                let by_hand = |(bits, own): &(Vec<u64>, Slacks)| -> Vec<u32> {
                    let is_near = |n: &u64| {
                        let differing = hamming(bits, &outline(*n)) as u32;
                        (0..2).all(|i| differing <= own[i] + slacks(*n)[i]) && 2 * *n as u32 >= from
                    };
                    (0..700).filter(is_near).map(|n| 2 * n as u32).collect()
                };
                let expected: Vec<Vec<u32>> = probes.iter().map(by_hand).collect();
                let given: Vec<Probe> =
                    probes.iter().map(|(bits, slacks)| Probe { bits, slacks: *slacks }).collect();
                let mut found = vec![Vec::new(); given.len()];
                crowd.near(&given, from, &mut found);
                assert_eq!(found, expected);
                if from == 0 {
                    assert!(found.iter().any(|near| (2..600).contains(&near.len())), "{words}");
                }
            }
        }
    }

    #[test]
    fn all_machines_find_the_same() {
        for words in [1, 3, 4, 7, 15] {
            let rows: Vec<Row> = (0..20 * words)
                .map(|n| std::array::from_fn(|lane| crate::hash::draw((n % 3) as u64, lane)))
                .collect();
            let slacks: Vec<[Row; 2]> = (0..20).map(|n| [[n * 7; LANES], [n * n; LANES]]).collect();
            let bits: Vec<u64> = (0..words).map(|n| crate::hash::draw(n as u64 % 3, 5)).collect();
            let (probe, blocks) =
                (Probe { bits: &bits, slacks: [9, 5] }, Blocks { rows: &rows, slacks: &slacks });
            let mut expected = Vec::new();
            near_plain(probe, blocks, &mut |block, lanes| expected.push((block, lanes)));
            assert!(!expected.is_empty());
            each_level(|level| {
                let mut found = Vec::new();
                simd::near(level, probe, blocks, &mut |block, lanes| found.push((block, lanes)));
                assert_eq!(found, expected, "{level:?}");
            });
        }
    }
}
