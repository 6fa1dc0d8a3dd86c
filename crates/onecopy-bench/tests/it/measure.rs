//! Measures the cost of runs. These tests start processes, so they need the real program.

use crate::bench;

/// A shell loop that takes a measurable time.
const BURN: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

/// Runs a line of shell. Returns its CPU seconds, wall seconds and peak bytes.
fn cost(script: &str) -> [f64; 3] {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = folder.path().join("cost.json");
    let path = report.to_str().expect("a path in UTF-8");
    let output = bench(&["child", "--report", path, "--", "sh", "-c", script]);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&report).expect("the report was written");
    let cost: serde_json::Value = serde_json::from_str(&text).expect("the report is JSON");
    ["cpu_seconds", "wall_seconds", "peak_bytes"].map(|field| cost[field].as_f64().expect("a number"))
}

#[test]
fn a_run_costs_time_and_memory() {
    let [cpu, wall, peak] = cost(BURN);
    assert!(cpu > 0.02 && wall > 0.02 && peak > 100_000.0, "{cpu} {wall} {peak}");
}

#[test]
#[cfg(target_os = "linux")]
fn orphans_are_paid_for() {
    let [idle, ..] = cost("exit 0");
    let [cpu, ..] = cost(&format!("(sh -c '{BURN}' &) ; exit 0"));
    assert!(cpu > idle + 0.02, "{cpu} {idle}");
}

#[test]
fn a_failure_keeps_its_exit_code() {
    let output = bench(&["child", "--report", "unused", "--", "sh", "-c", "echo no disk >&2; exit 3"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "no disk\n");
}

#[test]
fn a_program_that_takes_too_long_is_ended() {
    let started = std::time::Instant::now();
    let output = bench(&["child", "--report", "unused", "--limit", "0.05", "--", "sleep", "60"]);
    assert_eq!(output.status.code(), Some(124));
    assert!(started.elapsed().as_secs() < 30);
}
