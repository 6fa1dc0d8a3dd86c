//! The name of a page in every output: its id, else its URL, else its position in the input.

use std::borrow::Cow;

use onecopy_core::PageId;

use crate::batch::{Row, Segments};
use crate::error::Result;
use crate::ingest::Source;

/// Knows the name of every page.
pub(crate) struct Names<'a> {
    segments: &'a Segments,
    sources: &'a [Source],
    /// The first line of each segment in its source, from zero.
    first_lines: Vec<u64>,
    at_hand: Option<AtHand>,
}

/// The names of all pages, cached if segments are on disk: each read would cost two system calls.
#[derive(Default)]
struct AtHand {
    /// All names as JSON, concatenated.
    text: String,
    /// The end of each name.
    ends: Vec<usize>,
    identities: Vec<u64>,
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
                all.text.push_str(&self.as_json(number, row, segment.name(i)));
                all.ends.push(all.text.len());
                all.identities.push(row.identity);
            }
            // A growing vector may have capacity for twice its length.
            if 2 * (all.text.len() + 16 * all.ends.len()) as u64 > memory {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// The name of a page, as JSON.
    pub(crate) fn of(&self, page: PageId) -> Result<Cow<'_, str>> {
        Ok(self.and_identity(page)?.0)
    }

    /// The name of a page, and a hash of its normalised URL.
    pub(crate) fn and_identity(&self, page: PageId) -> Result<(Cow<'_, str>, u64)> {
        if let Some(AtHand { text, ends, identities }) = &self.at_hand {
            let start = page.checked_sub(1).map_or(0, |before| ends[before as usize]);
            return Ok((text[start..ends[page as usize]].into(), identities[page as usize]));
        }
        let (row, name) = self.segments.page(page)?;
        let name = self.as_json(self.segments.segment_of(page), &row, &name).into_owned();
        Ok((name.into(), row.identity))
    }

    /// The name of a page, given its row and its stored name.
    pub(crate) fn as_json<'n>(&self, segment: usize, row: &Row, name: &'n [u8]) -> Cow<'n, str> {
        if !name.is_empty() {
            return String::from_utf8_lossy(name);
        }
        let place = format!("{}:{}", self.sources[row.source as usize].name, self.line(segment, row.line));
        serde_json::to_string(&place).expect("a string is JSON").into()
    }

    /// The line number in its source, from one.
    pub(crate) fn line(&self, segment: usize, line: u32) -> u64 {
        self.first_lines[segment] + u64::from(line) + 1
    }
}
