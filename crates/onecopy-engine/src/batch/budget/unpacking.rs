//! The memory that unpacking takes: windows of compressed files, and pages of Parquet files.

use crate::error::{At, Error, Result};
use crate::ingest::{Format, Reach, Source, WIDEST, Window, Windows, parquet_memory, window, window_of_all};
use crate::job::Job;

/// The memory for unpacking the files of a job.
pub(super) struct Unpacking {
    /// The most files that are open at once, if memory allows it.
    most: usize,
    /// How many are open at once.
    at_once: usize,
    /// Widest first.
    files: Vec<Need>,
}

/// The need of a file.
struct Need {
    /// Bytes. For a compressed file, its widest known window, rounded up to a power of two.
    bytes: u64,
    /// Whether it may have frames that take more.
    has_frames: bool,
    name: String,
}

impl Unpacking {
    /// Looks at all sources, and opens as many at once as half of the memory holds without the list of files. Fails if
    /// that is not even one.
    pub(super) fn of(job: &Job, listed: u64, sources: &[Source], reach: &Reach) -> Result<Unpacking> {
        // A frame that fits in any case need not be known.
        let share = job.memory_bytes / UNPACKING_SHARE / job.threads.min(sources.len()).max(1) as u64;
        let (has_room, mut files) = (share >= WIDEST, Vec::new());
        for source in sources {
            let known = if has_room { None } else { Need::of_all(source, reach)? };
            files.extend(known.map_or_else(|| Need::of(job, source, reach), |need| Ok(Some(need)))?);
        }
        files.sort_by_key(|need| std::cmp::Reverse(need.bytes));
        let most = job.threads.min(files.len());
        let mut unpacking = Unpacking { most, at_once: most, files };
        let fits = |unpacking: &Unpacking, memory: u64| 2 * (unpacking.takes(memory) + listed) <= memory;
        while unpacking.at_once > 1 && !fits(&unpacking, job.memory_bytes) {
            unpacking.at_once -= 1;
        }
        let mut needed = job.memory_bytes;
        while !fits(&unpacking, needed) {
            needed = 2 * (unpacking.takes(needed) + listed);
        }
        if needed == job.memory_bytes {
            return Ok(unpacking);
        }
        let widest = unpacking.files.first().map(|need| need.name.clone()).unwrap_or_default();
        let purpose = format!("to unpack {widest} and files like it");
        Err(Error::Memory { needed, limit: job.memory_bytes, purpose })
    }

    /// The least that unpacking takes with as many open files as there may be, if it takes any.
    pub(super) fn least(&self) -> Option<u64> {
        let most = Unpacking { most: self.most, at_once: self.most, files: Vec::new() };
        (self.most > 0).then(|| self.sum(self.most, most.any(0)))
    }

    /// The memory that the open files take under a given memory limit.
    pub(super) fn takes(&self, memory: u64) -> u64 {
        self.sum(self.at_once, self.any(memory))
    }

    /// The window limit for later frames.
    fn any(&self, memory: u64) -> u64 {
        let share = memory / UNPACKING_SHARE / self.at_once.max(1) as u64;
        // Rounded down to a power of two.
        (1 << share.max(1).ilog2()).clamp(SMALL_WINDOW, WIDEST)
    }

    fn sum(&self, open: usize, any: u64) -> u64 {
        let needs = self.files.iter().take(open);
        let bytes = needs.map(|need| if need.has_frames { need.bytes.max(any) } else { need.bytes });
        bytes.filter(|bytes| *bytes > SMALL_WINDOW).sum()
    }

    pub(super) fn windows(self, memory: u64) -> Windows {
        // With more memory, more files may be open at once.
        let share = UNPACKING_SHARE * self.most.max(1) as u64;
        let any = Window { bytes: self.any(memory), share, limit: memory };
        let at_once = if self.at_once < self.most { self.at_once } else { usize::MAX };
        let wide = self.files.into_iter().filter(|need| need.bytes > any.bytes);
        Windows { at_once, any, wide: wide.map(|need| (need.name, need.bytes)).collect() }
    }
}

impl Need {
    /// The need of a local source whose frames can all be found.
    fn of_all(source: &Source, reach: &Reach) -> Result<Option<Need>> {
        let is_deflated = source.member.as_ref().is_some_and(|member| member.deflated);
        if source.version.is_some() || is_deflated {
            return Ok(None);
        }
        let section = || reach.section(source).map(|section| section.reader());
        let bytes = window_of_all(source.format.packing(), section).at("read", &source.path)?;
        let name = source.name.clone();
        Ok(bytes.map(|bytes| Need { bytes: bytes.next_power_of_two(), has_frames: false, name }))
    }

    /// The need of a source, if it has one.
    fn of(job: &Job, source: &Source, reach: &Reach) -> Result<Option<Need>> {
        let has_frames = source.format != Format::Parquet;
        let bytes = match source.format {
            // The heads of its pages are too many requests away.
            Format::Parquet if source.version.is_some() => Ok(0),
            Format::Parquet => reach.section(source).and_then(|file| parquet_memory(file, &job.fields)),
            format => window(format.packing(), || reach.bytes(source)),
        };
        let bytes = bytes.at("read", &source.path)?;
        let rounded = if has_frames { bytes.next_power_of_two() } else { bytes };
        Ok((bytes > 0).then(|| Need { bytes: rounded, has_frames, name: source.name.clone() }))
    }
}

/// Later frames may take this fraction of the memory limit: one over the number.
pub(super) const UNPACKING_SHARE: u64 = 8;
/// Smaller windows are not counted, because the other shares have room for them.
const SMALL_WINDOW: u64 = 1 << 20;
