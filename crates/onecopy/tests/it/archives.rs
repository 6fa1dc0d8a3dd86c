//! WARC, WET and ARC: pages are found in any record and coding, and kept archives are unchanged.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tempfile::{TempDir, tempdir};

use crate::pages::{Random, corpus_lines, gzip, topic, window, write_file, zstandard};
use crate::program::{Finished, dedup};
use crate::results::{
    assert_memory_within, assert_same_answer, files_below, json_lines, plain, removed, report, unpacked,
    without_places,
};
use crate::warc::{
    DATE, PACKINGS, arc_header, arc_record, block, field, html, http_block, id, packed, page, record,
    response, split, warcinfo,
};

/// The original of the copies.
pub const ONE: &str = "http://a.example/1";
const COPY: &str = "http://b.example/copy/1";
const NEAR: &str = "http://c.example/nearly/1";

/// A crawl with one record of every kind.
pub fn crawl() -> Vec<Vec<u8>> {
    let with_digest = |uri: &str| {
        let fields = [
            ("Content-Type", "application/http; msgtype=response"),
            ("WARC-Payload-Digest", "sha1:SAME"),
            ("WARC-IP-Address", "10.0.0.1"),
        ];
        let block = http_block("200 OK\nContent-Type: text/html; charset=utf-8", html(&window(0)).as_bytes());
        record("response", uri, &fields, &block)
    };
    let refers = [
        ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"),
        ("WARC-Refers-To-Target-URI", ONE),
        ("WARC-Refers-To-Date", DATE),
        ("Content-Type", "application/http; msgtype=response"),
    ];
    let asked = [("Content-Type", "application/http; msgtype=request")];
    vec![
        warcinfo(),
        record("request", ONE, &asked, b"GET /1 HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        with_digest(ONE),
        response("http://a.example/old", "301 Moved\nLocation: ./1\nContent-Type: text/html", html("moved")),
        with_digest(COPY),
        page(NEAR, &window(3)),
        record(
            "revisit",
            "http://d.example/again",
            &refers,
            &http_block("200 OK\nContent-Type: text/html", b""),
        ),
        response(
            "http://a.example/logo.png",
            "200 OK\nContent-Type: image/png",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        ),
        response("http://a.example/gone", "404 Not Found\nContent-Type: text/html", html("no such page")),
        record("metadata", ONE, &[("Content-Type", "application/warc-fields")], b"via: nothing\r\n"),
        page("http://e.example/other", &topic("other")),
    ]
}

/// Writes records to a file, packed as its name says.
pub fn write(folder: &Path, name: &str, records: &[Vec<u8>]) -> PathBuf {
    write_file(folder, name, packed(records, name))
}

/// Runs over one archive with `flags`; the shortest address wins.
pub fn run(records: &[Vec<u8>], name: &str, flags: &str) -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a folder");
    let input = write(folder.path(), name, records);
    let out = folder.path().join("out");
    dedup(&input, &out).args("--winner short-url").args(flags).succeed();
    (folder, out)
}

/// The records of a file below `kept/`.
pub fn kept(out: &Path, name: &str) -> Vec<Vec<u8>> {
    split(&fs::read(out.join("kept").join(name)).expect("a kept archive"), name)
}

/// The page, winner and kind of each removal, in page order.
fn fates(out: &Path) -> Vec<(String, String, String)> {
    removed(out).into_iter().map(|(page, (winner, _, kind))| (page, winner, kind)).collect()
}

/// The numbers of records read, kept, removed and rejected.
pub fn counts(out: &Path) -> [u64; 4] {
    let report = report(out);
    ["read", "kept", "removed", "rejected"].map(|name| report[name].as_u64().expect("a number"))
}

/// The reasons of rejected records, in order.
pub fn reasons(out: &Path) -> Vec<String> {
    json_lines(&out.join("rejected.jsonl")).iter().map(|line| plain(&line["reason"])).collect()
}

#[test]
fn an_archive_stays_what_it_was_but_for_removed_pages() {
    let input = crawl();
    for ending in PACKINGS {
        let name = format!("crawl.{ending}");
        let (_folder, out) = run(&input, &name, "");
        let fate = |page: &str, kind: &str| (page.to_owned(), ONE.to_owned(), kind.to_owned());
        let expected = [
            fate("http://a.example/old", "redirect"),
            fate(COPY, "exact"),
            fate(NEAR, "near"),
            fate("http://d.example/again", "exact"),
        ];
        assert_eq!(fates(&out), expected, "{name}");
        assert_eq!(counts(&out), [8, 2, 4, 2], "{name}");
        let found = reasons(&out);
        assert!(found[0].contains("image/png") && found[1].contains("404"), "{name}: {found:?}");
        let kept = kept(&out, &name);
        assert_eq!(kept.len(), input.len(), "{name}: a record is gone");
        for (number, (kept, given)) in kept.iter().zip(&input).enumerate() {
            match number {
                4 => assert_revisit(kept, COPY, given),
                _ => assert!(kept == given, "{name}: record {number} changed"),
            }
        }
        let archives = json!({"revisits": 1, "whole": 3, "left_out": 0, "payloads": 0, "companions": 0});
        assert_eq!(report(&out)["archives"], archives, "{name}");
    }
}

/// Asserts that a record replaces `given`, which was removed, and refers to the first page.
fn assert_revisit(revisit: &[u8], uri: &str, given: &[u8]) {
    let of = |name: &str| {
        field(revisit, name).unwrap_or_else(|| panic!("no {name} in {:?}", String::from_utf8_lossy(revisit)))
    };
    assert_eq!(of("WARC-Type"), "revisit");
    assert_eq!(of("WARC-Target-URI"), uri);
    assert_eq!(of("WARC-Date"), DATE);
    assert_eq!(of("WARC-Refers-To"), id("response", ONE));
    assert_eq!(of("WARC-Refers-To-Target-URI"), ONE);
    assert_eq!(of("WARC-Refers-To-Date"), DATE);
    assert_eq!(of("WARC-Profile"), "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
    for name in ["WARC-Record-ID", "WARC-Payload-Digest", "WARC-IP-Address"] {
        assert_eq!(field(revisit, name), field(given, name), "{name}");
    }
    assert!(block(given).starts_with(block(revisit)), "the block is the header of the response");
    assert!(block(revisit).ends_with(b"charset=utf-8\r\n\r\n"));
}

#[test]
fn removed_records_can_be_left_out() {
    let input = crawl();
    for name in ["crawl.warc", "crawl.warc.gz"] {
        let (_folder, out) = run(&input, name, "--removed-records leave-out");
        let expected: Vec<_> =
            (0..).zip(&input).filter(|(n, _)| ![4, 5].contains(n)).map(|(_, r)| r.clone()).collect();
        assert!(kept(&out, name) == expected, "{name}");
        assert_eq!(counts(&out), [8, 2, 4, 2]);
    }
}

/// `html(&window(0))` compressed by the reference implementation of brotli. Stored text would be found without
/// unpacking.
const BROTLI: &str = concat!(
    "1b1601e01c076e2ccd6652f33194560787a401eef59207eeae607c086c37dde300b12b29a3c076831db0694cb3832908",
    "933f3afdd8808568f781ce8dbf030a89451bebf28b4062d1c6bafc129058b4b12ebf0c24166dacbbbfaf2118",
);

fn brotli() -> Vec<u8> {
    let digits = BROTLI.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).expect("digits"));
    digits.map(|two| u8::from_str_radix(two, 16).expect("digits")).collect()
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let chunk = |part: &[u8]| [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
    let chunks = body.chunks(100).flat_map(chunk);
    chunks.chain(*b"0\r\n\r\n").collect()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn bodies_are_read_through_their_codings() {
    let body = html(&window(0)).into_bytes();
    let coded = [
        ("Content-Encoding: gzip", gzip(&body)),
        ("Content-Encoding: deflate", zlib(&body)),
        ("Content-Encoding: br", brotli()),
        ("Content-Encoding: zstd", zstandard(&body)),
        ("Transfer-Encoding: chunked", chunked(&body)),
        ("Content-Encoding: gzip\nTransfer-Encoding: chunked", chunked(&gzip(&body))),
        ("Content-Encoding: br\nTransfer-Encoding: chunked", chunked(&brotli())),
        ("Content-Encoding: gzip", body.clone()),
    ];
    let mut input = vec![page(ONE, &window(0))];
    for (number, (head, body)) in coded.iter().enumerate() {
        let head = format!("200 OK\nContent-Type: text/html\n{head}");
        input.push(response(&format!("http://coded.example/{number}"), &head, body));
    }
    let (_folder, out) = run(&input, "coded.warc.gz", "");
    assert_eq!(counts(&out), [9, 1, 8, 0], "{:?}", reasons(&out));
    assert!(
        fates(&out).iter().all(|(_, winner, kind)| winner == ONE && kind == "exact"),
        "{:?}",
        fates(&out)
    );
}

#[test]
fn pages_in_other_charsets_equal_their_twins_in_utf8() {
    // Both charsets have the letters in Unicode order. There are too few letters to guess a charset.
    let letter =
        |c: char, first: char, to: u8| to + u8::try_from(c as u32 - first as u32).expect("a near one");
    let in_1251: Vec<u8> = "кот".chars().map(|c| letter(c, 'А', 0xc0)).collect();
    let in_sjis: Vec<u8> = "いぬ".chars().flat_map(|c| [0x82, letter(c, 'ぁ', 0x9f)]).collect();
    let with =
        |start: &str, text: String, end: &[u8]| [start.as_bytes(), text.as_bytes(), b" ", end].concat();
    let page_1251 = with("<html><title>page</title><p>", topic("ru"), &in_1251);
    let page_sjis = with("<html><meta charset=\"Shift_JIS\"><title>page</title><p>", topic("jp"), &in_sjis);
    let (russian, japanese) = (&format!("{} кот", topic("ru")), &format!("{} いぬ", topic("jp")));
    let input = [
        page("http://ru.example/", russian),
        response(
            "http://ru.example/1251",
            "200 OK\nContent-Type: text/html; charset=windows-1251",
            page_1251,
        ),
        page("http://jp.example/", japanese),
        response("http://jp.example/sjis", "200 OK\nContent-Type: text/html", page_sjis),
    ];
    let (_folder, out) = run(&input, "charsets.warc", "");
    let fate = |host: &str, name: &str| {
        (format!("http://{host}/{name}"), format!("http://{host}/"), "exact".to_owned())
    };
    assert_eq!(fates(&out), [fate("jp.example", "sjis"), fate("ru.example", "1251")], "{:?}", reasons(&out));
}

#[test]
fn arc_stays_arc() {
    let block = |text: &str| http_block("200 OK\nContent-Type: text/html", html(text).as_bytes());
    let records = [
        arc_header(),
        arc_record(ONE, "text/html", &block(&window(0))),
        arc_record(COPY, "text/html", &block(&window(0))),
        arc_record(
            "http://a.example/logo.gif",
            "image/gif",
            &http_block("200 OK\nContent-Type: image/gif", b"GIF89a"),
        ),
        arc_record("http://e.example/other", "text/html", &block(&topic("other"))),
    ];
    for name in ["crawl.arc", "crawl.arc.gz"] {
        // ARC has no revisit records, so a removed page is whole or left out.
        let all = &[0, 1, 2, 3, 4][..];
        for (mode, numbers) in
            [("revisit", all), ("revisit-or-leave-out", &[0, 1, 3, 4]), ("leave-out", &[0, 1, 3, 4])]
        {
            let (_folder, out) = run(&records, name, &format!("--removed-records {mode}"));
            assert_eq!(fates(&out), [(COPY.into(), ONE.into(), "exact".into())], "{name}");
            assert_eq!(counts(&out), [4, 2, 1, 1], "{name}");
            let expected: Vec<u8> = numbers.iter().flat_map(|&number| records[number].clone()).collect();
            assert!(unpacked(&out.join("kept").join(name)) == expected, "{name} {mode}");
        }
    }
}

#[test]
fn wet_is_read() {
    let text = [("Content-Type", "text/plain")];
    let convert = |uri: &str, words: &str| record("conversion", uri, &text, words.as_bytes());
    let input =
        [warcinfo(), convert(ONE, &window(0)), convert(COPY, &window(0)), convert(NEAR, &topic("far"))];
    let (_folder, out) = run(&input, "crawl.warc.wet.gz", "");
    assert_eq!(fates(&out), [(COPY.into(), ONE.into(), "exact".into())]);
    // Nothing replays a text, so a removed one is left out.
    let kept = kept(&out, "crawl.warc.wet.gz");
    assert!(kept[..2] == input[..2] && kept[2] == input[3] && kept.len() == 3);
}

#[test]
fn an_archive_without_pages_is_told_from_an_empty_one() {
    let folder = tempdir().expect("a folder");
    let about = [("Content-Type", "application/json")];
    let wat = [warcinfo(), record("metadata", ONE, &about, b"{}"), record("metadata", COPY, &about, b"{}")];
    let input = write(folder.path(), "crawl.warc.wat.gz", &wat);
    let finished = dedup(&input, &folder.path().join("out")).fail(1);
    finished.says(&["crawl.warc.wat.gz", "nothing to judge", "3 records", "WET"]);
    let input = write_file(folder.path(), "empty.warc", "");
    dedup(&input, &folder.path().join("out2")).fail(1).says(&["empty.warc", "there is no record in it"]);
}

/// Pages of the usual corpus, as records and as JSON lines.
fn corpus(pages: usize) -> (Vec<Vec<u8>>, String) {
    let (mut records, mut lines) = (vec![warcinfo()], String::new());
    for line in corpus_lines(pages) {
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let (url, text) = (plain(&value["url"]), plain(&value["text"]));
        records.push(response(&url, "200 OK\nContent-Type: text/plain; charset=utf-8", &text));
        lines += &format!("{}\n", json!({"url": url, "text": text, "date": DATE}));
    }
    (records, lines)
}

#[test]
fn the_same_pages_give_the_same_answer_in_any_format_with_any_resources() {
    let folder = tempdir().expect("a folder");
    let (records, lines) = corpus(4_000);
    let input = write(folder.path(), "pages.warc.gz", &records);
    let alone = folder.path().join("alone");
    dedup(&input, &alone).args("--threads 1 --quiet").succeed();
    assert!(counts(&alone)[2] > 500, "the corpus has duplicates");
    for flags in ["--threads 4", "--threads 8 --memory 64M"] {
        let out = folder.path().join("out");
        dedup(&input, &out).args(flags).args("--quiet").succeed();
        assert_same_answer(&out, &alone, flags);
        fs::remove_dir_all(&out).expect("results can be deleted");
    }
    let whole = write(folder.path(), "whole/pages.warc.zst", &records);
    let lines = write_file(folder.path(), "lines/pages.jsonl", lines);
    for (input, name) in [(whole, "zstd"), (lines, "lines")] {
        let out = folder.path().join(format!("out-{name}"));
        dedup(&input, &out).args("--winner short-url,longer --quiet").succeed();
        let expected = folder.path().join(format!("expected-{name}"));
        dedup(&folder.path().join("pages.warc.gz"), &expected)
            .args("--winner short-url,longer --quiet")
            .succeed();
        assert!(removed(&out) == removed(&expected), "{name}: other removed pages, winners or similarities");
        let groups = |out: &Path| without_places(&out.join("groups.jsonl"));
        assert!(groups(&out) == groups(&expected), "{name}: other groups");
    }
}

/// The members of these archives are not packed as onecopy packs. Kept ones stay as they are, whatever the chunks.
#[test]
fn kept_records_keep_their_packed_bytes() {
    let folder = tempdir().expect("a folder");
    let (records, _) = corpus(600);
    type Pack = fn(&Vec<u8>) -> Vec<u8>;
    let gzip: Pack = |record| {
        let header = flate2::GzBuilder::new().mtime(1_700_000_000).filename("a.record");
        let mut encoder = header.write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(record).expect("memory");
        encoder.finish().expect("memory")
    };
    let zstd: Pack = |record| zstd::encode_all(record.as_slice(), 9).expect("memory");
    for (name, pack) in [("a.warc.gz", gzip), ("a.warc.zst", zstd)] {
        let members: Vec<Vec<u8>> = records.iter().map(pack).collect();
        let input = write_file(folder.path(), name, members.concat());
        for flags in ["--threads 1", "--threads 3 --memory 64M"] {
            let out = folder.path().join("out");
            dedup(&input, &out).args(flags).args("--removed-records leave-out --quiet").succeed();
            let gone: HashSet<String> = removed(&out).into_keys().collect();
            let stays = |record: &&Vec<u8>| {
                let uri = field(record, "WARC-Target-URI");
                !uri.is_some_and(|uri| gone.contains(&uri))
            };
            let kept: Vec<u8> = records
                .iter()
                .zip(&members)
                .filter(|(record, _)| stays(record))
                .flat_map(|(_, member)| member.clone())
                .collect();
            assert!(
                !gone.is_empty() && fs::read(out.join("kept").join(name)).expect("a file") == kept,
                "{name} {flags}"
            );
            fs::remove_dir_all(&out).expect("results can be deleted");
        }
    }
}

#[test]
fn a_killed_run_over_archives_continues_to_the_same_bytes() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    let (records, _) = corpus(4_000);
    for (number, part) in records.chunks(1_000).enumerate() {
        write(&site, &format!("{number}.warc.{}", ["gz", "zst"][number % 2]), part);
    }
    let (out, expected) = (folder.path().join("out"), folder.path().join("expected"));
    dedup(&site, &expected).succeed();
    for (stage, delay_ms) in [("read", 20), ("index", 0), ("write", 0), ("write", 30)] {
        let mut running = dedup(&site, &out).start();
        running.hear(&format!("{stage}:"));
        std::thread::sleep(Duration::from_millis(delay_ms));
        running.kill();
        running.finish();
        assert!(
            delay_ms > 0 || !out.join("report.json").exists(),
            "{stage}: the run was over before it was killed"
        );
    }
    dedup(&site, &out).succeed();
    assert_same_answer(&out, &expected, "archives");
}

#[test]
fn large_records_on_many_threads_keep_the_limit() {
    let folder = tempdir().expect("a folder");
    let mut random = Random::new(3);
    let mut text = String::new();
    for number in 0..4 {
        let records = (0..4).map(|nth| {
            text.clear();
            text.extend((0..600_000).map(|_| format!("{:x} ", random.below(1 << 14))));
            page(&format!("http://{number}.example/{nth}"), &text)
        });
        write(folder.path(), &format!("in/{number}.warc.gz"), &records.collect::<Vec<_>>());
    }
    // Ten times the page limit.
    let overlong = page("http://4.example/", &"large ".repeat(7 << 20));
    write(folder.path(), "in/4.warc.gz", &[overlong, page("http://4.example/small", &topic("small"))]);
    let out = folder.path().join("out");
    dedup(&folder.path().join("in"), &out).args("--memory 64M --threads 8 --quiet").succeed();
    assert_eq!(counts(&out), [18, 17, 0, 1]);
    assert_memory_within(&out, 64 << 20);
    for number in 0..5 {
        let name = format!("{number}.warc.gz");
        assert!(unpacked(&out.join("kept").join(&name)) == unpacked(&folder.path().join("in").join(&name)));
    }
}

#[test]
fn real_archives_are_read_to_their_end() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("ONECOPY_DATA").map_or(beside, PathBuf::from).join("warc");
    if !data.is_dir() {
        println!("skipped: neither $ONECOPY_DATA nor ../shared/data has a folder warc");
        return;
    }
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    // Some of them break off.
    let finished: Finished = dedup(&data, &out).arg("--quiet").fail(3);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    let [read, kept, removed, _] = counts(&out);
    assert!(read > 900 && kept > 500 && removed > 100, "{:?}", counts(&out));
    let is_archive =
        |name: &String| [".warc", ".warc.gz", ".arc", ".wet.gz"].iter().any(|ending| name.ends_with(ending));
    let report = report(&out);
    let lost = report["unreadable"].as_array().expect("a list").iter().map(|it| it["source"].as_str());
    let lost: Vec<&str> = lost.map(|source| source.expect("a name")).collect();
    assert!(lost.len() < 5, "{lost:?}");
    let is_whole = |name: &String| is_archive(name) && !lost.contains(&name.as_str());
    let given = files_below(&data).into_iter().filter(is_whole);
    let kept = files_below(&out.join("kept"));
    assert_eq!(given.filter(|name| !kept.contains(name)).collect::<Vec<_>>(), [""; 0], "an archive is gone");
}
