//! Runs a program and measures its cost: CPU time, wall time and peak memory.

pub mod child;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

/// The default folder for outputs. Git ignores `target/`, so other people's pages stay out of commits.
pub const WORK: &str = "target/bench-work";

/// The cost of a run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Cost {
    /// User and system time of the program and all its descendants.
    pub cpu_seconds: f64,
    /// The system time within it: reading, writing, allocating memory.
    #[serde(default)]
    pub system_seconds: f64,
    /// From start to end.
    pub wall_seconds: f64,
    /// The largest resident set of any one of these processes.
    pub peak_bytes: u64,
}

/// Runs `command` to its end. Its output goes to `log`, whose last lines explain a failure.
///
/// The command runs under a copy of this program (see [`child`]): only a common ancestor can separate the descendants
/// of one run from those of another.
pub fn run(command: &Command, log: &Path) -> Result<Cost> {
    let name = command.get_program().to_string_lossy();
    wrapped(command, log, None)?
        .with_context(|| format!("{name} ended with exit code {}", child::OUT_OF_TIME))
}

/// Like [`run`], but kills the command after `limit` and then returns `None`.
pub fn run_within(command: &Command, log: &Path, limit: Duration) -> Result<Option<Cost>> {
    wrapped(command, log, Some(limit))
}

fn wrapped(command: &Command, log: &Path, limit: Option<Duration>) -> Result<Option<Cost>> {
    let report = log.with_extension("cost.json");
    let output = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
    let itself = std::env::current_exe().context("cannot find this program")?;
    let mut wrapper = Command::new(itself);
    wrapper.arg("child").arg("--report").arg(&report);
    if let Some(limit) = limit {
        wrapper.arg("--limit").arg(limit.as_secs_f64().to_string());
    }
    wrapper.arg("--");
    wrapper.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapper.env(name, value),
            None => wrapper.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        wrapper.current_dir(folder);
    }
    wrapper.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let name = command.get_program().to_string_lossy();
    let status = wrapper.status().with_context(|| format!("cannot start {name}"))?;
    if status.code() == Some(child::OUT_OF_TIME) {
        return Ok(None);
    }
    if !status.success() {
        bail!("{name} ended with {status}: {}", last_lines(log));
    }
    let text =
        std::fs::read_to_string(&report).with_context(|| format!("cannot read {}", report.display()))?;
    std::fs::remove_file(&report)?;
    serde_json::from_str(&text).map(Some).context("the cost of a run cannot be read")
}

/// The run with the least CPU time: on a shared machine the others include disturbances.
pub fn best(costs: impl IntoIterator<Item = Cost>) -> Option<Cost> {
    costs.into_iter().min_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds))
}

/// CPU seconds of this process, over all its threads.
pub fn own_cpu_seconds() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).context("cannot tell the processor time")?;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

fn seconds(time: TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).rev().take(2).collect();
    lines.reverse();
    lines.join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_run_is_the_cheapest() {
        let cost = |cpu_seconds| Cost { cpu_seconds, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 1 };
        assert_eq!(best([cost(2.0), cost(1.0), cost(3.0)]), Some(cost(1.0)));
        assert_eq!(best([]), None);
    }

    #[test]
    fn work_takes_processor_time() {
        let before = own_cpu_seconds().unwrap();
        while own_cpu_seconds().unwrap() <= before {}
    }

    #[test]
    fn a_failure_is_explained_by_the_end_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(last_lines(&log), "two / three");
        assert_eq!(last_lines(&folder.path().join("none")), "");
    }
}
