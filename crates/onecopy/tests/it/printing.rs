//! A result that standard output does not take is an error: of a full disk with a message, of a closed pipe without.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::tempdir;

use crate::pages::{topic, write_file, write_records};
use crate::program::{dedup, onecopy};

/// Every command that prints a result, with the files that [`prepare`] makes.
const CALLS: [&str; 24] = [
    "--help",
    "--version",
    "dedup --help",
    "help export",
    "dedup in.jsonl --out new",
    "dedup in.jsonl --out new --json",
    "dedup in.jsonl --out done",
    "explain done a b",
    "explain done a b --json",
    "compare a.txt b.txt",
    "compare a.txt b.txt --json",
    "rules",
    "mirrors sites",
    "mirrors sites --json",
    "eval set --quiet",
    "import in.jsonl --data more",
    "export --data pages --quiet",
    "status --data pages",
    "status --data pages a",
    "groups --data pages",
    "check --data pages",
    "methods",
    "completions bash",
    "man dedup",
];

fn prepare(folder: &Path) {
    let texts = [topic("a"), topic("b")];
    write_records(folder, "in.jsonl", &[("a", &texts[0]), ("b", &texts[1])]);
    for (name, text) in [("a.txt", &texts[0]), ("b.txt", &texts[1])] {
        write_file(folder, name, text);
    }
    write_records(folder, "set/docs.jsonl", &[("a", &texts[0]), ("b", &texts[1])]);
    write_file(folder, "set/pairs.csv", "id1,id2,label\na,b,1\n");
    let site = format!("{{\"url\":\"http://a.example/\",\"text\":\"{}\"}}\n", texts[0]);
    dedup(&write_file(folder, "sites.jsonl", site), &folder.join("sites")).succeed();
    dedup(&folder.join("in.jsonl"), &folder.join("done")).succeed();
    onecopy(["import", "in.jsonl", "--data", "pages", "--quiet"]).within(folder).succeed();
}

/// Runs every command with an output that takes nothing.
fn check(output: impl Fn() -> Stdio, message: Option<&str>) {
    let folder = tempdir().expect("a folder");
    prepare(folder.path());
    for call in CALLS {
        let failed = onecopy(call.split(' ')).within(folder.path()).stdout(output()).fail(1);
        match message {
            Some(message) => failed.says(&["onecopy: cannot write to standard output", message]),
            None => assert!(!failed.stderr.contains("onecopy:"), "{call}: {}", failed.stderr),
        }
        let _ = std::fs::remove_dir_all(folder.path().join("new"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_standard_output_is_an_error() {
    let full = || OpenOptions::new().write(true).open("/dev/full").expect("Linux has a full device").into();
    check(full, Some("No space left"));
}

#[test]
fn a_closed_pipe_behind_standard_output_is_an_error() {
    check(|| std::io::pipe().expect("a pipe").1.into(), None);
}

/// Progress, warnings and failures have no reader. The work is done all the same, and the exit status tells.
#[test]
fn a_closed_pipe_behind_standard_error_ends_no_run() {
    let folder = tempdir().expect("a folder");
    prepare(folder.path());
    let closed = || std::io::pipe().expect("a pipe").1;
    for (call, code) in [
        ("dedup in.jsonl --out new", 0),
        ("dedup in.jsonl gone.jsonl.gz --out other", 1),
        ("import in.jsonl --data more", 0),
        ("export --data pages", 0),
        ("status --data nowhere", 1),
        ("dedup in.jsonl --out - --json", 1),
    ] {
        let program = Command::new(env!("CARGO_BIN_EXE_onecopy"))
            .args(call.split(' '))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(closed())
            .status();
        assert_eq!(program.expect("the program starts").code(), Some(code), "{call}");
    }
    assert!(folder.path().join("new/report.json").exists());
}
