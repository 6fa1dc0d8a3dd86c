//! Other people's readers of WARC and Parquet find in kept files what they should: `readers.py` asks them.
//!
//! They are installed below the target folder, once. Where there is no Python or no network the test says so and
//! passes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::program::dedup;

const PACKAGES: [&str; 3] = ["warcio==1.8.1", "fastwarc==1.1.0", "pyarrow==26.0.1"];
const INSTALLING: Duration = Duration::from_secs(120);
const RUNNING: Duration = Duration::from_secs(60);

/// Runs a command, at most so long. What it says goes to standard error only if it fails.
fn run(command: &mut Command, limit: Duration) -> Result<(), String> {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let to_log = || Stdio::from(log.reopen().expect("a file"));
    let begun = Instant::now();
    let named = format!("{command:?}");
    let child = command.stdin(Stdio::null()).stdout(to_log()).stderr(to_log()).spawn();
    let mut child = child.map_err(|error| format!("{named}: {error}"))?;
    while begun.elapsed() < limit {
        match child.try_wait().expect("the command is ours to wait for") {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let said = fs::read_to_string(log.path()).unwrap_or_default();
                return Err(format!("{named}: {status}\n{said}"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("{named}: not finished within {limit:?}"))
}

/// A Python that has the readers, and the folder that it must look for them in, if it must.
struct Python {
    program: PathBuf,
    packages: Option<PathBuf>,
}

impl Python {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(folder) = &self.packages {
            command.env("PYTHONPATH", folder);
        }
        command
    }

    /// Finds the readers of an earlier run, or installs them.
    fn with_readers() -> Result<Python, String> {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PACKAGES.join("-").replace("==", "-"));
        let own = Python { program: home.join("bin/python"), packages: None };
        let borrowed = Python { program: "python3".into(), packages: Some(home.join("packages")) };
        let has = |python: &Python| {
            run(python.command().args(["-c", "import warcio, fastwarc, pyarrow"]), RUNNING).is_ok()
        };
        if has(&own) {
            return Ok(own);
        } else if has(&borrowed) {
            return Ok(borrowed);
        }
        let wanted = [
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "--retries",
            "1",
            "--timeout",
            "20",
        ];
        if run(Command::new("python3").args(["-m", "venv"]).arg(&home), INSTALLING).is_ok() {
            run(own.command().args(wanted).args(PACKAGES), INSTALLING)?;
            return Ok(own);
        }
        let target = home.join("packages");
        run(Command::new("python3").args(wanted).arg("--target").arg(&target).args(PACKAGES), INSTALLING)?;
        Ok(borrowed)
    }
}

#[test]
fn other_readers_find_what_was_kept() {
    let python = match Python::with_readers() {
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
