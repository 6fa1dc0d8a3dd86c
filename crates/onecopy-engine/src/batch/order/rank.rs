//! Stage 2: sorts all pages by the winner rules, on all threads.
//!
//! A sample of ranks divides the pages into parts, from best to worst. Each part is a pile, and one thread sorts it. The
//! sample only decides how large the parts are: any sample gives the same order.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::batch::candidates::pile::{Pile, filled};
use crate::batch::read::segments::Segments;
use crate::error::{Error, Result};
use crate::io::{Aligned, Pace};
use crate::parallel::for_each;
use crate::progress::{Progress, Stage};

/// Sorts the pages of all segments.
pub(crate) struct Ranker<'a> {
    pub segments: &'a Segments,
    pub threads: usize,
    /// Bytes for sorting.
    pub memory: u64,
    pub folder: &'a Path,
    pub progress: &'a dyn Progress,
}

/// The most parts. Each has a buffer in each thread.
const MOST: u64 = 256;
/// Parts of this many bytes are not worth dividing.
const SMALL: u64 = 1 << 16;
/// The words that the buffer of a part keeps for the next segment: 8 KiB.
const KEPT_WORDS: usize = 1 << 10;
/// The number of sampled ranks in a part, on average. Then hardly any part has twice the average size.
const SAMPLED: u64 = 32;

impl Ranker<'_> {
    /// The pages, best first.
    pub(crate) fn rank(&self) -> Result<Vec<u32>> {
        let segments = self.segments;
        self.progress.begin(Stage::Order, segments.pages() as u64);
        let bytes = (0..segments.len()).map(|segment| segments.rank_bytes(segment)).sum::<u64>();
        // Each thread sorts one part at a time, with a table of about the same size.
        let threads = (self.threads as u64).min(self.memory / SMALL).max(1);
        let room = (self.memory / 2 / threads).max(SMALL);
        let parts = (4 * bytes / room).max((4 * threads).min(bytes / SMALL)).clamp(1, MOST);
        let bounds = if parts == 1 { Vec::new() } else { self.bounds(parts, bytes)? };
        let (share, pace) = (self.memory / 2 / parts, Arc::new(Pace::default()));
        let pile = |part| Pile::new(self.folder.join(format!("ranks-{part}")), share, pace.clone());
        let piles: Vec<_> = (0..=bounds.len()).map(|part| Mutex::new(pile(part))).collect();
        let pages = self.divided(&bounds, &piles)?;
        self.sorted(&pages, filled(piles)?, threads as usize)
    }

    /// The first page of each part except the first part.
    fn bounds(&self, parts: u64, bytes: u64) -> Result<Vec<Vec<u64>>> {
        // A long rank is sampled more often than a short one: parts should have equal bytes.
        let step = (bytes / (parts * SAMPLED)).max(1);
        let sample = Mutex::new(Vec::new());
        for_each(self.threads, self.segments.len(), Vec::new, |buffer, segment| {
            self.check()?;
            let mut own = Vec::new();
            self.each_rank(segment, buffer, |page, rank| {
                if mixed(page) % step < rank.len() as u64 {
                    let mut words = Vec::new();
                    push(page, rank, &mut words);
                    own.push(words);
                }
            })?;
            sample.lock().expect("no thread panics with this lock").append(&mut own);
            Ok(())
        })?;
        let mut sample = sample.into_inner().expect("no thread panics with this lock");
        sample.sort_unstable_by(|a, b| compare(a, b));
        let nth = |part: usize| part * sample.len() / parts as usize;
        let mut bounds: Vec<Vec<u64>> =
            (1..parts as usize).filter_map(|part| sample.get(nth(part)).cloned()).collect();
        bounds.dedup();
        Ok(bounds)
    }

    /// Puts the rank of each page on the pile of its part. Returns the number of pages in each part.
    fn divided(&self, bounds: &[Vec<u64>], piles: &[Mutex<Pile<u64>>]) -> Result<Vec<usize>> {
        let all = Mutex::new(vec![0; piles.len()]);
        let buffers = || DivideBuffers { parts: vec![Vec::new(); piles.len()], ..Default::default() };
        for_each(self.threads, self.segments.len(), buffers, |buffers, segment| {
            self.check()?;
            let DivideBuffers { parts, pages, entry, bytes, aligned } = buffers;
            pages.clear();
            pages.resize(piles.len(), 0);
            self.each_rank(segment, bytes, |page, rank| {
                entry.clear();
                push(page, rank, entry);
                let part = bounds.partition_point(|bound| compare(bound, entry) != Ordering::Greater);
                parts[part].extend_from_slice(entry);
                pages[part] += 1;
            })?;
            for (part, pile) in parts.iter_mut().zip(piles).filter(|(part, _)| !part.is_empty()) {
                pile.lock().expect("no thread panics with this lock").extend(part, aligned)?;
                part.clear();
                // If the input is in order, all pages of a segment are of one part, and of another in the next segment.
                part.shrink_to(KEPT_WORDS);
            }
            let mut all = all.lock().expect("no thread panics with this lock");
            all.iter_mut().zip(pages).for_each(|(all, pages)| *all += *pages);
            Ok(())
        })?;
        Ok(all.into_inner().expect("no thread panics with this lock"))
    }

    /// Sorts each part into its place in the order of all pages.
    fn sorted(&self, pages: &[usize], piles: Vec<Pile<u64>>, threads: usize) -> Result<Vec<u32>> {
        let mut order = vec![0; self.segments.pages()];
        let (mut rest, mut parts) = (&mut order[..], Vec::with_capacity(pages.len()));
        for (&pages, pile) in pages.iter().zip(piles) {
            let (place, behind) = rest.split_at_mut(pages);
            parts.push(Mutex::new(Some((pile, place))));
            rest = behind;
        }
        for_each(threads, parts.len(), Default::default, |buffers: &mut (Aligned, Vec<Entry>), part| {
            self.check()?;
            let taken = parts[part].lock().expect("no thread panics with this lock").take();
            let (pile, place) = taken.expect("each part is sorted once");
            sort_part(pile.values(&mut buffers.0)?, &mut buffers.1, place);
            self.progress.advance(place.len() as u64);
            pile.delete()
        })?;
        drop(parts);
        Ok(order)
    }

    /// Calls `each` with every page of a segment and its rank.
    fn each_rank(
        &self,
        segment: usize,
        buffer: &mut Vec<u8>,
        mut each: impl FnMut(u32, &[u8]),
    ) -> Result<()> {
        let first = self.segments.first_page(segment);
        let mut ranks = self.segments.ranks(segment, buffer)?;
        while let Some((head, rest)) = ranks.split_first_chunk::<8>() {
            let number = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let (rank, rest) = rest.split_at((number(4) as usize).min(rest.len()));
            each(first + number(0), rank);
            ranks = rest;
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.progress.stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Buffers that a thread reuses between segments.
#[derive(Default)]
struct DivideBuffers {
    /// The pages of each part: for each page its number and the length of its rank, then the rank in words.
    parts: Vec<Vec<u64>>,
    /// The number of pages in each part.
    pages: Vec<usize>,
    entry: Vec<u64>,
    bytes: Vec<u8>,
    aligned: Aligned,
}

/// A page of a part: the word of its rank that differs first between pages, and the place of its words.
type Entry = (u64, u32);

/// Appends a page: its number and the length of its rank, then the rank in words that sort like its bytes.
fn push(page: u32, rank: &[u8], out: &mut Vec<u64>) {
    out.push(u64::from(page) << 32 | rank.len() as u64);
    let (words, last) = rank.as_chunks::<8>();
    out.extend(words.iter().map(|word| u64::from_be_bytes(*word)));
    if !last.is_empty() {
        let mut word = [0; 8];
        word[..last.len()].copy_from_slice(last);
        out.push(u64::from_be_bytes(word));
    }
}

/// How many words an entry has that begins with this word.
fn words_of(head: u64) -> usize {
    1 + (head as u32 as usize).div_ceil(8)
}

/// Compares two pages by rank. A rank that another begins with comes first. Pages with equal ranks are ordered by number,
/// which only affects which of equal records is kept.
fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let ((a_head, a_rank), (b_head, b_rank)) = ((a[0], &a[1..]), (b[0], &b[1..]));
    a_rank.cmp(b_rank).then((a_head as u32).cmp(&(b_head as u32))).then(a_head.cmp(&b_head))
}

/// Writes the pages of a part into `out`, best first.
fn sort_part(words: &[u64], entries: &mut Vec<Entry>, out: &mut [u32]) {
    entries.clear();
    let (mut at, mut shared) = (0, usize::MAX);
    let first = words.first().map_or(&[][..], |&head| &words[1..words_of(head)]);
    while let Some(&head) = words.get(at) {
        entries.push((0, at as u32));
        let rank = &words[at + 1..at + words_of(head)];
        shared = first.iter().zip(rank).take(shared).take_while(|(a, b)| a == b).count();
        at += words_of(head);
    }
    let entry = |at: u32| &words[at as usize..][..words_of(words[at as usize])];
    for (word, at) in entries.iter_mut() {
        *word = entry(*at).get(1 + shared).copied().unwrap_or(0);
    }
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| compare(entry(a.1), entry(b.1))));
    for (page, (_, at)) in out.iter_mut().zip(entries) {
        *page = (words[*at as usize] >> 32) as u32;
    }
}

/// A number that looks random.
fn mixed(page: u32) -> u64 {
    let mixed = (u64::from(page) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::batch::read::segment::{Row, Segment};
    use crate::batch::read::segments::Collector;

    /// Ranks with long common parts, some equal, some of which begin another.
    fn rank(page: u32) -> Vec<u8> {
        let mixed = mixed(page);
        match mixed % 8 {
            0 => vec![7; 16],
            1 => vec![7; (mixed >> 8) as usize % 40],
            2 => [&[7; 16][..], &[0; 9][..(mixed >> 8) as usize % 10]].concat(),
            _ => [&[7; 16][..], &(mixed % 4_000).to_be_bytes()].concat(),
        }
    }

    fn segments(folder: &Path, memory: u64, rows: u32) -> Segments {
        let mut collector = Collector::open(folder, memory).unwrap();
        for chunk in 0..40 {
            let mut segment = Segment { chunk, ..Default::default() };
            for row in 0..rows {
                let rank = rank(chunk * rows + row);
                segment.rows.push(Row::default());
                segment.ranks.extend(row.to_ne_bytes());
                segment.ranks.extend((rank.len() as u32).to_ne_bytes());
                segment.ranks.extend(rank);
            }
            collector.add(segment, &mut Vec::new()).unwrap();
        }
        collector.finish().unwrap()
    }

    #[test]
    fn the_order_is_that_of_the_bytes_for_any_threads_and_memory() {
        for rows in [0, 1, 700] {
            let mut expected: Vec<u32> = (0..40 * rows).collect();
            expected.sort_by_key(|&page| rank(page));
            for held in [1 << 30, 0] {
                let folder = tempfile::tempdir().unwrap();
                let segments = segments(folder.path(), held, rows);
                for (threads, memory) in [(1, 1 << 30), (3, 1 << 30), (1, 1 << 18), (4, 1 << 16), (16, 0)] {
                    let (segments, folder) = (&segments, folder.path());
                    let ranker = Ranker { segments, threads, memory, folder, progress: &Silent };
                    assert!(ranker.rank().unwrap() == expected, "{rows} {held} {threads} {memory}");
                }
            }
        }
    }
}
