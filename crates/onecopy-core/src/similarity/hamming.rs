//! Which of many sketches differ in few bits?
//!
//! All sketches have the same number of words and are in memory. `scan` compares all of them. Two others find all
//! pairs, or the pairs of one sketch, with few comparisons. `tables` cuts the bits into blocks. Sketches that differ
//! in at most `d` bits agree on all except `d` blocks, so sorting by each choice of the remaining blocks misses
//! nothing. `rotation` sorts rotated sketches. Those that agree in their leading bits are neighbours, and each
//! rotation has other bits leading. It can miss pairs whose differences are spread out.

mod choices;
mod index;
mod rotation;
mod scan;
mod simd;
mod tables;

pub(crate) use choices::Choices;
pub use index::Index;
pub use rotation::near_by_rotation;
pub use scan::{near, near_by_scan};
pub use tables::near_by_tables;

/// Sketches of `width` words each, in sequence.
#[derive(Clone, Copy, Debug)]
pub struct Sketches<'a> {
    /// All words. Words at the end that do not fill a sketch are ignored.
    pub words: &'a [u64],
    /// How many words a sketch has, at least 1.
    pub width: usize,
}

impl<'a> Sketches<'a> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.words.len() / self.width.max(1)
    }

    /// The sketch with this number.
    #[inline]
    pub fn get(&self, number: u32) -> &'a [u64] {
        let start = number as usize * self.width;
        &self.words[start..start + self.width]
    }

    /// How many bits a sketch has.
    pub(crate) fn bits(&self) -> usize {
        64 * self.width
    }
}

/// Two sketches that differ in few bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// The number of the earlier sketch.
    pub a: u32,
    /// The number of the later sketch.
    pub b: u32,
    /// How many bits differ.
    pub distance: u32,
}

/// How many bits of two sketches of the same length differ.
#[inline]
pub(crate) fn distance(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(test)]
mod tests;
