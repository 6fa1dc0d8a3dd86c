//! `mirrors` finds hosts and folders of a finished run that mirror each other.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{topic, write_file};
use crate::program::{Call, dedup, onecopy};

/// A finished run over two hosts that mirror each other, and a third with other pages at the same paths. Some pages
/// exist on one side only.
fn finished() -> TempDir {
    let folder = tempdir().expect("a folder");
    let mut lines = String::new();
    let mut page = |url: String, text: String| {
        writeln!(lines, "{}", json!({"id": url, "url": url, "text": text})).expect("memory takes it");
    };
    for number in 0..12 {
        page(format!("http://a.example/docs/{number}.html"), topic(&format!("t{number}x")));
        page(format!("https://b.example/copy/{number}.html"), topic(&format!("t{number}x")));
        page(format!("http://c.example/docs/{number}.html"), topic(&format!("c{number}x")));
    }
    page("http://a.example/docs/more.html".into(), topic("more"));
    page("http://a.example/docs/changed".into(), topic("before"));
    page("https://b.example/copy/changed".into(), topic("after"));
    dedup(&write_file(folder.path(), "in.jsonl", lines), &folder.path().join("out")).succeed();
    folder
}

fn mirrors(folder: &Path) -> Call {
    onecopy(["mirrors".into(), folder.join("out").into_os_string()])
}

#[test]
fn a_table_for_people() {
    let folder = finished();
    let said = mirrors(folder.path()).succeed().stdout;
    let line = said.lines().nth(1).expect("a line below the header");
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[..2], ["a.example/docs", "b.example/copy"], "{said}");
    assert_eq!(cells[3..], ["12", "1", "1", "0", "1"], "{said}");
    for words in ["mismatched  /changed", "only left   /more.html", "a.example/docs  =  b.example/copy"] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    assert!(!said.contains("c.example"), "{said}");
}

#[test]
fn json_for_programs() {
    let folder = finished();
    let said = mirrors(folder.path()).arg("--json").succeed().stdout;
    let found: Value = serde_json::from_str(&said).expect("stdout is one JSON value");
    let [pair] = &found.as_array().expect("an array")[..] else { panic!("{found}") };
    assert_eq!(pair["left"], json!({"host": "a.example", "path": "/docs"}));
    assert_eq!(pair["right"], json!({"host": "b.example", "path": "/copy"}));
    assert_eq!(
        [&pair["matched"], &pair["mismatched"], &pair["only_left"], &pair["only_right"], &pair["set"]],
        [&json!(12), &json!(1), &json!(1), &json!(0), &json!(1)]
    );
    assert!(pair["score"].as_f64().is_some_and(|score| (0.5..1.0).contains(&score)), "{pair}");
    let examples = pair["examples"].as_array().expect("examples");
    assert!(examples.contains(&json!({"kind": "mismatched", "path": "/changed"})), "{pair}");
    assert!(examples.contains(&json!({"kind": "only-left", "path": "/more.html"})), "{pair}");
}

#[test]
fn flags_ask_for_more_evidence_or_fewer_lines() {
    let folder = finished();
    for flags in ["--least-paths 13", "--score 0.99"] {
        let said = mirrors(folder.path()).args(flags).succeed().stdout;
        assert_eq!(said, "No mirrors found.\n", "{flags}");
        assert_eq!(mirrors(folder.path()).args(flags).arg("--json").succeed().stdout, "[]\n");
    }
    let said = mirrors(folder.path()).args("--limit 0").succeed().stdout;
    assert!(said.contains("0 of 1 pairs"), "{said}");
}

#[test]
fn what_cannot_work_is_named_with_the_remedy() {
    let folder = finished();
    mirrors(folder.path()).args("--score 2").fail(2).says(&["score 2 is out of range"]);
    mirrors(folder.path()).args("--least-paths 0").fail(2).says(&["at least 1 path"]);
    let pages = folder.path().join("out/pages.jsonl");
    std::fs::write(&pages, "{\"page\":1,\"language\":\"en\"}\n").expect("it can be written");
    mirrors(folder.path()).fail(1).says(&["no page", "has an address", "--url-field"]);
    std::fs::write(&pages, "not JSON\n").expect("it can be written");
    mirrors(folder.path()).fail(1).says(&["damaged in line 1", "--overwrite"]);
    std::fs::remove_file(&pages).expect("it is there");
    mirrors(folder.path()).fail(1).says(&["made by an older version", "--overwrite"]);
    let empty = tempdir().expect("a folder");
    onecopy(["mirrors".into(), empty.path().as_os_str().to_owned()])
        .fail(1)
        .says(&["holds no finished run", "onecopy dedup"]);
}
