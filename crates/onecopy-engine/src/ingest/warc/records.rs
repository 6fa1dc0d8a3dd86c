//! Iterates over the records of a chunk and reads their header fields.
//!
//! Nothing is copied, and the fields of skipped records are never parsed.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use super::arc;
use super::frame::{Step, frame};
use super::header::{self, Header, Outcome, trimmed, value_of};

/// A range of a chunk: a record, or the reason why it is not one.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    /// Its range in the chunk, with the line ends after it.
    pub range: Range<usize>,
    pub record: Result<WarcRecord<'a>, String>,
}

/// One unchanged record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WarcRecord<'a> {
    pub kind: RecordKind,
    /// The archived content: an HTTP response with its header, or the page itself.
    pub block: &'a [u8],
    /// How many bytes of its stated length are missing.
    pub missing: u64,
    /// The version line and the fields; for ARC, the first line of the record.
    header: &'a [u8],
}

/// The type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecordKind {
    Response,
    Resource,
    Conversion,
    Revisit,
    Request,
    Warcinfo,
    Metadata,
    Continuation,
    /// The first record of an ARC file.
    ArcHeader,
    /// Any other record of an ARC file.
    ArcRecord,
    Unknown,
}

impl RecordKind {
    /// The name of the type in the format.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            RecordKind::Response | RecordKind::ArcRecord => "response",
            RecordKind::Resource => "resource",
            RecordKind::Conversion => "conversion",
            RecordKind::Revisit => "revisit",
            RecordKind::Request => "request",
            RecordKind::Warcinfo => "warcinfo",
            RecordKind::Metadata => "metadata",
            RecordKind::Continuation => "continuation",
            RecordKind::ArcHeader => "arc_header",
            RecordKind::Unknown => "unknown",
        }
    }

    fn of(name: &[u8]) -> RecordKind {
        use RecordKind::*;
        let kinds = [Response, Request, Metadata, Revisit, Resource, Conversion, Warcinfo, Continuation];
        let named = |kind: &RecordKind| name.eq_ignore_ascii_case(kind.as_str().as_bytes());
        kinds.into_iter().find(named).unwrap_or(Unknown)
    }
}

/// The records of a chunk, which must start and end at record boundaries.
pub(crate) fn records(chunk: &[u8]) -> impl Iterator<Item = Item<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < chunk.len() {
            let item = item(chunk, at);
            at = item.range.end;
            let blank = item.record.is_err() && chunk[item.range.clone()].iter().all(u8::is_ascii_whitespace);
            if !blank {
                return Some(item);
            }
        }
        None
    })
}

/// The record that begins with `bytes`, of which the end may be missing. Its length is trusted.
pub(crate) fn started(bytes: &[u8]) -> Option<WarcRecord<'_>> {
    let Outcome::Read(Header { block, length: Some(length), .. }) = header::read(bytes, true) else {
        return None;
    };
    let (header, rest) = bytes.split_at(block);
    let block = &rest[..length.min(rest.len() as u64) as usize];
    Some(WarcRecord { kind: kind(header), block, missing: length - block.len() as u64, header })
}

fn item(chunk: &[u8], at: usize) -> Item<'_> {
    let bytes = &chunk[at..];
    let (end, record) = match frame(bytes, true, usize::MAX) {
        Step::Record(frame) => {
            let header = &bytes[..frame.block.start];
            let (block, missing) = (&bytes[frame.block], frame.missing);
            (frame.end, Ok(WarcRecord { kind: kind(header), block, missing, header }))
        }
        Step::Lost(end) => (end, Err(format!("{end} bytes that belong to no record of the archive"))),
        // Impossible here: the chunk is complete and there is no limit.
        Step::Need(_) | Step::Adrift | Step::Overlong(_) | Step::Endless => {
            (bytes.len(), Err("a record of impossible length".into()))
        }
    };
    Item { range: at..at + end.max(1), record }
}

fn kind(header: &[u8]) -> RecordKind {
    if !header.starts_with(b"WARC/") {
        let first = header.starts_with(b"filedesc:");
        return if first { RecordKind::ArcHeader } else { RecordKind::ArcRecord };
    }
    let value = fields(header).find_map(|line| value_of(line, b"warc-type"));
    value.map_or(RecordKind::Unknown, RecordKind::of)
}

/// The lines of a header after its version line, each with its folded continuation lines.
fn fields(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = &header[memchr(b'\n', header).map_or(header.len(), |end| end + 1)..];
    std::iter::from_fn(move || {
        let mut end = memchr(b'\n', rest).unwrap_or(rest.len());
        while matches!(rest.get(end + 1), Some(b' ' | b'\t')) && end > 1 {
            end += 1 + memchr(b'\n', &rest[end + 1..]).unwrap_or(rest.len() - end - 1);
        }
        let (line, next) = (rest.get(..end)?, (end + 1).min(rest.len()));
        let line = (!rest.is_empty()).then_some(line)?;
        rest = &rest[next..];
        Some(trimmed(line))
    })
}

impl<'a> WarcRecord<'a> {
    /// The value of a WARC field, such as `warc-date`; `name` is in lower case. ARC has at most four fields.
    pub(crate) fn field(&self, name: &str) -> Option<&'a [u8]> {
        let value = match self.kind {
            RecordKind::ArcHeader | RecordKind::ArcRecord => {
                let line = arc::parse(trimmed(self.header.strip_suffix(b"\n").unwrap_or(self.header)))?;
                match name {
                    "warc-target-uri" => line.uri,
                    "warc-date" => line.date,
                    "content-type" => line.content_type,
                    _ => return None,
                }
            }
            _ => fields(self.header).find_map(|line| value_of(line, name.as_bytes()))?,
        };
        (!value.is_empty()).then_some(value)
    }

    /// All values of a WARC field that may be repeated; `name` is in lower case.
    pub(crate) fn values(&self, name: &'static str) -> impl Iterator<Item = Cow<'a, str>> {
        let value = move |line: &'a [u8]| value_of(line, name.as_bytes()).map(String::from_utf8_lossy);
        self.lines().filter_map(value)
    }

    /// The lines of the header after the version line, without the empty one at its end. A line includes the folded
    /// lines that continue it.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        fields(self.header).filter(|line| !line.is_empty())
    }

    /// A field as text, with folded lines joined.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let text = String::from_utf8_lossy(self.field(name)?);
        Some(if text.contains('\n') {
            text.split_whitespace().collect::<Vec<_>>().join(" ").into()
        } else {
            text
        })
    }

    /// The archived address. Some writers put it in angle brackets.
    pub(crate) fn uri(&self) -> Option<Cow<'a, str>> {
        Some(match self.text("warc-target-uri")? {
            Cow::Borrowed(uri) => bare(uri).into(),
            Cow::Owned(uri) => bare(&uri).to_owned().into(),
        })
    }

    /// The end of its block, counted from the start of the record. Only line ends follow.
    pub(crate) fn block_end(&self) -> usize {
        self.header.len() + self.block.len()
    }

    /// Whether it is from an ARC file.
    pub(crate) fn is_arc(&self) -> bool {
        matches!(self.kind, RecordKind::ArcHeader | RecordKind::ArcRecord)
    }

    /// The length that the header states, correct or not.
    #[cfg(test)]
    pub(crate) fn length(&self) -> Option<u64> {
        self.field("content-length").and_then(arc::number)
    }
}

/// The text without its angle brackets.
pub(super) fn bare(text: &str) -> &str {
    text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text)
}
