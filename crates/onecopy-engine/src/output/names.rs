//! The name of a page in every output: its id, else its URL, else its place in the input.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use onecopy_core::PageId;

use super::place::Place;
use crate::batch::{Loaded, Row, Segments};
use crate::error::Result;
use crate::ingest::Source;
use crate::parallel::for_each;

/// Knows the name and the place of every page.
pub(crate) struct Names<'a> {
    segments: &'a Segments,
    sources: &'a [Source],
    /// The first line of each segment in its source, from zero.
    first_lines: Vec<u64>,
    /// For each segment, the names that are asked for again and again. Empty if none are.
    at_hand: Vec<AtHand>,
}

/// A page as lists identify it.
pub(crate) struct Named<'a> {
    /// Its name as JSON.
    pub name: Cow<'a, str>,
    pub place: Place<'a>,
    /// A hash of its normalised URL.
    pub identity: u64,
}

/// The names of some pages of a segment on disk: each read would cost two system calls.
#[derive(Default)]
struct AtHand {
    /// Their names as JSON, concatenated.
    text: Box<str>,
    /// Ascending by row.
    pages: Box<[PageAtHand]>,
}

struct PageAtHand {
    row: u32,
    /// The end of its name.
    end: u32,
    identity: u64,
    source: u32,
    /// The line in its chunk, from zero.
    line: u32,
}

impl<'a> Names<'a> {
    pub(crate) fn new(segments: &'a Segments, sources: &'a [Source]) -> Names<'a> {
        let mut first_lines = Vec::with_capacity(segments.len());
        let (mut current, mut line) = (None, 0);
        for segment in 0..segments.len() {
            let (lot, _, lines) = segments.place(segment);
            if current != Some(lot) {
                (current, line) = (Some(lot), 0);
            }
            first_lines.push(line);
            line += u64::from(lines);
        }
        Names { segments, sources, first_lines, at_hand: Vec::new() }
    }

    /// Keeps the names of `pages` in memory, unless they take more than `memory`. Threads read the segments on disk.
    pub(crate) fn keep(&mut self, pages: &[PageId], memory: u64, threads: usize) -> Result<()> {
        if self.segments.in_memory() {
            return Ok(());
        }
        let mut asked = vec![0u64; self.segments.pages().div_ceil(64)];
        pages.iter().for_each(|&page| asked[page as usize / 64] |= 1 << (page % 64));
        let (at_hand, bytes) = (Mutex::new(Vec::new()), AtomicU64::new(0));
        at_hand.lock().expect("new").resize_with(self.segments.len(), AtHand::default);
        for_each(
            threads,
            self.segments.len(),
            || (),
            |(), number| {
                if bytes.load(Ordering::Relaxed) <= memory {
                    let some = self.some_of(number, &asked)?;
                    bytes.fetch_add(some.bytes(), Ordering::Relaxed);
                    at_hand.lock().expect("no thread panics with this lock")[number] = some;
                }
                Ok(())
            },
        )?;
        if bytes.into_inner() <= memory {
            self.at_hand = at_hand.into_inner().expect("no thread panics with this lock");
        }
        Ok(())
    }

    /// The names of those pages of a segment that have a bit in `asked`. None if the segment is in memory.
    fn some_of(&self, number: usize, asked: &[u64]) -> Result<AtHand> {
        let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
        if matches!(segment, Loaded::Borrowed(_)) {
            return Ok(AtHand::default());
        }
        let (mut text, mut pages) = (String::new(), Vec::new());
        for (i, row) in segment.rows.iter().enumerate() {
            let page = first as usize + i;
            if asked[page / 64] >> (page % 64) & 1 == 1 {
                text.push_str(&self.named(number, row, segment.name(i)).name);
                let &Row { source, line, identity, .. } = row;
                // A segment has far less than four gigabytes of names.
                pages.push(PageAtHand { row: i as u32, end: text.len() as u32, identity, source, line });
            }
        }
        Ok(AtHand { text: text.into(), pages: pages.into() })
    }

    /// The name and the place of a page.
    pub(crate) fn of(&self, page: PageId) -> Result<Named<'_>> {
        let segment = self.segments.segment_of(page);
        let row = page - self.segments.first_page(segment);
        if let Some((name, page)) = self.at_hand.get(segment).and_then(|at_hand| at_hand.get(row)) {
            let place = self.place(segment, page.source, page.line);
            return Ok(Named { name: name.into(), place, identity: page.identity });
        }
        let (row, name) = self.segments.page(page)?;
        let place = self.place(segment, row.source, row.line);
        let name = match name {
            Cow::Borrowed(name) => as_json(&place, name),
            Cow::Owned(name) => as_json(&place, &name).into_owned().into(),
        };
        Ok(Named { name, place, identity: row.identity })
    }

    /// The name and the place of a page, given its row and its stored name.
    pub(crate) fn named<'n>(&'n self, segment: usize, row: &Row, name: &'n [u8]) -> Named<'n> {
        let place = self.place(segment, row.source, row.line);
        Named { name: as_json(&place, name), place, identity: row.identity }
    }

    /// The place of a line of a segment, which counts from zero.
    pub(crate) fn place(&self, segment: usize, source: u32, line: u32) -> Place<'a> {
        Place::new(&self.sources[source as usize], self.first_lines[segment] + u64::from(line) + 1)
    }
}

impl AtHand {
    fn get(&self, row: u32) -> Option<(&str, &PageAtHand)> {
        let at = self.pages.binary_search_by_key(&row, |page| page.row).ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.pages[before].end as usize);
        Some((&self.text[start..self.pages[at].end as usize], &self.pages[at]))
    }

    /// The memory it takes, with what an allocator adds.
    fn bytes(&self) -> u64 {
        const ADDED: usize = 32;
        (size_of::<AtHand>() + ADDED + self.text.len() + size_of_val(&*self.pages)) as u64
    }
}

/// The name of a page, given its place and its stored name.
fn as_json<'n>(place: &Place, name: &'n [u8]) -> Cow<'n, str> {
    match name {
        [] => serde_json::to_string(&place.to_string()).expect("a string is JSON").into(),
        _ => String::from_utf8_lossy(name),
    }
}
