//! Third-party Python packages, installed once below the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const INSTALLING: Duration = Duration::from_secs(300);
/// The time limit of a test script.
pub const RUNNING: Duration = Duration::from_secs(60);

/// Runs a command with a time limit. Its output goes to standard error only if it fails.
pub fn run(command: &mut Command, limit: Duration) -> Result<(), String> {
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

/// A Python with packages, and the folder to look for them in, if needed.
pub struct Python {
    program: PathBuf,
    packages: Option<PathBuf>,
}

impl Python {
    /// A call of it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(folder) = &self.packages {
            command.env("PYTHONPATH", folder);
        }
        command
    }

    /// A call of it that also finds the packages in `site`.
    pub fn beside(&self, site: &Path) -> Command {
        let mut command = self.command();
        let all = [Some(site.to_owned()), self.packages.clone()].into_iter().flatten();
        command.env("PYTHONPATH", std::env::join_paths(all).expect("paths without colons"));
        command
    }

    /// Finds the packages of an earlier run, or installs them.
    pub fn with(packages: &[&str], imports: &str) -> Result<Python, String> {
        // Two tests may want the same packages.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(packages.join("-").replace("==", "-"));
        let own = Python { program: home.join("bin/python"), packages: None };
        let borrowed = Python { program: "python3".into(), packages: Some(home.join("packages")) };
        let import = format!("import {imports}");
        let has = |python: &Python| run(python.command().args(["-c", &import]), RUNNING).is_ok();
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
            // Python compiles the few modules that a test imports. All of them would take a minute.
            "--no-compile",
            "--retries",
            "1",
            "--timeout",
            "20",
        ];
        if run(Command::new("python3").args(["-m", "venv"]).arg(&home), INSTALLING).is_ok() {
            run(own.command().args(wanted).args(packages), INSTALLING)?;
            return Ok(own);
        }
        let target = home.join("packages");
        run(Command::new("python3").args(wanted).arg("--target").arg(&target).args(packages), INSTALLING)?;
        Ok(borrowed)
    }
}
