//! Audits a generated corpus: the share of copies is the same at every size, and a correct answer passes.

use std::path::Path;

use crate::bench;

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn audit(input: &Path, removed: &Path) -> serde_json::Value {
    let output = bench(&["audit", "--input", text(input), "--removed", text(removed), "--json"]);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn generate(folder: &Path, options: &[&str]) -> std::path::PathBuf {
    let path = folder.join("pages.jsonl");
    let output = bench(&[&["generate", "--out", text(&path)], options].concat());
    assert!(output.status.success(), "{output:?}");
    path
}

#[test]
fn three_pages_in_ten_are_redundant_at_every_size() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let nothing = folder.path().join("nothing");
    std::fs::write(&nothing, "").expect("a file");
    for pages in [600_u64, 2400] {
        let input = generate(folder.path(), &["--pages", &pages.to_string()]);
        let found = audit(&input, &nothing);
        let must_go = found["must_go"].as_u64().expect("a number");
        assert!((must_go * 100 / pages).abs_diff(30) <= 4, "{must_go} of {pages}");
        assert_eq!(found["residual"], found["must_go"]);
    }
}

#[test]
fn the_giant_group_is_found_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input = generate(folder.path(), &["--pages", "1", "--giant", "60"]);
    let removed = folder.path().join("removed");
    // All pages except the last one. Page ids are positions.
    let all_but_last: String = (0..60).map(|position| format!("p{position:09}\n")).collect();
    std::fs::write(&removed, all_but_last).expect("a file");
    let found = audit(&input, &removed);
    assert!(found["pairs"].as_u64().expect("a number") > 60 * 59 / 2 - 60, "{found}");
    assert!(found["wrong"].as_u64().expect("a number") <= 1, "{found}");
    assert_eq!(found["residual"], 0);
}

#[test]
fn a_false_answer_fails_the_strict_audit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input = generate(folder.path(), &["--pages", "200"]);
    let removed = folder.path().join("removed");
    std::fs::write(&removed, "no-such-page\n").expect("a file");
    let output = bench(&["audit", "--input", text(&input), "--removed", text(&removed), "--strict"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("errors found"), "{output:?}");
}
