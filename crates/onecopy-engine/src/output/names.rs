//! The name of a page in every output: its id, else its URL, else its place in the input.

use std::borrow::Cow;

use onecopy_core::PageId;

use super::place::Place;
use crate::batch::{Row, Segments};
use crate::error::Result;
use crate::ingest::Source;

/// Knows the name and the place of every page.
pub(crate) struct Names<'a> {
    segments: &'a Segments,
    sources: &'a [Source],
    /// The first line of each segment in its source, from zero.
    first_lines: Vec<u64>,
    at_hand: Option<AtHand>,
}

/// A page as lists identify it.
pub(crate) struct Named<'a> {
    /// Its name as JSON.
    pub name: Cow<'a, str>,
    pub place: Place<'a>,
    /// A hash of its normalised URL.
    pub identity: u64,
}

/// The names of all pages, cached if segments are on disk: each read would cost two system calls.
#[derive(Default)]
struct AtHand {
    /// All names as JSON, concatenated.
    text: String,
    pages: Vec<PageAtHand>,
}

struct PageAtHand {
    /// The end of its name.
    end: usize,
    identity: u64,
    source: u32,
    /// The line in its chunk, from zero.
    line: u32,
}

impl<'a> Names<'a> {
    /// Caches names in up to `memory` bytes, if they are not in memory already.
    pub(crate) fn new(segments: &'a Segments, sources: &'a [Source], memory: u64) -> Result<Names<'a>> {
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
        let mut names = Names { segments, sources, first_lines, at_hand: None };
        if !segments.in_memory() {
            names.at_hand = names.collect(memory)?;
        }
        Ok(names)
    }

    /// All names; `None` if they take more than `memory`.
    fn collect(&self, memory: u64) -> Result<Option<AtHand>> {
        let mut all = AtHand::default();
        for number in 0..self.segments.len() {
            let segment = self.segments.load(number)?;
            for (i, row) in segment.rows.iter().enumerate() {
                all.text.push_str(&self.named(number, row, segment.name(i)).name);
                let &Row { source, line, identity, .. } = row;
                all.pages.push(PageAtHand { end: all.text.len(), identity, source, line });
            }
            // A growing vector may have capacity for twice its length.
            if 2 * (all.text.len() + size_of::<PageAtHand>() * all.pages.len()) as u64 > memory {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// The name and the place of a page.
    pub(crate) fn of(&self, page: PageId) -> Result<Named<'_>> {
        let segment = self.segments.segment_of(page);
        if let Some(AtHand { text, pages }) = &self.at_hand {
            let start = page.checked_sub(1).map_or(0, |before| pages[before as usize].end);
            let &PageAtHand { end, identity, source, line } = &pages[page as usize];
            let place = self.place(segment, source, line);
            return Ok(Named { name: text[start..end].into(), place, identity });
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

/// The name of a page, given its place and its stored name.
fn as_json<'n>(place: &Place, name: &'n [u8]) -> Cow<'n, str> {
    match name {
        [] => serde_json::to_string(&place.to_string()).expect("a string is JSON").into(),
        _ => String::from_utf8_lossy(name),
    }
}
