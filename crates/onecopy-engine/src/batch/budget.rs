//! How a memory limit is shared out between the parts of a run.
//!
//! Each part is told its share and keeps it; the shares of parts that live at the same time add up to less than the
//! whole, because allocators and stacks take something too.

use std::path::PathBuf;

use crate::batch::candidates::contents::BYTES_A_PAGE;
use crate::batch::read::BYTES_A_BYTE;
use crate::error::{At, Error, Result};
use crate::ingest::{Packing, Source, Stores, WIDEST, Window, Windows, zstd_window};
use crate::job::Job;

/// What each part may take, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The memory limit without the share of unpacking.
    pub limit: u64,
    /// The memory limit.
    pub memory: u64,
    /// The least memory that unpacking takes, if any file is packed with zstd.
    pub unpacking: Option<u64>,
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
    pub(crate) fn of(job: &Job, sources: &[Source], stores: &Stores) -> Result<(Budget, Windows)> {
        let unpacking = Unpacking::of(job, sources, stores)?;
        let input: u64 = sources.iter().map(|source| source.bytes).sum();
        let limit = job.memory_bytes - unpacking.takes(job.memory_bytes);
        let chunk = (limit / (job.threads as u64 * 40)).clamp(64 << 10, 1 << 20);
        // A shingle a word, a word about six bytes, some ten shingles a counter: common shingles still stand out, and
        // the table stays in the processor's cache. Of large inputs a smaller share of the pages is counted, and the table
        // grows only when that would be very little. Fewer counters only cost speed.
        let counters = (input / 256).max(1 << 12).ilog2() + 1;
        let rarity_bits = counters.min(CACHED_BITS).max(counters.saturating_sub(2)).min((limit / 16).ilog2());
        let fifth = limit.saturating_sub(OVERHEAD) / 5;
        let budget = Budget {
            limit,
            memory: job.memory_bytes,
            unpacking: (unpacking.at_once > 0).then(|| unpacking.takes(0)),
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
        };
        Ok((budget, unpacking.windows(job.memory_bytes)))
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
            let (needed, purpose) = (self.memory_for(needed), format!("for {pages} pages"));
            return Err(Error::Memory { needed, limit: self.memory, purpose });
        }
        Ok(())
    }

    /// Refuses archives whose records refer to each other more often than `names` can hold.
    pub(crate) fn check_references(&self, bytes: u64) -> Result<()> {
        if bytes <= self.names {
            return Ok(());
        }
        let purpose = "for the references between records of archives".to_owned();
        Err(Error::Memory { needed: self.memory_for(4 * bytes), limit: self.memory, purpose })
    }

    /// The memory limit that leaves `needed` bytes after unpacking took its share.
    fn memory_for(&self, needed: u64) -> u64 {
        let grown = |least: u64| (needed + least).div_ceil(UNPACKING_SHARE - 1) * UNPACKING_SHARE;
        self.unpacking.map_or(needed, grown)
    }
}

/// The memory that unpacking zstd takes.
struct Unpacking {
    /// The most files that are open at once.
    at_once: u64,
    /// The window of the first frame of each source, rounded up to a power of two. The widest comes first.
    first: Vec<(u64, PathBuf)>,
}

impl Unpacking {
    /// Reads the first frame header of all sources. Fails if they take more than half of the limit.
    fn of(job: &Job, sources: &[Source], stores: &Stores) -> Result<Unpacking> {
        let mut first = Vec::new();
        for source in sources.iter().filter(|source| source.format.packing() == Packing::Zstd) {
            let window = source.open(stores).and_then(zstd_window).at("read", &source.path)?;
            first.push((window.next_power_of_two(), source.path.clone()));
        }
        first.sort_by_key(|(window, _)| std::cmp::Reverse(*window));
        let unpacking = Unpacking { at_once: job.threads.min(first.len()) as u64, first };
        let mut needed = job.memory_bytes;
        while 2 * unpacking.takes(needed) > needed {
            needed = 2 * unpacking.takes(needed);
        }
        if needed == job.memory_bytes {
            return Ok(unpacking);
        }
        let widest = unpacking.first.first().map(|(_, path)| path.display().to_string()).unwrap_or_default();
        let purpose = format!("to unpack {widest} and files like it");
        Err(Error::Memory { needed, limit: job.memory_bytes, purpose })
    }

    /// The window limit for later frames.
    fn any(&self, memory: u64) -> u64 {
        let share = memory / UNPACKING_SHARE / self.at_once.max(1);
        // Rounded down to a power of two.
        (1 << share.max(1).ilog2()).clamp(SMALL_WINDOW, WIDEST)
    }

    /// The memory that the open files take under such a memory limit.
    fn takes(&self, memory: u64) -> u64 {
        let any = self.any(memory);
        let windows = self.first.iter().take(self.at_once as usize).map(|(window, _)| (*window).max(any));
        windows.filter(|window| *window > SMALL_WINDOW).sum()
    }

    fn windows(self, memory: u64) -> Windows {
        let share = UNPACKING_SHARE * self.at_once.max(1);
        let any = Window { bytes: self.any(memory), share, limit: memory };
        let wide = self.first.into_iter().filter(|(window, _)| *window > any.bytes);
        Windows { any, wide: wide.map(|(window, path)| (path, window)).collect() }
    }
}

/// The fraction of the memory limit for later zstd frames is one over this.
const UNPACKING_SHARE: u64 = 8;
/// Smaller windows are not counted: the other shares have room for them.
const SMALL_WINDOW: u64 = 1 << 20;
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::ingest::plan;

    /// A job over zstd files, whose first frames have windows of so many bits.
    fn job(folder: &std::path::Path, logs: &[u32]) -> Job {
        for (number, &log) in logs.iter().enumerate() {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(b"{}\n").unwrap();
            std::fs::write(folder.join(format!("{number}.jsonl.zst")), encoder.finish().unwrap()).unwrap();
        }
        let mut job = Job::new([folder.to_str().unwrap()], folder.join("out"));
        (job.threads, job.memory_bytes) = (2, 64 << 20);
        job
    }

    fn budget(job: &Job) -> Result<Budget> {
        let stores = Stores::new([]);
        let inputs = plan(&job.inputs, None, &job.out, &stores)?;
        Ok(Budget::of(job, &inputs.sources, &stores)?.0)
    }

    /// The number of megabytes that a message says to give.
    fn advice(error: Error) -> u64 {
        let Error::Memory { needed, .. } = error else { panic!("no advice: {error}") };
        needed.div_ceil(1 << 20)
    }

    #[test]
    fn advice_that_is_followed_helps() {
        for logs in [&[][..], &[20, 20, 20], &[23], &[27], &[27, 20], &[27, 26, 25], &[24, 24]] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("plain.jsonl"), "{}\n").unwrap();
            let mut job = job(folder.path(), logs);
            if let Err(error) = budget(&job) {
                job.memory_bytes = advice(error) << 20;
            }
            for pages in [1_000, 2_000_000, 20_000_000] {
                let Err(error) = budget(&job).unwrap().check_pages(pages) else { continue };
                let given = job.memory_bytes;
                job.memory_bytes = advice(error) << 20;
                assert!(job.memory_bytes > given);
                budget(&job).unwrap().check_pages(pages).unwrap();
            }
        }
    }

    #[test]
    fn later_frames_have_a_share() {
        let folder = tempfile::tempdir().unwrap();
        let job = job(folder.path(), &[20, 25, 20]);
        let stores = Stores::new([]);
        let inputs = plan(&job.inputs, None, &job.out, &stores).unwrap();
        let mut large = job.clone();
        large.memory_bytes = 256 << 20;
        let (budget, windows) = Budget::of(&large, &inputs.sources, &stores).unwrap();
        let allowed: Vec<u64> = inputs.sources.iter().map(|source| windows.of(source).bytes >> 20).collect();
        assert_eq!(allowed, [16, 32, 16]);
        // Two files at once, one of them the widest.
        assert_eq!(budget.limit, (256 - 32 - 16) << 20);
        // The advice of a refused frame suffices.
        let given = Job { memory_bytes: windows.any.share << 27, ..large };
        assert_eq!(Budget::of(&given, &inputs.sources, &stores).unwrap().1.any.bytes, WIDEST);
    }
}
