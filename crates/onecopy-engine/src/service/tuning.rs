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
    /// About the most bytes of the changes of a batch.
    pub batch_bytes: u64,
    /// The most bytes of changes that wait, whatever the options say.
    pub queue_bytes: u64,
    /// The most words in each half of the cache of sketches.
    pub sketch_words: usize,
    /// The size of the cache of tables.
    pub cache_bytes: usize,
    /// The length of a segment of the log.
    pub segment_bytes: u32,
    /// How long Tier 2 waits before it retries a batch that failed.
    pub retry_pause: Duration,
    /// How long nothing must have happened before Tier 2 tidies up.
    pub idle_pause: Duration,
    /// The pause between two pieces whose checksums are verified.
    pub scrub_pause: Duration,
    /// The most pages that one list looks at.
    pub looked_at: usize,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            first_generation: 1_000,
            growth: 8,
            live_bits: 25,
            postings_in_memory: 1 << 19,
            batch_changes: 4_096,
            batch_bytes: 64 << 20,
            queue_bytes: u64::MAX,
            sketch_words: 2 << 20,
            cache_bytes: 64 << 20,
            segment_bytes: SEGMENT_BYTES,
            retry_pause: Duration::from_secs(1),
            idle_pause: Duration::from_secs(2),
            scrub_pause: Duration::from_secs(60),
            looked_at: 10_000,
        }
    }
}

impl Tuning {
    /// Sizes that fit into so many bytes together. Beside them are a few hundred bytes for each page of the collection.
    ///
    /// There are 32 parts. The tables and the queue have four each, and so have the counters of shingles and the newest
    /// order. The sketches have two. A batch has one: while it is settled it takes a few times as much, for rows and copies.
    pub(super) fn within(memory_bytes: u64) -> Tuning {
        let usual = Tuning::default();
        let part = memory_bytes / 32;
        Tuning {
            live_bits: (4 * part).max(1).ilog2().clamp(LEAST_LIVE_BITS, usual.live_bits),
            postings_in_memory: usual.postings_in_memory.min((2 * part) as usize / POSTING_BYTES),
            batch_bytes: usual.batch_bytes.min(part),
            queue_bytes: 4 * part,
            sketch_words: usual.sketch_words.min(part as usize / 8),
            cache_bytes: usual.cache_bytes.min(4 * part as usize),
            ..usual
        }
    }
}

/// The fewest counters of shingles, as a logarithm.
const LEAST_LIVE_BITS: u32 = 20;
/// The bytes of a posting in memory, and of its copy while it is written.
const POSTING_BYTES: usize = 52;

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
            batch_bytes: 6 << 10,
            queue_bytes: u64::MAX,
            sketch_words: 1 << 10,
            cache_bytes: 1 << 20,
            segment_bytes: 4 << 10,
            retry_pause: Duration::from_millis(5),
            idle_pause: Duration::from_millis(2),
            scrub_pause: Duration::from_secs(3600),
            looked_at: 40,
        }
    }
}
