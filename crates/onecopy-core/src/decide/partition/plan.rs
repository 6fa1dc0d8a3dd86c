//! Divides pages among machines (Zhu and others 2012, section 4.3).
//!
//! Fine-grain intervals cut every dimension, and each combination of them is a cell. Cells are in the order of their
//! lengths, those of the first dimension first. A machine has a run of cells, so that pages of similar lengths are
//! close together. Runs are cut so that the fullest machine has as few pages as possible.

use super::slice::cuts;
use super::{DIMENSIONS, LengthVector, ROOM, folded, slice_of};

/// The most slices of a dimension, by the number of dimensions. So there are at most eight million cells.
const CELL_SLICES: [usize; DIMENSIONS] = [4096, 1024, 200];

/// The cells of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Where each slice except the first begins, by dimension, ascending.
    cuts: Vec<Vec<u32>>,
}

/// A run of cells for each machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionPlan {
    /// The cells.
    pub cells: Cells,
    /// The number of machines. There may be fewer runs if cells are large.
    pub machines: usize,
    /// The first cell of each run, ascending from 0.
    pub starts: Vec<u32>,
}

/// How far from a page similar pages may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// Each length is between τ/ρ and ρ/τ times that of the page, where τ is the threshold. An estimate: see [`rho`].
    Published {
        /// The least similarity, τ.
        threshold: f64,
        /// The enlarging factor, ρ.
        rho: f64,
    },
    /// The lengths allow so many shared shingles. It misses nothing.
    ///
    /// Suppose the page has n shingles. By class, another page lacks x of them and has y too many. They share at most
    /// n − x, and their union is at least n + y. A resemblance of l therefore needs (n − x) / (n + y) ≥ l, which is
    /// x + l·y ≤ (1 − l)·n. Each term of the sums depends on one dimension. A cell is therefore reached exactly if its
    /// vector that is nearest in every dimension satisfies this.
    Lossless {
        /// The least similarity.
        threshold: f64,
    },
}

/// The enlarging factor ρ. In a page, the lengths of sub-documents differ from their mean by up to `delta`, and the number
/// of shingles differs from that of words by up to `epsilon`. Both are below 1.
pub fn rho(delta: f64, epsilon: f64) -> f64 {
    (1.0 + delta) * (1.0 + epsilon) / ((1.0 - delta) * (1.0 - epsilon))
}

impl Cells {
    /// Cuts one to three `dimensions`. Lengths whose ratio is at least `ratio` share a slice.
    pub fn new(sample: &[LengthVector], ratio: f64, dimensions: usize) -> Cells {
        let dimensions = dimensions.clamp(1, DIMENSIONS);
        let cut = |dimension: usize| {
            let mut lengths: Vec<u32> =
                sample.iter().map(|vector| folded(vector, dimensions)[dimension]).collect();
            lengths.sort_unstable();
            cuts(&lengths, ratio, CELL_SLICES[dimensions - 1])
        };
        Cells { cuts: (0..dimensions).map(cut).collect() }
    }

    /// Cells with these cuts. `None` if they are not ascending, or too many.
    pub fn from_cuts(cuts: Vec<Vec<u32>>) -> Option<Cells> {
        let most = *CELL_SLICES.get(cuts.len().checked_sub(1)?)?;
        let right = |cuts: &Vec<u32>| {
            cuts.len() < most && cuts.is_sorted_by(|a, b| a < b) && cuts.first() != Some(&0)
        };
        cuts.iter().all(right).then_some(Cells { cuts })
    }

    /// Where each slice except the first begins, by dimension.
    pub fn cuts(&self) -> &[Vec<u32>] {
        &self.cuts
    }

    /// How many cells there are, empty ones too.
    pub fn count(&self) -> usize {
        self.cuts.iter().map(|cuts| cuts.len() + 1).product()
    }

    /// The cell of a vector.
    pub fn cell(&self, vector: &LengthVector) -> u32 {
        let slices = self.cuts.iter().zip(folded(vector, self.cuts.len()));
        slices.fold(0, |cell, (cuts, length)| cell * (cuts.len() as u32 + 1) + slice_of(cuts, length) as u32)
    }

    /// How many of these pages are in each cell.
    pub fn counts(&self, pages: &[LengthVector]) -> Vec<u64> {
        let mut counts = vec![0; self.count()];
        pages.iter().for_each(|vector| counts[self.cell(vector) as usize] += 1);
        counts
    }

    /// Calls `each` with all ranges of cells that a page can reach: the first and the last cell of each.
    pub fn reached(&self, page: &LengthVector, reach: &Reach, mut each: impl FnMut(u32, u32)) {
        let room = match reach {
            Reach::Published { .. } => 0.0,
            Reach::Lossless { threshold } => (1.0 - threshold) * page.total() as f64 + ROOM,
        };
        let vector = folded(page, self.cuts.len());
        let cost = |dimension: usize, slice: usize| {
            let cuts = &self.cuts[dimension];
            let first = slice.checked_sub(1).map_or(0, |before| cuts[before]);
            let last = cuts.get(slice).map_or(u32::MAX, |next| next - 1);
            slice_cost(reach, vector[dimension], (first, last))
        };
        self.visit(&vector, 0, 0, room, &cost, &mut each);
    }

    /// Visits the slices of a dimension on both sides of the page, as far as `room` allows. The slices of the last are
    /// one range of cells.
    fn visit(
        &self,
        vector: &[u32; DIMENSIONS],
        dimension: usize,
        cell: u32,
        room: f64,
        cost: &dyn Fn(usize, usize) -> f64,
        each: &mut dyn FnMut(u32, u32),
    ) {
        let cuts = &self.cuts[dimension];
        let own = slice_of(cuts, vector[dimension]);
        let fits = |slice: &usize| cost(dimension, *slice) <= room;
        let low = (0..own).rev().take_while(fits).last().unwrap_or(own);
        let high = (own + 1..=cuts.len()).take_while(fits).last().unwrap_or(own);
        let number = |slice: usize| cell * (cuts.len() as u32 + 1) + slice as u32;
        if dimension + 1 == self.cuts.len() {
            return each(number(low), number(high));
        }
        for slice in low..=high {
            self.visit(vector, dimension + 1, number(slice), room - cost(dimension, slice), cost, each);
        }
    }
}

/// How much of the room of a page it takes to be in a slice, from its first to its last length.
fn slice_cost(reach: &Reach, length: u32, (first, last): (u32, u32)) -> f64 {
    match reach {
        Reach::Published { threshold, rho } => {
            let (low, high) = (f64::from(length) * threshold / rho, f64::from(length) * rho / threshold);
            if f64::from(last) >= low && f64::from(first) <= high { 0.0 } else { f64::INFINITY }
        }
        Reach::Lossless { threshold } => {
            f64::from(length.saturating_sub(last)) + threshold * f64::from(first.saturating_sub(length))
        }
    }
}

impl PartitionPlan {
    /// Divides cells with so many pages each among at least one machine.
    pub fn new(cells: Cells, counts: &[u64], machines: usize) -> PartitionPlan {
        let filled: Vec<(u32, u64)> =
            (0..).zip(counts).filter(|(_, count)| **count > 0).map(|(cell, &count)| (cell, count)).collect();
        let (mut low, mut high) = (
            filled.iter().map(|cell| cell.1).max().unwrap_or(0),
            filled.iter().map(|cell| cell.1).sum::<u64>(),
        );
        while low < high {
            let middle = low.midpoint(high);
            if runs(&filled, middle).len() <= machines { high = middle } else { low = middle + 1 }
        }
        PartitionPlan { cells, machines, starts: runs(&filled, low) }
    }

    /// The machine that has a cell.
    pub fn machine(&self, cell: u32) -> usize {
        self.starts.partition_point(|&start| start <= cell).saturating_sub(1)
    }

    /// How many pages each machine has, if cells have so many.
    pub fn loads(&self, counts: &[u64]) -> Vec<u64> {
        let mut loads = vec![0; self.machines];
        for (cell, &count) in (0..).zip(counts).filter(|(_, count)| **count > 0) {
            loads[self.machine(cell)] += count;
        }
        loads
    }
}

/// The first cell of each run if none has more than `most` pages.
fn runs(filled: &[(u32, u64)], most: u64) -> Vec<u32> {
    let (mut starts, mut held) = (vec![0], 0);
    for &(cell, count) in filled {
        if held + count > most && held > 0 {
            starts.push(cell);
            held = 0;
        }
        held += count;
    }
    starts
}

/// The fullest of these loads over their mean. 1 if there is none.
pub fn imbalance(loads: &[u64]) -> f64 {
    let total: u64 = loads.iter().sum();
    match loads.iter().max() {
        Some(&most) if total > 0 => most as f64 * loads.len() as f64 / total as f64,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
