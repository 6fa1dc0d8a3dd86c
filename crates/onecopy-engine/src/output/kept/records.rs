//! Writes the kept records of an archive: each as `treatment` settled it.
//!
//! An archive holds more than pages: records that are not pages (images, requests, redirects, failures) stay.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{At, Result};
use crate::ingest::{
    Chunk, Chunks, Copied, Members, Overlong, Packing, Purpose, capture, records, start_of_capture, started,
};
use crate::output::cdxj::{Cdxj, Place};
use crate::output::treatment::{LotTreatments, Original, Treatment};
use crate::output::warc::{Outgoing, RecordWriter, is_complete, payload_digest, revisit, stated};

/// Writes the records of one file.
pub(super) struct Records<'a> {
    pub treatments: LotTreatments<'a>,
    pub aside: &'a Path,
    pub out: RecordWriter<BufWriter<File>>,
    /// Where the members of the input are, if they can be copied.
    pub members: Option<Members>,
    /// The number of the next record.
    pub number: u32,
    /// Where the next record begins in the output.
    pub at: u64,
    /// The index of the output, if it has one.
    pub index: Option<Cdxj>,
}

impl Records<'_> {
    /// Writes the records of the next chunk.
    pub(super) fn write(&mut self, chunk: &Chunk) -> Result<()> {
        let mut kept: Vec<Outgoing> = Vec::new();
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
                    kept.push(Outgoing::made(revisit(&record, capture.head, &digest, &original)));
                }
                _ => kept.push(self.unchanged(chunk, item.range)),
            }
        }
        self.put(&kept)
    }

    /// A record of the input.
    fn unchanged<'a>(&self, chunk: &'a Chunk, range: Range<usize>) -> Outgoing<'a> {
        let bytes = &chunk.bytes[range.clone()];
        let unpacked = chunk.at + range.start as u64..chunk.at + range.end as u64;
        let members = self.members.as_ref().filter(|_| is_complete(bytes));
        Outgoing { bytes: bytes.into(), member: members.and_then(|members| members.range_of(unpacked)) }
    }

    /// Writes records, and adds them to the index.
    fn put(&mut self, records: &[Outgoing]) -> Result<()> {
        let lengths = self.out.write(records, self.aside)?;
        records.iter().zip(lengths).try_for_each(|(record, length)| self.noted(&record.bytes, length, None))
    }

    /// Adds the record that was written last to the index. `sha1` is the digest of a payload that is not in memory.
    fn noted(&mut self, record: &[u8], length: u64, sha1: Option<String>) -> Result<()> {
        let offset = self.at;
        self.at += length;
        let (Some(index), Some(record)) = (&mut self.index, started(record)) else { return Ok(()) };
        // In an archive that is not packed, the line ends after a record do not count.
        let length = match self.out.packing() {
            Packing::Plain => record.block_end() as u64 + record.missing,
            _ => length,
        };
        index.add(&record, Place { offset, length }, sha1)
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
        let Some(record) = started(&start) else { return Ok(()) };
        let Some(capture) = start_of_capture(&record) else { return Ok(()) };
        let digest = match original.payload_digest.as_str() {
            "" => &stated(sha1),
            stated => stated,
        };
        self.put(&[Outgoing::made(revisit(&record, capture.head, digest, original))])
    }

    /// Copies an overlong record. It was not compared, so it stays. If the file ends inside it, the existing part stays:
    /// its length may be wrong, and other records may follow.
    fn copy_overlong(&mut self, chunks: &mut dyn Chunks) -> Result<()> {
        let mut overlong = Overlong::new(Purpose::Digest);
        let indexed = self.index.is_some();
        let copied = self.out.stream(|out| match indexed {
            true => chunks.overlong(&mut Both(out, &mut overlong)),
            false => chunks.overlong(out),
        });
        let out = self.out.get_mut();
        if copied.at("write", self.aside)? == Copied::Nothing {
            // Removes the empty gzip member.
            let back = out.seek(SeekFrom::Start(self.at)).and_then(|_| out.get_ref().set_len(self.at));
            return back.at("write", self.aside);
        }
        let length = out.stream_position().at("write", self.aside)? - self.at;
        let start = overlong.start().to_vec();
        self.noted(&start, length, overlong.finish().map(|(_, sha1)| stated(sha1)))
    }

    /// Flushes and syncs the file to disk. Returns the path of its index.
    pub(super) fn finish(self) -> Result<Option<PathBuf>> {
        let mut out = self.out.into_inner();
        out.flush().and_then(|()| out.get_ref().sync_data()).at("write", self.aside)?;
        self.index.map(Cdxj::finish).transpose()
    }
}

/// Writes the same bytes to two places.
struct Both<'a>(&'a mut dyn Write, &'a mut dyn Write);

impl Write for Both<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes)?;
        self.1.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
