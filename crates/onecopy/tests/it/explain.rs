//! `explain` says why two pages of a finished run were or were not joined.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{topic, window, write_file};
use crate::program::{Call, dedup, onecopy};

/// A finished run: an exact pair, a chain of five, and a single page.
fn finished() -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a folder");
    let mut lines = vec![
        json!({"id": 1, "text": topic("same")}),
        json!({"id": "2", "text": topic("same").to_uppercase()}),
        json!({"id": "alone", "text": topic("alone")}),
        json!({"text": topic("nameless")}),
    ];
    lines.extend(
        (0..5).map(|step| json!({"url": format!("http://{step}.example/"), "text": window(3 * step)})),
    );
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", text), &out).succeed();
    (folder, out)
}

fn explain(out: &Path, a: &str, b: &str) -> Call {
    onecopy(["explain".into(), out.as_os_str().to_owned(), a.into(), b.into()])
}

fn as_json(out: &Path, a: &str, b: &str) -> Value {
    let finished = explain(out, a, b).arg("--json").succeed();
    serde_json::from_str(&finished.stdout).expect("stdout is one JSON value")
}

/// Asserts that the output contains all of these words.
fn has(call: Call, words: &[&str]) {
    let finished = call.succeed();
    for word in words {
        assert!(finished.stdout.contains(word), "`{word}` is not in\n{}", finished.stdout);
    }
}

#[test]
fn exact_duplicates() {
    let (_folder, out) = finished();
    has(explain(&out, "1", "2"), &["exact duplicates", "similarity  1.00000", "removed for ", "kept"]);
    let found = as_json(&out, "1", "2");
    assert_eq!(
        (&found["exact"], &found["alike"], &found["similarity"]),
        (&json!(true), &json!(true), &json!(1.0))
    );
    let fates = [&found["a"]["fate"], &found["b"]["fate"]];
    let gone = fates.iter().find_map(|fate| fate.get("removed")).expect("one of them was removed");
    assert_eq!((&gone["kind"], &gone["similarity"]), (&json!("exact"), &json!(1.0)));
    assert!(fates.contains(&&json!("kept")), "{found}");
}

#[test]
fn near_duplicates() {
    let (_folder, out) = finished();
    let [a, b] = ["http://0.example/", "http://1.example/"];
    has(
        explain(&out, a, b),
        &[
            "near-duplicates",
            "0.84615",
            "removed for http://0.example/ at in.jsonl:5 (near, 0.84615)",
            "33 shingles of 5 tokens",
            "only in A",
            "w000 w001 w002",
            "only in B",
            "w040 w041 w042",
        ],
    );
    let found = as_json(&out, b, a);
    assert_eq!(
        (&found["alike"], &found["exact"], &found["shared"]),
        (&json!(true), &json!(false), &json!(33))
    );
    assert_eq!(
        (&found["a"]["shingles"], &found["threshold"], &found["shingle"]),
        (&json!(36), &json!(0.8), &json!(5))
    );
    assert_eq!(found["a"]["fate"]["removed"]["winner"], a);
    assert_eq!((&found["group_winner"], &found["chain"]), (&json!(a), &json!([])));
}

#[test]
fn a_chain_is_shown_link_by_link() {
    let (_folder, out) = finished();
    let names: Vec<String> = (0..5).map(|step| format!("http://{step}.example/")).collect();
    has(explain(&out, &names[0], &names[4]), &["not duplicates, but a chain of pairs", &names.join(" ~ ")]);
    let found = as_json(&out, &names[4], &names[2]);
    assert_eq!((&found["alike"], &found["chain"]), (&json!(false), &json!([names[4], names[3], names[2]])));
    assert_eq!(found["group_winner"], names[0]);
}

#[test]
fn unrelated_pages() {
    let (_folder, out) = finished();
    has(explain(&out, "alone", "http://0.example/"), &["not duplicates, and share no group", "0.00000"]);
    let found = as_json(&out, "alone", "1");
    assert_eq!(
        (&found["alike"], &found["similarity"], &found["shared"]),
        (&json!(false), &json!(0.0), &json!(0))
    );
    assert_eq!(
        (&found["group_winner"], &found["chain"], &found["a"]["fate"]),
        (&Value::Null, &json!([]), &json!("kept"))
    );
}

#[test]
fn a_page_without_a_name_is_found_by_its_place() {
    let (_folder, out) = finished();
    has(explain(&out, "in.jsonl:4", "alone"), &["in.jsonl:4  kept"]);
}

#[test]
fn a_file_that_is_a_page_is_found_by_its_name() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    write_file(&site, "a.html", format!("<p>{}</p>", window(0)));
    write_file(&site, "sub/b.txt", window(3));
    let out = folder.path().join("out");
    dedup(&site, &out).succeed();
    has(explain(&out, "a.html", "sub/b.txt"), &["near-duplicates", "removed for a.html"]);
}

#[test]
fn the_configuration_of_the_run_is_used() {
    let (folder, _) = finished();
    let out = folder.path().join("strict");
    dedup(&folder.path().join("in.jsonl"), &out).args("--threshold 0.9 -k 3").succeed();
    has(
        explain(&out, "http://0.example/", "http://1.example/"),
        &["not duplicates", "shingles of 3 tokens", "threshold 0.9"],
    );
}

#[test]
fn an_unknown_page_is_named() {
    let (_folder, out) = finished();
    for [a, b] in [["absent", "alone"], ["alone", "absent"], ["in.jsonl:1", "absent"]] {
        let failed = explain(&out, a, b).fail(1);
        failed.says(&["not among the pages that were judged"]);
        assert_eq!(failed.stdout, "");
    }
    let failed = explain(&out, "absent", "alone").fail(1);
    failed.says(&["page `absent`"]);
}

#[test]
fn a_folder_without_a_finished_run_is_named_with_the_remedy() {
    let folder = tempdir().expect("a folder");
    for path in [folder.path().to_owned(), folder.path().join("absent")] {
        let failed = explain(&path, "a", "b").fail(1);
        failed.says(&["holds no finished run", "onecopy dedup", &path.display().to_string()]);
    }
}

#[test]
fn pages_from_a_pipe_are_gone_and_explain_says_so() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut running = onecopy(["dedup", "-", "--out"]).arg(&out).start();
    running.feed((json!({"id": "a", "text": window(0)}).to_string() + "\n").as_bytes());
    running.feed(json!({"id": "b", "text": window(3)}).to_string().as_bytes());
    assert!(running.finish().status.success());
    let failed = explain(&out, "a", "b").fail(1);
    failed.says(&["standard input"]);
}

#[test]
fn a_redirect_stands_for_its_end_and_a_rejected_page_is_not_called_kept() {
    let folder = tempdir().expect("a folder");
    let lines = format!(
        "{}\n{}\n{}\n",
        json!({"id": "old", "url": "http://a.example/old", "redirect": "/new"}),
        json!({"id": "new", "url": "http://a.example/new", "text": window(0)}),
        json!({"id": "lost", "url": "http://a.example/lost", "redirect": "/nowhere"}),
    );
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", lines), &out).arg("--quiet").succeed();
    let said = explain(&out, "old", "new").succeed().stdout;
    assert!(said.contains("old redirects and follows its target; they are in one group"), "{said}");
    let said = explain(&out, "lost", "new").fail(1).stderr;
    assert!(said.contains("`lost` is not among the pages that were judged"), "{said}");
}
