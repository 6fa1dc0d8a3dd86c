//! The segments of a run. They stay in memory while they fit, and the others go to disk. Once most are on disk, all
//! are.
//!
//! A killed run loses the segments in memory: reading that input again is faster than always writing all segments. A
//! run that is stopped, or fails, writes them before it ends.

mod disk;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::batch::read::segment::{Row, Segment};
use crate::error::{Error, Result};
use crate::io::{Aligned, drop_words};
use crate::job::Job;
use crate::parallel::give_away;
use crate::progress::{Note, Progress};
use crate::run;
use disk::{Disk, OnDisk};

/// Collects segments while the input is read.
pub(crate) struct Collector {
    segments: Vec<Stored>,
    known: HashSet<(u32, u32)>,
    /// The size of the segments in memory, and its limit.
    memory: u64,
    memory_limit: u64,
    disk: Option<Disk>,
    /// How many chunks the lots have that were read to their end.
    ends: BTreeMap<u32, u32>,
    folder: PathBuf,
}

/// The file that keeps the ends of lots.
const ENDS: &str = "ends.json";

/// How long a run that is stopped may take to write its segments.
const SAVING: Duration = Duration::from_secs(20);

enum Stored {
    /// A segment and its sketches in sequence.
    Memory(Segment, Vec<u64>),
    Disk(OnDisk),
}

impl Stored {
    /// Writes a segment to disk.
    fn on(disk: &mut Disk, segment: &Segment, sketches: &[u64]) -> Result<Stored> {
        disk.append(segment, sketches).map(Stored::Disk)
    }

    fn place(&self) -> (u32, u32) {
        match self {
            Stored::Memory(segment, _) => (segment.lot, segment.chunk),
            Stored::Disk(OnDisk { layout, .. }) => (layout.lot, layout.chunk),
        }
    }

    /// The number of words in its sketches.
    fn words(&self) -> usize {
        match self {
            Stored::Memory(_, sketches) => sketches.len(),
            Stored::Disk(segment) => segment.layout.sketches as usize,
        }
    }

    fn rows(&self) -> usize {
        match self {
            Stored::Memory(segment, _) => segment.rows.len(),
            Stored::Disk(segment) => segment.layout.rows as usize,
        }
    }
}

impl Collector {
    /// Recovers the segments that an earlier run left in `folder`.
    pub(crate) fn open(folder: &Path, memory_limit: u64) -> Result<Collector> {
        let mut collector = Collector {
            segments: Vec::new(),
            known: HashSet::new(),
            memory: 0,
            memory_limit,
            disk: None,
            ends: run::read(&folder.join(ENDS)).unwrap_or_default(),
            folder: folder.to_owned(),
        };
        if folder.join("segments.log").exists() {
            let (disk, found) = Disk::recover(folder)?;
            collector.segments = found.into_iter().map(Stored::Disk).collect();
            collector.known = collector.segments.iter().map(Stored::place).collect();
            collector.disk = Some(disk);
        }
        Ok(collector)
    }

    /// The number of pages so far.
    pub(crate) fn pages(&self) -> u64 {
        self.segments.iter().map(|stored| stored.rows() as u64).sum()
    }

    /// Records lots that end after so many chunks.
    pub(crate) fn end(&mut self, ends: Vec<(u32, u32)>) -> Result<()> {
        self.ends.extend(ends);
        run::write(&self.folder.join(ENDS), &self.ends)
    }

    /// Whether all chunks of a lot are here, so that its sources need not be opened.
    pub(crate) fn has_all(&self, lot: u32) -> bool {
        self.ends.get(&lot).is_some_and(|&chunks| (0..chunks).all(|chunk| self.has(lot, chunk)))
    }

    /// Copies the segments of a folder of sketches that are not here yet. Its lots and sources come after so many others.
    pub(crate) fn take(&mut self, stored: &Segments, lots: u32, sources: u32) -> Result<()> {
        self.ends.extend(stored.ends.iter().map(|(lot, chunks)| (lot + lots, *chunks)));
        let mut buffer = Aligned::default();
        for number in 0..stored.len() {
            let (lot, chunk, _) = stored.place(number);
            if self.has(lot + lots, chunk) {
                continue;
            }
            let mut segment = stored.whole(number)?;
            segment.lot += lots;
            segment.rows.iter_mut().for_each(|row| row.source += sources);
            segment.rejected.iter_mut().for_each(|rejection| rejection.source += sources);
            self.add(segment, &mut stored.sketches(number, false, &mut buffer)?.to_vec())?;
        }
        Ok(())
    }

    /// Writes the segments in memory to disk, so that a later run can continue from them. Gives up after a while.
    fn save(mut self) -> Result<()> {
        let begun = Instant::now();
        for stored in std::mem::take(&mut self.segments) {
            if begun.elapsed() > SAVING {
                break;
            }
            if let Stored::Memory(segment, sketches) = stored {
                Stored::on(self.disk()?, &segment, &sketches)?;
            }
        }
        Ok(())
    }

    /// Saves the segments of a run that ends with this error, if a later run can use them. Returns the error to report.
    pub(crate) fn save_after(self, job: &Job, error: Error, progress: &dyn Progress) -> Error {
        let useful = match &error {
            Error::Stopped | Error::Memory { .. } => true,
            Error::Io { source, .. } => source.kind() != ErrorKind::StorageFull,
            _ => false,
        };
        if !useful || !job.continues() || self.memory == 0 {
            return error;
        }
        progress.note(&Note::Saving);
        self.save().err().unwrap_or(error)
    }

    /// Whether it has the segment of a chunk.
    pub(crate) fn has(&self, lot: u32, chunk: u32) -> bool {
        self.known.contains(&(lot, chunk))
    }

    /// Takes a segment and its sketches, and writes them to disk once memory is full. Sketches that stay in memory are
    /// moved, not copied. The caller may reuse the rest of `sketches` as a buffer.
    pub(crate) fn add(&mut self, segment: Segment, sketches: &mut Vec<u64>) -> Result<()> {
        self.known.insert((segment.lot, segment.chunk));
        let bytes = segment.bytes() + 8 * sketches.len() as u64;
        let stored = if self.memory + bytes <= self.memory_limit {
            self.memory += bytes;
            let mut taken = std::mem::take(sketches);
            // Frees unused capacity, which may be resident already.
            taken.shrink_to_fit();
            Stored::Memory(segment, taken)
        } else {
            Stored::on(self.disk()?, &segment, sketches)?
        };
        self.segments.push(stored);
        // If most segments are on disk, later stages make better use of the memory.
        let few = self.disk.as_ref().is_some_and(|disk| disk.bytes() > self.memory_limit);
        if few { self.clear_memory() } else { Ok(()) }
    }

    /// Ensures that `bytes` more fit in memory. If they do not, all segments go to disk.
    pub(crate) fn make_room(&mut self, bytes: u64) -> Result<()> {
        if self.memory + bytes <= self.memory_limit { Ok(()) } else { self.clear_memory() }
    }

    /// Writes all segments to disk, and all later ones.
    fn clear_memory(&mut self) -> Result<()> {
        let held = if self.memory > 0 { std::mem::take(&mut self.segments) } else { Vec::new() };
        for mut stored in held {
            if let Stored::Memory(segment, sketches) = stored {
                stored = Stored::on(self.disk()?, &segment, &sketches)?;
            }
            self.segments.push(stored);
        }
        (self.memory, self.memory_limit) = (0, 0);
        Ok(())
    }

    fn disk(&mut self) -> Result<&mut Disk> {
        match &mut self.disk {
            Some(disk) => Ok(disk),
            none => Ok(none.insert(Disk::create(&self.folder)?)),
        }
    }

    /// All segments in the order of the input, independent of threads.
    pub(crate) fn finish(mut self) -> Result<Segments> {
        self.segments.sort_by_key(Stored::place);
        let mut firsts = Vec::with_capacity(self.segments.len() + 1);
        let mut pages = 0u64;
        for stored in &self.segments {
            firsts.push(pages as u32);
            pages += stored.rows() as u64;
        }
        if pages >= u64::from(u32::MAX) {
            return Err(Error::TooManyPages { pages });
        }
        firsts.push(pages as u32);
        let Collector { segments, memory, memory_limit, disk, ends, folder, .. } = self;
        Ok(Segments { segments, firsts, memory, memory_limit, disk, ends, folder })
    }
}

/// All segments of a run, in the order of the input.
pub(crate) struct Segments {
    segments: Vec<Stored>,
    /// The first page of each segment, followed by the number of all pages.
    firsts: Vec<u32>,
    memory: u64,
    memory_limit: u64,
    disk: Option<Disk>,
    ends: BTreeMap<u32, u32>,
    folder: PathBuf,
}

/// The position of a sketch: its segment, and its start in the segment's sketches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SketchAt {
    pub segment: u32,
    pub start: u32,
}

/// A segment that is in memory, or was read from disk.
pub(crate) enum Loaded<'a> {
    Borrowed(&'a Segment),
    Read(Segment),
}

impl std::ops::Deref for Loaded<'_> {
    type Target = Segment;
    fn deref(&self) -> &Segment {
        match self {
            Loaded::Borrowed(segment) => segment,
            Loaded::Read(segment) => segment,
        }
    }
}

impl Segments {
    /// The segments of a folder of sketches. They are checked as they are read.
    pub(crate) fn stored(folder: &Path) -> Result<Segments> {
        let (disk, found) = Disk::open(folder)?;
        let ends = run::read(&folder.join(ENDS)).unwrap_or_default();
        let segments = found.into_iter().map(Stored::Disk).collect();
        let (known, folder) = (HashSet::new(), folder.to_owned());
        let (memory, memory_limit, disk) = (0, 0, Some(disk));
        Collector { segments, known, memory, memory_limit, disk, ends, folder }.finish()
    }

    /// A segment with its ranks, but without its sketches.
    fn whole(&self, number: usize) -> Result<Segment> {
        let mut segment = match self.load(number)? {
            Loaded::Borrowed(segment) => return Ok(segment.clone()),
            Loaded::Read(segment) => segment,
        };
        self.ranks(number, &mut segment.ranks)?;
        Ok(segment)
    }

    /// Turns the segments back into a collector, to add more.
    pub(crate) fn reopen(self) -> Collector {
        Collector {
            known: self.segments.iter().map(Stored::place).collect(),
            memory: self.memory,
            segments: self.segments,
            memory_limit: self.memory_limit,
            disk: self.disk,
            ends: self.ends,
            folder: self.folder,
        }
    }

    /// Frees the memory of all segments. Most of it are sketches, and to return it to the system takes long.
    pub(crate) fn free(self, threads: usize) {
        give_away(threads, self.segments, |stored| {
            if let Stored::Memory(_, sketches) = stored {
                drop_words(sketches);
            }
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn pages(&self) -> usize {
        self.firsts[self.len()] as usize
    }

    /// The first page of a segment.
    pub(crate) fn first_page(&self, segment: usize) -> u32 {
        self.firsts[segment]
    }

    /// How many pages the first lots have together.
    pub(crate) fn pages_of_first(&self, lots: usize) -> u32 {
        let first = (0..self.len()).find(|&segment| self.place(segment).0 as usize >= lots);
        first.map_or(self.pages() as u32, |segment| self.first_page(segment))
    }

    /// Whether nothing was written to disk.
    pub(crate) fn in_memory(&self) -> bool {
        self.disk.is_none()
    }

    /// Whether no segment is in memory.
    pub(crate) fn on_disk(&self) -> bool {
        self.memory == 0
    }

    /// The number of words in all sketches.
    pub(crate) fn all_words(&self) -> u64 {
        self.segments.iter().map(|stored| stored.words() as u64).sum()
    }

    /// How many of `threads` may work on segments within `bytes` of memory. Each needs the sketches of a segment, the
    /// same again for results, and buffers.
    pub(crate) fn threads(&self, threads: usize, bytes: u64) -> usize {
        /// Read and write buffers, and a small buffer for each of many parts.
        const BUFFERS: u64 = 3 << 20;
        let largest = self.segments.iter().map(Stored::words).max().unwrap_or(0) as u64;
        threads.min((bytes / (2 * 8 * largest + BUFFERS)) as usize).max(1)
    }

    /// The lot, chunk and number of lines of a segment.
    pub(crate) fn place(&self, segment: usize) -> (u32, u32, u32) {
        match &self.segments[segment] {
            Stored::Memory(segment, _) => (segment.lot, segment.chunk, segment.lines),
            Stored::Disk(OnDisk { layout, .. }) => (layout.lot, layout.chunk, layout.lines),
        }
    }

    /// The segments of each lot.
    pub(crate) fn ranges(&self, lots: usize) -> Vec<Range<usize>> {
        let mut ranges = vec![0..0; lots];
        for segment in 0..self.len() {
            let range = &mut ranges[self.place(segment).0 as usize];
            *range = if *range == (0..0) { segment..segment + 1 } else { range.start..segment + 1 };
        }
        ranges
    }

    /// A segment without its ranks and sketches.
    pub(crate) fn load(&self, segment: usize) -> Result<Loaded<'_>> {
        match &self.segments[segment] {
            Stored::Memory(segment, _) => Ok(Loaded::Borrowed(segment)),
            Stored::Disk(segment) => {
                Ok(Loaded::Read(Segment::decode(&segment.layout, &self.disk().rows(segment)?)))
            }
        }
    }

    /// All sketches of a segment in sequence. Sketches that are needed `again` stay in the system's cache.
    pub(crate) fn sketches<'a>(
        &'a self,
        segment: usize,
        again: bool,
        buffer: &'a mut Aligned,
    ) -> Result<&'a [u64]> {
        match &self.segments[segment] {
            Stored::Memory(_, sketches) => Ok(sketches),
            Stored::Disk(segment) => self.disk().sketches(segment, again, buffer),
        }
    }

    /// One sketch.
    pub(crate) fn sketch<'a>(
        &'a self,
        at: SketchAt,
        size: u32,
        buffer: &'a mut Vec<u64>,
    ) -> Result<&'a [u64]> {
        let (start, size) = (at.start as usize, size as usize);
        match &self.segments[at.segment as usize] {
            Stored::Memory(_, sketches) => Ok(&sketches[start..start + size]),
            Stored::Disk(segment) => {
                if buffer.len() < size {
                    buffer.resize(size, 0);
                }
                let words = &mut buffer[..size];
                self.disk().sketch(segment, start, words)?;
                Ok(words)
            }
        }
    }

    /// Whether a segment has links or rejections. Most have none, and need not be loaded to know that.
    pub(crate) fn has_links_or_rejections(&self, segment: usize) -> bool {
        match &self.segments[segment] {
            Stored::Memory(segment, _) => !segment.links.is_empty() || !segment.rejected.is_empty(),
            Stored::Disk(OnDisk { layout, .. }) => layout.links > 0 || layout.rejected > 0,
        }
    }

    /// The number of bytes in the ranks of a segment.
    pub(crate) fn rank_bytes(&self, segment: usize) -> u64 {
        match &self.segments[segment] {
            Stored::Memory(segment, _) => segment.ranks.len() as u64,
            Stored::Disk(segment) => u64::from(segment.layout.ranks),
        }
    }

    /// The ranks of a segment. They are in `buffer` if they were read from disk.
    pub(crate) fn ranks<'a>(&'a self, segment: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        match &self.segments[segment] {
            Stored::Memory(segment, _) => Ok(&segment.ranks),
            Stored::Disk(segment) => self.disk().ranks(segment, buffer),
        }
    }

    /// The row and the name of a page.
    pub(crate) fn page(&self, page: u32) -> Result<(Row, Cow<'_, [u8]>)> {
        let segment = self.segment_of(page);
        let row = (page - self.firsts[segment]) as usize;
        match &self.segments[segment] {
            Stored::Memory(segment, _) => Ok((segment.rows[row], segment.name(row).into())),
            Stored::Disk(segment) => {
                let (disk, mut words) = (self.disk(), [0; 2 * Row::WORDS]);
                let first = row.saturating_sub(1);
                let both = &mut words[..(row - first + 1) * Row::WORDS];
                disk.some_of_rows(segment, 8 * Row::WORDS * first, bytemuck::cast_slice_mut(both))?;
                let found = Row::from_words(&words[(row - first) * Row::WORDS..]);
                let start = if row == 0 { 0 } else { Row::from_words(&words).name_end };
                let mut name = vec![0; (found.name_end - start) as usize];
                disk.some_of_rows(segment, 8 * segment.layout.names_at() + start as usize, &mut name)?;
                Ok((found, name.into()))
            }
        }
    }

    /// The segment of a page.
    pub(crate) fn segment_of(&self, page: u32) -> usize {
        self.firsts.partition_point(|&first| first <= page) - 1
    }

    fn disk(&self) -> &Disk {
        self.disk.as_ref().expect("a segment that is not in memory is on disk")
    }
}

#[cfg(test)]
mod tests;
