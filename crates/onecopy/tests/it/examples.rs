//! Runs the main job on the examples: it prints the output shown in the README, and finds what the examples' README
//! says.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::tempdir;

use crate::program::dedup;
use crate::results::report;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("a README")
}

#[test]
fn the_readmes_tell_what_the_main_job_does() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("onecopy-out");
    let printed = dedup(&root().join("examples/crawl"), &out).succeed().stdout;
    // The time and memory that follow differ between runs.
    let (summary, _) = printed.trim_end().rsplit_once("\n\n").expect("a summary, and what it took");
    assert!(readme("README.md").contains(summary), "the README shows something else:\n{summary}");
    let report = report(&out);
    let (exact, near) = (&report["kinds"]["exact"], &report["kinds"]["near"]);
    let (removed, kept, rejected) = (&report["removed"], &report["kept"], &report["rejected"]);
    let told = readme("examples/README.md").replace('\n', " ");
    assert!(told.contains(&format!("{removed} are removed ({exact} exact, {near} near; ")), "{report}");
    assert!(told.contains(&format!("{kept} are kept, {rejected} are rejected")), "{report}");
}
