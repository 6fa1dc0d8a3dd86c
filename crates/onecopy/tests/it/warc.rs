//! Archives for tests: records with correct lengths, packed in every common way, and a strict reader of them.

use std::io::Read;

use crate::pages::{gzip, zstandard};

/// The date of all records.
pub const DATE: &str = "2024-01-02T03:04:05Z";

/// A WARC record with its line ends. `fields` are added to its header.
pub fn record(kind: &str, uri: &str, fields: &[(&str, &str)], block: &[u8]) -> Vec<u8> {
    let mut head = format!("WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {}\r\n", id(kind, uri));
    head += &format!("WARC-Date: {DATE}\r\n");
    if !uri.is_empty() {
        head += &format!("WARC-Target-URI: {uri}\r\n");
    }
    for (name, value) in fields {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\n\r\n", block.len());
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// The id that [`record`] assigns, with its brackets.
pub fn id(kind: &str, uri: &str) -> String {
    format!("<urn:test:{kind}:{uri}>")
}

/// A response: `head` holds its status and its fields, one per line.
pub fn response(uri: &str, head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let fields = [("Content-Type", "application/http; msgtype=response")];
    record("response", uri, &fields, &http_block(head, body.as_ref()))
}

/// An HTTP response in wire format.
pub fn http_block(head: &str, body: &[u8]) -> Vec<u8> {
    let lines: String = head.lines().map(|line| format!("{}\r\n", line.trim())).collect();
    [format!("HTTP/1.1 {lines}\r\n").as_bytes(), body].concat()
}

/// A response with an HTML page.
pub fn page(uri: &str, text: &str) -> Vec<u8> {
    response(uri, "200 OK\nContent-Type: text/html; charset=utf-8", html(text))
}

/// A text as an HTML page.
pub fn html(text: &str) -> String {
    format!("<!doctype html><html><head><title>page</title></head><body><p>{text}</p></body></html>")
}

/// A warcinfo record.
pub fn warcinfo() -> Vec<u8> {
    record("warcinfo", "", &[("Content-Type", "application/warc-fields")], b"software: a test\r\n")
}

/// A record of an ARC file, with its line end.
pub fn arc_record(uri: &str, content_type: &str, block: &[u8]) -> Vec<u8> {
    let line = format!("{uri} 10.0.0.1 20240102030405 {content_type} {}\n", block.len());
    [line.as_bytes(), block, b"\n"].concat()
}

/// The first record of an ARC file.
pub fn arc_header() -> Vec<u8> {
    let block = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n";
    arc_record("filedesc://test.arc", "text/plain", block)
}

/// Ways to pack an archive, by file extension: not at all, by record, as a whole.
pub const PACKINGS: [&str; 5] = ["warc", "warc.gz", "whole.warc.gz", "warc.zst", "whole.warc.zst"];

/// Packs records as the file name says.
pub fn packed(records: &[Vec<u8>], name: &str) -> Vec<u8> {
    let pack = match name.rsplit('.').next() {
        Some("gz") => gzip,
        Some("zst") => zstandard,
        _ => return records.concat(),
    };
    if name.contains("whole") {
        return pack(&records.concat());
    }
    records.iter().flat_map(|record| pack(record)).collect()
}

/// The records of a kept archive. Panics if it is malformed: each record must be its own gzip member or zstd frame,
/// with the right length and two line ends after it.
pub fn split(bytes: &[u8], name: &str) -> Vec<Vec<u8>> {
    let pieces = match name.rsplit('.').next() {
        Some("gz") => members(bytes),
        Some("zst") => frames(bytes),
        _ => return split_plain(bytes),
    };
    for piece in &pieces {
        assert_eq!(split_plain(piece).len(), 1, "{name}: several records in a member");
    }
    pieces
}

fn members(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let mut plain = Vec::new();
        flate2::bufread::GzDecoder::new(&mut bytes).read_to_end(&mut plain).expect("a gzip member");
        found.push(plain);
    }
    found
}

fn frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let mut plain = Vec::new();
        let decoder = zstd::Decoder::with_buffer(&mut bytes).expect("a decoder");
        decoder.single_frame().read_to_end(&mut plain).expect("a zstd frame");
        found.push(plain);
    }
    found
}

fn split_plain(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        assert!(bytes.starts_with(b"WARC/1.") || bytes.starts_with(b"WARC/0."), "no record: {text}");
        let head = find(bytes, b"\r\n\r\n").unwrap_or_else(|| panic!("an endless header: {text}")) + 4;
        let length: usize =
            field(&bytes[..head], "Content-Length").expect("a length").parse().expect("a number");
        let end = head + length + 4;
        assert_eq!(bytes.get(head + length..end), Some(&b"\r\n\r\n"[..]), "a wrong length: {text}");
        found.push(bytes[..end].to_vec());
        bytes = &bytes[end..];
    }
    found
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// A field of a record's header.
pub fn field(record: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(&record[..find(record, b"\r\n\r\n")?]).into_owned();
    let value =
        |line: &str| line.split_once(": ").filter(|(key, _)| *key == name).map(|(_, value)| value.into());
    head.split("\r\n").find_map(value)
}

/// The block of a record: everything after the header, without the final line ends.
pub fn block(record: &[u8]) -> &[u8] {
    let head = find(record, b"\r\n\r\n").expect("a header") + 4;
    &record[head..record.len() - 4]
}
