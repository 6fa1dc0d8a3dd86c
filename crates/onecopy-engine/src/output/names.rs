//! The names of pages in every output: the id as given, else the URL, else the place in the input.

use onecopy_core::PageId;

use crate::batch::{Row, Segments};
use crate::error::Result;
use crate::ingest::Source;

/// Knows the name of every page.
pub(crate) struct Names<'a> {
    segments: &'a Segments,
    sources: &'a [Source],
    /// The line of its source that each segment begins at, from zero.
    first_lines: Vec<u64>,
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
        Names { segments, sources, first_lines }
    }

    /// The name of a page, as JSON.
    pub(crate) fn of(&self, page: PageId) -> Result<String> {
        let (row, name) = self.segments.page(page)?;
        Ok(self.as_json(self.segments.segment_of(page), &row, &name))
    }

    /// The name of a page, and a hash of what its address comes to.
    pub(crate) fn and_identity(&self, page: PageId) -> Result<(String, u64)> {
        let (row, name) = self.segments.page(page)?;
        Ok((self.as_json(self.segments.segment_of(page), &row, &name), row.identity))
    }

    /// The name of a page whose row and given name are known.
    pub(crate) fn as_json(&self, segment: usize, row: &Row, name: &[u8]) -> String {
        if !name.is_empty() {
            return String::from_utf8_lossy(name).into_owned();
        }
        let place = format!("{}:{}", self.sources[row.source as usize].name, self.line(segment, row.line));
        serde_json::to_string(&place).expect("a string is JSON")
    }

    /// A line of its source, from one.
    pub(crate) fn line(&self, segment: usize, line: u32) -> u64 {
        self.first_lines[segment] + u64::from(line) + 1
    }
}
