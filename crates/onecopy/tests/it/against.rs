//! `dedup --against` and `sketch`: a base stays as it is, and what repeats it goes.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::pages::{topic, window, write_file, write_records};
use crate::program::{dedup, onecopy};
use crate::results::{json_lines, kept_ids, report, winners};

/// A base of two pages that resemble each other, and new pages of which one repeats the base and two each other.
fn folder() -> TempDir {
    let folder = tempdir().expect("a folder");
    let [one, two, three, four, five] = [window(0), window(1), topic("sea"), topic("hills"), topic("towns")];
    write_records(folder.path(), "base.jsonl", &[("old", &one), ("older", &two), ("alone", &three)]);
    let new: [(&str, &str); 4] = [("again", &one), ("x", &four), ("y", &four), ("fresh", &five)];
    write_records(folder.path(), "new.jsonl", &new);
    folder
}

/// The results of the run in `out` that must not depend on how the base was given.
fn answer(out: &Path) -> [Vec<Value>; 4] {
    ["kept/new.jsonl", "removed.jsonl", "groups.jsonl", "pages.jsonl"].map(|name| json_lines(&out.join(name)))
}

#[test]
fn what_repeats_the_base_goes_and_the_base_stays() {
    let folder = folder();
    let [base, new, out] = ["base.jsonl", "new.jsonl", "out"].map(|name| folder.path().join(name));
    dedup(&new, &out).arg("--against").arg(&base).succeed();
    assert_eq!(kept_ids(&out, "new.jsonl").into_iter().collect::<Vec<_>>(), ["fresh", "x"]);
    let winners = winners(&out);
    assert_eq!((winners["again"].as_str(), winners["y"].as_str()), ("old", "x"));
    let removed = json_lines(&out.join("removed.jsonl"));
    let again = removed.iter().find(|line| line["page"] == "again").expect("it was removed");
    assert_eq!(again["winner_source"], "base/base.jsonl");
    let report = report(&out);
    assert_eq!(["read", "kept", "removed"].map(|name| report[name].as_u64()), [Some(4), Some(2), Some(2)]);
    assert!(!out.join("kept/base").exists() && !out.join("kept/base.jsonl").exists());
    let explained = onecopy(["explain"]).arg(&out).arg("again").succeed().stdout;
    assert!(explained.contains("old"), "{explained}");
}

#[test]
fn sketches_of_a_base_give_the_same_answer_without_it() {
    let folder = folder();
    let [base, new, out] = ["base.jsonl", "new.jsonl", "out"].map(|name| folder.path().join(name));
    dedup(&new, &out).arg("--against").arg(&base).succeed();
    let sketches = folder.path().join("base.sketches");
    let make = || onecopy(["sketch"]).arg(&base).arg("--out").arg(&sketches);
    let said = make().succeed().stdout;
    assert!(said.contains("sketches of 3 pages are there now"), "{said}");
    assert!(make().succeed().stdout.contains("were there already"));
    fs::remove_file(&base).unwrap();
    let again = folder.path().join("again");
    dedup(&new, &again).arg("--against").arg(&sketches).succeed();
    assert_eq!(answer(&again), answer(&out));
    // A lower threshold needs no other sketches; another method does.
    dedup(&new, &folder.path().join("lower")).arg("--against").arg(&sketches).args("-t 0.5").succeed();
    let other = dedup(&new, &folder.path().join("other")).arg("--against").arg(&sketches);
    other.args("--method jaccard").fail(2).says(&["`method` is not that of this run", "`onecopy sketch`"]);
}

#[test]
fn damaged_and_foreign_sketches_are_refused() {
    let folder = folder();
    let [base, new] = ["base.jsonl", "new.jsonl"].map(|name| folder.path().join(name));
    let sketches = folder.path().join("base.sketches");
    onecopy(["sketch"]).arg(&base).arg("--out").arg(&sketches).succeed();
    let data = sketches.join("sketches/segments.bin");
    let good = fs::read(&data).unwrap();
    let run = |out: &str| dedup(&new, &folder.path().join(out)).arg("--against").arg(&sketches);
    let mut bad = good.clone();
    bad[40] ^= 1;
    fs::write(&data, &bad).unwrap();
    run("flipped").fail(1).says(&["segments.bin: its bytes changed"]);
    fs::write(&data, &good[..good.len() / 2]).unwrap();
    run("cut").fail(1).says(&["segments.bin: its bytes changed"]);
    fs::write(&data, &good).unwrap();
    let description = sketches.join("run.json");
    let text = fs::read_to_string(&description).unwrap();
    fs::write(&description, text.replace("\"layout\": 1", "\"layout\": 99")).unwrap();
    run("format").fail(2).says(&["in another format"]);
    fs::remove_dir_all(&sketches).unwrap();
    run("gone").fail(1).says(&["base.sketches"]);
    write_file(folder.path(), "empty.jsonl", "");
    let nothing =
        dedup(&new, &folder.path().join("e")).arg("--against").arg(folder.path().join("empty.jsonl"));
    nothing.succeed();
}
