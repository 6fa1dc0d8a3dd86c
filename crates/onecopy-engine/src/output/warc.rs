//! Writes WARC records: kept ones unchanged, and removed ones as `revisit` records that name the kept page. So the
//! history of the crawl is preserved.
//!
//! The same removal gives the same bytes in every run: ids are derived from the content, and no write date is stored.

use std::io::{self, Write};

use memchr::memmem;
use onecopy_core::Kind;
use xxhash_rust::xxh3::xxh3_128;

use crate::ingest::{Copied, Packing, WarcRecord, records, write_member};

/// The profile of a revisit whose payload equals the winner's byte for byte (WARC 1.1, 6.7.2).
pub(crate) const IDENTICAL_PROFILE: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
/// The profile of a revisit whose text is similar to the winner's, or equal in other bytes (`docs/FORMAT.md`).
pub(crate) const NEAR_PROFILE: &str = "urn:onecopy:revisit:near-duplicate";

/// The kept page of a removed one. Unknown parts are `None`.
#[derive(Clone, Debug)]
pub(crate) struct Winner<'a> {
    pub uri: Option<&'a str>,
    /// As written in the winner's record.
    pub date: Option<&'a str>,
    /// With its angle brackets.
    pub id: Option<&'a str>,
    pub payload_digest: Option<&'a str>,
    pub kind: Kind,
    /// As written in the list of removed pages.
    pub similarity: f64,
}

/// Writes the revisit record that replaces `record` to `out`.
pub(crate) fn revisit(record: &WarcRecord, winner: &Winner, out: &mut Vec<u8>) {
    let block = http_header(record.block);
    let digest = record.text("warc-payload-digest");
    let identical = digest.as_deref().is_some_and(|digest| Some(digest) == winner.payload_digest);
    let mut field = |name: &str, value: &str| {
        // A line end inside a value would start another field.
        let clean = |c: char| if c.is_control() { ' ' } else { c };
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend(value.chars().map(clean).collect::<String>().bytes());
        out.extend_from_slice(b"\r\n");
    };
    field("WARC/1.1\r\nWARC-Type", "revisit");
    field("WARC-Record-ID", &revisit_id(record));
    for (name, kept) in [
        ("WARC-Target-URI", record.uri()),
        ("WARC-Date", record.text("warc-date").map(|date| w3c_date(&date).into())),
        ("WARC-Payload-Digest", digest),
        ("WARC-IP-Address", record.text("warc-ip-address")),
        ("WARC-Warcinfo-ID", record.text("warc-warcinfo-id")),
    ] {
        kept.iter().for_each(|value| field(name, value));
    }
    field("WARC-Profile", if identical { IDENTICAL_PROFILE } else { NEAR_PROFILE });
    for (name, of_winner) in [
        ("WARC-Refers-To", winner.id.map(str::to_owned)),
        ("WARC-Refers-To-Target-URI", winner.uri.map(str::to_owned)),
        ("WARC-Refers-To-Date", winner.date.map(w3c_date)),
    ] {
        of_winner.iter().for_each(|value| field(name, value));
    }
    field("Onecopy-Kind", winner.kind.as_str());
    field("Onecopy-Similarity", &format!("{:?}", winner.similarity));
    if !block.is_empty() {
        field("Content-Type", "application/http; msgtype=response");
    }
    field("Content-Length", &block.len().to_string());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(block);
    out.extend_from_slice(b"\r\n\r\n");
}

/// The header of an HTTP response with its blank line; empty if the block is not a response.
fn http_header(block: &[u8]) -> &[u8] {
    if !block.starts_with(b"HTTP/") {
        return b"";
    }
    let ends = [&b"\r\n\r\n"[..], b"\n\n"].map(|end| memmem::find(block, end).map(|at| at + end.len()));
    &block[..ends.into_iter().flatten().min().unwrap_or(block.len())]
}

/// A version 8 UUID (RFC 9562, 5.8) from the removed record's id, or from its block if it has no id.
fn revisit_id(record: &WarcRecord) -> String {
    let seed = record.field("warc-record-id").unwrap_or(record.block);
    let mut bytes = xxh3_128(&[b"onecopy revisit of ", seed].concat()).to_be_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// The date in WARC format. ARC dates have fourteen digits.
fn w3c_date(date: &str) -> String {
    let date = date.trim();
    match date.get(..14).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(d) => {
            format!("{}-{}-{}T{}:{}:{}Z", &d[..4], &d[4..6], &d[6..8], &d[8..10], &d[10..12], &d[12..])
        }
        None => date.to_owned(),
    }
}

/// Writes each record as its own gzip member, frame or stream, so that tools can read it by its offset.
pub(crate) struct RecordWriter<W> {
    out: W,
    packing: Packing,
    packed: Vec<u8>,
}

/// A buffer larger than this is not reused, because every open output file has one.
const PACKED_BYTES: usize = 256 << 10;

impl<W: Write> RecordWriter<W> {
    pub(crate) fn new(out: W, packing: Packing) -> RecordWriter<W> {
        RecordWriter { out, packing, packed: Vec::new() }
    }

    /// Writes a record unchanged, and adds missing line ends.
    pub(crate) fn write(&mut self, record: &[u8]) -> io::Result<()> {
        let ends = missing_ends(record);
        if self.packing == Packing::Plain {
            return self.out.write_all(record).and_then(|()| self.out.write_all(ends));
        }
        self.packed.clear();
        write_member(&mut self.packed, self.packing, |out| {
            out.write_all(record).and_then(|()| out.write_all(ends))
        })?;
        if self.packed.capacity() > PACKED_BYTES {
            return self.out.write_all(&std::mem::take(&mut self.packed));
        }
        self.out.write_all(&self.packed)
    }

    /// Writes a record that is not in memory: `copy` writes it piece by piece.
    pub(crate) fn stream(
        &mut self,
        copy: impl FnOnce(&mut dyn Write) -> io::Result<Copied>,
    ) -> io::Result<Copied> {
        write_member(&mut self.out, self.packing, |out| copied(out, copy))
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
