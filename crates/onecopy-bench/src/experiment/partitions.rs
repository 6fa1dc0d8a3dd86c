//! `onecopy-bench experiment partitions`: pages divided among machines by their lengths, as in Figures 4 to 6 of Zhu and
//! others (2012), and how well a plan fits later data.

mod drift;
mod picture;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::measure;
use crate::peers::{self, Machine};
use crate::table::{Table, count};
use drift::Drift;
use picture::{Curve, picture};

/// Divides pages among 2 to 64 machines in one, two and three dimensions: balance, communication, throughput, drift.
///
/// Writes partitions.md with the tables, ratio.svg with the throughput of 3D over 1D next to the published one, and a
/// plot of Figures 4 to 6 for each data set.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench experiment partitions --out partitions --corpus bench-100k.jsonl
  onecopy-bench experiment partitions --out partitions --generate 1000000 --threshold 0.8")]
pub struct Args {
    /// The folder for the report; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A corpus of pages, as JSON Lines
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// The number of generated pages, of which there are only lengths
    #[arg(long, default_value_t = 100_000_000, value_name = "N")]
    generate: u64,
    /// The similarity from which pages must meet
    #[arg(long, default_value_t = 0.9, value_name = "0..1")]
    threshold: f64,
    /// A folder for plans and parts of the corpus
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

/// The machines of the published figures.
const MACHINES: &str = "2,4,8,16,32,64";
/// The published throughput of 3D over 1D at 64 machines.
const PUBLISHED_RATIO: (f64, f64) = (64.0, 3.3);

pub fn run(args: &Args) -> Result<()> {
    for folder in [&args.out, &args.work] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let machine = Machine::this();
    let mut text = String::from("# Pages divided among machines by their lengths\n\n");
    let _ = writeln!(text, "Threshold {}. {}.", args.threshold, machine.line());
    let mut curves = Vec::new();
    let program = Program { onecopy: peers::onecopy(args.onecopy.as_deref())?, args };
    for set in sets(args) {
        let _ = writeln!(text, "\n## {}\n", set.title());
        let rows = program.plans(&set, &[])?;
        let any = program.plans(&set, &["--dimensions", "1", "--ratio", "1"])?;
        text += &table(&rows, &any);
        text += &program.drifts(&set)?;
        curves.extend(["published", "lossless"].map(|bound| ratios(&set, &rows, bound)));
    }
    let path = args.out.join("ratio.svg");
    fs::write(&path, picture("throughput of 3D over 1D", &curves, PUBLISHED_RATIO))
        .with_context(|| format!("cannot write {}", path.display()))?;
    print!("{text}");
    let path = args.out.join("partitions.md");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Where lengths come from.
enum Set {
    Corpus(PathBuf),
    Generated { pages: u64, seed: u64 },
}

fn sets(args: &Args) -> Vec<Set> {
    let corpus = args.corpus.iter().cloned().map(Set::Corpus);
    corpus.chain([Set::Generated { pages: args.generate, seed: 1 }]).collect()
}

impl Set {
    fn title(&self) -> String {
        match self {
            Set::Corpus(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            Set::Generated { pages, .. } => format!("{} generated pages", count(*pages)),
        }
    }

    /// The file of its plot.
    fn plot(&self) -> &'static str {
        match self {
            Set::Corpus(_) => "corpus.svg",
            Set::Generated { .. } => "generated.svg",
        }
    }

    /// Adds the set to a call of `onecopy partitions`.
    fn give(&self, command: &mut Command) {
        match self {
            Set::Corpus(path) => command.arg(path),
            Set::Generated { pages, seed } => {
                command.args(["--generate", &pages.to_string(), "--seed", &seed.to_string()])
            }
        };
    }
}

/// The program under test.
struct Program<'a> {
    onecopy: PathBuf,
    args: &'a Args,
}

impl Program<'_> {
    /// Runs `onecopy partitions` and returns what it printed as JSON.
    fn json(&self, arguments: impl FnOnce(&mut Command)) -> Result<Value> {
        let mut command = Command::new(&self.onecopy);
        command.arg("partitions");
        arguments(&mut command);
        let log = self.args.work.join("partitions.log");
        measure::run(command.arg("--json"), &log)?;
        serde_json::from_slice(&fs::read(&log)?).context("onecopy printed no report")
    }

    /// The plans of a set for all numbers of machines. The first call for a set also draws them.
    fn plans(&self, set: &Set, more: &[&str]) -> Result<Vec<Value>> {
        let found = self.json(|command| {
            command.args(["plan", "--machines", MACHINES, "--threshold", &self.args.threshold.to_string()]);
            set.give(command.args(more));
            if more.is_empty() {
                command.arg("--plot").arg(self.args.out.join(set.plot()));
            }
        })?;
        Ok(found["plans"].as_array().cloned().unwrap_or_default())
    }

    fn drifts(&self, set: &Set) -> Result<String> {
        let drift = Drift { program: self, parts: drift::parts(set, &self.args.work)? };
        drift.table()
    }
}

/// The published figures: imbalance (4), communication saved (5) and throughput (6).
fn table(rows: &[Value], any: &[Value]) -> String {
    let header = [
        "bound",
        "machines",
        "1D",
        "2D",
        "3D",
        "1D any cut",
        "saved 1D",
        "3D",
        "any cut",
        "met 1D",
        "3D",
        "3D / 1D",
    ];
    let mut table = Table::new(&header);
    for bound in ["published", "lossless"] {
        for machines in MACHINES.split(',') {
            let of = |rows: &[Value], dimensions: u64, field: &str| {
                let row = rows.iter().find(|row| {
                    row["bound"] == bound
                        && row["dimensions"] == dimensions
                        && row["machines"].as_u64() == machines.parse().ok()
                });
                row.and_then(|row| row[field].as_f64()).unwrap_or(f64::NAN)
            };
            let imbalance = |rows, dimensions| format!("{:.3}", of(rows, dimensions, "imbalance"));
            let share = |rows, dimensions, field| format!("{:.1} %", 100.0 * of(rows, dimensions, field));
            let saved = "communication_saved";
            table.push(vec![
                bound.into(),
                machines.into(),
                imbalance(rows, 1),
                imbalance(rows, 2),
                imbalance(rows, 3),
                imbalance(any, 1),
                share(rows, 1, saved),
                share(rows, 3, saved),
                share(any, 1, saved),
                share(rows, 1, "pages_met"),
                share(rows, 3, "pages_met"),
                format!("{:.2}", of(rows, 3, "speedup") / of(rows, 1, "speedup")),
            ]);
        }
    }
    table.markdown()
}

/// The throughput of 3D over 1D by machines.
fn ratios(set: &Set, rows: &[Value], bound: &str) -> Curve {
    let speedup = |dimensions: u64, machines: &Value| {
        let is = |row: &&Value| {
            row["bound"] == bound && row["dimensions"] == dimensions && row["machines"] == *machines
        };
        rows.iter().find(is).and_then(|row| row["speedup"].as_f64()).unwrap_or(f64::NAN)
    };
    let machines =
        rows.iter().filter(|row| row["bound"] == bound && row["dimensions"] == 1).map(|row| &row["machines"]);
    let point =
        |machines: &Value| (machines.as_f64().unwrap_or(1.0), speedup(3, machines) / speedup(1, machines));
    Curve { name: format!("{}, {bound} bound", set.title()), points: machines.map(point).collect() }
}
