//! Every SIMD level gives the same answer, through the whole program.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::pages::{Random, corpus_lines, write_file};
use crate::program::{dedup, onecopy};
use crate::results::{assert_same_answer, report};

const VARIABLE: &str = "ONECOPY_SIMD";

/// The levels of this machine, scalar first. Prints the levels that cannot be tested, bypassing the capture of output.
fn levels() -> Vec<&'static str> {
    let mut found = vec!["scalar"];
    for level in ["avx2", "avx512"] {
        let called = onecopy(["methods"]).variable(VARIABLE, level).run();
        if called.status.success() {
            found.push(level);
        } else {
            called.says(&["this machine has no", level]);
            let _ = writeln!(std::io::stderr(), "skipped: {level}, which this machine does not have");
        }
    }
    found
}

/// Runs `typed` on `input` at every level, and compares all results with the scalar one.
fn check(input: &Path, typed: &str) {
    let folder = tempdir().expect("a folder");
    let scalar = folder.path().join("scalar");
    for level in levels() {
        let out = folder.path().join(level);
        dedup(input, &out).args(typed).arg("--quiet").variable(VARIABLE, level).succeed();
        let what = format!("{typed} at {level}");
        assert_same_answer(&out, &scalar, &what);
        let pages = |out: &Path| fs::read(out.join("pages.jsonl")).expect("the list of pages");
        assert!(pages(&out) == pages(&scalar), "{what}: pages.jsonl differs");
        let removed = &report(&out)["removed"];
        assert!(removed.as_u64() > Some(0), "{what}: nothing was compared");
    }
}

/// A text of words of many lengths, letters of several scripts, and characters that JSON escapes, so that block
/// positions vary. Texts with the same `base` are similar.
fn mixed_text(base: u64, own: u64) -> String {
    const PIECES: [&str; 12] = [
        " ",
        ", ",
        "\n",
        "\t",
        " \"",
        "\\",
        " — ",
        "\u{e9}",
        "ЖУК",
        "漢字",
        "\u{1f600} ",
        "____________________",
    ];
    let mut random = Random::new(base);
    let mut text = String::new();
    for place in 0..150 + base * 7 % 100 {
        let (word, length) = (random.below(5_000), random.below(12) as usize);
        text.push_str(&format!("Wort{word:0length$}"));
        text.push_str(PIECES[random.below(40).min(11) as usize]);
        text.push_str(if place % 60 == own % 60 { " changed " } else { " " });
    }
    text
}

/// Generated pages: plain text, mixed scripts, and HTML with and without a menu.
fn write_pages(folder: &Path) -> PathBuf {
    let mut lines: String = corpus_lines(200).collect();
    for number in 0..60 {
        let text = mixed_text(number / 3, number);
        let html = format!(
            "<html><head><title>{number}</title></head><body><nav><a href=/a>Home</a></nav><main><p>{text}</p></main><footer>All rights reserved</footer></body></html>"
        );
        let pages: [Value; 2] = [
            json!({"id": format!("mixed-{number}"), "text": text}),
            json!({"id": format!("html-{number}"), "url": format!("http://h.example/{number}"), "html": html}),
        ];
        lines.extend(pages.map(|page| format!("{page}\n")));
    }
    write_file(folder, "in.jsonl", lines)
}

#[test]
fn every_level_gives_the_same_answer_by_each_method() {
    let folder = tempdir().expect("a folder");
    let input = write_pages(folder.path());
    for method in ["auto", "jaccard", "containment", "shingles-b", "projection-c", "simhash:search=rotate"] {
        check(&input, &format!("--method {method}"));
    }
    check(&input, "--method jaccard --count-replicas --unit chars");
}

#[test]
fn every_level_gives_the_same_answer_on_the_examples() {
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl");
    check(&crawl, "");
}

#[test]
fn an_unknown_level_is_refused() {
    onecopy(["methods"])
        .variable(VARIABLE, "sse9")
        .fail(2)
        .says(&["ONECOPY_SIMD: unknown level sse9", "avx512, avx2, scalar"]);
    onecopy(["methods"]).variable(VARIABLE, "").succeed();
}
