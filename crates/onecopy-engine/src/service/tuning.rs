//! Sizes and waiting times that do not affect answers. Tests use small ones, so that few pages reach every path.

use std::time::Duration;

use onecopy_store::SEGMENT_BYTES;

/// Sizes and waits of an open collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// The number of contents at which the first generation with a frozen order begins.
    pub first_generation: u64,
    /// A collection that has grown by this factor begins a generation.
    pub growth: u64,
    /// The logarithm of the number of shingle counters.
    pub live_bits: u32,
    /// The most postings in memory before they are spilled.
    pub postings_in_memory: usize,
    /// The most changes of a batch: larger batches cost less per change, but later changes wait longer.
    pub batch_changes: usize,
    /// The length of a segment of the log.
    pub segment_bytes: u32,
    /// How long Tier 2 waits before it retries a batch that failed.
    pub retry_pause: Duration,
    /// How long nothing must have happened before Tier 2 tidies up.
    pub idle_pause: Duration,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            first_generation: 1_000,
            growth: 8,
            live_bits: 25,
            postings_in_memory: 1 << 19,
            batch_changes: 4_096,
            segment_bytes: SEGMENT_BYTES,
            retry_pause: Duration::from_secs(1),
            idle_pause: Duration::from_secs(2),
        }
    }
}

#[cfg(test)]
impl Tuning {
    /// Small sizes: a few pages create generations, parts of postings, several batches and segments.
    pub(super) fn small() -> Tuning {
        Tuning {
            first_generation: 4,
            growth: 2,
            live_bits: 16,
            postings_in_memory: 1 << 7,
            batch_changes: 8,
            segment_bytes: 4 << 10,
            retry_pause: Duration::from_millis(5),
            idle_pause: Duration::from_millis(2),
        }
    }
}
