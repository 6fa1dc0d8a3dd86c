//! An output folder is never repeated, mixed or overwritten by accident.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::{TempDir, tempdir};

use crate::pages::{record, topic, window, write_file, write_records};
use crate::program::{dedup, onecopy};
use crate::results::{RESULTS, assert_same_answer, entries, files_below, report, winners};

/// A folder with an input, and a path for the results.
fn prepared() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempdir().expect("a folder");
    let input =
        write_records(folder.path(), "in.jsonl", &[("a", &window(0)), ("b", &window(3)), ("c", &topic("c"))]);
    let out = folder.path().join("out");
    (folder, input, out)
}

/// Every file below a folder, with its bytes and modification time.
fn state(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let facts = |name: String| {
        let path = folder.join(&name);
        let modified = fs::metadata(&path).and_then(|facts| facts.modified()).expect("a time");
        (name, (fs::read(&path).expect("a file"), modified))
    };
    files_below(folder).into_iter().map(facts).collect()
}

#[test]
fn a_finished_run_is_not_repeated() {
    let (_folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    let before = state(&out);
    let again = dedup(&input, &out).succeed();
    assert!(again.stdout.contains("already has the results of this run"), "{}", again.stdout);
    assert_eq!(again.stderr, "", "no stage begins");
    assert!(state(&out) == before, "the results were touched");
    let json = dedup(&input, &out).arg("--json").succeed();
    let printed: serde_json::Value = serde_json::from_str(&json.stdout).expect("stdout is the report alone");
    assert_eq!(printed, report(&out));
}

#[test]
fn memory_and_threads_are_no_other_run() {
    let (_folder, input, out) = prepared();
    dedup(&input, &out).args("--memory 64M --threads 1").succeed();
    let before = state(&out);
    dedup(&input, &out).args("--memory 2G --threads 3").succeed();
    assert!(state(&out) == before, "the results were touched");
}

#[test]
fn another_run_is_refused_and_told_what_to_do() {
    let (folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    let before = state(&out);
    let other = write_records(folder.path(), "other.jsonl", &[("a", &window(0))]);
    for call in
        [dedup(&input, &out).args("--threshold 0.9"), dedup(&other, &out), dedup(&input, &out).arg(&other)]
    {
        call.fail(2).says(&["results of another run", "--overwrite", "give another folder", "out"]);
        assert!(state(&out) == before, "the results were touched");
        assert_eq!(entries(&out), RESULTS);
    }
}

#[test]
fn a_changed_input_is_another_run() {
    let (_folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    fs::write(&input, record("only", &topic("only"))).expect("the input can be changed");
    dedup(&input, &out).fail(2).says(&["results of another run"]);
    dedup(&input, &out).arg("--overwrite").succeed();
    assert_eq!(report(&out)["read"], 1);
}

#[test]
fn overwrite_replaces_everything() {
    let (folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    assert_eq!(winners(&out).len(), 1);
    let other = write_records(folder.path(), "other.jsonl", &[("x", &topic("x")), ("y", &topic("y"))]);
    dedup(&other, &out).arg("--overwrite").succeed();
    assert_eq!(files_below(&out.join("kept")), ["other.jsonl"]);
    assert!(winners(&out).is_empty());
    let fresh = folder.path().join("fresh");
    dedup(&other, &fresh).succeed();
    assert_same_answer(&out, &fresh, "overwritten");
}

#[test]
fn a_folder_with_other_files_is_refused_and_untouched() {
    let (folder, input, out) = prepared();
    for name in ["thesis.txt", "kept/mine.txt", "report.json"] {
        let out = folder.path().join(name.replace(['/', '.'], "-"));
        write_file(&out, name, "precious");
        let before = state(&out);
        for flags in ["", "--overwrite"] {
            dedup(&input, &out).args(flags).fail(2).says(&["not empty", "give an empty or a new folder"]);
            assert!(state(&out) == before, "{name} {flags}: the folder was touched");
        }
    }
    fs::create_dir(&out).expect("a new folder");
    dedup(&input, &out).succeed();
}

#[test]
fn names_alone_do_not_make_a_folder_ours() {
    let (folder, input, _) = prepared();
    let done = folder.path().join("done");
    dedup(&input, &done).succeed();
    let run = fs::read_to_string(done.join("run.json")).expect("run.json");
    let report = fs::read_to_string(done.join("report.json")).expect("report.json");
    let cases: [&[(&str, &str)]; 6] = [
        &[("run.json", "{}"), ("report.json", "{}")],
        &[("run.json", "mine"), ("report.json", &report)],
        &[("run.json", &run), ("report.json", "mine")],
        &[(".onecopy/lock", "")],
        &[(".onecopy/run.json", &run)],
        &[(".onecopy/mine", ""), ("run.json", &run), ("report.json", &report)],
    ];
    for (number, files) in cases.iter().enumerate() {
        let out = folder.path().join(number.to_string());
        write_file(&out, "kept/x", "precious");
        files.iter().for_each(|(name, text)| drop(write_file(&out, name, text)));
        let before = state(&out);
        for flags in ["", "--overwrite"] {
            dedup(&input, &out).args(flags).fail(2).says(&["onecopy", "give an empty or a new folder"]);
            assert!(state(&out) == before, "{number} {flags}: the folder was touched");
        }
    }
    let empty = folder.path().join("empty");
    write_file(&empty, "kept/x", "precious");
    fs::create_dir(empty.join(".onecopy")).expect("a folder");
    dedup(&input, &empty).fail(2).says(&["not empty"]);
    assert_eq!(fs::read_to_string(empty.join("kept/x")).expect("it is there"), "precious");
}

#[test]
fn results_that_were_deleted_are_made_again() {
    let (folder, input, out) = prepared();
    let expected = folder.path().join("expected");
    dedup(&input, &expected).succeed();
    dedup(&input, &out).succeed();
    fs::remove_dir_all(out.join("kept")).expect("it is there");
    fs::remove_file(out.join("removed.jsonl")).expect("it is there");
    let again = dedup(&input, &out).succeed();
    again.says(&["kept and removed.jsonl", "cannot be found"]);
    assert!(!again.stdout.contains("nothing was repeated"), "{}", again.stdout);
    assert_same_answer(&out, &expected, "made again");
    // The change may be somebody's work.
    write_file(&out, "kept/mine.jsonl", "precious");
    let before = state(&out);
    dedup(&input, &out).fail(2).says(&["kept changed", "--overwrite", "give another folder"]);
    assert!(state(&out) == before, "the results were touched");
    dedup(&input, &out).arg("--overwrite").succeed();
    assert_same_answer(&out, &expected, "overwritten");
}

/// Replaces a field of the `run.json` in a folder.
pub fn set_in_run(folder: &Path, name: &str, value: serde_json::Value) {
    let path = folder.join("run.json");
    let text = fs::read_to_string(&path).expect("run.json");
    let mut run: serde_json::Value = serde_json::from_str(&text).expect("run.json is JSON");
    run[name] = value;
    fs::write(&path, run.to_string()).expect("it can be written");
}

#[test]
fn results_of_other_answers_are_not_taken_for_ours() {
    let (_folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    set_in_run(&out, "version", "0.0.9".into());
    let again = dedup(&input, &out).succeed();
    assert!(
        again.stdout.contains("nothing was repeated"),
        "a version that gives the same answers is no other"
    );
    set_in_run(&out, "answer_version", 0.into());
    let before = state(&out);
    dedup(&input, &out).fail(2).says(&["onecopy 0.0.9 made", "answers may differ", "--overwrite"]);
    let out_arg = || out.as_os_str().to_owned();
    let calls = [
        onecopy(["explain".into(), out_arg(), "a".into(), "b".into()]),
        onecopy(["compare".into(), "a".into(), "b".into(), "--run".into(), out_arg()]),
        onecopy(["mirrors".into(), out_arg()]),
    ];
    for call in calls {
        call.fail(1).says(&["onecopy 0.0.9 made", "answers may differ", "--overwrite"]);
    }
    assert!(state(&out) == before, "the results were touched");
    dedup(&input, &out).arg("--overwrite").succeed();
    dedup(&input, &out).succeed();
}

#[test]
fn a_description_that_cannot_be_read_is_not_overwritten() {
    let (_folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    set_in_run(&out, "limits", "of another kind".into());
    let before = state(&out);
    dedup(&input, &out).fail(2).says(&["made its results", "--overwrite"]);
    assert!(state(&out) == before, "the results were touched");
    dedup(&input, &out).arg("--overwrite").succeed();
}

#[test]
fn files_beside_the_results_are_left() {
    let (_folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    write_file(&out, "notes.txt", "precious");
    dedup(&input, &out).args("--threshold 0.9 --overwrite").succeed();
    assert_eq!(fs::read_to_string(out.join("notes.txt")).expect("the notes"), "precious");
    assert_eq!(report(&out)["threshold"], 0.9);
}

#[test]
fn a_run_never_replaces_its_own_input() {
    let (folder, input, out) = prepared();
    dedup(&input, &out).succeed();
    std::os::unix::fs::symlink(&out, folder.path().join("link")).expect("a link");
    std::os::unix::fs::symlink(out.join("kept/in.jsonl"), folder.path().join("linked.jsonl"))
        .expect("a link");
    write_file(&out, "mine.jsonl", record("mine", &topic("mine")));
    let before = state(&out);
    let inside = [
        "out",
        "out/kept",
        "out/kept/in.jsonl",
        "out/mine.jsonl",
        "out/kept/*.jsonl",
        "out/kept/../kept",
        "link/kept",
        "linked.jsonl",
        "link/k*",
    ];
    for path in inside {
        for flags in ["", "--overwrite", "--overwrite --lists-only"] {
            for name in ["out", "link", "out/../out"] {
                let call = dedup(&folder.path().join(path), &folder.path().join(name)).args(flags);
                call.fail(2).says(&["is in the output folder", "results never replace their input", "--out"]);
            }
        }
        assert!(state(&out) == before, "{path}: the folder was touched");
    }
    for name in ["in.jsonl", "link/kept/in.jsonl"] {
        let file = folder.path().join(name);
        dedup(&file, &file).fail(2).says(&["results never replace their input"]);
    }
    dedup(&input, &out.join("mine.jsonl")).fail(2).says(&["give an empty or a new folder"]);
    // An output folder inside an input folder is not read.
    let within = folder.path().join("data");
    write_records(&within, "in.jsonl", &[("a", &window(0))]);
    for _ in 0..2 {
        dedup(&within, &within.join("clean")).arg("--overwrite").succeed();
        assert_eq!(report(&within.join("clean"))["read"], 1);
    }
}

#[test]
fn two_runs_at_once_do_not_mix() {
    let (folder, input, out) = prepared();
    // A run that waits for standard input holds the lock of the folder.
    let mut first = onecopy(["dedup", "-", "--out"]).arg(&out).start();
    first.feed(record("first", &topic("first")).as_bytes());
    let begun = std::time::Instant::now();
    while !out.join(".onecopy/stdin").exists() {
        assert!(begun.elapsed().as_secs() < 60, "the first run does not begin");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    dedup(&input, &out).fail(2).says(&["another run is writing to it", "out"]);
    dedup(&input, &out).arg("--overwrite").fail(2).says(&["another run is writing to it"]);
    let first = first.finish();
    assert!(first.status.success(), "{}", first.stderr);
    assert_eq!(entries(&out), RESULTS);
    assert_eq!(fs::read_to_string(out.join("kept/stdin")).expect("kept"), record("first", &topic("first")));
    dedup(&input, &folder.path().join("elsewhere")).succeed();
}

#[test]
fn a_call_that_cannot_work_leaves_no_folder_behind() {
    let (folder, _, out) = prepared();
    dedup(&folder.path().join("absent.jsonl"), &out).fail(1);
    assert!(!out.exists(), "left behind: {:?}", files_below(&out));
    dedup(&folder.path().join("in.jsonl"), &out).args("--threshold 7").fail(2);
    assert!(!out.exists(), "left behind: {:?}", files_below(&out));
}
