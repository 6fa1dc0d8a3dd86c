//! Which of many sketches differ in few bits?
//!
//! Sketches here are of one number of words each, and lie in memory. Comparing all is the plain way (`scan`); two others
//! find all pairs, or those of one sketch, with few comparisons. By tables (`tables`): sketches that differ in `d` bits or
//! fewer agree on all but `d` of any blocks that their bits are cut into, so it is enough to sort by each choice of the
//! others; nothing is missed. By rotation (`rotation`): sketches that agree in their leading bits are neighbours when
//! sorted, and each rotation has other bits leading; pairs whose differences are spread can be missed.

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

/// Sketches of `width` words each, one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Sketches<'a> {
    /// All words. What is left at the end and fills no sketch is not looked at.
    pub words: &'a [u64],
    /// Words in a sketch, at least 1.
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

    /// The bits of a sketch.
    pub(crate) fn bits(&self) -> usize {
        64 * self.width
    }
}

/// Two sketches that differ in few bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// The number of the one that comes first.
    pub a: u32,
    /// The number of the other.
    pub b: u32,
    /// The bits in which they differ.
    pub distance: u32,
}

/// The bits in which two sketches of the same length differ.
#[inline]
pub(crate) fn distance(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(test)]
mod tests;
