//! Search by tables: it sorts sketches by each choice of their blocks (Manku, Jain and Sarma 2007), and misses
//! nothing.

use super::choices::Choices;
use super::{Near, Sketches, distance, near_by_scan};

/// All pairs that differ in at most `most` bits, in order. From 64 bits on no block is left to sort by: it is a
/// scan.
///
/// Copies of one sketch all are pairs of each other, so their number is quadratic. Leave one of each.
pub fn near_by_tables(sketches: Sketches, most: u32) -> Vec<Near> {
    if most as usize >= sketches.bits().min(64) {
        return near_by_scan(sketches, most);
    }
    // Keys are a little longer than it takes to separate the sketches. With shorter keys most candidates would be
    // chance. Longer keys mean more choices to sort.
    let enough = (sketches.count().max(1).ilog2() + 8).min(KEY_BITS);
    let choices = Choices::fitting(sketches.bits(), most as usize, enough as usize);
    let mut sorter = Sorter::default();
    let mut pairs = Vec::new();
    for number in 0..choices.count() {
        let key = Key::new(&choices, number);
        let all = sketches.words.chunks_exact(sketches.width).zip(0u32..);
        sorter.entries.clear();
        sorter.entries.extend(all.map(|(sketch, id)| u64::from(key.of(sketch)) << 32 | u64::from(id)));
        sorter.sort(key.bits);
        for run in sorter.entries.chunk_by(|a, b| a >> 32 == b >> 32) {
            for (place, &a) in run.iter().enumerate() {
                let found = run[place + 1..].iter().filter_map(|&b| pair(sketches, a as u32, b as u32, most));
                pairs.extend(
                    found.filter(|near| choices.is_first(sketches.get(near.a), sketches.get(near.b), number)),
                );
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

fn pair(sketches: Sketches, a: u32, b: u32, most: u32) -> Option<Near> {
    let distance = distance(sketches.get(a), sketches.get(b));
    (distance <= most).then_some(Near { a, b, distance })
}

/// The most bits that sketches are sorted by.
const KEY_BITS: u32 = 32;

/// The bits of a choice, concatenated.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// The word, shift, mask and number of bits of each part.
    parts: Vec<(usize, u32, u64, u32)>,
    pub(super) bits: u32,
}

impl Key {
    pub(super) fn new(choices: &Choices, number: usize) -> Key {
        let part = |at: std::ops::Range<usize>| {
            let bits = at.len() as u32;
            (at.start / 64, (at.start % 64) as u32, u64::MAX >> (64 - bits), bits)
        };
        let parts: Vec<_> = choices.words(number).map(part).collect();
        let bits = parts.iter().map(|part| part.3).sum::<u32>().min(KEY_BITS);
        Key { parts, bits }
    }

    /// Equal bits have equal keys. Bits that do not fit are hashed: a collision costs one comparison.
    #[inline]
    pub(super) fn of(&self, sketch: &[u64]) -> u32 {
        let (mut key, mut bits) = (0u64, 0);
        for &(word, shift, mask, length) in &self.parts {
            bits += length;
            key = key.rotate_left(length) ^ (sketch[word] >> shift & mask);
        }
        if bits <= KEY_BITS { key as u32 } else { (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 }
    }
}

/// Sorts entries by their upper half, digit by digit.
#[derive(Default)]
struct Sorter {
    entries: Vec<u64>,
    other: Vec<u64>,
}

impl Sorter {
    fn sort(&mut self, bits: u32) {
        const DIGIT: u32 = 11;
        self.other.resize(self.entries.len(), 0);
        for shift in (32..32 + bits).step_by(DIGIT as usize) {
            let digit = |entry: u64| (entry >> shift) as usize & ((1 << DIGIT) - 1);
            let mut places = [0usize; 1 << DIGIT];
            self.entries.iter().for_each(|&entry| places[digit(entry)] += 1);
            let mut sum = 0;
            places.iter_mut().for_each(|place| sum += std::mem::replace(place, sum));
            for &entry in &self.entries {
                let place = &mut places[digit(entry)];
                self.other[*place] = entry;
                *place += 1;
            }
            std::mem::swap(&mut self.entries, &mut self.other);
        }
    }
}
