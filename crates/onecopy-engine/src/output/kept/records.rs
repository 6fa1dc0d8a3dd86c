//! Writes the kept records of an archive: all records, except that removed pages become revisits or are left out.
//!
//! An archive holds more than pages: records that are not pages (images, requests, redirects, failures) stay unchanged.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use onecopy_core::{Decision, Kind, PageId};

use super::KeptWriter;
use crate::batch::{Row, Segment, facts};
use crate::error::{At, Result};
use crate::ingest::{Chunk, Chunks, Copied, WarcRecord, records};
use crate::job::RemovedRecords;
use crate::output::warc::{RecordWriter, Winner, revisit};
use onecopy_core::shown;

/// Writes the records of one file.
pub(super) struct Records<'a> {
    pub kept: &'a KeptWriter<'a>,
    pub aside: &'a Path,
    pub out: RecordWriter<BufWriter<File>>,
}

impl Records<'_> {
    /// Writes the kept records of a chunk. `segment` was made from that chunk, and `first` is its first page.
    pub(super) fn write(&mut self, segment: &Segment, first: PageId, chunk: &Chunk) -> Result<()> {
        let pages = (first..).zip(&segment.rows).filter(|(_, row)| !row.silent);
        let pages: HashMap<u32, (PageId, &Row)> = pages.map(|(page, row)| (row.line, (page, row))).collect();
        for (number, item) in (0..).zip(records(&chunk.bytes)) {
            // Bytes outside any record are listed as rejected. In the output they would make the file unreadable for
            // other tools.
            let Ok(record) = item.record else { continue };
            let page = pages.get(&number);
            let decision = page.map_or(Decision::Kept, |&(page, _)| self.kept.decisions.of(page));
            match (decision, page) {
                (Decision::Removed { .. }, _) if self.leaves_out(&record) => {}
                // A redirect is not a copy of its target.
                (Decision::Removed { winner, similarity, kind }, Some((_, row)))
                    if kind != Kind::Redirect =>
                {
                    let revisit = self.revisit(&record, row, winner, similarity, kind)?;
                    self.out.write(&revisit).at("write", self.aside)?;
                }
                _ => self.out.write(&chunk.bytes[item.range]).at("write", self.aside)?,
            }
        }
        Ok(())
    }

    /// Copies the record that was too long for the last chunk. It was not compared, so it stays. If the file ends
    /// inside it, the existing part stays: its length may be wrong, and other records may follow.
    pub(super) fn overlong(&mut self, chunks: &mut dyn Chunks) -> Result<()> {
        let end = self.out.get_mut().stream_position().at("write", self.aside)?;
        let copied = self.out.stream(|out| chunks.overlong(out)).at("write", self.aside)?;
        if copied != Copied::Nothing {
            return Ok(());
        }
        // Removes the empty gzip member.
        let out = self.out.get_mut();
        let back = out.seek(SeekFrom::Start(end)).and_then(|_| out.get_ref().set_len(end));
        back.at("write", self.aside)
    }

    /// ARC has no revisit records.
    fn leaves_out(&self, record: &WarcRecord) -> bool {
        self.kept.work.run.removed_records == RemovedRecords::LeaveOut || record.is_arc()
    }

    /// The revisit record that replaces a removed one.
    fn revisit(
        &self,
        record: &WarcRecord,
        row: &Row,
        winner: PageId,
        similarity: f64,
        kind: Kind,
    ) -> Result<Vec<u8>> {
        let (winner_row, name) = self.kept.segments.page(winner)?;
        let kind = kind.between(row.identity, winner_row.identity);
        let name: String = serde_json::from_slice(&name).unwrap_or_default();
        let facts = self.kept.segments.facts(winner)?;
        let facts = facts::read(&facts);
        let known = |part| Some(part).filter(|part: &&str| !part.is_empty());
        let winner = Winner {
            uri: known(facts.url).or(known(&name)),
            date: known(facts.date),
            id: known(facts.id),
            payload_digest: known(facts.digest),
            kind,
            similarity: shown(similarity, self.kept.work.method.threshold()),
        };
        let mut out = Vec::new();
        revisit(record, &winner, &mut out);
        Ok(out)
    }

    /// Flushes and syncs the file to disk.
    pub(super) fn finish(self) -> Result<()> {
        let mut out = self.out.into_inner();
        out.flush().and_then(|()| out.get_ref().sync_data()).at("write", self.aside)
    }
}
