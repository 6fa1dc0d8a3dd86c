//! Divides the memory limit between the parts of a run.
//!
//! Each part keeps to its share. The shares of parts that live at the same time add up to less than the limit, because
//! allocators and stacks need some memory too.

mod unpacking;

use crate::batch::candidates::contents::BYTES_A_PAGE;
use crate::batch::read::{BYTES_A_BYTE, Segments};
use crate::error::{Error, Result};
use crate::ingest::{Reach, Source, Windows};
use crate::job::Job;
use crate::parallel::cores;
use unpacking::{UNPACKING_SHARE, Unpacking};

/// The share of each part, in bytes unless stated otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The memory limit minus the shares of unpacking and of the list of files.
    pub limit: u64,
    /// The memory limit.
    pub memory: u64,
    /// The least memory that unpacking takes, if it takes any.
    pub unpacking: Option<u64>,
    /// The list of files.
    pub listed: u64,
    /// A chunk of input. A thread works on one chunk at a time, in buffers of several times its size.
    pub chunk: usize,
    /// Segments in memory.
    pub segments: u64,
    /// The number of fingerprints of sketched pages to remember.
    pub seen: usize,
    /// The logarithm of the number of rarity counters, of one byte each.
    pub rarity_bits: u32,
    /// Rarity counters count one page in this many.
    pub rarity_share: u32,
    /// The number of tables of counters.
    pub rarity_tables: usize,
    /// All sorters together.
    pub sort: u64,
    /// Outlines of pages, in addition to their segments.
    pub outlines: u64,
    /// Sketches of the pages being settled, if their segments are on disk.
    pub sketches: u64,
    /// The number of shared keys in memory while pages are settled.
    pub entries: usize,
    /// The number of holders in key lists that stay in memory after they are found.
    pub holders: usize,
    /// Names of pages, if they are not in memory with their segments.
    pub names: u64,
    /// The number of pages larger than a chunk that threads may work on at once.
    pub large_pages: usize,
}

impl Budget {
    /// The shares of a job, after those of unpacking and of the list of files are set aside.
    pub(crate) fn of(job: &Job, sources: &[Source], reach: &Reach) -> Result<(Budget, Windows)> {
        let listed = listed_bytes(job, sources)?;
        let unpacking = Unpacking::of(job, listed, sources, reach)?;
        let input: u64 = sources.iter().map(|source| source.bytes).sum();
        let limit = job.memory_bytes - listed - unpacking.takes(job.memory_bytes);
        let chunk = (limit / (job.threads as u64 * 40)).clamp(64 << 10, 1 << 20);
        // One shingle per word, about six bytes per word and ten shingles per counter: common shingles still stand out,
        // and the table fits in the processor's cache. A large input counts a smaller share of its pages, and the table
        // grows only if that share would be tiny. Fewer counters only cost speed.
        let counters = (input / 256).max(1 << 12).ilog2() + 1;
        let rarity_bits = counters.min(CACHED_BITS).max(counters.saturating_sub(2)).min((limit / 16).ilog2());
        let fifth = limit.saturating_sub(OVERHEAD) / 5;
        let budget = Budget {
            limit,
            memory: job.memory_bytes,
            unpacking: unpacking.least(),
            listed,
            chunk: chunk as usize,
            segments: (limit / 2).saturating_sub(OVERHEAD + job.threads as u64 * OVERHEAD_A_THREAD),
            seen: (limit / 16 / BYTES_A_FINGERPRINT) as usize,
            rarity_bits,
            rarity_tables: (1 + ((limit / 64) >> rarity_bits) as usize).min(job.threads).min(cores()),
            rarity_share: COUNTED << counters.saturating_sub(CACHED_BITS + 2).min(16),
            sort: fifth,
            outlines: limit / 16,
            sketches: (limit / 5).saturating_sub(OVERHEAD),
            entries: (fifth / BYTES_AN_ENTRY) as usize,
            holders: (fifth / BYTES_AN_ENTRY) as usize,
            names: limit / 4,
            large_pages: (limit / 4 / (BYTES_A_BYTE * job.limits.page_bytes as u64)) as usize,
        };
        Ok((budget, unpacking.windows(job.memory_bytes)))
    }

    /// The shares once all segments are on disk. Outlines and sketches take over the memory of segments. Entries take
    /// over that of sorters, because sorting is finished by then.
    pub(crate) fn without_segments(self) -> Budget {
        let entries = self.entries + (self.sort / BYTES_AN_ENTRY) as usize;
        Budget { segments: 0, outlines: self.limit / 4, entries, ..self }
    }

    /// How many words of each outline may be in memory a second time, while contents are compared. Sorting is finished by
    /// then.
    pub(crate) fn crowd_words(&self, contents: usize) -> usize {
        /// Quotas, in how many bits outlines may differ, and a glance of the fewest words.
        const MORE: u64 = 7;
        // A glance has up to a quarter of the words, rounded up to a power of two.
        ((self.sort / 2 / 8 / contents.max(1) as u64).saturating_sub(MORE) * 2 / 3) as usize
    }

    /// Refuses a run if the memory limit is too small for a few bytes per page.
    pub(crate) fn check_pages(&self, pages: usize) -> Result<()> {
        let needed = 4 * pages as u64 * BYTES_A_PAGE;
        if needed > self.limit {
            let (needed, purpose) = (self.memory_for(needed), format!("for {pages} pages"));
            return Err(Error::Memory { needed, limit: self.memory, purpose });
        }
        Ok(())
    }

    /// Refuses a run whose pages have more links than fit, given the bytes for these. They may take over the memory of
    /// segments that are on disk.
    pub(crate) fn check_links(&self, bytes: u64, segments: &Segments) -> Result<()> {
        let share = if segments.on_disk() { self.limit / 2 } else { self.limit / 4 };
        if bytes <= share {
            return Ok(());
        }
        let purpose = "for the links between pages".to_owned();
        Err(Error::Memory { needed: self.memory_for(4 * bytes), limit: self.memory, purpose })
    }

    /// Refuses archives whose records refer to each other more often than `names` can hold.
    pub(crate) fn check_references(&self, bytes: u64) -> Result<()> {
        if bytes <= self.names {
            return Ok(());
        }
        let purpose = "for the references between records of archives".to_owned();
        Err(Error::Memory { needed: self.memory_for(4 * bytes), limit: self.memory, purpose })
    }

    /// The memory limit that leaves `needed` bytes after unpacking and the list of files took their shares.
    fn memory_for(&self, needed: u64) -> u64 {
        let needed = needed + self.listed;
        let grown = |least: u64| (needed + least).div_ceil(UNPACKING_SHARE - 1) * UNPACKING_SHARE;
        self.unpacking.map_or(needed, grown)
    }
}

/// At least one page in this many is counted: shingles that are common in a quarter of the pages are common in all.
const COUNTED: u32 = 4;
/// The logarithm of the number of counters that mostly fit in a cache.
const CACHED_BITS: u32 = 21;

/// Memory for the program itself and for the buffers of its threads. It dominates small limits.
const OVERHEAD: u64 = 12 << 20;
const OVERHEAD_A_THREAD: u64 = 2 << 20;
/// Sixteen bytes, at the load factor of a hash table that has just grown.
const BYTES_A_FINGERPRINT: u64 = 40;
/// A holder in a key list, its entry in the index, and the reference back from its content.
const BYTES_AN_ENTRY: u64 = 32;

/// The memory for the list of files. Fails if it is more than half of the limit.
fn listed_bytes(job: &Job, sources: &[Source]) -> Result<u64> {
    let bytes: u64 = sources.iter().map(Source::held_bytes).sum();
    if bytes <= SMALL_LIST {
        return Ok(0);
    }
    if 2 * bytes <= job.memory_bytes {
        return Ok(bytes);
    }
    let (needed, purpose) = (2 * bytes, format!("to list {} files", sources.len()));
    Err(Error::Memory { needed, limit: job.memory_bytes, purpose })
}

/// A smaller list of files is not counted, because the other shares have room for it.
const SMALL_LIST: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::Silent;
    use crate::ingest::{Inputs, Links, Planning, Spools, Stores, WIDEST, Window, plan};

    /// A frame whose window has so many bits.
    fn frame(log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        encoder.write_all(b"{}\n").unwrap();
        encoder.finish().unwrap()
    }

    /// A job over zstd files of one frame each, whose windows have these bits.
    fn job(folder: &std::path::Path, logs: &[u32]) -> Job {
        for (number, &log) in logs.iter().enumerate() {
            std::fs::write(folder.join(format!("{number}.jsonl.zst")), frame(log)).unwrap();
        }
        let mut job = Job::new([folder.to_str().unwrap()], folder.join("out"));
        (job.threads, job.memory_bytes) = (2, 64 << 20);
        job
    }

    fn budget(job: &Job) -> Result<Budget> {
        let (inputs, reach) = found(job)?;
        Ok(Budget::of(job, &inputs.sources, &reach)?.0)
    }

    fn found(job: &Job) -> Result<(Inputs, Reach)> {
        let spools = Spools::new(&job.out, 1_000, Window::default());
        let reach = Reach { stores: Stores::new([]), spools };
        let planning =
            Planning { stdin: None, out: &job.out, links: Links::Follow, reach: &reach, progress: &Silent };
        Ok((plan(&job.inputs, &planning)?, reach))
    }

    /// The number of megabytes that an error message recommends.
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
    fn a_later_frame_is_known_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut job = job(folder.path(), &[20, 20]);
        assert!(budget(&job).is_ok());
        std::fs::write(folder.path().join("2.jsonl.zst"), [frame(20), frame(27), frame(20)].concat())
            .unwrap();
        job.memory_bytes = advice(budget(&job).unwrap_err()) << 20;
        assert!((256..512).contains(&(job.memory_bytes >> 20)), "{}", job.memory_bytes);
        let (inputs, reach) = found(&job).unwrap();
        let (_, windows) = Budget::of(&job, &inputs.sources, &reach).unwrap();
        assert_eq!(windows.of(&inputs.sources[2]).bytes, WIDEST);
    }

    #[test]
    fn later_frames_have_a_share() {
        let folder = tempfile::tempdir().unwrap();
        let job = job(folder.path(), &[20, 25, 20]);
        let (inputs, reach) = found(&job).unwrap();
        let mut large = job.clone();
        large.memory_bytes = 256 << 20;
        let (budget, windows) = Budget::of(&large, &inputs.sources, &reach).unwrap();
        let allowed: Vec<u64> = inputs.sources.iter().map(|source| windows.of(source).bytes >> 20).collect();
        assert_eq!(allowed, [16, 32, 16]);
        // Two files are open at once, and only the widest counts.
        assert_eq!(budget.limit, (256 - 32) << 20);
        // The recommended memory suffices for the refused frame.
        let given = Job { memory_bytes: windows.any.share << 27, ..large };
        assert_eq!(Budget::of(&given, &inputs.sources, &reach).unwrap().1.any.bytes, WIDEST);
    }
}
