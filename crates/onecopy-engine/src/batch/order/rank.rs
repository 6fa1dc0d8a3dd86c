//! Stage 2: sorts all pages by the winner rules.
//!
//! Each segment is sorted already, so this is a merge. The rank of a page is its position in the result.

use crate::batch::read::segments::{RankCursor, Segments};
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};

/// The pages, best first.
pub(crate) fn rank(segments: &Segments, memory: u64, progress: &dyn Progress) -> Result<Vec<u32>> {
    progress.begin(Stage::Order, segments.pages() as u64);
    let buffer = (memory as usize / segments.len().max(1)).clamp(1 << 10, 1 << 13);
    let mut order = Vec::with_capacity(segments.pages());
    let mut cursors = Vec::with_capacity(segments.len());
    for segment in 0..segments.len() {
        let mut cursor = Cursor::new(segments, segment, buffer);
        if cursor.fill()? {
            cursors.push(cursor);
        }
    }
    let mut heap = Heap::new(cursors);
    while let Some(best) = heap.best() {
        order.push(segments.first_page(best.segment) + best.row());
        heap.advance()?;
        if order.len() % 4_096 == 0 {
            progress.advance(4_096);
            if progress.stopped() {
                return Err(Error::Stopped);
            }
        }
    }
    progress.advance(order.len() as u64 % 4_096);
    Ok(order)
}

/// The pages of a segment, best first. The buffer holds the next one.
struct Cursor<'a> {
    segments: &'a Segments,
    segment: usize,
    /// The part that was read into the buffer.
    taken: RankCursor,
    buffer: Vec<u8>,
    at: usize,
    /// The number of bytes to read at a time.
    size: usize,
}

/// A row's number and the length of its rank.
const HEAD: usize = 8;

impl<'a> Cursor<'a> {
    fn new(segments: &'a Segments, segment: usize, size: usize) -> Cursor<'a> {
        Cursor { segments, segment, taken: RankCursor::default(), buffer: Vec::new(), at: 0, size }
    }

    fn number(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.buffer[at..at + 4].try_into().expect("four bytes"))
    }

    fn row(&self) -> u32 {
        self.number(self.at)
    }

    fn end(&self) -> usize {
        self.at + HEAD + self.number(self.at + 4) as usize
    }

    fn rank(&self) -> &[u8] {
        &self.buffer[self.at + HEAD..self.end()]
    }

    /// Reads the next page into the buffer. Returns whether there is one.
    fn fill(&mut self) -> Result<bool> {
        loop {
            let held = self.buffer.len() - self.at;
            if held >= HEAD && self.end() <= self.buffer.len() {
                return Ok(true);
            }
            let wanted = if held >= HEAD { self.end() - self.buffer.len() } else { 0 };
            self.buffer.drain(..self.at);
            self.at = 0;
            self.buffer.resize(held + wanted.max(self.size), 0);
            let n = self.segments.ranks(self.segment, &mut self.taken, &mut self.buffer[held..])?;
            self.buffer.truncate(held + n);
            if n == 0 {
                return Ok(false);
            }
        }
    }
}

/// A heap of cursors. The cursor with the best next page is on top.
struct Heap<'a> {
    cursors: Vec<Cursor<'a>>,
}

impl<'a> Heap<'a> {
    fn new(cursors: Vec<Cursor<'a>>) -> Heap<'a> {
        let mut heap = Heap { cursors };
        for top in (0..heap.cursors.len() / 2).rev() {
            heap.sink(top);
        }
        heap
    }

    fn best(&self) -> Option<&Cursor<'a>> {
        self.cursors.first()
    }

    /// Moves the top cursor to its next page.
    fn advance(&mut self) -> Result<()> {
        let top = &mut self.cursors[0];
        top.at = top.end();
        if !top.fill()? {
            self.cursors.swap_remove(0);
        }
        self.sink(0);
        Ok(())
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let children = [2 * at + 1, 2 * at + 2];
            let best = children
                .into_iter()
                .filter(|&child| child < self.cursors.len())
                .fold(at, |best, child| if self.before(child, best) { child } else { best });
            if best == at {
                return;
            }
            self.cursors.swap(at, best);
            at = best;
        }
    }

    /// Equal records are ordered by their position, which only affects which of them is kept.
    fn before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.cursors[a], &self.cursors[b]);
        (a.rank(), a.segment) < (b.rank(), b.segment)
    }
}
