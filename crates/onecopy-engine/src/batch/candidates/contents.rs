//! Contents: all pages with one canonical text form one content, and only contents are compared.
//!
//! A content's number is its rank: smaller is better. It has the rank of its best page, which represents it. Its other
//! pages are exact duplicates of that page.

use std::ops::Range;
use std::path::Path;

use onecopy_core::{Held, Method, ranks};

use crate::batch::candidates::sorter::Sorter;
use crate::batch::read::segment::Segment;
use crate::batch::read::segments::{Segments, SketchAt};
use crate::error::Result;
use crate::io::Aligned;
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
        mut each: impl FnMut(u32, &[u64]),
    ) -> Result<u64> {
        let segment = segments.load(i)?;
        let sketches = segments.sketches(i, again, buffer)?;
        self.sketched(&segment, i, segments.first_page(i))
            .for_each(|(content, place)| each(content, &sketches[place]));
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
    /// Bytes for sorting.
    pub memory: u64,
    pub folder: &'a Path,
    /// Counts segments, each twice.
    pub progress: &'a dyn Progress,
}

/// Finds the contents of pages, which are given best first. Pages that are not given are not compared.
pub(crate) fn contents(finder: &ContentFinder, order: Vec<u32>) -> Result<Contents> {
    let ranks = ranks(&order, finder.segments.pages());
    let leaders = leaders(finder, &ranks, order.len())?;
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
    let (sketch_at, sizes) = sketches(finder, &of_page, &best_page)?;
    Ok(Contents { of_page, best_page, copies, sketch_at, sizes })
}

/// For each of `count` ranks, the best rank with the same fingerprint.
fn leaders(finder: &ContentFinder, ranks: &[u32], count: usize) -> Result<Vec<u32>> {
    let ContentFinder { segments, memory, folder, progress } = *finder;
    let mut sorter = Sorter::new(folder.join("fingerprints"), memory);
    let mut values = Vec::new();
    for i in 0..segments.len() {
        let (segment, first) = (segments.load(i)?, segments.first_page(i) as usize);
        values.clear();
        values.extend(
            segment
                .rows
                .iter()
                .zip(&ranks[first..])
                .filter(|(_, rank)| **rank != NO_CONTENT)
                .map(|(row, &rank)| ([(row.fingerprint >> 64) as u64, row.fingerprint as u64], rank)),
        );
        sorter.extend(&values)?;
        progress.advance(1);
    }
    let mut leaders = vec![0u32; count];
    let mut current = None;
    sorter.drain(&mut Vec::new(), |(fingerprint, rank)| {
        let leader = match current {
            Some((same, leader)) if same == fingerprint => leader,
            _ => rank,
        };
        current = Some((fingerprint, leader));
        leaders[rank as usize] = leader;
        Ok(())
    })?;
    Ok(leaders)
}

/// The position and size of each content's sketch. It is the sketch of the best page if that has one. Otherwise it is
/// the sketch of any page that covers the canonical text alone: all of those are equal, and the best page's sketch
/// would be too.
fn sketches(finder: &ContentFinder, of_page: &[u32], best_page: &[u32]) -> Result<(Vec<SketchAt>, Vec<u32>)> {
    let ContentFinder { segments, progress, .. } = *finder;
    let mut places = vec![SketchAt::default(); best_page.len()];
    let mut sizes = vec![0; best_page.len()];
    for i in 0..segments.len() {
        let (segment, first) = (segments.load(i)?, segments.first_page(i) as usize);
        for (page, row) in (first..).zip(&segment.rows) {
            let content = of_page[page];
            let is_best = |content: usize| best_page[content] as usize == page;
            let wanted = |content: usize| is_best(content) || sizes[content] == 0 && !row.own;
            if row.sketch_size > 0 && content != NO_CONTENT && wanted(content as usize) {
                places[content as usize] = SketchAt { segment: i as u32, start: row.sketch_start };
                sizes[content as usize] = row.sketch_size;
            }
        }
        progress.advance(1);
    }
    Ok((places, sizes))
}
