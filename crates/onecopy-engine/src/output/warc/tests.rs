//! Writes revisits and packed records, and reads them back with this and other readers.

use std::io::Read;

use super::*;
use crate::ingest::{Meaning, capture, meaning, unpack};
use crate::job::Limits;

const RECORD: &str = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://b.example/\r\n\
    WARC-Date: 2024-05-01T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:2>\r\nWARC-Payload-Digest: sha1:ABC\r\n\
    Content-Type: application/http; msgtype=response\r\nContent-Length: 46\r\n\r\n\
    HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nxy\r\n\r\n";

fn original(payload_digest: &str) -> Original {
    Original {
        id: "<urn:uuid:1>".into(),
        uri: "http://a.example/".into(),
        date: "2024-04-30T12:00:00Z".into(),
        payload_digest: payload_digest.into(),
    }
}

fn written(record: &str, payload_digest: &str) -> String {
    let record = records(record.as_bytes()).next().unwrap().record.unwrap();
    let (capture, original) = (capture(&record).unwrap(), original(payload_digest));
    let digest = self::payload_digest(&capture, &original);
    String::from_utf8(revisit(&record, capture.head, &digest, &original)).unwrap()
}

#[test]
fn a_revisit_replaces_a_record_and_names_its_original() {
    let revisit = written(RECORD, "sha1:DEF");
    let items: Vec<_> = records(revisit.as_bytes()).collect();
    assert_eq!((items.len(), items[0].range.clone()), (1, 0..revisit.len()));
    let record = items[0].record.as_ref().unwrap();
    assert_eq!(record.block, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
    let Meaning::Revisit { origin, refers } = meaning(record, &Limits::default()) else {
        panic!("{revisit}")
    };
    assert_eq!(origin.uri.as_deref(), Some("http://b.example/"));
    assert_eq!(origin.id.as_deref(), Some("<urn:uuid:2>"), "other records may refer to it");
    assert_eq!(origin.payload_digest.as_deref(), Some("sha1:DEF"), "indexes match it with the original's");
    assert_eq!(refers.uri.as_deref(), Some("http://a.example/"));
    assert_eq!(refers.time, Some(1_714_478_400));
    assert_eq!(
        (refers.id.as_deref(), refers.profile.as_deref()),
        (Some("<urn:uuid:1>"), Some(IDENTICAL_PROFILE))
    );
    assert_eq!(revisit, written(RECORD, "sha1:DEF"), "the same bytes each time");
}

#[test]
fn fields_stay_and_digests_are_right() {
    let fields = "WARC-Concurrent-To: <urn:uuid:3>\r\nwarc-concurrent-to : <urn:uuid:4>\r\nX-Own: a\r\n b\r\n\
                  WARC-Block-Digest: sha1:OLD\r\n";
    let revisit = written(&RECORD.replacen("WARC-Payload", &format!("{fields}WARC-Payload"), 1), "");
    for line in &fields.split_inclusive("\r\n").collect::<Vec<_>>()[..4] {
        assert!(revisit.contains(line), "{line:?} is not in {revisit:?}");
    }
    // From `openssl dgst -sha1 -binary | base32`, of the payload `xy` and of the HTTP header.
    assert!(revisit.contains("WARC-Payload-Digest: sha1:L6CFTGBPT5QZ6SYNTLZFIKRAQ3SWUS7P\r\n"), "{revisit}");
    assert!(revisit.contains("WARC-Block-Digest: sha1:"), "{revisit}");
    assert_eq!(revisit.matches("Digest").count(), 2, "{revisit}");
    assert!(!written(RECORD, "").contains("Block-Digest"), "the record had none");
}

#[test]
fn the_revisit_of_a_resource_has_no_block() {
    let resource = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://b.example/\r\n\
        WARC-Date: 2024-05-01T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:2>\r\nContent-Type: image/png\r\n\
        Content-Length: 2\r\n\r\nxy\r\n\r\n";
    let revisit = written(resource, "");
    assert!(
        revisit.ends_with("Content-Length: 0\r\n\r\n\r\n\r\n") && !revisit.contains("image/png"),
        "{revisit}"
    );
}

#[test]
fn each_record_is_packed_by_itself() {
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd, Packing::Xz, Packing::Bzip2, Packing::Lz4] {
        let mut writer = RecordWriter::new(Vec::new(), packing, 3, None);
        let record = || Outgoing::made(RECORD.into());
        let [one] = writer.write(&[record()], Path::new("")).unwrap()[..] else { panic!() };
        let one = one as usize;
        let more: Vec<_> = std::iter::repeat_with(record).take(9).collect();
        assert_eq!(writer.write(&more, Path::new("")).unwrap(), [one as u64; 9]);
        let (bytes, mut first) = (writer.into_inner(), Vec::new());
        let (mut reader, _) =
            unpack(Box::new(std::io::Cursor::new(bytes[..one].to_vec())), packing, 99).unwrap();
        reader.read_to_end(&mut first).unwrap();
        assert_eq!((String::from_utf8(first).unwrap().as_str(), bytes.len()), (RECORD, 10 * one));
    }
}

#[test]
fn line_ends_that_a_record_lacks_are_added() {
    let bare = RECORD.trim_end();
    let arc = "http://a.example/ 1.2.3.4 20240501120000 text/html 2\nxy";
    for (record, wanted) in
        [(bare, RECORD), (&RECORD[..RECORD.len() - 2], RECORD), (arc, &format!("{arc}\n"))]
    {
        let mut writer = RecordWriter::new(Vec::new(), Packing::Plain, 1, None);
        assert_eq!(is_complete(record.as_bytes()), record == RECORD);
        writer.write(&[Outgoing::made(record.into())], Path::new("")).unwrap();
        assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), wanted);
    }
}
