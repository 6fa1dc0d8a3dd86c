//! `onecopy-bench scale`: measures how onecopy's cost grows with the number of pages, at a fixed memory limit.
//!
//! Generated corpora have the same share of copies at every size, so superlinear growth comes from the program.

pub mod plot;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::generate::{Corpus, LONGEST, parse_count, write_file};
use crate::measure::{self, Cost};
use crate::table::{Table, count, megabytes};
use crate::{jsonl, peers};
use plot::Series;

/// Measures how onecopy's time and memory grow with the corpus.
///
/// For each size it generates a corpus, removes its duplicates, and checks that the report and the files agree. The
/// cheapest of a few runs is shown. A corpus is deleted before the next is made; a million pages take 4 GB.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench scale
  onecopy-bench scale --sizes 10k,100k,1m --memory 512M --plot docs/scale.svg
  onecopy-bench scale --sizes 100k,1m,10m --memory 2G --longest 400 --lists-only --runs 1")]
pub struct Args {
    /// Numbers of pages, ascending
    #[arg(long, default_value = "10k,100k,1m", value_delimiter = ',', value_parser = parse_count)]
    sizes: Vec<u64>,
    /// How often each size is run
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The memory limit given to onecopy
    #[arg(long, default_value = "512M")]
    memory: String,
    /// Add one group of this many near-identical pages to every corpus
    #[arg(long, default_value = "0", value_parser = parse_count)]
    giant: u64,
    /// Seed of the corpora
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many words the longest pages have more than the shortest
    #[arg(long, default_value_t = LONGEST)]
    longest: u64,
    /// Pack the corpus, and let onecopy write only its lists: for large corpora on small disks
    #[arg(long)]
    lists_only: bool,
    /// A folder for corpora and outputs
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
    /// Draw the figures into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

struct Point {
    pages: u64,
    bytes: u64,
    cost: Cost,
    removed: u64,
    problems: Vec<String>,
}

pub fn run(args: &Args) -> Result<()> {
    ensure!(args.sizes.is_sorted(), "--sizes must rise, so that each can be compared with the one before");
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let program = peers::onecopy(args.onecopy.as_deref())?;
    let mut points = vec![];
    for &pages in &args.sizes {
        eprintln!("{} pages ...", count(pages));
        points.push(measure_size(args, &program, pages)?);
    }
    print!("{}", table(&points).aligned());
    if let Some(path) = &args.plot {
        fs::write(path, draw(&points)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let problems: Vec<&str> = points.iter().flat_map(|point| &point.problems).map(String::as_str).collect();
    if !problems.is_empty() {
        bail!("onecopy's report and files disagree:\n  {}", problems.join("\n  "));
    }
    Ok(())
}

fn measure_size(args: &Args, program: &Path, pages: u64) -> Result<Point> {
    let corpus = Corpus { pages, giant: args.giant, seed: args.seed, longest: args.longest };
    let name = if args.lists_only { "scale.jsonl.zst" } else { "scale.jsonl" };
    let (input, out) = (args.work.join(name), args.work.join("scale-out"));
    write_file(corpus, &input)?;
    // Otherwise the measurement would include pending writes.
    fs::File::open(&input).and_then(|file| file.sync_all()).context("cannot write the corpus out")?;
    let costs = (0..args.runs).map(|_| dedup(args, program, &input, &out)).collect::<Result<Vec<_>>>()?;
    let cost = measure::best(costs).context("there is no run")?;
    let counts = Counts::read(&out)?;
    let point = Point {
        pages: pages + args.giant,
        bytes: fs::metadata(&input)?.len(),
        cost,
        removed: counts.removed,
        problems: counts.problems(pages + args.giant),
    };
    fs::remove_file(&input)?;
    fs::remove_dir_all(&out)?;
    Ok(point)
}

/// Runs onecopy once, into an empty folder.
fn dedup(args: &Args, program: &Path, input: &Path, out: &Path) -> Result<Cost> {
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let mut command = Command::new(program);
    command.arg("dedup").arg(input).arg("--out").arg(out).args(["--memory", &args.memory, "--quiet"]);
    command.args(args.lists_only.then_some("--lists-only"));
    measure::run(&command, &args.work.join("scale.log"))
}

/// The counts in the report and in the files.
#[derive(Clone, Copy)]
struct Counts {
    read: u64,
    kept: u64,
    removed: u64,
    rejected: u64,
    kept_lines: u64,
    removed_lines: u64,
    rejected_lines: u64,
}

impl Counts {
    fn read(out: &Path) -> Result<Counts> {
        let path = out.join("report.json");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let report: Value =
            serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
        let field =
            |name: &str| report[name].as_u64().with_context(|| format!("report.json has no number {name:?}"));
        let lines = |name: &str| match out.join(name) {
            path if path.exists() => jsonl::count_lines(&path),
            _ => Ok(0),
        };
        Ok(Counts {
            read: field("read")?,
            kept: field("kept")?,
            removed: field("removed")?,
            rejected: field("rejected")?,
            kept_lines: if out.join("kept").exists() { lines("kept/scale.jsonl")? } else { field("kept")? },
            removed_lines: lines("removed.jsonl")?,
            rejected_lines: lines("rejected.jsonl")?,
        })
    }

    /// All contradictions among the counts, and with the `pages` that were generated.
    fn problems(self, pages: u64) -> Vec<String> {
        let sum = self.kept + self.removed + self.rejected;
        let checks = [
            ("pages read", self.read, pages),
            ("kept, removed and rejected together", sum, self.read),
            ("lines of kept pages", self.kept_lines, self.kept),
            ("lines of removed.jsonl", self.removed_lines, self.removed),
            ("lines of rejected.jsonl", self.rejected_lines, self.rejected),
        ];
        let failed = checks.iter().filter(|(_, found, wanted)| found != wanted);
        failed.map(|(what, found, wanted)| format!("{pages} pages: {what}: {found}, not {wanted}")).collect()
    }
}

fn table(points: &[Point]) -> Table {
    let mut table = Table::new(&[
        "pages", "input MB", "x pages", "CPU s", "x CPU", "own s", "x own", "MB/CPU s", "wall s", "peak MB",
        "removed", "problems",
    ]);
    let mut previous: Option<&Point> = None;
    for point in points {
        let ratio = |of: fn(&Point) -> f64| match previous {
            Some(previous) => format!("{:.2}", of(point) / of(previous)),
            None => "-".to_owned(),
        };
        table.push(vec![
            count(point.pages),
            megabytes(point.bytes),
            ratio(|point| point.pages as f64),
            format!("{:.2}", point.cost.cpu_seconds),
            ratio(|point| point.cost.cpu_seconds),
            format!("{:.2}", own(point)),
            ratio(own),
            format!("{:.0}", point.bytes as f64 / 1e6 / point.cost.cpu_seconds),
            format!("{:.2}", point.cost.wall_seconds),
            megabytes(point.cost.peak_bytes),
            count(point.removed),
            count(point.problems.len() as u64),
        ]);
        previous = Some(point);
    }
    table
}

/// User CPU seconds. System time depends on the machine: on a virtual one, memory that was idle for a while may cost
/// ten times as much to allocate.
fn own(point: &Point) -> f64 {
    point.cost.cpu_seconds - point.cost.system_seconds
}

fn draw(points: &[Point]) -> String {
    let series = |title, of: fn(&Point) -> f64| Series {
        title,
        points: points.iter().map(|point| (point.pages as f64, of(point).max(1e-3))).collect(),
        beside: None,
    };
    plot::svg(&[
        series("CPU seconds", |point| point.cost.cpu_seconds),
        series("Peak memory, MB", |point| point.cost.peak_bytes as f64 / 1e6),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_must_agree_with_each_other_and_the_input() {
        let right = Counts {
            read: 10,
            kept: 6,
            removed: 3,
            rejected: 1,
            kept_lines: 6,
            removed_lines: 3,
            rejected_lines: 1,
        };
        assert!(right.problems(10).is_empty());
        assert_eq!(right.problems(11).len(), 1);
        let lost = Counts { kept: 5, ..right };
        assert_eq!(lost.problems(10).len(), 2);
    }

    #[test]
    fn growth_is_shown_against_the_size_before() {
        let point = |pages, cpu_seconds| Point {
            pages,
            bytes: pages * 4000,
            cost: Cost { cpu_seconds, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 1 },
            removed: pages / 3,
            problems: vec![],
        };
        let text = table(&[point(1000, 1.0), point(10_000, 11.0)]).aligned();
        assert!(
            text.lines().nth(2).is_some_and(|line| line.contains("10.00") && line.contains("11.00")),
            "{text}"
        );
    }
}
