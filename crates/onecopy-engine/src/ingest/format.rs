//! Detects the format of an input file by its name, else by its first bytes.

mod foreign;
mod written;

use std::io::Read;

use serde::{Deserialize, Serialize};

use self::foreign::foreign_by_content;
pub(crate) use self::foreign::{foreign_by_name, is_no_page};
use self::written::WrittenFormat;
use super::container::{Container, is_tar, is_zip};
use super::packing::{Packing, by_ending, sniff, unpack};
use super::warc::{is_no_text, is_warc, starts_like_html};

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenFormat", into = "WrittenFormat")]
pub(crate) enum Format {
    /// JSON Lines: one page per line.
    Lines(Packing),
    /// A JSON array of pages, or JSON objects that take several lines each.
    Array(Packing),
    /// CSV or TSV: one page per row.
    Table(Packing),
    /// WARC, WET or ARC: one page per record.
    Records(Packing),
    /// Parquet: one page per row.
    Parquet,
    /// Pages in memory: one page per row.
    Rows,
    /// One HTML page.
    Html(Packing),
    /// One text page.
    Text(Packing),
}

impl Format {
    /// Whether the file is one page.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Format::Html(_) | Format::Text(_))
    }

    /// Whether the file is an archive, of which `kept/` has all records.
    pub(crate) fn is_archive(self) -> bool {
        matches!(self, Format::Records(_))
    }

    /// The compression of the file, if onecopy undoes it itself.
    pub(crate) fn packing(self) -> Packing {
        match self {
            Format::Lines(packing) | Format::Array(packing) | Format::Table(packing) => packing,
            Format::Records(packing) | Format::Html(packing) | Format::Text(packing) => packing,
            Format::Parquet | Format::Rows => Packing::Plain,
        }
    }
}

/// The format that a file name indicates.
pub(crate) fn by_name(name: &str) -> Option<Format> {
    let name = name.to_ascii_lowercase();
    let (stem, packing) = by_ending(&name);
    match (stem.rsplit_once('.')?.1, packing) {
        ("jsonl" | "ndjson" | "jl" | "json", packing) => Some(Format::Lines(packing)),
        ("csv" | "tsv" | "tab", packing) => Some(Format::Table(packing)),
        ("warc" | "wet" | "wat" | "arc", packing) => Some(Format::Records(packing)),
        ("parquet" | "pq", Packing::Plain) => Some(Format::Parquet),
        ("html" | "htm" | "xhtml", packing) => Some(Format::Html(packing)),
        ("txt" | "text" | "md" | "markdown", packing) => Some(Format::Text(packing)),
        _ => None,
    }
}

/// Whether a file of this name may be JSON Lines or a JSON array: only its first bytes tell.
pub(crate) fn may_be_array(name: &str) -> bool {
    by_ending(&name.to_ascii_lowercase()).0.ends_with(".json")
}

/// How many bytes of a file are used to detect the format.
pub(crate) const HEAD_BYTES: u64 = 32 << 10;

/// Whether the user named a file or it was found in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    ByName,
    ByFolder,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Pages(Format),
    Container(Container),
    /// Another program can convert it; how.
    Foreign(&'static str),
    /// It accompanies pages, such as an image, or is empty.
    NoPage,
    Unknown,
}

/// The kind of a file by its first bytes, if its name does not tell. A file in a folder must look like pages: nobody named it.
pub(crate) fn by_content(head: &[u8], asked: Asked) -> FileKind {
    if let Some(reason) = foreign_by_content(head) {
        return FileKind::Foreign(reason);
    }
    if head.starts_with(b"PAR1") {
        return FileKind::Pages(Format::Parquet);
    }
    if is_zip(head) {
        return FileKind::Container(Container::Zip);
    }
    let packing = sniff(head);
    let plain = unpacked(head, packing);
    match first_byte(&plain) {
        _ if is_tar(&plain) => FileKind::Container(Container::Tar(packing)),
        _ if is_warc(&plain) => FileKind::Pages(Format::Records(packing)),
        None if asked == Asked::ByName => FileKind::Pages(Format::Lines(packing)),
        None => FileKind::NoPage,
        Some(b'{' | b'[') if asked == Asked::ByName || has_objects(&plain) => {
            FileKind::Pages(if is_array(&plain) { Format::Array(packing) } else { Format::Lines(packing) })
        }
        Some(b'<') if asked == Asked::ByName || is_html(&plain) => FileKind::Pages(Format::Html(packing)),
        _ if is_no_text(&plain) => FileKind::NoPage,
        _ => FileKind::Unknown,
    }
}

/// Whether a JSON file that begins so is not one object per line: it is an array, or its first object continues on the next line.
pub(crate) fn is_array_file(head: &[u8]) -> bool {
    is_array(&unpacked(head, sniff(head)))
}

/// The unpacked beginning of a file.
fn unpacked(head: &[u8], packing: Packing) -> Vec<u8> {
    let mut plain = Vec::new();
    if let Ok((reader, _)) = unpack(Box::new(std::io::Cursor::new(head.to_vec())), packing, u64::MAX) {
        // The head is usually cut off inside a compressed frame, so an error here does not matter.
        let _ = reader.take(HEAD_BYTES).read_to_end(&mut plain);
    }
    plain
}

fn is_array(plain: &[u8]) -> bool {
    let text = start(plain);
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    text.starts_with(b"[") || (line.trim_ascii() == b"{" && line.len() < text.len())
}

/// Whether JSON begins with an object that has a field, or with an array of objects.
fn has_objects(plain: &[u8]) -> bool {
    let text = start(plain);
    let (first, second) = (text.first(), text.get(1..).map(<[u8]>::trim_ascii_start).and_then(<[u8]>::first));
    matches!((first, second), (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{')))
}

/// Whether a file begins as an HTML page does, behind comments and declarations.
fn is_html(plain: &[u8]) -> bool {
    let mut text = start(plain);
    for _ in 0..16 {
        let end: &[u8] = match text {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            _ => break,
        };
        let Some(at) = memchr::memmem::find(text, end) else { return false };
        text = text[at + end.len()..].trim_ascii_start();
    }
    let starts = |tag: &[u8]| text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
    starts_like_html(text) || starts(b"<head") || starts(b"<title") || starts(b"<meta ")
}

/// The text from its first byte that is neither white space nor part of a byte order mark.
fn start(plain: &[u8]) -> &[u8] {
    plain.strip_prefix(b"\xef\xbb\xbf").unwrap_or(plain).trim_ascii_start()
}

/// Why a file of an unknown format is not read.
pub(crate) const UNKNOWN: &str = "not a kind of file that onecopy reads (.jsonl, .json, .csv, .tsv, .warc, .wet, .arc, .html, .txt, .md, each also .gz, .zst, .xz, .bz2 or .lz4; .parquet; .wacz, .zip, .tar)";
/// Why a file that the user named is not read.
pub(crate) const UNKNOWN_BY_CONTENT: &str = "not a kind of file that onecopy reads, by its name and its beginning: name it .jsonl, .csv, .warc.gz, .parquet, .html or .txt, as it is";

/// Why a file is not one page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotOnePage {
    Many,
    /// Why it cannot be read.
    Unreadable(&'static str),
}

/// The format of a file that must be one page: HTML or text. Returns the reason if it is not one page.
pub(crate) fn of_page(name: &str, bytes: &[u8]) -> Result<Format, NotOnePage> {
    match by_name(name) {
        Some(format) if format.is_document() => return Ok(format),
        Some(_) => return Err(NotOnePage::Many),
        None => {}
    }
    if let Some(reason) = foreign_by_name(name).or_else(|| foreign_by_content(bytes)) {
        return Err(NotOnePage::Unreadable(reason));
    }
    let packing = sniff(bytes);
    let plain = unpacked(&bytes[..bytes.len().min(HEAD_BYTES as usize)], packing);
    if bytes.starts_with(b"PAR1") || is_zip(bytes) || is_tar(&plain) || is_warc(&plain) {
        return Err(NotOnePage::Many);
    }
    Ok(if first_byte(&plain) == Some(b'<') { Format::Html(packing) } else { Format::Text(packing) })
}

/// The first byte that is neither white space nor part of a byte order mark.
fn first_byte(bytes: &[u8]) -> Option<u8> {
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: Format = Format::Html(Packing::Plain);
    const TEXT: Format = Format::Text(Packing::Plain);

    #[test]
    fn a_file_that_is_one_page_is_html_or_text() {
        assert_eq!(of_page("a.html", b"text"), Ok(HTML));
        assert_eq!(of_page("a.txt", b"<p>"), Ok(TEXT));
        assert_eq!(of_page("a.html.gz", b"\x1f\x8b"), Ok(Format::Html(Packing::Gzip)));
        assert_eq!(of_page("README", b"\xef\xbb\xbf \n<p>"), Ok(HTML));
        for text in [b"# Title".as_slice(), b"", b"{\"a\":1}", b"\0\xff"] {
            assert_eq!(of_page("", text), Ok(TEXT));
        }
        for (name, bytes) in [
            ("a.jsonl", b"{}".as_slice()),
            ("a.warc.gz", b""),
            ("", b"PAR1"),
            ("a.pdf", b""),
            ("x", b"PK\x03\x04"),
        ] {
            assert!(of_page(name, bytes).is_err(), "{name}");
        }
    }

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("a.jsonl", Format::Lines(Packing::Plain)),
            ("A.NDJSON.GZ", Format::Lines(Packing::Gzip)),
            ("x.json.zst", Format::Lines(Packing::Zstd)),
            ("CC-MAIN.warc.gz", Format::Records(Packing::Gzip)),
            ("x.warc.wet.gz", Format::Records(Packing::Gzip)),
            ("x.warc.lz4", Format::Records(Packing::Lz4)),
            ("x.arc", Format::Records(Packing::Plain)),
            ("x.csv.bz2", Format::Table(Packing::Bzip2)),
            ("x.TSV", Format::Table(Packing::Plain)),
            ("x.parquet", Format::Parquet),
            ("x.html", HTML),
            ("x.html.gz", Format::Html(Packing::Gzip)),
            ("x.md.xz", Format::Text(Packing::Xz)),
        ] {
            assert_eq!(by_name(name), Some(format), "{name}");
        }
        for name in ["x.parquet.gz", "x.gz", "README", "x.tar.gz"] {
            assert_eq!(by_name(name), None, "{name}");
        }
        assert!(may_be_array("x.JSON.gz") && may_be_array("x.json") && !may_be_array("x.jsonl"));
    }

    #[test]
    fn files_in_folders_are_told_by_their_beginning() {
        let lines = FileKind::Pages(Format::Lines(Packing::Plain));
        let array = FileKind::Pages(Format::Array(Packing::Plain));
        for (head, named, found) in [
            ("<!doctype html><p>", FileKind::Pages(HTML), FileKind::Pages(HTML)),
            (" <?xml version='1.0'?>\n<!-- x -->\n<HTML>", FileKind::Pages(HTML), FileKind::Pages(HTML)),
            ("<?xml version='1.0'?><rss>", FileKind::Pages(HTML), FileKind::Unknown),
            ("{\"text\":\"a\"}\n", lines, lines),
            ("{\n  \"text\": \"a\"\n}", array, array),
            ("[ {\"text\":", array, array),
            ("[section]\nkey=1", array, FileKind::Unknown),
            ("{{ template }}", lines, FileKind::Unknown),
            ("plain words", FileKind::Unknown, FileKind::Unknown),
            ("\u{1}\u{2}\u{3}\u{0}\u{0}", FileKind::NoPage, FileKind::NoPage),
            ("", lines, FileKind::NoPage),
        ] {
            assert_eq!(by_content(head.as_bytes(), Asked::ByName), named, "{head:?}");
            assert_eq!(by_content(head.as_bytes(), Asked::ByFolder), found, "{head:?}");
        }
        assert!(matches!(by_content(b"%PDF-1.4", Asked::ByFolder), FileKind::Foreign(_)));
    }

    #[test]
    fn old_runs_name_their_formats_as_they_did() {
        for (format, json) in [
            (HTML, "\"Html\""),
            (TEXT, "\"Text\""),
            (Format::Lines(Packing::Gzip), "{\"Lines\":\"Gzip\"}"),
            (Format::Html(Packing::Xz), "{\"PackedHtml\":\"Xz\"}"),
        ] {
            assert_eq!(serde_json::to_string(&format).unwrap(), json);
            assert_eq!(serde_json::from_str::<Format>(json).unwrap(), format);
        }
    }
}
