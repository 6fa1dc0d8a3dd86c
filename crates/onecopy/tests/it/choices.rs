//! Flags decide which page wins, which fields are read and which text is compared.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::pages::{topic, window, write_file, write_records};
use crate::program::dedup;
use crate::results::{kept_ids, removed, winners};

/// Runs with `flags` over records. Returns the winner of each removed page.
fn run(records: &[Value], flags: &str) -> BTreeMap<String, String> {
    let folder = tempdir().expect("a folder");
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", text), &out).args(flags).succeed();
    winners(&out)
}

/// Three copies of a page, each the best by some rules.
fn copies() -> Vec<Value> {
    let text = window(0);
    vec![
        json!({"id": "m", "url": "http://a.example/a/long/path", "date": "2020-01-01", "pagerank": 0.5, "text": text}),
        json!({"id": "n", "url": "http://a.example/?q", "date": "2024-01-01", "pagerank": 9, "text": text}),
        json!({"id": "o", "url": "http://a.example/x", "date": "2022-01-01T10:00:00Z", "text": format!("{text} more")}),
    ]
}

#[test]
fn rules_choose_the_winner_in_their_order() {
    for (rules, winner) in [
        ("popularity", "n"),
        ("static", "m"),
        ("short-url", "o"),
        ("older", "m"),
        ("newer", "n"),
        ("longer", "o"),
        ("static,short-url", "o"),
        ("static,newer", "o"),
        ("static,popularity", "m"),
    ] {
        let winners = run(&copies(), &format!("--winner {rules}"));
        assert_eq!(winners.len(), 2, "{rules}: {winners:?}");
        assert!(winners.values().all(|found| found == winner), "{rules}: {winners:?}");
    }
    let by_default = run(&copies(), "");
    assert!(by_default.values().all(|found| found == "n"), "popularity comes first: {by_default:?}");
}

#[test]
fn a_tie_goes_to_the_smaller_name() {
    let records = ["b", "c", "a"].map(|id| json!({"id": id, "text": window(0)}));
    assert!(run(&records, "--winner newer").values().all(|winner| winner == "a"));
}

#[test]
fn fields_are_read_under_the_names_given() {
    let record = |id: &str, when: i64, worth: f64, text: &str| {
        json!({"key": id, "id": "wrong", "where": format!("http://{id}.example/"), "when": when, "worth": worth,
               "none": null, "prose": text, "text": format!("{} {id}", topic("wrong"))})
    };
    let records =
        [record("x", 1, 1.0, &window(0)), record("y", 2, 3.0, &window(3)), record("z", 3, 2.0, &topic("z"))];
    let fields =
        "--text-field prose --id-field key --url-field where --time-field when --popularity-field worth";
    let expect = |flags: &str, page: &str, winner: &str| {
        let found = run(&records, &format!("{fields} --winner {flags}"));
        assert_eq!(found, BTreeMap::from([(page.to_owned(), winner.to_owned())]), "{flags}");
    };
    expect("newer", "x", "y");
    expect("older", "y", "x");
    expect("popularity", "x", "y");
    let by_url = run(&records, &format!("{fields} --id-field none").replacen("--id-field key", "", 1));
    assert_eq!(
        by_url.into_iter().collect::<Vec<_>>(),
        [("http://x.example/".into(), "http://y.example/".into())]
    );
}

#[test]
fn the_threshold_and_the_shingle_decide_what_is_alike() {
    let records = [json!({"id": "a", "text": window(0)}), json!({"id": "b", "text": window(3)})];
    for (flags, removed) in [
        ("", 1),
        ("--threshold 0.84", 1),
        ("--threshold 0.85", 0),
        ("--threshold 1", 0),
        ("-k 1 --threshold 0.86", 1),
        ("-k 20", 0),
        ("--unit chars", 1),
        ("--unit chars -k 9 --threshold 0.9", 0),
    ] {
        assert_eq!(run(&records, flags).len(), removed, "{flags}");
    }
}

#[test]
fn a_similarity_that_equals_the_threshold_reaches_it() {
    // Twelve common words make eight shingles, and the last word of each text makes one more: 8 of 10.
    let words = |last: &str| (0..12).map(|i| format!("w{i} ")).collect::<String>() + last;
    let records = [json!({"id": "a", "text": words("x1")}), json!({"id": "b", "text": words("y1")})];
    assert_eq!(run(&records, "--threshold 0.8").len(), 1);
    assert_eq!(run(&records, "--threshold 0.8000001").len(), 0);
}

#[test]
fn what_counts_as_text_can_be_chosen() {
    let pair = |a: &str, b: &str| [json!({"id": "a", "text": a}), json!({"id": "b", "text": b})];
    let upper = pair(&topic("t"), &topic("t").to_uppercase());
    let marks = pair(&topic("t"), &topic("t").replace(' ', ", "));
    let numbered = pair("1. one two three\n2. four five six", "a) one two three\nb) four five six");
    let stuffed = pair(&"spam ham egg tea jam ".repeat(3), &"spam ham egg tea jam ".repeat(30));
    for (records, flag, without, with) in [
        (&upper, "--keep-case", 1, 0),
        (&marks, "--keep-punctuation", 1, 0),
        (&numbered, "--drop-numbering", 0, 1),
        (&stuffed, "--count-replicas", 1, 0),
    ] {
        assert_eq!(run(records, "").len(), without, "without {flag}");
        assert_eq!(run(records, flag).len(), with, "with {flag}");
    }
}

#[test]
fn stop_words_come_from_a_file() {
    let folder = tempdir().expect("a folder");
    let plain = topic("t");
    let wordy = plain.replace(' ', " the ");
    let input = write_records(folder.path(), "in.jsonl", &[("plain", &plain), ("wordy", &wordy)]);
    let words = write_file(folder.path(), "stop.txt", "a an\nthe\n");
    let out = folder.path().join("out");
    dedup(&input, &out).arg("--stop-words").arg(&words).succeed();
    assert_eq!(removed(&out)["wordy"], ("plain".into(), "1.0".into(), "exact".into()));
    let missing = dedup(&input, &folder.path().join("x")).args("--stop-words absent.txt").run();
    assert!(!missing.status.success());
    missing.says(&["cannot read stop words from absent.txt"]);
}

#[test]
fn the_order_of_the_input_decides_nothing() {
    let kept = |order: [usize; 3]| {
        let folder = tempdir().expect("a folder");
        let records = order.map(|from| (format!("p{from}"), window(from)));
        let records: Vec<(&str, &str)> =
            records.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        let out = folder.path().join("out");
        dedup(&write_records(folder.path(), "in.jsonl", &records), &out).succeed();
        (kept_ids(&out, "in.jsonl"), winners(Path::new(&out)))
    };
    let first = kept([0, 3, 6]);
    assert_eq!(first.0.len(), 2, "the ends of the chain stay");
    for order in [[0, 6, 3], [3, 0, 6], [3, 6, 0], [6, 0, 3], [6, 3, 0]] {
        assert_eq!(kept(order), first, "{order:?}");
    }
}
