//! `onecopy-bench child`, hidden: runs one program and records the cost of it and all its descendants.
//!
//! Waiting for the program alone would miss its orphans. Python's fork server, for example, outlives the program that
//! started it, and the usage of all workers is charged to it. So this process becomes the subreaper of orphans and
//! waits for all of them.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

use super::{Cost, seconds};

/// How long orphans may take to notice that their program has ended.
const PATIENCE: Duration = Duration::from_secs(20);

/// The exit code for an exceeded time limit, as in timeout(1).
pub const OUT_OF_TIME: i32 = 124;

/// Linux reports resident memory in KiB, the BSDs and macOS in bytes.
const RSS_UNIT: u64 = if cfg!(target_os = "linux") { 1024 } else { 1 };

/// Runs a program and writes its cost as JSON.
#[derive(clap::Args)]
pub struct Args {
    /// Where to write the cost
    #[arg(long)]
    report: PathBuf,
    /// End the program after this many seconds, with exit code 124
    #[arg(long)]
    limit: Option<f64>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub fn run(args: &Args) -> Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true).context("cannot adopt orphans")?;
    let (program, rest) = args.command.split_first().context("no program to run")?;
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(rest)
        .spawn()
        .with_context(|| format!("cannot start {}", program.to_string_lossy()))?;
    if let Some(limit) = args.limit
        && !ends_within(&mut child, limit)?
    {
        // Kills it, since a graceful stop may take long.
        child.kill().and_then(|()| child.wait()).context("cannot end the program")?;
        std::process::exit(OUT_OF_TIME);
    }
    let status = child.wait().context("cannot wait for the program")?;
    let wall_seconds = started.elapsed().as_secs_f64();
    if let Some(signal) = status.signal() {
        eprintln!("killed by signal {signal}");
    }
    if !status.success() {
        std::process::exit(status.code().unwrap_or(1));
    }
    ensure!(wait_for_orphans()?, "it left processes running, so its cost is not known");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cost = Cost {
        cpu_seconds: seconds(usage.user_time()) + seconds(usage.system_time()),
        system_seconds: seconds(usage.system_time()),
        wall_seconds,
        peak_bytes: u64::try_from(usage.max_rss()).unwrap_or(0) * RSS_UNIT,
    };
    std::fs::write(&args.report, serde_json::to_string(&cost)?)
        .with_context(|| format!("cannot write {}", args.report.display()))
}

/// Whether the program ends by itself within `limit` seconds.
fn ends_within(child: &mut Child, limit: f64) -> Result<bool> {
    let started = Instant::now();
    while started.elapsed().as_secs_f64() < limit {
        if child.try_wait().context("cannot wait for the program")?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

/// Whether all descendants have ended; false if they took too long.
fn wait_for_orphans() -> Result<bool> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return Ok(true),
            Ok(WaitStatus::StillAlive) => std::thread::sleep(Duration::from_millis(5)),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).context("cannot wait for orphans"),
        }
    }
    Ok(false)
}
