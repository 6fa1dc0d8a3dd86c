//! The result files: their fields and counts, and that no record is lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::pages::{record, topic, window, write_file, write_records};
use crate::program::{dedup, onecopy};
use crate::results::{RESULTS, entries, groups, json_lines, kept_ids, rejected, removed, report, winners};

/// Eight records: an exact copy, a chain of near-duplicates, two single pages, and two that are rejected.
fn small_set(folder: &Path) -> std::path::PathBuf {
    let copy = format!("  {}!", topic("apple").to_uppercase().replace(' ', ",  "));
    let lines = [
        record("apple", &topic("apple")),
        record("copy", &copy),
        record("far", &topic("pear")),
        record("a", &window(0)),
        "not json at all\n".to_owned(),
        record("b", &window(3)),
        record("c", &window(6)),
        record("empty", "  ...  "),
    ];
    write_file(folder, "pages.jsonl", lines.concat())
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_folder_holds_the_results_and_nothing_else() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("deep/er/out");
    dedup(&small_set(folder.path()), &out).succeed();
    assert_eq!(entries(&out), RESULTS);
    assert_eq!(entries(&out.join("kept")), ["pages.jsonl"]);
}

#[test]
fn every_line_of_removed_names_its_proof() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    dedup(&small_set(folder.path()), &out).succeed();
    let lines = json_lines(&out.join("removed.jsonl"));
    for line in &lines {
        let places = ["source", "line", "winner_source", "winner_line"];
        let expected: BTreeSet<&str> =
            places.into_iter().chain(["page", "winner", "similarity", "kind"]).collect();
        assert_eq!(keys(line), expected, "{line}");
    }
    let texts = |line: &Value| ["page", "winner", "kind"].map(|name| line[name].as_str().map(str::to_owned));
    let expected =
        [["copy", "apple", "exact"], ["b", "a", "near"]].map(|texts| texts.map(|text| Some(text.to_owned())));
    assert_eq!(lines.iter().map(texts).collect::<Vec<_>>(), expected);
    let similarities: Vec<Option<f64>> = lines.iter().map(|line| line["similarity"].as_f64()).collect();
    assert_eq!(similarities, [Some(1.0), Some(0.84615)]);
}

#[test]
fn a_chain_loses_its_middle_only() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    dedup(&small_set(folder.path()), &out).succeed();
    let kept: Vec<String> = kept_ids(&out, "pages.jsonl").into_iter().collect();
    assert_eq!(kept, ["a", "apple", "c", "far"]);
    let lines = json_lines(&out.join("groups.jsonl"));
    for line in &lines {
        let places = ["winner_source", "winner_line", "places"];
        let expected: BTreeSet<&str> =
            places.into_iter().chain(["group", "winner", "kept", "members"]).collect();
        assert_eq!(keys(line), expected, "{line}");
    }
    let chain = lines.iter().find(|line| line["winner"] == "a").expect("the chain is a group");
    assert_eq!((&chain["kept"], &chain["members"]), (&json!(["a", "c"]), &json!(["a", "b", "c"])));
    let pair = lines.iter().find(|line| line["winner"] == "apple").expect("the copies are a group");
    assert_eq!((&pair["kept"], &pair["members"]), (&json!(["apple"]), &json!(["apple", "copy"])));
    let numbers: BTreeSet<u64> = lines.iter().filter_map(|line| line["group"].as_u64()).collect();
    assert_eq!(numbers, BTreeSet::from([1, 2]), "groups have numbers, a page alone is in none");
}

#[test]
fn what_cannot_be_judged_is_listed_with_its_place_and_reason() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    dedup(&small_set(folder.path()), &out).succeed();
    for line in json_lines(&out.join("rejected.jsonl")) {
        let mut keys = keys(&line);
        keys.remove("page");
        assert_eq!(keys, BTreeSet::from(["source", "line", "reason"]), "{line}");
    }
    let found = rejected(&out, "pages.jsonl");
    assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [Some(5), Some(8)]);
    assert!(found[0].1.contains("column"), "{}", found[0].1);
    assert_eq!(found[1].1, "no words to compare");

    let site = folder.path().join("site");
    write_file(&site, "good.txt", topic("x"));
    write_file(&site, "empty.html", "<p></p>");
    let out = folder.path().join("documents");
    dedup(&site, &out).succeed();
    let line = &json_lines(&out.join("rejected.jsonl"))[0];
    assert_eq!(
        line,
        &json!({"page": "empty.html", "source": "empty.html", "record": 0, "reason": "no words to compare"})
    );
}

#[test]
fn the_report_counts_every_record() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    let input = small_set(folder.path());
    dedup(&input, &out).args("--threads 2").succeed();
    let report = report(&out);
    let counts = json!({"read": 8, "kept": 4, "removed": 2, "rejected": 2, "groups": 2, "largest_group": 3,
        "kinds": {"exact": 1, "near": 1, "url": 0, "redirect": 0}, "method": "auto", "threshold": 0.8, "out_of_core": false,
        "input_bytes": fs::metadata(&input).expect("the input").len(), "memory_limit_bytes": 1u64 << 30, "threads": 2});
    for (name, expected) in counts.as_object().expect("an object") {
        assert_eq!(&report[name], expected, "{name}");
    }
    for name in ["seconds", "cpu_seconds", "peak_memory_bytes"] {
        assert!(report[name].as_f64().is_some_and(|value| value > 0.0), "{name}: {}", report[name]);
    }
    let binned: u64 = report["similarities"].as_array().expect("bins").iter().filter_map(Value::as_u64).sum();
    assert_eq!(binned, 2, "each removed page is in one bin of similarities");
    assert_eq!(report["group_sizes"], json!([1, 1]), "one group of two, one of three or four");
}

#[test]
fn members_of_a_group_are_best_first() {
    let folder = tempdir().expect("a folder");
    let (text, near) = (window(0), window(1));
    let page = |(id, popularity, text): (&str, u32, &String)| {
        json!({"id": id, "popularity": popularity, "text": text}).to_string() + "\n"
    };
    let pages = [("a", 1, &text), ("b", 4, &text), ("c", 2, &text), ("d", 3, &text), ("e", 9, &near)];
    let moved =
        json!({"id": "aa", "url": "http://x.example/", "redirect": "http://y.example/", "text": text});
    let there = json!({"id": "ee", "url": "http://y.example/", "popularity": 8, "text": near});
    let lines: String = pages.map(page).concat() + &format!("{moved}\n{there}\n");
    for (name, lines) in [("given", lines.clone()), ("turned", turned(&lines))] {
        let out = folder.path().join(name);
        dedup(&write_file(folder.path(), &format!("{name}.jsonl"), lines), &out).succeed();
        assert_eq!(groups(&out), [["e", "ee", "aa", "b", "d", "c", "a"]], "{name}");
    }
}

/// Lines in the opposite order.
fn turned(lines: &str) -> String {
    lines.lines().rev().flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn run_json_tells_the_configuration() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    dedup(&small_set(folder.path()), &out).args("--threshold 0.95 -k 3 --winner newer,longer").succeed();
    let text = fs::read_to_string(out.join("run.json")).expect("run.json");
    let run: Value = serde_json::from_str(&text).expect("run.json is JSON");
    assert_eq!(run["config"]["threshold"], 0.95);
    assert_eq!(run["config"]["shingles"]["length"], 3);
    assert_eq!(run["config"]["winner"], json!(["newer", "longer"]));
    assert_eq!(run["version"], env!("CARGO_PKG_VERSION"));
    assert!(run["answer_version"].as_u64() > Some(0));
    let bytes = fs::metadata(out.join("removed.jsonl")).expect("a list").len();
    assert_eq!(run["results"]["removed.jsonl"], json!({"files": 1, "bytes": bytes}));
    assert_eq!(run["inputs"]["sources"][0]["name"], "pages.jsonl");
}

#[test]
fn json_prints_the_report_and_nothing_else() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    let finished = dedup(&small_set(folder.path()), &out).arg("--json").succeed();
    let printed: Value = serde_json::from_str(&finished.stdout).expect("stdout is one JSON value");
    assert_eq!(printed, report(&out));
}

#[test]
fn quiet_prints_nothing() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    let finished = dedup(&small_set(folder.path()), &out).arg("--quiet").succeed();
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("", ""));
}

#[test]
fn people_are_told_the_numbers_and_where_the_proof_is() {
    let folder = tempdir().expect("a folder");
    let finished = dedup(&small_set(folder.path()), &folder.path().join("out")).succeed();
    for word in ["read", "kept", "removed", "rejected", "1 exact, 1 near", "removed.jsonl"] {
        assert!(finished.stdout.contains(word), "`{word}` is not in\n{}", finished.stdout);
    }
    let stages: Vec<&str> = finished.stderr.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(stages, ["read", "order", "index", "compare", "group", "write"]);
}

#[test]
fn pages_are_named_by_id_then_url_then_place() {
    let folder = tempdir().expect("a folder");
    let (text, copy) = (topic("one"), topic("one").to_uppercase());
    let lines = [
        json!({"id": 7, "url": "http://a.example/7", "text": &text}),
        json!({"id": -2.50, "text": &text}),
        json!({"id": "seven \"7\" é", "text": &text}),
        json!({"url": "http://b.example/", "text": &copy}),
        json!({"text": &copy}),
        json!({"id": null, "text": &text}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let input = write_file(folder.path(), "in.jsonl", text.replace("-2.5", "-2.50").replace("é", "\\u00e9"));
    let out = folder.path().join("out");
    dedup(&input, &out).args("--winner short-url").succeed();
    let raw = fs::read_to_string(out.join("removed.jsonl")).expect("removed.jsonl");
    for name in [r#""page":7,"#, r#""page":-2.5,"#, r#""page":"in.jsonl:5","#, r#""page":"in.jsonl:6","#] {
        assert!(raw.contains(name), "`{name}` is not in\n{raw}");
    }
    let winners = winners(&out);
    assert_eq!(winners.len(), 5);
    assert!(winners.values().all(|winner| winner == "http://b.example/"), "{winners:?}");
    assert!(winners.contains_key("seven \"7\" é"), "{winners:?}");
    assert_eq!(groups(&out)[0].len(), 6);
}

#[test]
fn identical_records_are_kept_once() {
    let folder = tempdir().expect("a folder");
    let text = topic("same");
    let input = write_records(folder.path(), "in.jsonl", &[("x", &text), ("x", &text), ("x", &text)]);
    let out = folder.path().join("out");
    dedup(&input, &out).succeed();
    assert_eq!(fs::read_to_string(out.join("kept/in.jsonl")).expect("kept"), record("x", &text));
    let report = report(&out);
    assert_eq!(
        (&report["kept"], &report["removed"], &report["kinds"]["exact"]),
        (&json!(1), &json!(2), &json!(2))
    );
}

#[test]
fn a_set_without_duplicates_is_kept_whole() {
    let folder = tempdir().expect("a folder");
    let texts = ["a", "b", "c"].map(topic);
    let input =
        write_records(folder.path(), "in.jsonl", &[("a", &texts[0]), ("b", &texts[1]), ("c", &texts[2])]);
    let out = folder.path().join("out");
    dedup(&input, &out).succeed();
    assert_eq!(fs::read(out.join("kept/in.jsonl")).expect("kept"), fs::read(&input).expect("input"));
    assert!(removed(&out).is_empty() && groups(&out).is_empty());
}

#[test]
fn short_pages_are_compared_too() {
    let folder = tempdir().expect("a folder");
    let records = [("a", "one two"), ("b", "One, two!"), ("c", "two one"), ("d", "word"), ("e", "word word")];
    let out = folder.path().join("out");
    dedup(&write_records(folder.path(), "in.jsonl", &records), &out).succeed();
    assert_eq!(winners(&out).into_iter().collect::<Vec<_>>(), [("b".to_owned(), "a".to_owned())]);
}

#[test]
fn a_relative_folder_is_relative_to_the_caller() {
    let folder = tempdir().expect("a folder");
    small_set(folder.path());
    onecopy(["dedup", "pages.jsonl", "-o", "out"]).within(folder.path()).succeed();
    assert_eq!(entries(&folder.path().join("out")), RESULTS);
}

#[test]
fn rejected_records_are_named_if_they_can_be() {
    let folder = tempdir().expect("a folder");
    let lines = "{\"id\":\"no text\"}\n{\"url\":\"http://a.example/\",\"text\":5}\n{broken\n{\"id\":\"a\",\"text\":\"some words\"}\n";
    write_file(folder.path(), "in/lines.jsonl", lines);
    let gone =
        crate::warc::response("http://a.example/gone", "404 Not Found\nContent-Type: text/html", "gone");
    write_file(folder.path(), "in/crawl.warc", gone);
    let out = folder.path().join("out");
    dedup(&folder.path().join("in"), &out).succeed();
    let found: Vec<_> = json_lines(&out.join("rejected.jsonl")).iter().map(|it| it["page"].clone()).collect();
    assert_eq!(
        found,
        [json!("http://a.example/gone"), json!("no text"), json!("http://a.example/"), Value::Null]
    );
}
