//! Revisit records and what is left out: payloads of any type are stored once, and every reference holds.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::tempdir;

use crate::archives::{ONE, kept, run, write};
use crate::pages::{topic, window};
use crate::program::dedup;
use crate::results::{files_below, plain, report};
use crate::warc::{DATE, field, html, http_block, id, page, record, response, split, warcinfo};

const COPY: &str = "http://b.example/copy/1";
const NEAR: &str = "http://c.example/nearly/1";
const PROFILE: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// The type and the address of each record.
fn outline(records: &[Vec<u8>]) -> Vec<(String, String)> {
    let of = |record: &[u8], name| field(record, name).unwrap_or_default();
    records.iter().map(|record| (of(record, "WARC-Type"), of(record, "WARC-Target-URI"))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|&(kind, uri)| (kind.into(), uri.into())).collect()
}

/// Asserts that every record id that a field names belongs to a record.
fn assert_no_orphans(records: &[Vec<u8>]) {
    let ids: Vec<String> = records.iter().filter_map(|record| field(record, "WARC-Record-ID")).collect();
    for record in records {
        for name in ["WARC-Concurrent-To", "WARC-Refers-To"] {
            let missing = field(record, name).filter(|to| !ids.contains(to));
            assert_eq!(missing, None, "{name} of {}", String::from_utf8_lossy(record));
        }
    }
}

fn image(uri: &str, head: &str, bytes: &[u8]) -> Vec<u8> {
    response(uri, &format!("200 OK\nContent-Type: image/png\n{head}"), bytes)
}

fn request(uri: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = [&[("Content-Type", "application/http; msgtype=request")], fields].concat();
    record("request", uri, &fields, b"GET / HTTP/1.1\r\n\r\n")
}

#[test]
fn identical_payloads_of_any_type_are_stored_once() {
    let folder = tempdir().expect("a folder");
    let bytes: Vec<u8> = (0..3_000u32).map(|n| (n % 251) as u8).collect();
    for host in 0..6 {
        let uri = |name: &str| format!("http://{host}.example/{name}");
        let records = [
            warcinfo(),
            page(&uri("page"), &topic(&format!("topic{host}"))),
            image(&uri("logo"), &format!("X-Host: {host}"), &bytes),
            image(&uri("own"), "", format!("an image of {host}").as_bytes()),
            response(&uri("gone"), "404 Not Found\nContent-Type: text/html", html("no such page")),
            response(&uri("moved"), "301 Moved\nLocation: ./page\nContent-Type: text/html", html("moved")),
        ];
        write(folder.path(), &format!("in/{host}.warc.{}", ["gz", "zst"][host % 2]), &records);
    }
    let mut first: Option<Vec<Vec<u8>>> = None;
    for flags in ["--threads 1", "--threads 4", "--threads 3 --memory 64M"] {
        let out = folder.path().join("out");
        dedup(&folder.path().join("in"), &out).args("--payloads all --quiet").args(flags).succeed();
        let expected = json!({"revisits": 0, "whole": 6, "left_out": 0, "payloads": 10, "companions": 0});
        assert_eq!(report(&out)["archives"], expected, "{flags}");
        let files: Vec<_> = files_below(&out.join("kept"));
        let bytes = files.iter().map(|name| fs::read(out.join("kept").join(name)).expect("a file")).collect();
        assert!(*first.get_or_insert_with(|| Vec::clone(&bytes)) == bytes, "{flags}: other bytes");
        check_hosts(&out);
        fs::remove_dir_all(&out).expect("results can be deleted");
    }
}

/// The first host keeps its payloads, and the others refer to it.
fn check_hosts(out: &Path) {
    for host in 0..6 {
        let records = kept(out, &format!("{host}.warc.{}", ["gz", "zst"][host % 2]));
        let copied = if host == 0 { "response" } else { "revisit" };
        let kinds: Vec<String> = outline(&records).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["warcinfo", "response", copied, "response", copied, "response"], "{host}");
        if host > 0 {
            let logo = &records[2];
            assert_eq!(
                field(logo, "WARC-Refers-To").as_deref(),
                Some(&*id("response", "http://0.example/logo"))
            );
            assert_eq!(field(logo, "WARC-Refers-To-Target-URI").as_deref(), Some("http://0.example/logo"));
            assert_eq!(field(logo, "WARC-Profile").as_deref(), Some(PROFILE));
            // From `openssl dgst -sha1 -binary | base32`.
            assert_eq!(
                field(logo, "WARC-Payload-Digest").as_deref(),
                Some("sha1:LYS2STA6XAEJIFALM4GGVYMPOLJTLDXM")
            );
            assert!(String::from_utf8_lossy(logo).contains(&format!("X-Host: {host}\r\n\r\n\r\n\r\n")));
        }
    }
}

#[test]
fn a_payload_over_the_page_limit_is_stored_once() {
    let film: Vec<u8> = (0..400_000u32).flat_map(u32::to_le_bytes).collect();
    let cut = [("Content-Type", "application/http"), ("WARC-Truncated", "length")];
    let block = http_block("200 OK\nContent-Type: video/mp4", &film);
    let input = [
        page(ONE, &window(0)),
        record("response", "http://a.example/cut", &cut, &block),
        response("http://a.example/film", "200 OK\nContent-Type: video/mp4", &film),
        response("http://b.example/film", "200 OK\nContent-Type: video/mp4\nX-Own: yes", &film),
        page("http://c.example/other", &topic("other")),
        response("http://c.example/film", "200 OK\nContent-Type: video/mp4", &film[4..]),
    ];
    for name in ["crawl.warc", "crawl.warc.gz"] {
        let (_folder, out) = run(&input, name, "--payloads all --max-page 100K");
        let left = kept(&out, name);
        assert_eq!(left.len(), input.len(), "{name}");
        for number in [0, 1, 2, 4, 5] {
            assert!(left[number] == input[number], "{name}: record {number} changed");
        }
        assert_eq!(field(&left[3], "WARC-Refers-To"), Some(id("response", "http://a.example/film")));
        let digest = field(&left[3], "WARC-Payload-Digest");
        // From `openssl dgst -sha1 -binary | base32`.
        assert_eq!(digest.as_deref(), Some("sha1:MK2IJ6SZLQ7RRCSZLEHSAFN6CXVD5N6M"), "{name}");
        assert!(left[3].ends_with(b"X-Own: yes\r\n\r\n\r\n\r\n"), "{name}");
        let (_folder, out) = run(&input, name, "--max-page 100K");
        assert!(kept(&out, name) == input, "{name}");
    }
}

#[test]
fn records_about_a_left_out_page_go_with_it() {
    let about = [("WARC-Concurrent-To", &*id("request", NEAR)), ("Content-Type", "application/warc-fields")];
    let block = http_block("200 OK\nContent-Type: text/html", html(&window(0)).as_bytes());
    let refers = |uri: &str| {
        [
            ("WARC-Profile", PROFILE.to_owned()),
            ("WARC-Refers-To-Target-URI", uri.to_owned()),
            ("WARC-Refers-To-Date", DATE.to_owned()),
        ]
    };
    let revisit = |uri: &str, of: &str| {
        let fields = refers(of);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        record("revisit", uri, &fields, &http_block("200 OK", b""))
    };
    let input = [
        warcinfo(),
        request(ONE, &[("WARC-Concurrent-To", &id("response", ONE))]),
        page(ONE, &window(0)),
        request(COPY, &[]),
        record("response", COPY, &[("WARC-Concurrent-To", &id("request", COPY))], &block),
        page(NEAR, &window(3)),
        request(NEAR, &[("WARC-Concurrent-To", &id("response", NEAR))]),
        record("metadata", NEAR, &about, b"via: nothing\r\n"),
        revisit("http://d.example/again", NEAR),
        revisit("http://e.example/again", ONE),
    ];
    let (_folder, out) = run(&input, "crawl.warc.gz", "--removed-records leave-out");
    let left = kept(&out, "crawl.warc.gz");
    let expected =
        [("warcinfo", ""), ("request", ONE), ("response", ONE), ("revisit", "http://e.example/again")];
    assert_eq!(outline(&left), pairs(&expected));
    assert_no_orphans(&left);
    let archives = json!({"revisits": 0, "whole": 1, "left_out": 3, "payloads": 0, "companions": 3});
    assert_eq!(report(&out)["archives"], archives);
    let (_folder, out) = run(&input, "crawl.warc.gz", "--removed-records revisit-or-leave-out");
    let left = kept(&out, "crawl.warc.gz");
    let copies = [("request", COPY), ("revisit", COPY)];
    let expected = [&expected[..3], &copies, &expected[3..]].concat();
    assert_eq!(outline(&left), pairs(&expected));
    assert_no_orphans(&left);
}

#[test]
fn no_revisit_refers_to_a_revisit() {
    let refers = [("WARC-Profile", PROFILE), ("WARC-Refers-To", &*id("response", COPY))];
    let input = [
        page(ONE, &window(0)),
        page(COPY, &window(0)),
        page(NEAR, &window(0)),
        record("revisit", "http://d.example/again", &refers, &http_block("200 OK", b"")),
    ];
    let (_folder, out) = run(&input, "crawl.warc", "");
    let left = kept(&out, "crawl.warc");
    let kinds: Vec<String> = outline(&left).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["response", "response", "revisit", "revisit"]);
    assert!(left[..2] == input[..2] && left[3] == input[3]);
    assert_eq!(field(&left[2], "WARC-Refers-To"), Some(id("response", ONE)));
    assert_no_orphans(&left);
}

#[test]
fn a_near_duplicate_stays_whole() {
    let records = [page(ONE, &window(0)), page(NEAR, &window(3)), page(COPY, &window(3))];
    let (_folder, out) = run(&records, "crawl.warc", "");
    let left = kept(&out, "crawl.warc");
    // One of the two near-duplicates with the same payload stores it.
    assert!(left[..2] == records[..2]);
    assert_eq!(field(&left[2], "WARC-Refers-To"), Some(id("response", NEAR)));
    assert_eq!(field(&left[2], "WARC-Record-ID"), Some(id("response", COPY)));
}

#[test]
fn an_archive_that_is_given_twice_keeps_its_records() {
    let folder = tempdir().expect("a folder");
    let input = [
        page(ONE, &window(0)),
        request(ONE, &[("WARC-Concurrent-To", &id("response", ONE))]),
        image("http://a.example/logo", "", b"an image"),
    ];
    for name in ["in/first.warc", "in/second.warc"] {
        write(folder.path(), name, &input);
    }
    for (flags, left) in [("--payloads all", 3), ("--payloads all --removed-records leave-out", 1)] {
        let out = folder.path().join(format!("out-{left}"));
        dedup(&folder.path().join("in"), &out).args(flags).arg("--quiet").succeed();
        assert!(kept(&out, "first.warc") == input, "{flags}");
        // No record refers to itself, and the request of the page that is left out goes with it.
        assert!(kept(&out, "second.warc") == input[3 - left..], "{flags}");
    }
}

#[test]
fn an_index_finds_every_capture() {
    let film: Vec<u8> = (0..60_000u32).flat_map(u32::to_le_bytes).collect();
    let input = [
        warcinfo(),
        page(ONE, &window(0)),
        request(ONE, &[]),
        page("http://www.b.example/Copy?z=1&a=2", &window(0)),
        response("http://c.example/film", "200 OK\nContent-Type: video/mp4; codecs=x", &film),
        page("http://d.example/other", &topic("other")),
    ];
    for name in ["crawl.warc", "crawl.warc.gz", "crawl.warc.zst"] {
        let (_folder, out) = run(&input, name, "--cdxj --max-page 100K");
        let index = fs::read_to_string(out.join("kept").join(format!("{name}.cdxj"))).expect("an index");
        let archive = fs::read(out.join("kept").join(name)).expect("an archive");
        let mut found = Vec::new();
        for line in index.lines() {
            let (key, rest) = line.split_once(' ').expect("a key");
            let facts: serde_json::Value =
                serde_json::from_str(rest.split_once(' ').expect("a time").1).expect("JSON");
            let number = |field: &str| {
                facts[field].as_str().and_then(|text| text.parse::<usize>().ok()).expect("a number")
            };
            // Lengths of records that are not packed do not count the line ends.
            let end = number("offset") + number("length") + if name.ends_with("warc") { 4 } else { 0 };
            let record = &split(&archive[number("offset")..end], name)[0];
            assert_eq!(field(record, "WARC-Target-URI").as_deref(), facts["url"].as_str(), "{name}");
            found.push(format!("{key} {} {}", plain(&facts["mime"]), plain(&facts["status"])));
        }
        let expected = [
            "example,a)/1 text/html 200",
            "example,b)/copy?a=2&z=1 warc/revisit null",
            "example,c)/film video/mp4 200",
            "example,d)/other text/html 200",
        ];
        assert_eq!(found, expected, "{name}");
    }
}
