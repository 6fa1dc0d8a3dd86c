//! Writes the kept records of an archive: each as `treatment` settled it.
//!
//! An archive holds more than pages: records that are not pages (images, requests, redirects, failures) stay.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use crate::error::{At, Result};
use crate::ingest::{Chunk, Chunks, Copied, Overlong, Purpose, capture, records, start_of_capture};
use crate::output::treatment::{LotTreatments, Original, Treatment};
use crate::output::warc::{RecordWriter, payload_digest, revisit, stated};

/// Writes the records of one file.
pub(super) struct Records<'a> {
    pub treatments: LotTreatments<'a>,
    pub aside: &'a Path,
    pub out: RecordWriter<BufWriter<File>>,
    /// The number of the next record.
    pub number: u32,
}

impl Records<'_> {
    /// Writes the records of the next chunk.
    pub(super) fn write(&mut self, chunk: &Chunk) -> Result<()> {
        for item in records(&chunk.bytes) {
            let number = self.number;
            self.number += 1;
            // Bytes outside any record are listed as rejected. In the output they would make the file unreadable for
            // other tools.
            let Ok(record) = item.record else { continue };
            match (self.treatments.of(number, &record)?, capture(&record)) {
                (Treatment::LeaveOut, _) => {}
                (Treatment::Revisit(original), Some(capture)) => {
                    let digest = payload_digest(&capture, &original);
                    let revisit = revisit(&record, capture.head, &digest, &original);
                    self.out.write(&revisit).at("write", self.aside)?;
                }
                _ => self.out.write(&chunk.bytes[item.range]).at("write", self.aside)?,
            }
        }
        Ok(())
    }

    /// Writes the record that was too long for the last chunk.
    pub(super) fn overlong(&mut self, chunks: &mut dyn Chunks) -> Result<()> {
        let number = self.number;
        self.number += 1;
        match self.treatments.original_of(number)? {
            Some(original) => self.overlong_revisit(chunks, &original),
            None => self.copy_overlong(chunks),
        }
    }

    fn overlong_revisit(&mut self, chunks: &mut dyn Chunks, original: &Original) -> Result<()> {
        let mut overlong = Overlong::new(Purpose::Digest);
        chunks.overlong(&mut overlong).at("write", self.aside)?;
        let Some((start, sha1)) = overlong.finish() else { return Ok(()) };
        let Some(Ok(record)) = records(&start).next().map(|item| item.record) else { return Ok(()) };
        let Some(capture) = start_of_capture(&record) else { return Ok(()) };
        let digest = match original.payload_digest.as_str() {
            "" => &stated(sha1),
            stated => stated,
        };
        let revisit = revisit(&record, capture.head, digest, original);
        self.out.write(&revisit).at("write", self.aside)
    }

    /// Copies an overlong record. It was not compared, so it stays. If the file ends inside it, the existing part stays:
    /// its length may be wrong, and other records may follow.
    fn copy_overlong(&mut self, chunks: &mut dyn Chunks) -> Result<()> {
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

    /// Flushes and syncs the file to disk.
    pub(super) fn finish(self) -> Result<()> {
        let mut out = self.out.into_inner();
        out.flush().and_then(|()| out.get_ref().sync_data()).at("write", self.aside)
    }
}
