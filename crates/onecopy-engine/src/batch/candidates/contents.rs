//! Contents: all pages with one canonical text form one content, and only contents are compared.
//!
//! A content's number is its rank: smaller is better. It has the rank of its best page, which represents it. Its other
//! pages are exact duplicates of that page.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use onecopy_core::{Held, Method, ranks};

use crate::batch::candidates::pile::{Pile, filled};
use crate::batch::candidates::sorter::Sortable;
use crate::batch::read::segment::Segment;
use crate::batch::read::segments::{Segments, SketchAt};
use crate::error::Result;
use crate::io::{Aligned, Pace};
use crate::parallel::for_each;
use crate::progress::Progress;
use onecopy_core::settle::Holder;

/// The contents of a run.
pub(crate) struct Contents {
    /// The content of each page; [`NO_CONTENT`] for pages that are not compared.
    pub of_page: Vec<u32>,
    /// The best page of each content.
    pub best_page: Vec<u32>,
    /// All other compared pages, best first. Each is an exact copy of a best page.
    pub copies: Vec<u32>,
    /// The position of each content's sketch.
    pub sketch_at: Vec<SketchAt>,
    /// The number of words in each content's sketch.
    pub sizes: Vec<u32>,
}

/// The content of a page that stands for another.
pub(crate) const NO_CONTENT: u32 = u32::MAX;

/// Bytes per page while contents are settled: here, in the decisions and in the groups.
pub(crate) const BYTES_A_PAGE: u64 = 12;

impl Contents {
    /// Whether two contents that share a key may be alike, judging by their sizes and by the numbers beside the key.
    pub(crate) fn may(&self, a: Holder, b: Holder, method: &dyn Method) -> bool {
        let held = |[content, rest]: Holder| Held { size: self.sizes[content as usize], rest };
        method.may(held(a), held(b))
    }

    pub(crate) fn len(&self) -> usize {
        self.best_page.len()
    }

    /// Calls `each` with every content whose sketch is in a segment. Returns the number of pages in the segment.
    /// Sketches that are needed `again` stay in the system's cache.
    pub(crate) fn each_sketch(
        &self,
        segments: &Segments,
        i: usize,
        again: bool,
        buffer: &mut Aligned,
        mut each: impl FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<u64> {
        let segment = segments.load(i)?;
        let sketches = segments.sketches(i, again, buffer)?;
        self.sketched(&segment, i, segments.first_page(i))
            .try_for_each(|(content, place)| each(content, &sketches[place]))?;
        Ok(segment.rows.len() as u64)
    }

    /// The contents whose sketch is in a segment, each with the sketch's range. `first` is the segment's first page.
    pub(crate) fn sketched<'a>(
        &'a self,
        segment: &'a Segment,
        i: usize,
        first: u32,
    ) -> impl Iterator<Item = (u32, Range<usize>)> + 'a {
        let rows = segment.rows.iter().zip(&self.of_page[first as usize..]);
        rows.filter_map(move |(row, &content)| {
            let at = self.sketch_at.get(content as usize)?;
            let start = row.sketch_start as usize;
            let is_it = row.sketch_size > 0 && (at.segment as usize, at.start) == (i, row.sketch_start);
            is_it.then(|| (content, start..start + row.sketch_size as usize))
        })
    }
}

/// What finding contents needs to know.
pub(crate) struct ContentFinder<'a> {
    pub segments: &'a Segments,
    pub threads: usize,
    /// Bytes for sorting.
    pub memory: u64,
    pub folder: &'a Path,
    /// Counts segments, each twice.
    pub progress: &'a dyn Progress,
}

/// Finds the contents of pages, which are given best first. Pages that are not given are not compared.
pub(crate) fn contents(finder: &ContentFinder, order: Vec<u32>) -> Result<Contents> {
    let ranks = ranks(&order, finder.segments.pages());
    let leaders = finder.leaders(&ranks, order.len())?;
    let (mut best_page, mut copies) = (Vec::new(), Vec::new());
    let mut of_rank = leaders;
    for rank in 0..of_rank.len() {
        let leader = of_rank[rank] as usize;
        of_rank[rank] = if leader == rank {
            best_page.push(order[rank]);
            best_page.len() as u32 - 1
        } else {
            copies.push(order[rank]);
            of_rank[leader]
        };
    }
    drop(order);
    let mut of_page = ranks;
    for slot in of_page.iter_mut().filter(|rank| **rank != NO_CONTENT) {
        *slot = of_rank[*slot as usize];
    }
    drop(of_rank);
    let (sketch_at, sizes) = finder.sketches(&of_page, &best_page)?;
    Ok(Contents { of_page, best_page, copies, sketch_at, sizes })
}

/// A fingerprint in two halves, and the rank of a page that has it.
type Ranked = [u64; 3];

impl Sortable for Ranked {
    type Bytes = [u8; 24];
    fn to_bytes(self) -> [u8; 24] {
        bytemuck::cast(self)
    }
    fn from_bytes(bytes: &[u8; 24]) -> Ranked {
        bytemuck::pod_read_unaligned(bytes)
    }
    fn lead(self) -> u64 {
        self[0]
    }
}

/// The number of leading bits that assign a fingerprint to a part. Each part is sorted separately.
const PART_BITS: u32 = 6;

impl ContentFinder<'_> {
    /// For each of `count` ranks, the best rank with the same fingerprint.
    fn leaders(&self, ranks: &[u32], count: usize) -> Result<Vec<u32>> {
        let piles = filled(self.fingerprints(ranks)?)?;
        let piles: Vec<_> = piles.into_iter().map(|pile| Mutex::new(Some(pile))).collect();
        let leaders: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
        let room = self.memory / self.threads as u64;
        for_each(self.threads, piles.len(), SortBuffers::default, |buffers, part| {
            let pile = piles[part].lock().expect("no thread panics with this lock").take();
            let (pile, used) = (pile.expect("each part is taken once"), std::mem::take(&mut buffers.used));
            let sorter = pile.into_sorter(room, used, &mut buffers.aligned)?;
            let mut current = ([0; 2], u32::MAX);
            buffers.used = sorter.drain(&mut buffers.sorted, |[first, second, rank]| {
                if current.0 != [first, second] || current.1 == u32::MAX {
                    current = ([first, second], rank as u32);
                }
                leaders[rank as usize].store(current.1, Ordering::Relaxed);
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(leaders.into_iter().map(AtomicU32::into_inner).collect())
    }

    /// The fingerprints and ranks of all pages, in parts.
    fn fingerprints(&self, ranks: &[u32]) -> Result<Vec<Mutex<Pile<Ranked>>>> {
        let (share, pace) = (self.memory >> PART_BITS, Arc::new(Pace::default()));
        let pile = |part| Pile::new(self.folder.join(format!("fingerprints-{part}")), share, pace.clone());
        let piles: Vec<_> = (0..1 << PART_BITS).map(|part| Mutex::new(pile(part))).collect();
        let buffers = || (vec![Vec::new(); piles.len()], Aligned::default());
        for_each(self.threads, self.segments.len(), buffers, |(parts, aligned), i| {
            let (segment, first) = (self.segments.load(i)?, self.segments.first_page(i) as usize);
            let ranked = segment.rows.iter().zip(&ranks[first..]).filter(|(_, rank)| **rank != NO_CONTENT);
            for (row, &rank) in ranked {
                let (first, second) = ((row.fingerprint >> 64) as u64, row.fingerprint as u64);
                parts[(first >> (64 - PART_BITS)) as usize].push([first, second, u64::from(rank)]);
            }
            for (part, pile) in parts.iter_mut().zip(&piles).filter(|(part, _)| !part.is_empty()) {
                pile.lock().expect("no thread panics with this lock").extend(part, aligned)?;
                part.clear();
            }
            self.progress.advance(1);
            Ok(())
        })?;
        Ok(piles)
    }

    /// The position and size of each content's sketch. It is the sketch of the best page if that has one. Otherwise it
    /// is the sketch of any page that covers the canonical text alone: all of those are equal, and the best page's
    /// sketch would be too.
    fn sketches(&self, of_page: &[u32], best_page: &[u32]) -> Result<(Vec<SketchAt>, Vec<u32>)> {
        let nothing = (vec![SketchAt::default(); best_page.len()], vec![0; best_page.len()]);
        let found = Mutex::new(nothing);
        for_each(self.threads, self.segments.len(), Vec::new, |own, i| {
            let (segment, first) = (self.segments.load(i)?, self.segments.first_page(i) as usize);
            let sketched = (first..)
                .zip(&segment.rows)
                .filter(|(page, row)| row.sketch_size > 0 && of_page[*page] != NO_CONTENT);
            own.clear();
            own.extend(sketched.filter_map(|(page, row)| {
                let is_best = best_page[of_page[page] as usize] as usize == page;
                let at = SketchAt { segment: i as u32, start: row.sketch_start };
                (is_best || !row.own).then_some((of_page[page] as usize, is_best, at, row.sketch_size))
            }));
            let mut found = found.lock().expect("no thread panics with this lock");
            let (places, sizes) = &mut *found;
            for &(content, is_best, at, size) in &*own {
                if is_best || sizes[content] == 0 {
                    (places[content], sizes[content]) = (at, size);
                }
            }
            self.progress.advance(1);
            Ok(())
        })?;
        Ok(found.into_inner().expect("no thread panics with this lock"))
    }
}

/// Buffers that a thread reuses between parts.
#[derive(Default)]
struct SortBuffers {
    aligned: Aligned,
    /// The memory of the values of the previous part.
    used: Vec<Ranked>,
    sorted: Vec<Ranked>,
}
