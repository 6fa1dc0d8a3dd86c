//! `onecopy-bench hamming`: measures the search for sketches that differ in few bits, on one core.
//!
//! The sketches are random, with planted near ones, so that misses can be counted. Each search runs in its own process.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::peers::install::example_program;
use crate::peers::machine::Machine;
use crate::table::{Table, count, megabytes};

/// Measures the search for sketches that differ in few bits: all pairs, and those of one sketch.
#[derive(clap::Args)]
#[command(after_help = "Example:
  onecopy-bench hamming --markdown")]
pub struct Args {
    /// Number of 64-bit sketches, which are searched within 3 bits
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1000..))]
    narrow: u32,
    /// Number of 384-bit sketches, which are searched within 12 bits
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1000..))]
    wide: u32,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

/// The search methods and their descriptions.
const WAYS: [(&str, &str); 8] = [
    ("tables", "64 bits, all pairs, tables"),
    ("rotate", "64 bits, all pairs, 64 rotations, 4 neighbours"),
    ("rotate-adjacent", "64 bits, all pairs, 16 rotations, 1 neighbour"),
    ("index", "64 bits, one query, index"),
    ("scan", "64 bits, one query, scan"),
    ("wide-tables", "384 bits, all pairs, 13 subsketches"),
    ("wide-index", "384 bits, one query, index"),
    ("wide-scan", "384 bits, one query, scan"),
];

/// The results and cost of a search method.
#[derive(Deserialize)]
struct Outcome {
    planted: u64,
    recovered: u64,
    build_seconds: Option<f64>,
    find_seconds: Option<f64>,
    query_seconds: Option<f64>,
    peak_bytes: u64,
    sketch_bytes: u64,
}

pub fn run(args: &Args) -> Result<()> {
    let program = example_program("hamming")?;
    let mut table = Table::new(&[
        "search",
        "sketches",
        "build s",
        "all pairs s",
        "a query µs",
        "recall",
        "peak MB",
        "sketches MB",
    ]);
    for (way, title) in WAYS {
        let sketches = if way.starts_with("wide") { args.wide } else { args.narrow };
        eprintln!("{title} ...");
        let outcome = measure(&program, way, sketches)?;
        let figure = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
        table.push(vec![
            title.to_owned(),
            count(u64::from(sketches)),
            figure(outcome.build_seconds),
            figure(outcome.find_seconds),
            figure(outcome.query_seconds.map(|seconds| seconds * 1e6)),
            format!("{:.5}", outcome.recovered as f64 / outcome.planted.max(1) as f64),
            megabytes(outcome.peak_bytes),
            megabytes(outcome.sketch_bytes),
        ]);
    }
    println!("{}; CPU time on one core\n", Machine::this().line());
    println!("{}", if args.markdown { table.markdown() } else { table.aligned() });
    Ok(())
}

fn measure(program: &Path, way: &str, sketches: u32) -> Result<Outcome> {
    let output = Command::new(program).arg(way).arg("--count").arg(sketches.to_string()).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{way} failed: {}", said.lines().last().unwrap_or("it said nothing"));
    serde_json::from_slice(&output.stdout).with_context(|| format!("{way} wrote no figures"))
}
