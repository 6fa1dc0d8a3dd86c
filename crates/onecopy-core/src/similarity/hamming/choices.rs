//! Cuts the bits of a sketch into blocks, and lists all choices of some of them.

use std::ops::Range;

use crate::hash;

/// The most choices that [`Choices::fitting`] makes if fewer are possible: each is a key of every page.
const MOST_CHOICES: usize = 120;

/// Choices of blocks of a sketch. Any two sketches that differ in few bits agree on all blocks of one choice.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    bits: usize,
    blocks: usize,
    /// The blocks of each choice, one bit each; smaller numbers first.
    masks: Vec<u64>,
}

impl Choices {
    /// Choices for sketches that differ in up to `distance` of `bits` bits: all except `distance` of `blocks`
    /// blocks. `blocks` must be more than `distance`, and at most 64 and at most `bits`.
    pub(crate) fn new(bits: usize, blocks: usize, distance: usize) -> Choices {
        assert!(distance < blocks && blocks <= 64.min(bits), "a choice has blocks, and each of them bits");
        let last = u64::MAX << (64 - (blocks - distance)) >> (64 - blocks);
        let mut masks = vec![last >> distance];
        while let Some(&mask) = masks.last().filter(|&&mask| mask != last) {
            // The next number with as many ones (Gosper 1972).
            let low = mask & mask.wrapping_neg();
            let carried = mask + low;
            masks.push((((carried ^ mask) >> 2) / low) | carried);
        }
        Choices { bits, blocks, masks }
    }

    /// Choices of the fewest blocks that give `wanted` bits, or of as many bits as [`MOST_CHOICES`] allow.
    pub(crate) fn fitting(bits: usize, distance: usize, wanted: usize) -> Choices {
        let (mut blocks, mut count) = (distance + 1, distance + 1);
        while bits * (blocks - distance) / blocks < wanted && blocks < bits.min(64) {
            // The number of ways to leave out `distance` of one more block.
            count = count * (blocks + 1) / (blocks + 1 - distance);
            if count > MOST_CHOICES {
                break;
            }
            blocks += 1;
        }
        Choices::new(bits, blocks, distance)
    }

    /// How many choices there are.
    pub(crate) fn count(&self) -> usize {
        self.masks.len()
    }

    /// A hash of the blocks of choice `number`, and of the number.
    pub(crate) fn hash(&self, sketch: &[u64], number: usize) -> u64 {
        let hashed = |hash, at: Range<usize>| hash::repeated(bits_at(sketch, at), hash);
        self.words(number).fold(number as u64, hashed)
    }

    /// The positions of the bits of choice `number`, as ranges within single words.
    pub(crate) fn words(&self, number: usize) -> impl Iterator<Item = Range<usize>> {
        let mask = self.masks[number];
        let chosen = (0..self.blocks).filter(move |block| mask >> block & 1 == 1);
        chosen.flat_map(|block| self.parts(block))
    }

    /// Whether `number` is the first choice on whose bits two sketches agree.
    pub(crate) fn is_first(&self, a: &[u64], b: &[u64], number: usize) -> bool {
        let mask = self.masks[number];
        // Choices are ordered by their masks, so the first has the lowest blocks that agree.
        let last = 63 - mask.leading_zeros() as usize;
        let agree = |block| self.parts(block).all(|at| bits_at(a, at.clone()) == bits_at(b, at));
        (0..=last).all(|block| agree(block) == (mask >> block & 1 == 1))
    }

    /// The positions of the bits of a block, as ranges within single words.
    fn parts(&self, block: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let Range { start, end } = self.block(block);
        (start / 64..end.div_ceil(64)).map(move |word| start.max(64 * word)..end.min(64 * word + 64))
    }

    fn block(&self, block: usize) -> Range<usize> {
        block * self.bits / self.blocks..(block + 1) * self.bits / self.blocks
    }
}

/// Bits of a sketch that are in one word.
#[inline]
pub(crate) fn bits_at(sketch: &[u64], at: Range<usize>) -> u64 {
    sketch[at.start / 64] >> (at.start % 64) & (u64::MAX >> (64 - (at.end - at.start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_all_and_in_order() {
        assert_eq!(Choices::new(64, 4, 2).masks, [0b0011, 0b0101, 0b0110, 0b1001, 0b1010, 0b1100]);
        assert_eq!(Choices::new(64, 6, 3).count(), 20);
        assert_eq!(Choices::new(384, 13, 12).masks, (0..13).map(|n| 1 << n).collect::<Vec<u64>>());
        assert_eq!(Choices::new(64, 1, 0).masks, [1]);
        assert_eq!(Choices::new(64, 64, 0).masks, [u64::MAX]);
        assert_eq!(Choices::new(64, 64, 63).count(), 64);
        let fitting = |distance| Choices::fitting(64, distance, 32);
        let least = |choices: Choices| {
            let bits = |number| choices.words(number).map(|at| at.len()).sum::<usize>();
            (choices.count(), (0..choices.count()).map(bits).min().unwrap())
        };
        let made = [0, 1, 3, 5, 14].map(|distance| least(fitting(distance)));
        assert_eq!(made, [(1, 64), (2, 32), (20, 31), (56, 24), (120, 8)]);
    }

    #[test]
    fn blocks_hold_every_bit_once() {
        for (bits, blocks) in [(64, 6), (384, 13), (384, 1), (1024, 64)] {
            let choices = Choices::new(bits, blocks, blocks - 1);
            let places: Vec<usize> = (0..blocks).flat_map(|n| choices.words(n)).flatten().collect();
            assert_eq!(places, (0..bits).collect::<Vec<_>>(), "{bits} {blocks}");
            assert!((0..blocks).flat_map(|n| choices.words(n)).all(|at| at.start / 64 == (at.end - 1) / 64));
        }
    }
}
