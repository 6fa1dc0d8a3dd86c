//! The multidimensional mapping (Zhu, Potapova, Alabduljalil, Liu and Yang 2012, section 4): distributes pages so
//! that the search for alike pages need not visit every machine.
//!
//! Shingles fall into [`DIMENSIONS`] classes by their hash, and a page's vector counts those of each class.
//! Dimensions are cut into slices, and a combination of slices is a cell. Alike pages have close vectors, so a page
//! visits only the machines that such a vector can be on. The paper counts the words of sub-dictionaries, and its bound
//! is an estimate. Here the shingles themselves are counted, which allows a bound that misses nothing
//! ([`Reach::Lossless`]).
//!
//! Shingles fall into classes more evenly than words into dictionaries. A vector is seldom far from a third of the
//! page in each dimension, so that more dimensions separate little. There may therefore be fewer, down to one: the
//! length of the page.

mod figures;
mod generated;
mod lengths;
mod plan;
mod slice;
#[cfg(test)]
mod tests;

pub use figures::{PlanFigures, plan_figures};
pub use generated::generated_lengths;
pub use lengths::{PageLengths, Variation, variation};
pub use plan::{Cells, PartitionPlan, Reach, imbalance, rho};

/// How many classes of shingles there are, and the most dimensions.
pub const DIMENSIONS: usize = 3;
/// The tolerance of bounds for rounding, in shingles. A page has fewer than 2³² of them.
const ROOM: f64 = 1e-5;

/// How many shingles a page has of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LengthVector(pub [u32; DIMENSIONS]);

impl LengthVector {
    /// Counts shingles. Shingles that differ only in the last bit are in one class.
    pub fn of(shingles: impl IntoIterator<Item = u64>) -> LengthVector {
        let mut counts = [0; DIMENSIONS];
        shingles.into_iter().for_each(|shingle| counts[class(shingle)] += 1);
        LengthVector(counts)
    }

    /// The number of all shingles.
    pub fn total(&self) -> u64 {
        self.0.iter().copied().map(u64::from).sum()
    }
}

/// The class of a shingle, frozen. It ignores the last bit, which methods use to mark main content. It also ignores
/// the leading bits, which [`Rarity`](crate::Rarity) uses for counting.
fn class(shingle: u64) -> usize {
    let mixed = ((shingle >> 1) as u32).wrapping_mul(0x9e37_79b1);
    ((u64::from(mixed) * DIMENSIONS as u64) >> 32) as usize
}

/// A vector in fewer dimensions: the last has all remaining classes.
fn folded(vector: &LengthVector, dimensions: usize) -> [u32; DIMENSIONS] {
    let mut folded = [0; DIMENSIONS];
    for (class, length) in vector.0.into_iter().enumerate() {
        let held = &mut folded[class.min(dimensions - 1)];
        *held = length.saturating_add(*held);
    }
    folded
}

fn slice_of(cuts: &[u32], length: u32) -> usize {
    cuts.partition_point(|&cut| cut <= length)
}
