//! Tests the meaning of records.

use super::*;
use crate::job::Limits;

const FIELDS: &str = "WARC-Target-URI: <http://a.example/x/y>\r\nWARC-Date: 1970-01-02T00:00:00Z\r\n\
                      WARC-Record-ID: <urn:uuid:1>\r\nWARC-Payload-Digest: sha1:ABC\r\n";

/// The meaning of the only record of `text`, on one line.
fn told(text: &str) -> String {
    let limits = Limits { page_bytes: 100, expansion: 10 };
    let item = records(text.as_bytes()).next().unwrap();
    assert_eq!(item.range, 0..text.len());
    match meaning(&item.record.unwrap(), &limits) {
        Meaning::Page { origin, body } => {
            let (uri, time) = (origin.uri.unwrap_or_default(), origin.time);
            let text = String::from_utf8_lossy(&body.bytes).into_owned();
            format!(
                "page {uri} {time:?} {:?} {} {text}",
                body.charset,
                if body.html { "html" } else { "text" }
            )
        }
        Meaning::Redirect { from, to, time } => format!("{from} -> {to} {time:?}"),
        Meaning::Revisit { origin, refers } => {
            format!("{:?} {:?} {refers:?}", origin.uri, origin.payload_digest)
        }
        Meaning::Skip(why) => format!("skip {why}"),
        Meaning::Reject(why) => format!("reject {}", why.text),
    }
}

fn response(http: &str) -> String {
    told(&record("response", FIELDS, http))
}

#[test]
fn responses_are_pages_redirects_or_rejected() {
    for (http, wanted) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=koi8-r\r\n\r\n<p>x",
            "page http://a.example/x/y Some(86400) Some(\"koi8-r\") html <p>x",
        ),
        ("HTTP/1.1 200\n\nwords", "page http://a.example/x/y Some(86400) None text words"),
        (
            "HTTP/1.1 206 Partial\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "page http://a.example/x/y Some(86400) None text abc",
        ),
        ("<html>no header", "page http://a.example/x/y Some(86400) None html <html>no header"),
        (
            "HTTP/1.1 302 Found\r\nLocation: ../z?q\r\n\r\n",
            "http://a.example/x/y -> http://a.example/z?q Some(86400)",
        ),
        (
            "HTTP/1.1 301\r\nLocation: http://\r\n\r\n",
            "reject a redirect without a usable target: empty host",
        ),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", "reject HTTP status 304"),
        ("HTTP/1.1 404 Not Found\r\nLocation: /\r\n\r\nx", "reject HTTP status 404"),
        ("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nx", "reject not text: image/png"),
        ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n \r\n", "reject an empty body"),
        (
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain after all",
            "page http://a.example/x/y Some(86400) None text plain after all",
        ),
    ] {
        assert_eq!(response(http), wanted, "{http}");
    }
    let long = response(&format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(101)));
    assert!(long.starts_with("reject longer than the limit of 100 bytes"), "{long}");
}

#[test]
fn other_records_are_what_they_are() {
    let wet = told(&record("conversion", &format!("{FIELDS}Content-Type: text/plain\r\n"), "Words."));
    assert_eq!(wet, "page http://a.example/x/y Some(86400) None text Words.");
    assert_eq!(
        told(&record("resource", "Content-Type: text/html;charset=a\r\n", "w")),
        "page  None Some(\"a\") html w"
    );
    assert_eq!(told(&record("resource", "WARC-Target-URI: metadata://x\r\n", "w")), "skip not from the web");
    assert_eq!(told(&record("metadata", FIELDS, "{}")), "skip metadata");
    assert_eq!(
        told(&record("response", "WARC-Target-URI: dns:a.example\r\n", "1970")),
        "skip an answer of DNS"
    );
    for (kind, field) in [("response", "WARC-Segment-Number: 1\r\n"), ("continuation", "")] {
        assert!(told(&record(kind, field, "w")).starts_with("reject part of a segmented record"));
    }
    assert_eq!(told(&record("odd", "", "w")), "skip a record of unknown type");
    let revisit = told(&record(
        "revisit",
        &format!(
            "{FIELDS}WARC-Refers-To: <urn:uuid:2>\r\nWARC-Refers-To-Target-URI: http://b.example/\r\nWARC-Refers-To-Date: 1970-01-01T00:00:01Z\r\nWARC-Profile: http://p/\r\n"
        ),
        "",
    ));
    assert_eq!(
        revisit,
        "Some(\"http://a.example/x/y\") Some(\"sha1:ABC\") Refers { uri: Some(\"http://b.example/\"), time: Some(1), id: Some(\"<urn:uuid:2>\"), profile: Some(\"http://p/\") }"
    );
    let arc = "http://a.example/ 1.2.3.4 19700102000000 text/html 25\nHTTP/1.0 200 OK\n\nArc page";
    assert_eq!(told(arc), "page http://a.example/ Some(86400) None text Arc page");
}

#[test]
fn fields_are_found_however_they_are_written() {
    let text =
        "WARC/1.0\nwarc-type : RESPONSE\nWARC-Target-URI: http://a.example/\n  b\nContent-Length: 0\n\n";
    let record: WarcRecord = records(text.as_bytes()).next().unwrap().record.unwrap();
    assert_eq!((record.kind, record.length()), (RecordKind::Response, Some(0)));
    assert_eq!(record.uri().unwrap(), "http://a.example/ b");
    assert_eq!(record.field("warc-date"), None);
}
