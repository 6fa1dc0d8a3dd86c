//! Many outlines side by side: those that are near another are found in one go.
//!
//! Pages of one template share so much that each must be compared with all others. Here a comparison takes a fraction of
//! a nanosecond. Eight outlines lie beside each other, word by word, and so do their glances, which exclude most of them.

use super::glance::{Glance, Glancer, MOST_WORDS, most_differing};
use super::simd;
use crate::simd::level;

/// How many outlines lie beside each other.
pub(super) const LANES: usize = 8;
/// The same word of eight outlines.
pub(super) type Row = [u64; LANES];
/// How many words are compared before it is checked whether any outline may still be near.
pub(super) const STEP: usize = 4;
/// Outlines that stay in the processor's cache while several others are compared with them, in eights.
const TILE: usize = 64;

/// How many shingles only one of two alike pages may have: at most the sum of both first numbers, and at most the sum of
/// both second numbers.
pub type Slacks = [u32; 2];

/// How far pages that are alike to a page may be from it.
#[derive(Clone, Copy, Debug)]
pub struct Leeway {
    /// Towards any page.
    pub slacks: Slacks,
    /// Towards pages that have the template of the same model, if the page has it: how many shingles only one of two alike
    /// pages may have is at most the sum of both numbers.
    pub kin: u32,
}

/// An outline that is compared with a crowd. Only its first words need be given.
#[derive(Clone, Debug)]
pub(crate) struct Probe<'a> {
    pub bits: &'a [u64],
    pub slacks: Slacks,
    /// The places of its shingles.
    pub places: Vec<u16>,
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
    glancer: Glancer,
    /// Some rows for the glances of each eight outlines.
    glances: Vec<Row>,
    /// The largest quotas of each eight glances.
    quotas: Vec<[u64; 2]>,
    contents: Vec<u32>,
}

/// A part of a crowd.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub glances: &'a [Row],
    pub quotas: &'a [[u64; 2]],
    pub rows: &'a [Row],
    pub slacks: &'a [[Row; 2]],
}

/// A page that is compared with a part of a crowd.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub bits: &'a [u64],
    pub slacks: [u64; 2],
    pub glance: &'a [u64],
    pub quotas: [u64; 2],
}

impl Crowd {
    /// An empty crowd of outlines, of which it keeps this many words.
    pub(crate) fn new(words: usize) -> Crowd {
        Crowd { words, ..Crowd::default() }
    }

    /// The contents, ascending.
    pub(crate) fn contents(&self) -> &[u32] {
        &self.contents
    }

    /// The slacks of the content in a place.
    pub(crate) fn slacks(&self, place: usize) -> Slacks {
        self.slacks[place / LANES].map(|row| row[place % LANES] as u32)
    }

    /// Adds the outline of a content. Contents must be added in ascending order.
    pub(crate) fn push(&mut self, content: u32, probe: &Probe) {
        let (place, words) = (self.contents.len(), self.words);
        let (block, lane) = (place / LANES, place % LANES);
        if lane == 0 {
            self.rows.resize(self.rows.len() + words, [0; LANES]);
            self.slacks.push([[0; LANES]; 2]);
        }
        let bits = &probe.bits[..words];
        self.rows[block * words..].iter_mut().zip(bits).for_each(|(row, &word)| row[lane] = word);
        let slacks = self.slacks[block].iter_mut().zip(probe.slacks);
        slacks.for_each(|(row, slack)| row[lane] = slack.into());
        self.contents.push(content);
        self.look_at(place, probe);
    }

    /// Adds the glance at the content in a place, which must follow those that were looked at.
    pub(crate) fn look_at(&mut self, place: usize, probe: &Probe) {
        let (words, block, lane) = (self.glancer.words(), place / LANES, place % LANES);
        if lane == 0 {
            self.glances.resize(self.glances.len() + words, [0; LANES]);
            self.quotas.push([0; 2]);
        }
        let Glance { words: bits, quotas } = self.glancer.glance(probe);
        self.glances[block * words..].iter_mut().zip(bits).for_each(|(row, word)| row[lane] = word);
        let most = &mut self.quotas[block];
        *most = [0, 1].map(|i| most[i].max(quotas[i]));
    }

    /// Learns how to tell contents apart from `some` of them. All must then be looked at again, in their order.
    pub(crate) fn learn(&mut self, some: &[Probe]) {
        self.glancer = Glancer::learn(some, most_glance(self.words));
        self.glances.clear();
        self.quotas.clear();
    }

    /// Appends the contents from number `from` on that may be alike to each probe, to the list beside it.
    pub(crate) fn near(&self, probes: &[Probe], from: u32, out: &mut [Vec<u32>]) {
        let first = self.contents.partition_point(|&content| content < from) / LANES;
        let glances: Vec<Glance> = probes.iter().map(|probe| self.glancer.glance(probe)).collect();
        let (words, seen) = (self.words, self.glancer.words());
        for start in (first..self.slacks.len()).step_by(TILE) {
            let tile = start..(start + TILE).min(self.slacks.len());
            let blocks = Blocks {
                glances: &self.glances[tile.start * seen..tile.end * seen],
                quotas: &self.quotas[tile.clone()],
                rows: &self.rows[tile.start * words..tile.end * words],
                slacks: &self.slacks[tile],
            };
            for ((probe, glance), out) in probes.iter().zip(&glances).zip(out.iter_mut()) {
                let look = Look {
                    bits: &probe.bits[..words],
                    slacks: probe.slacks.map(u64::from),
                    glance: &glance.words[..seen],
                    quotas: glance.quotas,
                };
                simd::near(level(), look, blocks, &mut |block, lanes| {
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

/// The most words of a glance, if outlines have so many. Memory for outlines allows for them.
fn most_glance(words: usize) -> usize {
    (words / 4).next_power_of_two().clamp(4, MOST_WORDS)
}

/// Calls `found` with each block that has outlines near the probe, and with a bit for each of them.
#[inline(always)]
pub(super) fn near_plain(look: Look, blocks: Blocks, found: &mut impl FnMut(usize, u8)) {
    let (own, words) = (look.slacks, look.bits.len());
    let glances = blocks.glances.chunks_exact(look.glance.len());
    for (block, (glance, &quotas)) in glances.zip(blocks.quotas).enumerate() {
        let most = [most_differing(look.quotas, quotas); LANES];
        // Only those that the glance does not exclude.
        let mut near = lanes_within(look.glance, glance, &mut [0; LANES], &most);
        if near == 0 {
            continue;
        }
        let slacks = &blocks.slacks[block];
        let most: Row = std::array::from_fn(|lane| (own[0] + slacks[0][lane]).min(own[1] + slacks[1][lane]));
        let mut sums = [0; LANES];
        let rows = blocks.rows[block * words..][..words].chunks(STEP);
        for (words, rows) in look.bits.chunks(STEP).zip(rows) {
            near &= lanes_within(words, rows, &mut sums, &most);
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

    /// The probe of a page with a shingle for each bit.
    fn probe(bits: &[u64], slacks: Slacks) -> Probe<'_> {
        let is_set = |bit: &u16| bits[usize::from(bit / 64)] >> (bit % 64) & 1 == 1;
        Probe { bits, slacks, places: (0..64 * bits.len() as u16).filter(is_set).collect() }
    }

    /// Outlines of one template. Neighbours differ in few bits.
    fn outline(n: u64, words: usize) -> Vec<u64> {
        let word = |word: usize| (crate::hash::draw(n / 5 % 70, word) & (!0 << (n % 3))) ^ (1 << (n % 64));
        (0..words).map(word).collect()
    }

    #[test]
    fn a_crowd_finds_what_one_finds_by_hand() {
        for words in [1, 3, 4, 5, 15, 63] {
            let outline = |n: u64| outline(n, words);
            let slacks = |n: u64| [(n % 9) as u32 * words as u32 * 4, (n % 7) as u32 * words as u32 * 5];
            let mut crowd = Crowd::new(words);
            (0..700).for_each(|n| crowd.push(2 * n as u32, &probe(&outline(n), slacks(n))));
            assert_eq!(crowd.contents().len(), 700);
            let probes: Vec<(Vec<u64>, Slacks)> = (0..60).map(|n| (outline(n * 7), slacks(n))).collect();
            let given: Vec<Probe> = probes.iter().map(|(bits, slacks)| probe(bits, *slacks)).collect();
            for from in [0, 1, 900, 1_398, 1_399] {
                let by_hand = |(bits, own): &(Vec<u64>, Slacks)| -> Vec<u32> {
                    let is_near = |n: &u64| {
                        let differing = hamming(bits, &outline(*n)) as u32;
                        (0..2).all(|i| differing <= own[i] + slacks(*n)[i]) && 2 * *n as u32 >= from
                    };
                    (0..700).filter(is_near).map(|n| 2 * n as u32).collect()
                };
                let expected: Vec<Vec<u32>> = probes.iter().map(by_hand).collect();
                let mut found = vec![Vec::new(); given.len()];
                crowd.near(&given, from, &mut found);
                assert_eq!(found, expected);
                if from == 0 {
                    assert!(found.iter().any(|near| (2..600).contains(&near.len())), "{words}");
                    crowd.learn(&given);
                    (0..700).for_each(|n| crowd.look_at(n, &probe(&outline(n as u64), slacks(n as u64))));
                }
            }
        }
    }

    #[test]
    fn all_machines_find_the_same() {
        for (words, learns) in
            [1, 3, 4, 7, 15, 63].into_iter().flat_map(|words| [(words, false), (words, true)])
        {
            let outlines: Vec<Vec<u64>> = (0..160).map(|n| outline(3 * n, words)).collect();
            let slacks = |n: usize| [n as u32 / 8 * 7, (n * n / 64) as u32];
            let probes: Vec<Probe> = (0..160).map(|n| probe(&outlines[n], slacks(n))).collect();
            let mut crowd = Crowd::new(words);
            if learns {
                crowd.learn(&probes);
            }
            (0..).zip(&probes).for_each(|(n, probe)| crowd.push(n, probe));
            let Crowd { glances, quotas, rows, slacks, .. } = &crowd;
            let blocks = Blocks { glances, quotas, rows, slacks };
            let glance = crowd.glancer.glance(&probes[100]);
            let look = Look {
                bits: probes[100].bits,
                slacks: probes[100].slacks.map(u64::from),
                glance: &glance.words[..crowd.glancer.words()],
                quotas: glance.quotas,
            };
            let mut expected = Vec::new();
            near_plain(look, blocks, &mut |block, lanes| expected.push((block, lanes)));
            assert!(!expected.is_empty());
            each_level(|level| {
                let mut found = Vec::new();
                simd::near(level, look, blocks, &mut |block, lanes| found.push((block, lanes)));
                assert_eq!(found, expected, "{level:?}");
            });
        }
    }
}
