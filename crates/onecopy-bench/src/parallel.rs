//! `onecopy-bench parallel`: how many cores a run can use, and what more threads cost.
//!
//! Each stage has a part in which one thread works, or none. Further cores shorten only the rest (Amdahl, 1967).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::available_parallelism;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::generate::{given_or_generated, parse_count};
use crate::measure;
use crate::peers;
use crate::table::Table;

/// Computes what more cores would give, from runs on this machine.
///
/// Runs `onecopy dedup` with one thread, with one for each core, and with many. The times of the stages in `report.json`
/// say how long one thread worked alone. The least of a few runs counts: other programs only add to it. The disk counts as
/// one thread, so use a folder in memory to see the program alone.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench parallel --work /dev/shm/onecopy
  onecopy-bench parallel --input pages.jsonl --memory 4G --threads 32")]
pub struct Args {
    /// Pages, in any format that onecopy reads; by default generated ones
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The number of generated pages
    #[arg(long, default_value = "100k", value_parser = parse_count)]
    pages: u64,
    /// How many threads are many
    #[arg(long, default_value_t = 16)]
    threads: usize,
    /// How often each number of threads is run
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The memory limit given to onecopy
    #[arg(long, default_value = "2G")]
    memory: String,
    /// A folder for corpora and outputs
    #[arg(long, default_value = measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

/// The numbers of cores that are computed.
const CORES: [usize; 4] = [2, 8, 16, 64];

/// The part of `report.json` that is read.
#[derive(Deserialize)]
struct Report {
    cpu_seconds: f64,
    stages: Vec<StageTime>,
}

#[derive(Clone, Debug, Deserialize)]
struct StageTime {
    stage: String,
    seconds: f64,
    cpu_seconds: f64,
}

/// A stage: its time with one thread, and the part of it in which further threads do not help.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    stage: String,
    seconds: f64,
    alone: f64,
}

impl Part {
    /// From runs with one thread, and runs with as many threads as cores.
    fn of(stage: &str, one: &[&StageTime], all: &[&StageTime], cores: usize) -> Part {
        let cores = cores as f64;
        let alone = all.iter().map(|all| (cores * all.seconds - all.cpu_seconds) / (cores - 1.0));
        let seconds = one.iter().map(|one| one.seconds).fold(f64::INFINITY, f64::min);
        let alone = alone.fold(seconds, f64::min).max(0.0);
        Part { stage: stage.into(), seconds, alone }
    }

    /// Its time on so many cores.
    fn on(&self, cores: usize) -> f64 {
        self.alone + (self.seconds - self.alone) / cores as f64
    }
}

pub fn run(args: &Args) -> Result<()> {
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    ensure!(cores > 1, "this machine has one core, so no run can show what a second would do");
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let program = peers::onecopy(args.onecopy.as_deref())?;
    let input = given_or_generated(args.input.as_deref(), args.pages, &args.work, "parallel.jsonl")?;
    let (mut one, mut all, mut many) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..args.runs {
        for (threads, reports) in [(1, &mut one), (cores, &mut all), (args.threads, &mut many)] {
            reports.push(report(args, &program, &input, threads)?);
        }
    }
    print!("{}", table(&parts(&one, &all, cores)).aligned());
    let least = |reports: &[Report]| reports.iter().map(|it| it.cpu_seconds).fold(f64::INFINITY, f64::min);
    let (one, many) = (least(&one), least(&many));
    println!(
        "CPU: {one:.2} s with 1 thread, {many:.2} s with {} threads on {cores} cores: {:+.1} % (goal: at most +10 %)",
        args.threads,
        100.0 * (many / one - 1.0),
    );
    Ok(())
}

/// Runs the program and reads its report.
fn report(args: &Args, program: &Path, input: &Path, threads: usize) -> Result<Report> {
    let out = args.work.join("parallel-out");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let mut command = Command::new(program);
    command.arg("dedup").arg(input).arg("--out").arg(&out).args(["--memory", &args.memory, "--quiet"]);
    command.arg("--threads").arg(threads.to_string());
    measure::run(&command, &args.work.join("parallel.log"))?;
    let text = fs::read_to_string(out.join("report.json")).context("the run left no report")?;
    serde_json::from_str(&text).context("report.json has no stages")
}

/// The stages that all runs have.
fn parts(one: &[Report], all: &[Report], cores: usize) -> Vec<Part> {
    let names = one.iter().take(1).flat_map(|report| &report.stages).map(|stage| &*stage.stage);
    let parts =
        names.filter_map(|name| Some(Part::of(name, &of_all(one, name)?, &of_all(all, name)?, cores)));
    parts.collect()
}

/// A stage of all reports, unless one lacks it.
fn of_all<'r>(reports: &'r [Report], stage: &str) -> Option<Vec<&'r StageTime>> {
    reports.iter().map(|report| report.stages.iter().find(|it| it.stage == stage)).collect()
}

fn table(parts: &[Part]) -> Table {
    let mut header = vec!["stage".to_owned(), "1 thread s".into(), "alone s".into(), "alone %".into()];
    header.extend(CORES.map(|cores| format!("{cores} cores s")));
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    let sum = |of: &dyn Fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
    let whole =
        Part { stage: "all".into(), seconds: sum(&|part| part.seconds), alone: sum(&|part| part.alone) };
    for part in parts.iter().chain([&whole]) {
        let share = 100.0 * part.alone / part.seconds.max(f64::MIN_POSITIVE);
        let mut row = vec![part.stage.clone()];
        row.extend([part.seconds, part.alone].map(|seconds| format!("{seconds:.2}")));
        row.push(format!("{share:.1}"));
        row.extend(CORES.map(|cores| format!("{:.2}", part.on(cores))));
        table.push(row);
    }
    let mut row = vec!["times as fast".into(), String::new(), String::new(), String::new()];
    row.extend(CORES.map(|cores| format!("{:.1}", whole.seconds / whole.on(cores).max(f64::MIN_POSITIVE))));
    table.push(row);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(stage: &str, seconds: f64, cpu_seconds: f64) -> StageTime {
        StageTime { stage: stage.into(), seconds, cpu_seconds }
    }

    #[test]
    fn only_what_is_shared_gets_faster() {
        let of = |one: StageTime, all: StageTime| Part::of(&one.stage, &[&one], &[&all], 2);
        // Three of ten seconds alone, and seven on two cores.
        let part = of(time("settle", 10.0, 10.0), time("settle", 6.5, 10.0));
        assert_eq!(part, Part { stage: "settle".into(), seconds: 10.0, alone: 3.0 });
        assert_eq!((part.on(1), part.on(7)), (10.0, 4.0));
        // Waiting cannot be more than all, and noise cannot be less than nothing.
        assert_eq!(of(time("rank", 1.0, 1.0), time("rank", 9.0, 0.1)).alone, 1.0);
        assert_eq!(of(time("read", 1.0, 1.0), time("read", 0.4, 1.0)).alone, 0.0);
        // The run counts that others disturbed least.
        let (one, all) =
            ([time("rank", 5.0, 4.0), time("rank", 4.0, 4.0)], [(3.0, 4.0), (2.5, 4.0), (4.0, 4.1)]);
        let all = all.map(|(seconds, cpu)| time("rank", seconds, cpu));
        let part = Part::of("rank", &one.each_ref(), &all.each_ref(), 2);
        assert_eq!((part.seconds, part.alone), (4.0, 1.0));
    }

    #[test]
    fn stages_are_added() {
        let report = |stages: Vec<StageTime>| Report { cpu_seconds: 0.0, stages };
        let one = report(vec![time("read", 8.0, 8.0), time("rank", 2.0, 2.0), time("gone", 1.0, 1.0)]);
        let all = report(vec![time("rank", 2.0, 2.0), time("read", 4.0, 8.0)]);
        let text = table(&parts(&[one], &[all], 2)).aligned();
        let last: Vec<&str> = text.lines().rev().take(2).collect();
        assert_eq!(
            last[1].split_whitespace().collect::<Vec<_>>(),
            ["all", "10.00", "2.00", "20.0", "6.00", "3.00", "2.50", "2.12"]
        );
        assert!(last[0].split_whitespace().skip(3).eq(["1.7", "3.3", "4.0", "4.7"]), "{text}");
    }
}
