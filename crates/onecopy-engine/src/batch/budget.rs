//! How a memory limit is shared out between the parts of a run.
//!
//! Each part is told its share and keeps it; the shares of parts that live at the same time add up to less than the
//! whole, because allocators and stacks take something too.

use crate::batch::candidates::contents::BYTES_A_PAGE;
use crate::batch::read::BYTES_A_BYTE;
use crate::error::{At, Error, Result};
use crate::ingest::{Packing, Source, Stores, zstd_window};
use crate::job::Job;

/// What each part may take, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub limit: u64,
    /// A chunk of input. A thread works on one at a time, in buffers of several times its size.
    pub chunk: usize,
    /// Segments, before they go to disk.
    pub segments: u64,
    /// Fingerprints of pages that have been sketched, as a number of them.
    pub seen: usize,
    /// The logarithm of the number of rarity counters, a byte each.
    pub rarity_bits: u32,
    /// One in so many pages is counted there.
    pub rarity_share: u32,
    /// All sorters together.
    pub sort: u64,
    /// Outlines of pages, beside their segments.
    pub outlines: u64,
    /// Sketches of the pages that are being settled, if their segments are on disk.
    pub sketches: u64,
    /// Keys that pages share, while they are being settled, as a number of them.
    pub entries: usize,
    /// Those of them that are in memory from when they are found, as a number of them.
    pub runs: usize,
    /// Names of pages, where these are not in memory with their segments.
    pub names: u64,
    /// How many pages that are larger than a chunk may be worked on at once.
    pub large_pages: usize,
}

impl Budget {
    /// The shares of a job. What unpacking takes is set aside first.
    pub(crate) fn of(job: &Job, sources: &[Source], stores: &Stores) -> Result<Budget> {
        let windows = windows(job, sources, stores)?;
        let input: u64 = sources.iter().map(|source| source.bytes).sum();
        let limit = job.memory_bytes - windows;
        let chunk = (limit / (job.threads as u64 * 40)).clamp(64 << 10, 1 << 20);
        // A shingle a word, a word about six bytes, some ten shingles a counter: common shingles still stand out, and
        // the table stays in the processor's cache. Of large inputs a smaller share of the pages is counted, and the table
        // grows only when that would be very little. Fewer counters only cost speed.
        let counters = (input / 256).max(1 << 12).ilog2() + 1;
        let rarity_bits = counters.min(CACHED_BITS).max(counters.saturating_sub(2)).min((limit / 16).ilog2());
        let fifth = limit.saturating_sub(OVERHEAD) / 5;
        Ok(Budget {
            limit,
            chunk: chunk as usize,
            segments: (limit / 2).saturating_sub(OVERHEAD + job.threads as u64 * OVERHEAD_A_THREAD),
            seen: (limit / 16 / BYTES_A_FINGERPRINT) as usize,
            rarity_bits,
            rarity_share: COUNTED << counters.saturating_sub(CACHED_BITS + 2).min(16),
            sort: fifth,
            outlines: limit / 16,
            sketches: (limit / 5).saturating_sub(OVERHEAD),
            entries: (fifth / BYTES_AN_ENTRY) as usize,
            runs: (fifth / BYTES_AN_ENTRY) as usize,
            names: limit / 4,
            large_pages: (limit / 4 / (BYTES_A_BYTE * job.limits.page_bytes as u64)) as usize,
        })
    }

    /// The shares once all segments are on disk: their memory is for outlines and sketches; entries have that of sorters
    /// too, since sorting is over when they come.
    pub(crate) fn without_segments(self) -> Budget {
        let entries = self.entries + (self.sort / BYTES_AN_ENTRY) as usize;
        Budget { segments: 0, outlines: self.limit / 4, entries, ..self }
    }

    /// Refuses a run whose pages cannot be held in a few bytes each.
    pub(crate) fn check_pages(&self, pages: usize) -> Result<()> {
        let needed = 4 * pages as u64 * BYTES_A_PAGE;
        if needed > self.limit {
            let purpose = format!("for {pages} pages");
            return Err(Error::Memory { needed, limit: self.limit, purpose });
        }
        Ok(())
    }
}

/// What the zstd files that are open at once may take to unpack: at most half of the limit.
fn windows(job: &Job, sources: &[Source], stores: &Stores) -> Result<u64> {
    let mut windows = Vec::new();
    for source in sources.iter().filter(|source| source.format.packing() == Packing::Zstd) {
        windows.push((source.open(stores).and_then(zstd_window).at("read", &source.path)?, source));
    }
    windows.sort_by_key(|(window, _)| std::cmp::Reverse(*window));
    // Small windows are within the shares of all else.
    let large = windows.iter().take(job.threads).filter(|(window, _)| *window > 1 << 20);
    let sum = large.map(|(window, _)| window).sum();
    match windows.first() {
        Some((_, source)) if 2 * sum > job.memory_bytes => {
            let purpose = format!("to unpack {} and files like it", source.name);
            Err(Error::Memory { needed: 2 * sum, limit: job.memory_bytes, purpose })
        }
        _ => Ok(sum),
    }
}

/// One in so many pages is counted at least: what is common among a quarter of the pages is so among all.
const COUNTED: u32 = 4;
/// The logarithm of the counters that are in a cache for the most part.
const CACHED_BITS: u32 = 21;

/// What the program takes for itself, and each of its threads for buffers. Small limits are mostly that.
const OVERHEAD: u64 = 8 << 20;
const OVERHEAD_A_THREAD: u64 = 2 << 20;
/// Sixteen bytes, at the fill of a hash table that has just grown.
const BYTES_A_FINGERPRINT: u64 = 40;
/// A holder in the runs, in the index, and the way back to it from its content.
const BYTES_AN_ENTRY: u64 = 32;
