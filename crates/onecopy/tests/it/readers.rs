//! Third-party readers of WARC and Parquet read kept files correctly: `readers.py` runs them.
//!
//! They are installed once below the target folder. Without Python or a network the test says so and passes.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::program::dedup;
use crate::python::{Python, RUNNING, run};

const PACKAGES: [&str; 3] = ["warcio==1.8.1", "fastwarc==1.1.0", "pyarrow==26.0.1"];

#[test]
fn other_readers_find_what_was_kept() {
    let python = match Python::with(&PACKAGES, "warcio, fastwarc, pyarrow") {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: {} cannot be installed: {reason}", PACKAGES.join(", "));
            return;
        }
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/readers.py");
    let folder = tempdir().expect("a folder");
    let (given, out) = (folder.path().join("given"), folder.path().join("out"));
    fs::create_dir(&given).expect("a folder");
    let ask = |command: &mut Command| run(command, RUNNING).unwrap_or_else(|error| panic!("{error}"));
    ask(python.command().arg(&script).arg("write").arg(&given));
    dedup(&given, &out).args("--winner short-url --quiet").succeed();
    ask(python.command().arg(&script).arg("check").arg(&given).arg(&out));
}
