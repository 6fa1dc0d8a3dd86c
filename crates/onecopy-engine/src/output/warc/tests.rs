//! Writes revisits and packed records, and reads them back with this and other readers.

use std::io::Read;

use super::*;
use crate::ingest::{Meaning, meaning, unpack};
use crate::job::Limits;

const RECORD: &str = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://b.example/\r\n\
    WARC-Date: 2024-05-01T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:2>\r\nWARC-Payload-Digest: sha1:ABC\r\n\
    Content-Type: application/http; msgtype=response\r\nContent-Length: 46\r\n\r\n\
    HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nxy\r\n\r\n";

fn winner(payload_digest: &str) -> Winner<'_> {
    Winner {
        uri: Some("http://a.example/\r\nX: y"),
        date: Some("20240430120000"),
        id: Some("<urn:uuid:1>"),
        payload_digest: Some(payload_digest),
        kind: Kind::Near,
        similarity: 0.875,
    }
}

fn written(payload_digest: &str) -> String {
    let record = records(RECORD.as_bytes()).next().unwrap().record.unwrap();
    let mut out = Vec::new();
    revisit(&record, &winner(payload_digest), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_revisit_names_the_page_that_stays() {
    let near = written("sha1:DEF");
    let items: Vec<_> = records(near.as_bytes()).collect();
    assert_eq!((items.len(), items[0].range.clone()), (1, 0..near.len()));
    let record = items[0].record.as_ref().unwrap();
    assert_eq!(record.block, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
    let Meaning::Revisit { origin, refers } = meaning(record, &Limits::default()) else { panic!("{near}") };
    assert_eq!(origin.uri.as_deref(), Some("http://b.example/"));
    assert_eq!(refers.uri.as_deref(), Some("http://a.example/  X: y"));
    assert_eq!(refers.time, Some(1_714_478_400));
    assert_eq!((refers.id.as_deref(), refers.profile.as_deref()), (Some("<urn:uuid:1>"), Some(NEAR_PROFILE)));
    assert_eq!(near, written("sha1:DEF"), "the same bytes each time");
    assert!(near.contains("Onecopy-Similarity: 0.875\r\n"));
}

#[test]
fn only_equal_payloads_are_called_identical() {
    assert!(written("sha1:ABC").contains(IDENTICAL_PROFILE));
    assert!(!written("sha1:abc").contains(IDENTICAL_PROFILE));
}

#[test]
fn each_record_is_packed_by_itself() {
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd, Packing::Xz, Packing::Bzip2, Packing::Lz4] {
        let mut writer = RecordWriter::new(Vec::new(), packing);
        writer.write(RECORD.as_bytes()).unwrap();
        let one = writer.out.len();
        writer.write(RECORD.as_bytes()).unwrap();
        let (bytes, mut first) = (writer.into_inner(), Vec::new());
        let (mut reader, _) =
            unpack(Box::new(std::io::Cursor::new(bytes[..one].to_vec())), packing, 99).unwrap();
        reader.read_to_end(&mut first).unwrap();
        assert_eq!((String::from_utf8(first).unwrap().as_str(), bytes.len()), (RECORD, 2 * one));
    }
}

#[test]
fn line_ends_that_a_record_lacks_are_added() {
    let bare = RECORD.trim_end();
    let arc = "http://a.example/ 1.2.3.4 20240501120000 text/html 2\nxy";
    for (record, wanted) in
        [(bare, RECORD), (&RECORD[..RECORD.len() - 2], RECORD), (arc, &format!("{arc}\n"))]
    {
        let mut writer = RecordWriter::new(Vec::new(), Packing::Plain);
        writer.write(record.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), wanted);
    }
}
