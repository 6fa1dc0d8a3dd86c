//! pywb replays kept archives over HTTP as it replays the given ones: `replay.py` writes, indexes, serves and compares.
//!
//! pywb is installed once below the target folder. Without Python or a network the test says so and passes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::tempdir;

use crate::program::dedup;
use crate::python::{Python, run};

const PACKAGES: [&str; 3] = ["pywb==2.10.0", "warcio==1.8.1", "fastwarc==1.1.0"];
/// The time limit of a script, which starts a server.
const REPLAYING: Duration = Duration::from_secs(120);

#[test]
fn kept_archives_replay_as_the_given_ones() {
    let python = match Python::with(&PACKAGES, "pywb.apps.cli, warcio, fastwarc") {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: {} cannot be installed: {reason}", PACKAGES.join(", "));
            return;
        }
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/replay.py");
    let folder = tempdir().expect("a folder");
    let given = folder.path().join("given");
    fs::create_dir(&given).expect("a folder");
    let ask = |command: &mut Command| run(command, REPLAYING).unwrap_or_else(|error| panic!("{error}"));
    ask(python.command().arg(&script).arg("write").arg(&given));
    for (case, flags) in [
        ("revisit", ""),
        ("all", "--payloads all"),
        ("revisit-or-leave-out", "--removed-records revisit-or-leave-out"),
        ("leave-out", "--removed-records leave-out"),
    ] {
        let out = folder.path().join(case);
        dedup(&given, &out).args("--winner short-url --cdxj --quiet").args(flags).succeed();
        ask(python.command().arg(&script).arg("check").arg(&given).arg(&out).arg(case));
    }
}
