//! Rules on committed files: no large ones, no third-party data, and no leftovers of a run.

use std::fs;
use std::process::Command;

use super::{caught, file_name, list, report, root};

/// The largest file, in bytes.
const FILE_BYTES: u64 = 1_000_000;
/// Folders that tools create, which are never committed.
const MADE: &[&str] = &["bench-work", "onecopy-out", "target"];
/// Extensions of data files: pages, tables, archives, databases.
const DATA: &str = "arc arrow avro bin bz2 csv db feather gz jsonl ndjson npy parquet redb sqlite tar tgz tsv warc wet xz zip zst";
/// Folders with data that the project wrote, and the size limit of each in bytes.
const OWN_DATA: &[(&str, u64)] = &[
    ("corpora/", 256 << 10),
    ("crates/onecopy-bench/labels/", 64 << 10),
    ("crates/onecopy-engine/tests/", 256 << 10),
    ("crates/onecopy-store/tests/", 512 << 10),
    ("crates/onecopy/tests/it/", 64 << 10),
    ("examples/crawl/", 64 << 10),
    ("fuzz/seeds/", 256 << 10),
];

/// A committed file: its path relative to the root, and its size in bytes.
struct Committed {
    path: String,
    bytes: u64,
}

/// The files that git knows; without git, all files except hidden and generated ones.
fn committed() -> Vec<Committed> {
    let size = |path: String| {
        let bytes = fs::symlink_metadata(root().join(&path)).ok()?.len();
        Some(Committed { path, bytes })
    };
    let files: Vec<Committed> = known_to_git().unwrap_or_else(walked).into_iter().filter_map(size).collect();
    assert!(files.len() > 100, "only {} files: is the root right?", files.len());
    files
}

fn known_to_git() -> Option<Vec<String>> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().ok()?;
    let names = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let names: Vec<String> = names.split_terminator('\0').map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}

fn walked() -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![String::new()]);
    while let Some(folder) = open.pop() {
        for entry in list(&root().join(&folder)) {
            let name = file_name(&entry);
            let path = format!("{folder}{name}");
            if name.starts_with('.') || MADE.contains(&name.as_str()) || entry.is_symlink() {
                continue;
            } else if entry.is_dir() {
                open.push(path + "/");
            } else {
                found.push(path);
            }
        }
    }
    found
}

fn large_file(file: &Committed) -> Option<String> {
    let what = format!("{} bytes, the limit is {FILE_BYTES}: keep data out of the repository", file.bytes);
    (file.bytes > FILE_BYTES).then(|| format!("{}:1: {what}", file.path))
}

fn made_by_a_tool(file: &Committed) -> Option<String> {
    let mut folders = file.path.split('/').rev().skip(1);
    let made = folders.find(|folder| MADE.contains(folder))?;
    Some(format!("{}:1: `{made}` is made by a tool: remove it with `git rm -r --cached`", file.path))
}

fn is_data(file: &Committed) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or_default().to_lowercase();
    name.rsplit_once('.').is_some_and(|(_, ending)| DATA.split(' ').any(|data| data == ending))
}

fn foreign_data(files: &[Committed]) -> Vec<String> {
    let data: Vec<&Committed> = files.iter().filter(|file| is_data(file)).collect();
    let is_own = |file: &&&Committed| OWN_DATA.iter().any(|(folder, _)| file.path.starts_with(folder));
    let elsewhere = data.iter().filter(|file| !is_own(file));
    let what = "data outside the folders of OWN_DATA in tidy/committed.rs: commit only data that we wrote";
    let mut offences: Vec<String> = elsewhere.map(|file| format!("{}:1: {what}", file.path)).collect();
    for (folder, limit) in OWN_DATA {
        let bytes: u64 =
            data.iter().filter(|file| file.path.starts_with(folder)).map(|file| file.bytes).sum();
        let what = format!("{bytes} bytes of data, the limit is {limit}");
        offences.extend((bytes > *limit).then(|| format!("{folder}:1: {what}")));
    }
    offences
}

// The checks over the repository.

#[test]
fn committed_files_are_small() {
    report(committed().iter().filter_map(large_file).collect());
}

#[test]
fn nothing_that_a_tool_made_is_committed() {
    report(committed().iter().filter_map(made_by_a_tool).collect());
}

#[test]
fn committed_data_is_our_own() {
    report(foreign_data(&committed()));
}

#[test]
fn without_git_the_same_files_are_found() {
    let Some(mut known) = known_to_git() else { return };
    let found = walked();
    let is_file = |path: &str| root().join(path).is_file() && !root().join(path).is_symlink();
    known.retain(|path| !path.starts_with('.') && !path.contains("/.") && is_file(path));
    let missing: Vec<&String> = known.iter().filter(|path| !found.contains(path)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

// Each check catches an offence.

fn file(path: &str, bytes: u64) -> Committed {
    Committed { path: path.to_owned(), bytes }
}

#[test]
fn catches_a_large_file() {
    caught(large_file(&file("docs/a.svg", FILE_BYTES)), &[]);
    caught(large_file(&file("docs/a.svg", FILE_BYTES + 1)), &["docs/a.svg:1: 1000001 bytes"]);
}

#[test]
fn catches_what_a_tool_made() {
    let made = ["bench-work/a.md", "fuzz/target/a.rs"];
    caught(made.iter().filter_map(|path| made_by_a_tool(&file(path, 1))), &made);
    caught(
        ["docs/target", "docs/bench-work.md"].iter().filter_map(|path| made_by_a_tool(&file(path, 1))),
        &[],
    );
}

#[test]
fn catches_data_of_others() {
    let good = [file("examples/crawl/a.jsonl.gz", 9), file("crates/a/src/warc.rs", 9), file("docs/a.md", 9)];
    caught(foreign_data(&good), &[]);
    let bad =
        [file("docs/a.WARC.gz", 9), file("pages.jsonl", 9), file("examples/crawl/a.zst", (64 << 10) + 1)];
    caught(
        foreign_data(&bad),
        &["docs/a.WARC.gz:1: data", "pages.jsonl:1: data", "examples/crawl/:1: 65537 bytes"],
    );
}
