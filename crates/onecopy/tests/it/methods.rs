//! Tests every method through the program: its results, its reported recall, and its errors.

use std::path::Path;

use serde_json::json;
use tempfile::tempdir;

use crate::pages::{topic, write_file};
use crate::program::{dedup, onecopy};
use crate::results::{json_lines, report, winners};

/// The names that `onecopy methods` lists.
fn names() -> Vec<String> {
    let said = onecopy(["methods"]).succeed().stdout;
    let lines = said.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with(' '));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// A page of many sentences; `changed` of them have a word of their own.
fn page(number: usize, changed: usize) -> String {
    let sentence = |n: usize| {
        let own = if n < changed { format!("own{number}") } else { "all".to_owned() };
        let words = (0..9).map(|word| format!("all{n}x{word}"));
        format!("{own} {}. ", words.collect::<Vec<_>>().join(" "))
    };
    (0..60).map(sentence).collect()
}

/// A page that all methods find, one that none finds, and pages that are hard to sketch.
fn write_pages(folder: &Path) -> std::path::PathBuf {
    let html = |text: &str, link: &str| {
        format!("<html><body><main><p>{text}</p></main><a href=http://z.example/{link}>x</a></body></html>")
    };
    let lines = [
        json!({"id": "first", "url": "http://a.example/", "html": html(&page(0, 0), "x")}),
        json!({"id": "second", "url": "http://b.example/long", "html": html(&page(1, 1), "x")}),
        json!({"id": "other", "url": "http://c.example/", "html": html(&topic("other").repeat(20), "y")}),
        json!({"id": "word", "text": "word"}),
        json!({"id": "two", "text": "two words"}),
        json!({"id": "many", "text": "The same again. ".repeat(100_000)}),
    ];
    write_file(folder, "in.jsonl", lines.map(|line| format!("{line}\n")).concat())
}

#[test]
fn a_method_that_compares_most_pages_is_refused_for_many() {
    let folder = tempdir().expect("a folder");
    let input = write_pages(folder.path());
    for name in ["cosine", "mix"] {
        let out = folder.path().join(name);
        let refused = dedup(&input, &out).args(&format!("--method {name}:pages=5 --quiet")).fail(1);
        refused.says(&["for up to 5 pages, not 6", &format!("--method {name}:pages=6 ")]);
        assert!(!out.join("removed.jsonl").exists());
        dedup(&input, &out).args(&format!("--method {name}:pages=6 --quiet")).succeed();
        assert_eq!(report(&out)["removed"], 1, "{name}");
    }
}

#[test]
fn every_method_finds_what_is_plainly_alike_and_keeps_the_rest() {
    let folder = tempdir().expect("a folder");
    let input = write_pages(folder.path());
    let names = names();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let out = folder.path().join(&name);
        dedup(&input, &out).args(&format!("--method {name} --quiet")).succeed();
        assert_eq!(winners(&out), [("second".to_owned(), "first".to_owned())].into(), "{name}");
        let report = report(&out);
        assert_eq!((&report["method"], &report["read"]), (&json!(name), &json!(6)));
        let threshold = report["threshold"].as_f64().expect("a number");
        for removed in json_lines(&out.join("removed.jsonl")) {
            assert!(removed["similarity"].as_f64().expect("a number") >= threshold, "{name}: {removed}");
        }
    }
}

#[test]
fn approximate_methods_say_what_they_expect_and_what_they_found() {
    let folder = tempdir().expect("a folder");
    let lines: String =
        (0..300).map(|n| json!({"id": n, "text": page(n, n % 12)}).to_string() + "\n").collect();
    let input = write_file(folder.path(), "in.jsonl", lines);
    let out = folder.path().join("out");
    let finished = dedup(&input, &out).args("--method shingles-b").succeed();
    finished.says(&["an approximate method", "resemblance of 10-word shingles", "expected to find"]);
    assert!(finished.stdout.contains("of pairs by resemblance of 10-word shingles"), "{}", finished.stdout);
    let recall = report(&out)["recall"].clone();
    let measured = &recall["measured"];
    let number = |name: &str| measured[name].as_f64().unwrap_or_else(|| panic!("no {name} in {recall}"));
    assert_eq!((number("pages"), number("found") / number("pairs")), (200.0, number("recall")));
    assert!(number("pairs") > 1_000.0 && number("recall") > 0.5, "{recall}");
    let chances: Vec<f64> = recall["expected"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|at| at["chance"].as_f64())
        .collect();
    assert!(chances.len() > 3 && chances.is_sorted() && chances[0] > 0.3, "{chances:?}");
    let quick = folder.path().join("quick");
    dedup(&input, &quick).args("--method shingles-b --recall-pages 0 --quiet").succeed();
    assert_eq!(report(&quick)["recall"]["measured"], json!(null));
    assert_eq!(winners(&quick), winners(&out));
    let exact = folder.path().join("exact");
    dedup(&input, &exact).arg("--quiet").succeed();
    assert_eq!(report(&exact)["recall"], json!(null), "an exact method has nothing to say");
}

#[test]
fn parameters_that_make_no_sense_are_refused_before_the_run() {
    let folder = tempdir().expect("a folder");
    let input = write_pages(folder.path());
    let out = folder.path().join("out");
    for (flags, remedy) in [
        ("--method shingle", "choose one of auto, jaccard"),
        ("--method jaccard:threshold=0", "above 0 and up to 1"),
        ("--method projection-c:agree=385", "give a value from"),
        ("--method simhash:distance=40", "give a distance of up to 14"),
        ("--method lcs:m=0", "give a value from 1"),
        ("--method lcs:colour=red", "it has threshold, m, n"),
        ("--method bloom:bits=1000", "power of two"),
        ("--method shingles-b -k 7", "--method shingles-b:k=7"),
        ("--method lcs -k 7", "does not use shingles"),
        ("--method lcs --threshold 0", "above 0 and up to 1"),
    ] {
        dedup(&input, &out).args(flags).fail(2).says(&[remedy]);
        assert!(!out.exists(), "{flags}");
    }
}
