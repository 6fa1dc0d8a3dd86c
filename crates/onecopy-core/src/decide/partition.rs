//! The multidimensional mapping (Zhu, Potapova, Alabduljalil, Liu and Yang 2012, section 4): distributes pages so
//! that the search for alike pages need not visit every partition.
//!
//! Shingles fall into [`DIMENSIONS`] classes by their hash, and a page's vector counts those of each class.
//! Dimensions are cut into slices, and a combination of slices is a partition. A page has one home. Alike pages have
//! close vectors, so a page visits only the partitions that such a vector can be in. The paper counts the words of
//! sub-dictionaries, and its bound is an estimate. Here the shingles themselves are counted, which allows a bound
//! that misses nothing ([`Partitions::reached`]).
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
use slice::cuts;

/// How many classes of shingles there are, and the most dimensions.
pub const DIMENSIONS: usize = 3;
/// The most slices of a dimension, so that a partition's number fits in 16 bits.
pub const SLICES_LIMIT: usize = 40;
/// The tolerance of bounds for rounding, in shingles. A page has fewer than 2³² of them.
const ROOM: f64 = 1e-5;

/// How many shingles a page has of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LengthVector(pub [u32; DIMENSIONS]);

/// The facts about a page that decide which partitions it is compared in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// The shingles that count, by class.
    pub vector: LengthVector,
    /// A page is not alike if its counted shingles resemble those of this page less than this. In (0, 1].
    pub least: f64,
}

/// How the space of vectors is cut into partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitions {
    /// Where each slice except the first begins, by dimension, ascending. There are one to [`DIMENSIONS`]
    /// dimensions; the last has all remaining classes.
    cuts: Vec<Vec<u32>>,
}

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

impl Partitions {
    /// One partition for everything.
    pub fn whole() -> Partitions {
        Partitions { cuts: vec![Vec::new()] }
    }

    /// Cuts each dimension into at most as many slices as `slices` gives for it, with about equally many pages of
    /// the sample each. `slices` has one number per dimension. Lengths whose ratio is at least `tau` are not
    /// separated more than necessary.
    pub fn new(sample: &[LengthVector], tau: f64, slices: &[usize]) -> Partitions {
        let dimensions = slices.len().clamp(1, DIMENSIONS);
        let cut = |dimension: usize| {
            let length = |vector: &LengthVector| folded(vector, dimensions)[dimension];
            let mut lengths: Vec<u32> = sample.iter().map(length).collect();
            lengths.sort_unstable();
            cuts(&lengths, tau, slices.get(dimension).map_or(1, |&slices| slices.clamp(1, SLICES_LIMIT)))
        };
        Partitions { cuts: (0..dimensions).map(cut).collect() }
    }

    /// How many partitions there are.
    pub fn count(&self) -> usize {
        self.cuts.iter().map(|cuts| cuts.len() + 1).product()
    }

    /// The partition that a vector is in.
    pub fn home(&self, vector: &LengthVector) -> u16 {
        let slices = self.cuts.iter().zip(folded(vector, self.cuts.len()));
        slices.fold(0, |number, (cuts, length)| number * slices_of(cuts) + slice_of(cuts, length) as u16)
    }

    /// Appends all partitions in which an alike page can have its home, ascending. It misses none.
    ///
    /// Suppose the page has n shingles. By class, another page lacks x of them and has y too many. They share at
    /// most n − x, and their union is at least n + y. A resemblance of l therefore needs (n − x) / (n + y) ≥ l,
    /// which is x + l·y ≤ (1 − l)·n. Each term of the sums depends on one dimension. A partition is therefore
    /// reached exactly if its vector that is nearest in every dimension satisfies this.
    pub fn reached(&self, page: &Lengths, out: &mut Vec<u16>) {
        let (least, vector) = (page.least, folded(&page.vector, self.cuts.len()));
        let room = (1.0 - least) * page.vector.total() as f64 + ROOM;
        let cost = |dimension: usize, slice: (u32, u32)| {
            let length = vector[dimension];
            let (lacking, surplus) = (length.saturating_sub(slice.1), slice.0.saturating_sub(length));
            f64::from(lacking) + least * f64::from(surplus)
        };
        self.visit(0, 0, room, &cost, out);
    }

    /// Appends the partitions whose slices, from `dimension` on, cost at most `room` together.
    fn visit(
        &self,
        dimension: usize,
        number: u16,
        room: f64,
        cost: &dyn Fn(usize, (u32, u32)) -> f64,
        out: &mut Vec<u16>,
    ) {
        let Some(cuts) = self.cuts.get(dimension) else { return out.push(number) };
        for slice in 0..=cuts.len() {
            let first = slice.checked_sub(1).map_or(0, |before| cuts[before]);
            let last = cuts.get(slice).map_or(u32::MAX, |next| next - 1);
            let left = room - cost(dimension, (first, last));
            if left >= 0.0 {
                self.visit(dimension + 1, number * slices_of(cuts) + slice as u16, left, cost, out);
            }
        }
    }

    /// The partitions as numbers: the number of dimensions, then for each the number of its cuts and the cuts.
    pub fn to_numbers(&self) -> Vec<u32> {
        let mut numbers = vec![self.cuts.len() as u32];
        for cuts in &self.cuts {
            numbers.push(cuts.len() as u32);
            numbers.extend(cuts);
        }
        numbers
    }

    /// Reads the result of [`Partitions::to_numbers`]; `None` if it is something else.
    pub fn from_numbers(mut numbers: &[u32]) -> Option<Partitions> {
        let (&dimensions, rest) = numbers.split_first()?;
        numbers = rest;
        let dimensions = usize::try_from(dimensions).ok().filter(|n| (1..=DIMENSIONS).contains(n))?;
        let mut partitions = Partitions { cuts: vec![Vec::new(); dimensions] };
        for cuts in &mut partitions.cuts {
            let (&count, rest) = numbers.split_first()?;
            let count = usize::try_from(count).ok().filter(|&count| count < SLICES_LIMIT)?;
            let (own, rest) = rest.split_at_checked(count)?;
            let ascending = own.is_sorted_by(|a, b| a < b) && own.first() != Some(&0);
            *cuts = ascending.then(|| own.to_vec())?;
            numbers = rest;
        }
        numbers.is_empty().then_some(partitions)
    }
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

fn slices_of(cuts: &[u32]) -> u16 {
    cuts.len() as u16 + 1
}

fn slice_of(cuts: &[u32], length: u32) -> usize {
    cuts.partition_point(|&cut| cut <= length)
}
