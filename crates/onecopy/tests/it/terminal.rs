//! Output fits the terminal, explains methods in known words, draws pictures, and says which text was equal.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{topic, window, write_file};
use crate::program::{Call, dedup, onecopy};
use crate::results::report;

/// A labelled set of four pages, two of which are near-duplicates.
fn labelled() -> TempDir {
    let folder = tempdir().expect("a folder");
    let pages = [("a", window(0)), ("b", window(3)), ("c", topic("c")), ("d", topic("d"))];
    let line = |(id, text): (&str, String)| json!({"id": id, "text": text}).to_string() + "\n";
    write_file(folder.path(), "docs.jsonl", pages.map(line).concat());
    write_file(folder.path(), "pairs.csv", "id1,id2,label\na,b,1\nc,d,1\n");
    folder
}

/// Two HTML pages with the same main content under different menus.
fn under_two_menus() -> TempDir {
    let folder = tempdir().expect("a folder");
    let page = |menu: &str| {
        let body = format!("<p>{}.</p>\n\n<p>{}.</p>", topic("story").repeat(3), topic("more").repeat(2));
        let link = |word: &str| format!("<li><a href=/{word}>{menu} {word}</a>");
        let links = ["home", "news", "contact", "about", "shop", "help"].map(link).concat();
        format!("<!doctype html><nav><ul>{links}</ul></nav><main>{body}</main>")
    };
    write_file(folder.path(), "a.html", page("left"));
    write_file(folder.path(), "b.html", page("right"));
    folder
}

fn eval(set: &Path) -> Call {
    onecopy(["eval".into(), set.as_os_str().to_owned()])
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn lines_fit_the_columns_that_there_are() {
    let set = labelled();
    write_file(set.path(), "a.txt", window(0));
    write_file(set.path(), "b.txt", window(9) + &topic("long").repeat(20));
    let calls = || {
        [
            eval(set.path()),
            onecopy(["compare", "a.txt", "b.txt"]).within(set.path()),
            onecopy(["methods"]),
            onecopy(["methods", "simhash"]),
        ]
    };
    let mut found = Vec::new();
    for columns in ["40", "80", "200"] {
        for call in calls() {
            let said = call.variable("COLUMNS", columns).succeed().stdout;
            // A command to copy is never cut.
            let lines: Vec<&str> = said.lines().filter(|line| !line.contains("--")).collect();
            let widest = widest(&lines.join("\n"));
            assert!(widest <= columns.parse().expect("a number"), "{widest} in {columns}:\n{said}");
            found.push(widest);
        }
    }
    for (narrow, wide) in found[..4].iter().zip(&found[8..]) {
        assert!(narrow < wide, "wide terminals are used: {found:?}");
    }
    assert!(widest(&eval(set.path()).succeed().stdout) <= 80, "80 columns where nothing is known");
}

#[test]
fn a_method_is_explained_parameter_by_parameter() {
    let said = onecopy(["methods", "simhash"]).variable("COLUMNS", "200").succeed().stdout;
    for words in [
        "distance   3        How many of the 64 bits may differ.",
        "Higher: more pages are removed.",
        "window     4        For search=rotate:",
        "approximate",
    ] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    for method in onecopy_core::METHODS {
        let said = onecopy(["methods", method.name]).succeed().stdout;
        assert!(said.starts_with(method.name) && said.contains("threshold"), "{said}");
    }
}

#[test]
fn words_from_elsewhere_lead_to_methods() {
    for (word, named) in
        [("minhash", "jaccard"), ("MinHash-LSH", "shingles-b"), ("lsh", "simhash"), ("fuzzy", "auto")]
    {
        let said = onecopy(["methods", word]).succeed().stdout;
        assert!(said.contains(&format!("no method \"{word}\"")) && said.contains(named), "{said}");
    }
    onecopy(["methods", "tarot"]).fail(2).says(&["no method \"tarot\"", "choose one of auto"]);
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), "in.jsonl", "{}");
    let failed = dedup(&input, &folder.path().join("out")).args("--method minhash").fail(2);
    failed.says(&["onecopy computes it exactly with jaccard", "`onecopy methods minhash` says more"]);
}

#[test]
fn figures_are_drawn_in_the_format_of_their_ending() {
    let set = labelled();
    let [picture, drawing] = ["p.png", "p.svg"].map(|name| set.path().join(name));
    eval(set.path()).arg("--plot").arg(&picture).succeed();
    eval(set.path()).arg("--plot").arg(&drawing).succeed();
    let bytes = fs::read(&picture).expect("a picture");
    assert!(bytes.starts_with(b"\x89PNG\r\n"), "a PNG file");
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let drawn = fs::read_to_string(&drawing).expect("a drawing");
    let [width, height] = [side(16), side(20)].map(|side| side / 2);
    assert!(
        drawn.contains(&format!("viewBox=\"0 0 {width} {height}\"")),
        "both have one size: {width} {height}"
    );
    for method in onecopy_core::METHODS {
        assert!(drawn.contains(&format!(">{}</text>", method.name)), "{} has no panel", method.name);
    }
    let panels = onecopy_core::METHODS.len();
    assert_eq!(drawn.matches(">threshold</text>").count(), panels, "every axis has a label");
    assert_eq!(drawn.matches(">precision by recall</text>").count(), panels);
    let failed = eval(set.path()).args("--plot p.jpg").fail(2);
    failed.says(&["p.jpg", "ends in .svg or .png"]);
    assert!(!failed.stderr.contains("read:"), "{}", failed.stderr);
}

#[test]
fn the_page_of_a_comparison_begins_with_the_verdict() {
    let folder = under_two_menus();
    write_file(folder.path(), "c.txt", format!("{}\n\n\n{}", topic("new").repeat(3), topic("newer")));
    let page = |b: &str| {
        let call = onecopy(["compare", "a.html", b, "--html", "page.html"]).within(folder.path());
        call.succeed();
        fs::read_to_string(folder.path().join("page.html")).expect("a page")
    };
    let equal = page("b.html");
    assert!(equal.contains("<h1 class=\"alike\">Exact duplicates by main content</h1>"), "{equal}");
    assert!(equal.contains("compared: main content of HTML"), "{equal}");
    let other = page("c.txt");
    assert!(other.contains("<h1 class=\"unlike\">Not duplicates</h1>"), "{other}");
    assert!(other.contains("compared: plain text") && other.contains("--least:80.0%"), "{other}");
    let marked = other.split("<ins>").skip(1).filter_map(|rest| rest.split("</ins>").next());
    assert!(marked.clone().count() > 0);
    marked.for_each(|text| assert!(!text.trim().is_empty() && !text.contains('\n'), "a box: {text:?}"));
}

#[test]
fn equal_main_content_is_not_called_equal_text() {
    let folder = under_two_menus();
    let out = tempdir().expect("a folder");
    let done = out.path().join("out");
    let said = dedup(folder.path(), &done).succeed().stdout;
    assert!(said.contains("1 exact") && said.contains("exact by main content"), "{said}");
    assert_eq!(report(&done)["main_content"], true);
    let explain = |flag: &[&str]| {
        let call = onecopy([&["explain"], flag].concat());
        call.arg(&done).args("a.html b.html").succeed().stdout
    };
    let said = explain(&[]);
    assert!(said.contains("exact duplicates by main content") && said.contains("Other text"), "{said}");
    let found: Value = serde_json::from_str(&explain(&["--json"])).expect("JSON");
    assert_eq!((&found["exact"], &found["whole_equal"]), (&json!(true), &json!(false)));
    let compare = |b: &str| {
        let said = onecopy(["compare", "a.html", b, "--json"]).within(folder.path()).succeed().stdout;
        serde_json::from_str::<Value>(&said).expect("JSON")
    };
    let found = compare("b.html");
    assert_eq!((&found["exact"], &found["whole_equal"]), (&json!(true), &json!(false)));
    assert_eq!(found["a"]["text"], "main");
    assert_eq!(compare("a.html")["whole_equal"], true);
    let all = out.path().join("all");
    let said = dedup(folder.path(), &all).args("--content all").succeed().stdout;
    assert!(!said.contains("by main content"), "{said}");
    assert_eq!(report(&all).get("main_content"), None);
}
