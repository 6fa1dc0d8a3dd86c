//! The lengths of pages for plans of partitions, from pages of any input or generated, and the file of a plan.

mod file;

pub use file::{BoundKind, PartitionsFile};

use std::thread;

use onecopy_core::{Cells, LengthVector, PageLengths, ShingleRules, generated_lengths};

use crate::error::Result;
use crate::page_walk::walk_pages;
use crate::progress::Progress;
use crate::report::Unreadable;
use crate::service::{ImportPlan, OnRejection};

/// Lengths of pages, and what was read for them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LengthSample {
    /// The lengths of a random part of the pages, or of all if they are few.
    pub lengths: Vec<PageLengths>,
    /// Records that were read.
    pub read: u64,
    /// Pages with words.
    pub pages: u64,
    /// Records that could not be read, or have no words.
    pub rejected: u64,
    /// Inputs that could not be read, wholly or from some point on.
    pub unreadable: Vec<Unreadable>,
}

impl LengthSample {
    /// These lengths, as a part of `pages` pages that needed no reading.
    pub fn of(lengths: Vec<PageLengths>, pages: u64) -> LengthSample {
        LengthSample { lengths, read: pages, pages, ..LengthSample::default() }
    }
}

/// Reads pages and keeps the lengths of at most `most` of them, each with the same chance. The same input always gives the
/// same lengths.
pub fn sample_lengths(
    plan: &ImportPlan,
    rules: &ShingleRules,
    most: usize,
    progress: &dyn Progress,
    rejected: &mut OnRejection,
) -> Result<LengthSample> {
    let mut lengths: Vec<PageLengths> = Vec::new();
    let mut seen = 0u64;
    let walked = walk_pages(plan, progress, rejected, &mut |page| {
        let found = PageLengths::of(page, rules);
        seen += 1;
        // Algorithm R (Vitter 1985).
        if lengths.len() < most {
            lengths.push(found);
        } else if let Some(kept) = lengths.get_mut(drawn(seen) as usize) {
            *kept = found;
        }
    })?;
    let (read, pages) = (walked.read, walked.pages);
    Ok(LengthSample { lengths, read, pages, rejected: walked.rejected, unreadable: walked.unreadable })
}

/// A number below `limit` that depends on nothing else.
fn drawn(limit: u64) -> u64 {
    let hash = onecopy_core::fingerprint(&limit.to_le_bytes()).0;
    ((u128::from(hash as u64) * u128::from(limit)) >> 64) as u64
}

/// Which lengths of a page count.
pub fn vector(page: &PageLengths, bound: BoundKind) -> LengthVector {
    match bound {
        BoundKind::Published => page.words,
        BoundKind::Lossless => page.shingles,
    }
}

/// How many of the generated pages up to number `pages` are in each cell, for several mappings at once.
pub fn count_generated(
    seed: u64,
    pages: u64,
    mappings: &[(BoundKind, &Cells)],
    threads: usize,
) -> Vec<Vec<u64>> {
    let part = |thread: u64| {
        let (from, to) = (pages * thread / threads as u64, pages * (thread + 1) / threads as u64);
        let mut counts: Vec<Vec<u64>> = mappings.iter().map(|(_, cells)| vec![0; cells.count()]).collect();
        for number in from..to {
            let page = generated_lengths(seed, number);
            for ((bound, cells), counts) in mappings.iter().zip(&mut counts) {
                counts[cells.cell(&vector(&page, *bound)) as usize] += 1;
            }
        }
        counts
    };
    let parts = thread::scope(|scope| {
        let running: Vec<_> = (0..threads as u64).map(|thread| scope.spawn(move || part(thread))).collect();
        let join = |running: thread::ScopedJoinHandle<_>| running.join().expect("counting does not panic");
        running.into_iter().map(join).collect::<Vec<Vec<Vec<u64>>>>()
    });
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        for (total, part) in total.iter_mut().zip(part) {
            total.iter_mut().zip(part).for_each(|(total, count)| *total += count);
        }
    }
    total
}
