//! Writes WARC records: kept ones unchanged, and `revisit` records in place of others that have the same payload.
//!
//! The same removal gives the same bytes in every run: no id is made up, and no write date is stored.

pub(super) mod digest;

pub(crate) use digest::stated;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::treatment::Original;
use crate::error::{At, Result};
use crate::ingest::{Capture, Copied, MemberPacker, Packing, WarcRecord, records, write_member};
use crate::parallel::for_each;

/// The profile of a revisit whose payload equals the original's byte for byte (WARC 1.1, 6.7.2).
pub(crate) const IDENTICAL_PROFILE: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// Fields that the revisit does not take over from the record that it replaces.
const REPLACED: [&str; 8] = [
    "warc-type",
    "warc-profile",
    "warc-refers-to",
    "warc-refers-to-target-uri",
    "warc-refers-to-date",
    "warc-payload-digest",
    "warc-block-digest",
    "content-length",
];

/// The payload digest of a revisit that replaces `capture`. It is that of the original, because indexes match the two by
/// it, and computed only if the original has none.
pub(crate) fn payload_digest(capture: &Capture, original: &Original) -> String {
    match original.payload_digest.as_str() {
        "" => digest::like("", capture.payload),
        stated => stated.to_owned(),
    }
}

/// The revisit record that replaces `record`, whose HTTP header is `head` and whose payload `original` has.
///
/// It keeps the id, so that every record that refers to the replaced one still does.
pub(crate) fn revisit(
    record: &WarcRecord,
    head: &[u8],
    payload_digest: &str,
    original: &Original,
) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(b"WARC/1.1\r\nWARC-Type: revisit\r\n");
    let is = |line: &[u8], name: &str| {
        let name = name.as_bytes();
        line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && line[name.len()..].trim_ascii_start().starts_with(b":")
    };
    // A resource has no HTTP header, and so its revisit has no block.
    let has_block = !head.is_empty();
    let stays = |line: &&[u8]| {
        !REPLACED.iter().any(|name| is(line, name)) && (has_block || !is(line, "content-type"))
    };
    for line in record.lines().filter(stays) {
        out.extend_from_slice(line);
        out.extend_from_slice(b"\r\n");
    }
    let block_digest = record.text("warc-block-digest").map(|style| digest::like(&style, head));
    for (name, value) in [
        ("WARC-Profile", IDENTICAL_PROFILE),
        ("WARC-Refers-To", &original.id),
        ("WARC-Refers-To-Target-URI", &original.uri),
        ("WARC-Refers-To-Date", &original.date),
        ("WARC-Payload-Digest", payload_digest),
        ("WARC-Block-Digest", block_digest.as_deref().unwrap_or_default()),
        ("Content-Length", &head.len().to_string()),
    ] {
        if !value.is_empty() {
            out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
    }
    for part in [b"\r\n", head, b"\r\n\r\n"] {
        out.extend_from_slice(part);
    }
    out
}

/// A record to write.
pub(crate) struct Outgoing<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// Where the input has it packed by itself. It is then copied as it is.
    pub member: Option<Range<u64>>,
}

impl<'a> Outgoing<'a> {
    /// A record that the input does not have.
    pub(crate) fn made(bytes: Vec<u8>) -> Outgoing<'a> {
        Outgoing { bytes: bytes.into(), member: None }
    }
}

/// Writes each record as its own gzip member, frame or stream, so that tools can read it by its offset.
pub(crate) struct RecordWriter<W> {
    out: W,
    packing: Packing,
    /// The file that members are copied from, and the bytes of the last one.
    input: Option<File>,
    copied: Vec<u8>,
    /// One for each thread that packs records.
    packers: Vec<Mutex<MemberPacker>>,
}

impl<W: Write> RecordWriter<W> {
    /// A writer that packs records on so many threads, and copies members from `input`.
    pub(crate) fn new(out: W, packing: Packing, threads: usize, input: Option<File>) -> RecordWriter<W> {
        let packers = (0..threads.max(1)).map(|_| Mutex::new(MemberPacker::new(packing))).collect();
        RecordWriter { out, packing, input, copied: Vec::new(), packers }
    }

    /// Writes records unchanged, and adds missing line ends. Returns the number of bytes of each. `path` is for errors.
    pub(crate) fn write(&mut self, records: &[Outgoing], path: &Path) -> Result<Vec<u64>> {
        let bytes: Vec<&[u8]> =
            records.iter().filter(|record| record.member.is_none()).map(|record| &*record.bytes).collect();
        let mut packed = packed(&self.packers, &bytes, path)?.into_iter();
        let mut lengths = Vec::with_capacity(records.len());
        for record in records {
            let member = match (&record.member, &self.input) {
                (Some(range), Some(input)) => {
                    self.copied.resize((range.end - range.start) as usize, 0);
                    input.read_exact_at(&mut self.copied, range.start).at("write", path)?;
                    &self.copied
                }
                _ => &packed.next().expect("each record without a member was packed"),
            };
            self.out.write_all(member).at("write", path)?;
            lengths.push(member.len() as u64);
        }
        Ok(lengths)
    }

    /// Writes a record that is not in memory: `copy` writes it piece by piece.
    pub(crate) fn stream(
        &mut self,
        copy: impl FnOnce(&mut dyn Write) -> io::Result<Copied>,
    ) -> io::Result<Copied> {
        write_member(&mut self.out, self.packing, |out| copied(out, copy))
    }

    /// How records are packed.
    pub(crate) fn packing(&self) -> Packing {
        self.packing
    }

    /// The inner writer, to undo writes.
    pub(crate) fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// The inner writer.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }
}

/// The members of records, packed on as many threads as there are packers.
fn packed(packers: &[Mutex<MemberPacker>], records: &[&[u8]], path: &Path) -> Result<Vec<Vec<u8>>> {
    let packed: Vec<Mutex<Vec<u8>>> = records.iter().map(|_| Mutex::default()).collect();
    let (threads, next) = (packers.len().min(records.len()), AtomicUsize::new(0));
    for_each(
        threads,
        threads,
        || (),
        |(), thread| {
            let mut packer = packers[thread].lock().expect("no thread panics with this lock");
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(record) = records.get(number) else { return Ok(()) };
                let mut member = Vec::new();
                packer.pack([record, missing_ends(record)], &mut member).at("write", path)?;
                *packed[number].lock().expect("no thread panics with this lock") = member;
            }
        },
    )?;
    let unlocked = |member: Mutex<Vec<u8>>| member.into_inner().expect("no thread panics with this lock");
    Ok(packed.into_iter().map(unlocked).collect())
}

/// Copies a record and adds missing line ends.
fn copied(
    out: &mut dyn Write,
    copy: impl FnOnce(&mut dyn Write) -> io::Result<Copied>,
) -> io::Result<Copied> {
    let result = copy(out)?;
    if let Copied::Whole { line_ends, arc } = result {
        out.write_all(lacking(line_ends, arc))?;
    }
    Ok(result)
}

/// Whether a record of an archive ends as its format demands, so that it can be copied as it is.
pub(crate) fn is_complete(record: &[u8]) -> bool {
    missing_ends(record).is_empty()
}

/// The missing line ends of a record: WARC needs two, ARC one. Other readers fail without them.
fn missing_ends(record: &[u8]) -> &'static [u8] {
    let Some(Ok(found)) = records(record).next().map(|item| item.record) else { return b"" };
    let behind = record.get(found.block_end()..).unwrap_or_default();
    lacking(behind.iter().filter(|&&byte| byte == b'\n').count(), found.is_arc())
}

fn lacking(line_ends: usize, arc: bool) -> &'static [u8] {
    match (line_ends, arc) {
        (0, true) => b"\n",
        (0, false) => b"\r\n\r\n",
        (1, false) => b"\r\n",
        _ => b"",
    }
}

#[cfg(test)]
mod tests;
