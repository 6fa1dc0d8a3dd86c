//! Detects the format of an input file by its name, else by its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::packing::{Packing, sniff, unpack};
use super::warc::is_warc;
use crate::error::{At, Result};

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Format {
    /// JSON Lines: one page per line.
    Lines(Packing),
    /// WARC, WET or ARC: one page per record.
    Records(Packing),
    /// Parquet: one page per row.
    Parquet,
    /// One HTML page.
    Html,
    /// One text page.
    Text,
}

impl Format {
    /// Whether the file is one page.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Format::Html | Format::Text)
    }

    /// Whether the file is an archive, of which `kept/` has all records.
    pub(crate) fn is_archive(self) -> bool {
        matches!(self, Format::Records(_))
    }

    /// The compression of the file, if onecopy undoes it itself.
    pub(crate) fn packing(self) -> Packing {
        match self {
            Format::Lines(packing) | Format::Records(packing) => packing,
            Format::Parquet | Format::Html | Format::Text => Packing::Plain,
        }
    }
}

/// The format that a file name indicates.
pub(crate) fn by_name(name: &str) -> Option<Format> {
    let name = name.to_ascii_lowercase();
    let (stem, packing) = match name.rsplit_once('.') {
        Some((stem, "gz")) => (stem, Packing::Gzip),
        Some((stem, "zst" | "zstd")) => (stem, Packing::Zstd),
        _ => (name.as_str(), Packing::Plain),
    };
    match (stem.rsplit_once('.')?.1, packing) {
        ("jsonl" | "ndjson" | "jl" | "json", packing) => Some(Format::Lines(packing)),
        ("warc" | "wet" | "wat" | "arc", packing) => Some(Format::Records(packing)),
        ("parquet" | "pq", Packing::Plain) => Some(Format::Parquet),
        ("html" | "htm" | "xhtml", Packing::Plain) => Some(Format::Html),
        ("txt" | "text", Packing::Plain) => Some(Format::Text),
        _ => None,
    }
}

/// How many unpacked bytes are used to detect the format.
const HEAD_BYTES: u64 = 32 << 10;

/// Detects the format by the first bytes, for a file whose name does not tell. The inner error says why the file is not
/// read.
pub(crate) fn by_content(path: &Path) -> Result<std::result::Result<Format, &'static str>> {
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)).at("read", path)?;
    if head.starts_with(b"PAR1") {
        return Ok(Ok(Format::Parquet));
    }
    let packing = match sniff(&head) {
        Ok(packing) => packing,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut plain = Vec::new();
    if let Ok((reader, _)) = unpack(Box::new(std::io::Cursor::new(head)), packing, u64::MAX) {
        // The head is usually cut off inside a compressed frame, so an error here does not matter.
        let _ = reader.take(HEAD_BYTES).read_to_end(&mut plain);
    }
    Ok(match (first_byte(&plain), packing) {
        _ if is_warc(&plain) => Ok(Format::Records(packing)),
        (Some(b'{') | None, _) => Ok(Format::Lines(packing)),
        (Some(b'<'), Packing::Plain) => Ok(Format::Html),
        _ => Err(
            "not a kind of file that onecopy reads, by its name and its beginning: name it .jsonl, .warc.gz, .parquet, .html or .txt, as it is",
        ),
    })
}

/// Why a file is not one page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotOnePage {
    Many,
    /// Why it cannot be read.
    Unreadable(&'static str),
}

/// The format of a file that must be one page: HTML or text. Returns the reason if it is not one page.
pub(crate) fn of_page(name: &str, bytes: &[u8]) -> std::result::Result<Format, NotOnePage> {
    let named = by_name(name);
    match named {
        Some(format) if format.is_document() => return Ok(format),
        None if !bytes.starts_with(b"PAR1") && !is_warc(bytes) => {}
        _ => return Err(NotOnePage::Many),
    }
    if sniff(bytes).map_err(NotOnePage::Unreadable)? != Packing::Plain {
        let reason = "compressed: unpack it first, or give - and pipe it in unpacked";
        return Err(NotOnePage::Unreadable(reason));
    }
    Ok(if first_byte(bytes) == Some(b'<') { Format::Html } else { Format::Text })
}

/// The first byte that is neither white space nor part of a byte order mark.
fn first_byte(bytes: &[u8]) -> Option<u8> {
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_one_page_is_html_or_text() {
        assert_eq!(of_page("a.html", b"text"), Ok(Format::Html));
        assert_eq!(of_page("a.txt", b"<p>"), Ok(Format::Text));
        assert_eq!(of_page("README", b"\xef\xbb\xbf \n<p>"), Ok(Format::Html));
        for text in [b"# Title".as_slice(), b"", b"{\"a\":1}", b"\0\xff"] {
            assert_eq!(of_page("", text), Ok(Format::Text));
        }
        for (name, bytes) in
            [("a.jsonl", b"{}".as_slice()), ("a.warc.gz", b""), ("", b"PAR1"), ("x", b"\x1f\x8b")]
        {
            assert!(of_page(name, bytes).is_err(), "{name}");
        }
    }

    #[test]
    fn names_tell_the_format() {
        assert_eq!(by_name("a.jsonl"), Some(Format::Lines(Packing::Plain)));
        assert_eq!(by_name("A.NDJSON.GZ"), Some(Format::Lines(Packing::Gzip)));
        assert_eq!(by_name("x.json.zst"), Some(Format::Lines(Packing::Zstd)));
        assert_eq!(by_name("CC-MAIN.warc.gz"), Some(Format::Records(Packing::Gzip)));
        assert_eq!(by_name("x.warc.wet.gz"), Some(Format::Records(Packing::Gzip)));
        assert_eq!(by_name("x.arc"), Some(Format::Records(Packing::Plain)));
        assert_eq!(by_name("x.parquet"), Some(Format::Parquet));
        assert_eq!(by_name("x.parquet.gz"), None);
        assert_eq!(by_name("x.html"), Some(Format::Html));
        assert_eq!(by_name("x.html.gz"), None);
        assert_eq!(by_name("x.gz"), None);
        assert_eq!(by_name("README"), None);
    }
}
