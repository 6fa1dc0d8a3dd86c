//! Writes an index of a kept archive: a sorted CDXJ file, which pywb reads.
//!
//! It has the lines that pywb's own indexer would write. Lines beyond the memory limit go to sorted runs on disk.

mod runs;
mod surt;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use onecopy_core::parse_time;

use self::runs::Runs;
use self::surt::surt;
use super::warc::digest;
use crate::error::Result;
use crate::ingest::{RecordKind, WarcRecord, http_parts};

/// The index of one archive.
pub(crate) struct Cdxj {
    /// The name of the archive, without folders.
    archive: String,
    runs: Runs,
}

/// The place of a record in its archive, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub offset: u64,
    pub length: u64,
}

impl Cdxj {
    /// An index of the archive at `target`. Its runs are beside `aside`; `memory` bytes are its limit.
    pub(crate) fn new(target: &Path, aside: &Path, memory: usize) -> Cdxj {
        let archive = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Cdxj { archive, runs: Runs::new(aside.with_extension("cdxj"), memory) }
    }

    /// Adds a record, unless it is none that can be replayed. `sha1` is the digest of its payload, if it is not in memory.
    pub(crate) fn add(&mut self, record: &WarcRecord, place: Place, sha1: Option<String>) -> Result<()> {
        match line(record, place, sha1, &self.archive) {
            Some(line) => self.runs.add(line.as_bytes()),
            None => Ok(()),
        }
    }

    /// Writes the index, and returns its path.
    pub(crate) fn finish(self) -> Result<PathBuf> {
        self.runs.finish()
    }
}

/// The line of a record: the key of its address, its time, and its facts as JSON.
fn line(record: &WarcRecord, place: Place, sha1: Option<String>, archive: &str) -> Option<String> {
    use RecordKind::{ArcHeader, Continuation, Request, Unknown, Warcinfo};
    let media_type = record.text("content-type").unwrap_or_default();
    if matches!(record.kind, Request | Warcinfo | ArcHeader | Continuation | Unknown)
        || media_type.starts_with("application/warc-fields")
        || media_type == "text/anvl"
    {
        return None;
    }
    let uri = record.uri()?;
    let date = record.text("warc-date")?;
    parse_time(&date)?;
    let time: String = date.chars().filter(char::is_ascii_digit).take(14).collect();
    let reply = Reply::of(record)?;
    let stated = record.text("warc-payload-digest").map(Cow::into_owned).or(sha1);
    let is_known = record.kind != RecordKind::Revisit && record.missing == 0;
    let digest = stated.or_else(|| is_known.then(|| digest::like("", reply.payload))).unwrap_or_default();
    let digest = digest.trim_start_matches("sha1:").to_owned();
    let fields = [
        ("metadata", record.text("warc-json-metadata").unwrap_or_default().into_owned()),
        ("url", uri.replace(' ', "%20")),
        ("mime", reply.media_type),
        ("mime-detected", reply.detected),
        ("status", reply.status),
        ("digest", digest),
        ("length", place.length.to_string()),
        ("offset", place.offset.to_string()),
        ("filename", archive.to_owned()),
    ];
    let known = fields.iter().filter(|(_, value)| !value.is_empty() && value != "-");
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let fields: Vec<String> = known.map(|(name, value)| format!("\"{name}\": {}", json(value))).collect();
    (time.len() == 14).then(|| format!("{} {time} {{{}}}\n", surt(&uri), fields.join(", ")))
}

/// The facts of a record that its block tells. Empty ones are unknown.
struct Reply<'a> {
    media_type: String,
    detected: String,
    status: String,
    payload: &'a [u8],
}

impl<'a> Reply<'a> {
    /// `None` for an HTTP response that cannot be read.
    fn of(record: &WarcRecord<'a>) -> Option<Reply<'a>> {
        let short = |media: &[u8]| {
            let name = media.split(|byte| b"; ".contains(byte)).next().unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        };
        let stated = record.field("content-type").unwrap_or_default();
        let detected = record.text("warc-identified-payload-type").unwrap_or_default().into_owned();
        let unread =
            Reply { media_type: short(stated), detected, status: String::new(), payload: record.block };
        let is_response = matches!(record.kind, RecordKind::Response | RecordKind::ArcRecord);
        let is_http = stated.starts_with(b"application/http") || record.block.starts_with(b"HTTP/");
        if record.kind == RecordKind::Revisit {
            return Some(Reply { media_type: "warc/revisit".into(), detected: String::new(), ..unread });
        } else if !is_response {
            return Some(unread);
        } else if !is_http {
            return Some(Reply { status: "200".into(), ..unread });
        }
        let (status, media, payload) = http_parts(record.block)?;
        let media = if record.is_arc() { Some(stated) } else { media };
        let media_type = media.map_or("unk".into(), short);
        Some(Reply { media_type, status: format!("{status:03}"), payload, ..unread })
    }
}
