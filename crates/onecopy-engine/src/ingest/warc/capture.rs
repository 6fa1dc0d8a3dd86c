//! A capture: a record that a `revisit` record may replace, or may refer to.
//!
//! Replay joins the HTTP header of the revisit and the stored bytes of the original. So two captures have the same
//! payload only if the bytes after their HTTP headers are equal, chunked or packed as they are.

use std::borrow::Cow;

use onecopy_core::parse_time;
use ring::digest::{Context, Digest, SHA256};
use xxhash_rust::xxh3::xxh3_64;

use super::http;
use super::records::{RecordKind, WarcRecord, bare};

/// A record with a whole payload that its id, address and date identify.
#[derive(Debug)]
pub(crate) struct Capture<'a> {
    /// With its angle brackets.
    pub id: Cow<'a, str>,
    pub uri: Cow<'a, str>,
    /// As written in the record.
    pub date: Cow<'a, str>,
    /// The date in seconds.
    pub time: i64,
    /// As written in the record.
    pub payload_digest: Option<Cow<'a, str>>,
    /// The HTTP header with its blank line; empty for a resource.
    pub head: &'a [u8],
    pub payload: &'a [u8],
    /// The media type of a resource. Its revisit has no header of its own to say it.
    media_type: &'a [u8],
}

/// Captures with the same payload have the same key: the start of a SHA-256 digest. Nobody can make two payloads with
/// the same key, as is possible with SHA-1.
pub(crate) type PayloadKey = [u8; 20];

/// The capture in a record; `None` if no revisit may replace it or refer to it. Replay ignores the body of a redirect,
/// and a part of a payload proves nothing about the rest.
pub(crate) fn capture<'a>(record: &WarcRecord<'a>) -> Option<Capture<'a>> {
    start_of_capture(record).filter(|capture| record.missing == 0 && !capture.payload.is_empty())
}

/// As [`capture`], of a record whose end is not in memory. The payload is what is there of it.
pub(crate) fn start_of_capture<'a>(record: &WarcRecord<'a>) -> Option<Capture<'a>> {
    if ["warc-segment-number", "warc-truncated"].iter().any(|name| record.field(name).is_some()) {
        return None;
    }
    let (head, payload, media_type) = match record.kind {
        RecordKind::Response => {
            let response = http::parse(record.block).filter(|response| response.status / 100 != 3)?;
            let whole = response.head.len() + response.body.len() == record.block.len();
            let ended = [&b"\r\n\r\n"[..], b"\n\n"].iter().any(|end| response.head.ends_with(end));
            (whole && ended).then_some((response.head, response.body, &b""[..]))?
        }
        RecordKind::Resource => (&b""[..], record.block, record.field("content-type").unwrap_or_default()),
        _ => return None,
    };
    let date = record.text("warc-date")?;
    let time = parse_time(&date)?;
    let (id, uri) = (record.text("warc-record-id")?, record.uri()?);
    let payload_digest = record.text("warc-payload-digest");
    Some(Capture { id, uri, date, time, payload_digest, head, payload, media_type })
}

impl Capture<'_> {
    /// The key of its payload, computed from the bytes. The digest in the record may be wrong.
    pub(crate) fn key(&self) -> PayloadKey {
        let mut hash = self.hash();
        hash.update(self.payload);
        key_of(hash.finish())
    }

    /// The hash for the key, before the payload.
    pub(super) fn hash(&self) -> Context {
        let mut hash = Context::new(&SHA256);
        hash.update(&[u8::from(self.head.is_empty())]);
        hash.update(&(self.media_type.len() as u64).to_le_bytes());
        hash.update(self.media_type);
        hash
    }
}

/// The key that a hash gives.
pub(crate) fn key_of(hash: Digest) -> PayloadKey {
    let mut key = PayloadKey::default();
    key.copy_from_slice(&hash.as_ref()[..20]);
    key
}

/// Hashes of the names under which other records may refer to a record: its id, its address with its date, and its
/// address with its payload digest. Zero if it has no such name.
pub(crate) type Names = [u64; 3];

/// The hash of a record id.
pub(crate) fn id_hash(id: &str) -> u64 {
    xxh3_64(id.trim().as_bytes())
}

/// The names of a record.
pub(crate) fn names(record: &WarcRecord) -> Names {
    let (uri, date) = (record.uri(), record.text("warc-date"));
    [
        record.text("warc-record-id").map_or(0, |id| id_hash(&id)),
        visit(uri.as_deref(), date.as_deref()),
        same(uri.as_deref(), record.text("warc-payload-digest").as_deref()),
    ]
}

/// The names that a `revisit` record gives its original. One that names no address means its own.
pub(crate) fn names_of_original(record: &WarcRecord) -> Names {
    let (uri, date) = (record.text("warc-refers-to-target-uri"), record.text("warc-refers-to-date"));
    let digest = record.text("warc-payload-digest");
    let own = record.uri().filter(|_| uri.is_none());
    [
        record.text("warc-refers-to").map_or(0, |id| id_hash(&id)),
        visit(uri.as_deref().map(bare), date.as_deref()),
        same(own.as_deref(), digest.as_deref()),
    ]
}

fn visit(uri: Option<&str>, date: Option<&str>) -> u64 {
    let parts = uri.zip(date.and_then(parse_time));
    parts.map_or(0, |(uri, time)| xxh3_64(&[&time.to_le_bytes(), uri.as_bytes()].concat()))
}

fn same(uri: Option<&str>, digest: Option<&str>) -> u64 {
    uri.zip(digest).map_or(0, |(uri, digest)| xxh3_64(&[digest.as_bytes(), b" ", uri.as_bytes()].concat()))
}

#[cfg(test)]
mod tests {
    use super::super::records::records;
    use super::*;

    fn record(fields: &str, block: &str) -> String {
        let length = block.len();
        format!(
            "WARC/1.0\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Target-URI: <http://a.example/>\r\n\
             WARC-Date: 2024-05-01T12:00:00Z\r\n{fields}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
        )
    }

    /// The head, the payload and the key of the capture in a record.
    fn parts(fields: &str, block: &str) -> Option<(String, String, PayloadKey)> {
        let text = record(fields, block);
        let record = records(text.as_bytes()).next().unwrap().record.unwrap();
        let capture = capture(&record)?;
        assert_eq!((&*capture.uri, &*capture.id), ("http://a.example/", "<urn:x:1>"));
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Some((text(capture.head), text(capture.payload), capture.key()))
    }

    #[test]
    fn the_payload_is_what_follows_the_http_header() {
        let response = "WARC-Type: response";
        let (head, payload, key) = parts(response, "HTTP/1.1 200 OK\r\nA: b\r\n\r\nxy").unwrap();
        assert_eq!((head.as_str(), payload.as_str()), ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "xy"));
        let same = |block| parts(response, block).unwrap().2 == key;
        assert!(same("HTTP/1.0 404 No\n\nxy"), "headers do not count");
        assert!(!same("HTTP/1.1 200 OK\r\n\r\nxz"));
        let resource = |media| parts(&format!("WARC-Type: resource\r\nContent-Type: {media}"), "xy").unwrap();
        assert_eq!((resource("a/b").0.as_str(), resource("a/b").2), ("", resource("a/b").2));
        assert!(resource("a/b").2 != resource("a/c").2 && resource("a/b").2 != key);
    }

    #[test]
    fn what_cannot_be_replayed_from_another_record_is_no_capture() {
        for (fields, block) in [
            ("WARC-Type: response", "HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\nxy"),
            ("WARC-Type: response", "HTTP/1.1 200 OK\r\n\r\n"),
            ("WARC-Type: response", "HTTP/1.1 200 OK\r\nA: b"),
            ("WARC-Type: response", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nxy"),
            ("WARC-Type: response", "220 ftp.example"),
            ("WARC-Type: response\r\nWARC-Truncated: length", "HTTP/1.1 200 OK\r\n\r\nxy"),
            ("WARC-Type: response\r\nWARC-Segment-Number: 1", "HTTP/1.1 200 OK\r\n\r\nxy"),
            ("WARC-Type: conversion", "xy"),
            ("WARC-Type: request", "GET / HTTP/1.1\r\n\r\nxy"),
        ] {
            assert_eq!(parts(fields, block), None, "{fields} {block}");
        }
    }

    #[test]
    fn a_revisit_gives_its_original_the_names_that_it_has() {
        let digest = "WARC-Payload-Digest: sha1:ABC";
        let original = record(&format!("WARC-Type: response\r\n{digest}"), "HTTP/1.1 200 OK\r\n\r\nxy");
        let of = |text: &str, names: fn(&WarcRecord) -> Names| {
            names(&records(text.as_bytes()).next().unwrap().record.unwrap())
        };
        let [id, visit, same] = of(&original, names);
        assert!(id != 0 && visit != 0 && same != 0);
        let refers = "WARC-Refers-To: <urn:x:1>\r\nWARC-Refers-To-Target-URI: http://a.example/\r\n\
                      WARC-Refers-To-Date: 2024-05-01T12:00:00Z";
        let revisit = record(&format!("WARC-Type: revisit\r\n{refers}"), "");
        assert_eq!(of(&revisit, names_of_original), [id, visit, 0]);
        let old = record(&format!("WARC-Type: revisit\r\n{digest}"), "");
        assert_eq!(of(&old, names_of_original), [0, 0, same]);
    }
}
