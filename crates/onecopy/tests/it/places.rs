//! Places identify pages whose names repeat: in every list, in `explain` and in `compare`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{record, topic, window, write_file, write_records};
use crate::program::{Call, dedup, onecopy};
use crate::results::json_lines;
use crate::warc;

const URL: &str = "http://a.example.uk/";

/// A run over an archive with captures of one address, lines, rows and a file that is one page.
fn captures() -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a folder");
    let input = folder.path().join("in");
    let records = [
        warc::warcinfo(),
        warc::page(URL, &window(3)),
        warc::page(URL, &window(0)),
        warc::page("http://b.example.de/", &window(3)),
        warc::page(URL, &topic("another")),
    ];
    write_file(&input, "crawl.warc.gz", warc::packed(&records, "crawl.warc.gz"));
    write_records(&input, "lines.jsonl", &[("x", &topic("x")), ("x", &topic("x")), ("empty", "...")]);
    write_file(&input, "rows.parquet", include_bytes!("pages.parquet"));
    write_file(&input, "site/one.txt", topic("x"));
    let out = folder.path().join("out");
    dedup(&input, &out).args("--quiet --market uk,de --lists names,parquet").succeed();
    (folder, out)
}

/// The place of a page in a line, with a prefix before the names of its fields.
fn place(line: &Value, prefix: &str) -> String {
    let source = line[format!("{prefix}source")].as_str().unwrap_or_else(|| panic!("no source in {line}"));
    let numbers: Vec<u64> = ["line", "record", "row"]
        .iter()
        .filter_map(|unit| line[format!("{prefix}{unit}")].as_u64())
        .collect();
    let [number] = numbers[..] else { panic!("not one number in {line}") };
    format!("{source}:{number}")
}

fn explain(out: &Path, pages: &[&str]) -> Call {
    pages.iter().fold(onecopy(["explain".into(), out.as_os_str().to_owned()]), |call, page| call.arg(*page))
}

#[test]
fn lists_can_be_joined_by_place() {
    let (_folder, out) = captures();
    let pages = json_lines(&out.join("pages.jsonl"));
    let with = |status: &str| -> BTreeSet<String> {
        pages.iter().filter(|page| page["status"] == status).map(|page| place(page, "")).collect()
    };
    let (kept, removed) = (with("kept"), with("removed"));
    assert_eq!(kept.len() + removed.len(), pages.len(), "a place is there twice");
    for folder in ["", "markets/uk/"] {
        let list = |name: &str| json_lines(&out.join(format!("{folder}{name}.jsonl")));
        let gone: BTreeSet<String> = list("removed").iter().map(|line| place(line, "")).collect();
        assert_eq!(gone, removed, "{folder}");
        assert!(list("removed").iter().all(|line| kept.contains(&place(line, "winner_"))), "{folder}");
        for group in list("groups") {
            let places = group["places"].as_array().expect("a list");
            assert_eq!(places.len(), group["members"].as_array().expect("a list").len(), "{group}");
            assert_eq!(place(&group, "winner_"), place(&places[0], ""), "{group}");
            for at in places {
                let expected = if at["status"] == "kept" { &kept } else { &removed };
                assert!(expected.contains(&place(at, "")), "{group}");
            }
        }
    }
    let rejected: Vec<String> =
        json_lines(&out.join("rejected.jsonl")).iter().map(|line| place(line, "")).collect();
    assert!(rejected.contains(&"lines.jsonl:3".to_owned()), "{rejected:?}");
}

#[test]
fn each_format_has_its_own_number() {
    let (_folder, out) = captures();
    let pages = json_lines(&out.join("pages.jsonl"));
    let find = |source: &str| pages.iter().find(|page| page["source"] == source).expect("a page");
    assert_eq!(find("crawl.warc.gz")["record"], 2, "the archive's first record is no page");
    assert_eq!(find("lines.jsonl")["line"], 1);
    assert_eq!(find("rows.parquet")["row"], 1);
    assert_eq!(find("site/one.txt")["record"], 0);
}

#[test]
fn a_removed_capture_is_explained_by_its_place() {
    let (_folder, out) = captures();
    let found = explain(&out, &[URL]).fail(2);
    found.says(&[
        "may be any of 3 pages",
        "crawl.warc.gz:2, crawl.warc.gz:3, crawl.warc.gz:5",
        "give one of",
    ]);
    let text = explain(&out, &["crawl.warc.gz:3"]).succeed().stdout;
    for words in [
        "http://a.example.uk/ at crawl.warc.gz:3  removed for http://a.example.uk/ at crawl.warc.gz:2 (url, 0.85930)",
        "It went because its similarity to its winner, 0.85930, reaches the threshold 0.8",
        "Group 1 has",
        "only in A",
    ] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    let json: Value = serde_json::from_str(&explain(&out, &["crawl.warc.gz:3", "--json"]).succeed().stdout)
        .expect("stdout is JSON");
    assert_eq!(json["fate"]["removed"]["winner_place"], "crawl.warc.gz:2");
    assert_eq!((&json["comparison"]["alike"], &json["threshold"]), (&json!(true), &json!(0.8)));
}

#[test]
fn a_kept_page_is_explained() {
    let (_folder, out) = captures();
    let text = explain(&out, &["crawl.warc.gz:2"]).succeed().stdout;
    for words in ["It stayed because no kept page", "removed for it", "at crawl.warc.gz:3  url, 0.85930"] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    let text = explain(&out, &["crawl.warc.gz:5"]).succeed().stdout;
    assert!(text.contains("no page of the input reaches the threshold 0.8"), "{text}");
    let text = explain(&out, &["lines.jsonl:3"]).succeed().stdout;
    assert!(text.contains("lines.jsonl:3  rejected: no words to compare"), "{text}");
    explain(&out, &["lines.jsonl:4"]).fail(1).says(&["`lines.jsonl:4` is not among the pages"]);
}

/// The middle of a chain goes; its ends stay, and are compared with each other.
#[test]
fn a_page_that_a_chain_keeps_is_compared_with_the_others_that_stayed() {
    let folder = tempdir().expect("a folder");
    let texts = [0, 3, 6].map(window);
    let pages = [("a", &*texts[0]), ("b", &*texts[1]), ("c", &*texts[2])];
    let out = folder.path().join("out");
    dedup(&write_records(folder.path(), "in.jsonl", &pages), &out).arg("--quiet").succeed();
    let text = explain(&out, &["c"]).succeed().stdout;
    for words in [
        "Group 1 has 3 pages, of which 2 stayed; the best is a",
        "other kept pages of the group",
        "a at in.jsonl:1  0.71429",
    ] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
}

#[test]
fn compare_takes_places_and_addresses() {
    let (_folder, out) = captures();
    let compare = |a: &str, b: &str| onecopy(["compare", a, b, "--json", "--run"]).arg(&out);
    let found: Value =
        serde_json::from_str(&compare("crawl.warc.gz:2", "http://b.example.de/").succeed().stdout)
            .expect("JSON");
    assert_eq!(found["exact"], true);
    let found: Value =
        serde_json::from_str(&compare("crawl.warc.gz:2", "crawl.warc.gz:5").succeed().stdout).expect("JSON");
    assert_eq!((&found["exact"], &found["shared"]), (&json!(false), &json!(0)));
    compare(URL, "site/one.txt").fail(2).says(&["may be any of 3 pages"]);
}

#[test]
fn a_place_means_the_page_there_whatever_others_are_called() {
    let folder = tempdir().expect("a folder");
    let pages = [record("in.jsonl:2", &topic("one")), record("two", &topic("two"))].concat();
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", pages), &out).arg("--quiet").succeed();
    let text = explain(&out, &["in.jsonl:2"]).succeed().stdout;
    assert!(text.contains("two at in.jsonl:2  kept"), "{text}");
}

#[test]
fn a_changed_input_is_named() {
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &window(0)), ("b", &window(3))]);
    let out = folder.path().join("out");
    dedup(&input, &out).arg("--quiet").succeed();
    write_records(folder.path(), "in.jsonl", &[("b", &window(3)), ("a", &window(0)), ("c", "new")]);
    explain(&out, &["a", "b"]).fail(1).says(&["in.jsonl changed since the run", "onecopy dedup"]);
    onecopy(["compare", "a", "b", "--run"]).arg(&out).fail(1).says(&["in.jsonl changed since the run"]);
    let text = explain(&out, &["b"]).succeed().stdout;
    assert!(text.contains("removed for a at in.jsonl:1 (near, 0.84615)"), "{text}");
    assert!(text.contains("in.jsonl changed since the run"), "{text}");
    fs::remove_file(&input).expect("it is there");
    let text = explain(&out, &["b"]).succeed().stdout;
    assert!(text.contains("the input no longer exists"), "{text}");
}

#[test]
fn a_list_without_places_is_called_damaged() {
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &window(0)), ("b", &window(3))]);
    let out = folder.path().join("out");
    dedup(&input, &out).arg("--quiet").succeed();
    fs::write(out.join("pages.jsonl"), "{\"page\":\"a\",\"group\":1}\n").expect("it can be written");
    explain(&out, &["a"]).fail(1).says(&["pages.jsonl is damaged in line 1", "source", "--overwrite"]);
}
