//! Many outlines side by side: those that are near another are found in one go.
//!
//! Pages of one template share so much that each must be compared with all others. Here a comparison takes less than a
//! nanosecond. Eight outlines lie beside each other, word by word. An outline folded into a few words excludes most of
//! them: words of two outlines that are folded into one differ in no more bits than they did before.

use super::simd;
use crate::simd::level;

/// How many outlines lie beside each other.
pub(super) const LANES: usize = 8;
/// The same word of eight outlines.
pub(super) type Row = [u64; LANES];
/// How many words are compared before it is checked whether any outline may still be near.
pub(super) const GLANCE: usize = 4;
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
    glances: Vec<Glance>,
    contents: Vec<u32>,
}

/// The first look at eight outlines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Glance {
    /// The folded outlines.
    pub rows: [Row; GLANCE],
    /// The largest of their slacks.
    pub most: [u64; 2],
}

/// A part of a crowd.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub glances: &'a [Glance],
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
        let (block, lane) = (self.contents.len() / LANES, self.contents.len() % LANES);
        if lane == 0 {
            self.rows.resize(self.rows.len() + self.words, [0; LANES]);
            self.slacks.push([[0; LANES]; 2]);
            self.glances.push(Glance::default());
        }
        let bits = &probe.bits[..self.words];
        for (row, &word) in self.rows[block * self.words..].iter_mut().zip(bits) {
            row[lane] = word;
        }
        let glance = &mut self.glances[block];
        glance.rows.iter_mut().zip(folded(bits)).for_each(|(row, word)| row[lane] = word);
        for (i, slack) in probe.slacks.map(u64::from).into_iter().enumerate() {
            self.slacks[block][i][lane] = slack;
            glance.most[i] = glance.most[i].max(slack);
        }
        self.contents.push(content);
    }

    /// Appends the contents from number `from` on that may be alike to each probe, to the list beside it.
    pub(crate) fn near(&self, probes: &[Probe], from: u32, out: &mut [Vec<u32>]) {
        let first = self.contents.partition_point(|&content| content < from) / LANES;
        for start in (first..self.slacks.len()).step_by(TILE) {
            let tile = start..(start + TILE).min(self.slacks.len());
            let blocks = Blocks {
                glances: &self.glances[tile.clone()],
                rows: &self.rows[tile.start * self.words..tile.end * self.words],
                slacks: &self.slacks[tile],
            };
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

/// All words of an outline in a few. A bit that differs in two of them differs in an odd number of words.
#[inline]
pub(super) fn folded(bits: &[u64]) -> [u64; GLANCE] {
    let mut folded = [0; GLANCE];
    bits.iter().enumerate().for_each(|(at, word)| folded[at % GLANCE] ^= word);
    folded
}

/// Calls `found` with each block that has outlines near the probe, and with a bit for each of them.
#[inline(always)]
pub(super) fn near_plain(probe: Probe, blocks: Blocks, found: &mut impl FnMut(usize, u8)) {
    let (own, folded, words) = (probe.slacks.map(u64::from), folded(probe.bits), probe.bits.len());
    let bound = |slacks: [u64; 2]| (own[0] + slacks[0]).min(own[1] + slacks[1]);
    for (block, glance) in blocks.glances.iter().enumerate() {
        let mut sums = [0; LANES];
        if lanes_within(&folded, &glance.rows, &mut sums, &[bound(glance.most); LANES]) == 0 {
            continue;
        }
        let slacks = &blocks.slacks[block];
        let most: Row = std::array::from_fn(|lane| bound([slacks[0][lane], slacks[1][lane]]));
        let (mut near, mut sums) = (0, [0; LANES]);
        let rows = blocks.rows[block * words..][..words].chunks(GLANCE);
        for (words, rows) in probe.bits.chunks(GLANCE).zip(rows) {
            near = lanes_within(words, rows, &mut sums, &most);
            if near == 0 {
                break;
            }
        }
        if near != 0 {
            found(block, near);
        }
    }
}

/// Adds the differing bits of each outline to its sum. Returns a bit for each sum that is not too large.
#[inline(always)]
fn lanes_within(words: &[u64], rows: &[Row], sums: &mut Row, most: &Row) -> u8 {
    for (word, row) in words.iter().zip(rows) {
        let differing = row.map(|other| u64::from((word ^ other).count_ones()));
        sums.iter_mut().zip(differing).for_each(|(sum, more)| *sum += more);
    }
    (0..LANES).fold(0, |near, lane| near | u8::from(sums[lane] <= most[lane]) << lane)
}

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
            let outline = |n: u64| -> Vec<u64> {
                (0..words).map(|word| crate::hash::draw(n % 3, word) & crate::hash::draw(n % 7, 50)).collect()
            };
            let mut crowd = Crowd::new(words);
            for n in 0..160 {
                let slacks = [n as u32 / 8 * 7, n as u32 * n as u32 / 64];
                crowd.push(n as u32, Probe { bits: &outline(n), slacks });
            }
            let Crowd { glances, rows, slacks, .. } = &crowd;
            let bits = outline(5);
            let (probe, blocks) = (Probe { bits: &bits, slacks: [9, 5] }, Blocks { glances, rows, slacks });
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
