//! `onecopy-bench experiment layout`: plans of index servers under generated requests, next to the guarantee.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::generate::random::Random;
use crate::measure;
use crate::peers::{self, Machine};
use crate::table::{Table, count};

/// Plans layouts of index servers and simulates them: planned, hand-picked and round robin.
///
/// Writes layout.md with the table, and a plot for each line of it. Loads of files are even (up to 30 % apart) or skewed (the
/// hottest has some 20 times the load of the coldest). Real loads differ from planned ones by up to --drift.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench experiment layout --out layout
  onecopy-bench experiment layout --servers 100 --requests 100000 --out layout")]
pub struct Args {
    /// The folder for the report; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The number of servers
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    servers: u64,
    /// The number of requests
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    requests: u64,
    /// How wrong the planned loads are
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    drift: f64,
    /// A folder for tables and plans
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

/// Files per server, in hundredths.
const FILES: [u64; 4] = [105, 140, 250, 1_000];

pub fn run(args: &Args) -> Result<()> {
    for folder in [&args.out, &args.work] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let machine = Machine::this();
    let header = ["loads", "files", "copies", "planned", "hand-picked", "round robin", "limit", "seconds"];
    let mut table = Table::new(&header);
    for kind in ["even", "skewed"] {
        for hundredths in FILES {
            table.push(row(args, kind, args.servers * hundredths / 100)?);
        }
    }
    let mut text = String::from("# Layout of index servers\n\n");
    let _ = writeln!(
        text,
        "{} requests on {} servers, drift {}. Loads are those of the heaviest server, over the mean. The limit is that of \
         the guarantee, with the lower bound of the optimum. Seconds are for all three schemes. {}.\n",
        count(args.requests),
        count(args.servers),
        args.drift,
        machine.line()
    );
    text += &table.markdown();
    print!("{text}");
    let path = args.out.join("layout.md");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Plans and simulates one kind of files.
fn row(args: &Args, kind: &str, files: u64) -> Result<Vec<String>> {
    let onecopy = peers::onecopy(args.onecopy.as_deref())?;
    let name = format!("layout-{kind}-{files}");
    let (table, plan) = (args.work.join(format!("{name}.csv")), args.work.join(format!("{name}.json")));
    write_files(&table, kind, files)?;
    let log = args.work.join(format!("{name}.log"));
    let mut command = Command::new(&onecopy);
    command.args(["layout", "plan"]).arg(&table).args([
        "--servers",
        &args.servers.to_string(),
        "--overwrite",
    ]);
    measure::run(command.arg("--save").arg(&plan), &log)?;
    let mut command = Command::new(&onecopy);
    command.args(["layout", "simulate", "--json"]).arg(&plan);
    command.args(["--generate", &args.requests.to_string(), "--drift", &args.drift.to_string(), "--plot"]);
    let cost = measure::run(command.arg(args.out.join(format!("{name}.svg"))), &log)?;
    let found: Value = serde_json::from_slice(&fs::read(&log)?).context("onecopy printed no report")?;
    let scheme = |number: usize, field: &str| found["schemes"][number][field].as_f64().unwrap_or(f64::NAN);
    let mut row = vec![kind.to_owned(), count(files), count(scheme(0, "copies") as u64)];
    row.extend((0..3).map(|number| format!("{:.3}", scheme(number, "imbalance"))));
    let limit = found["bound"]["limit"].as_f64().map(|limit| limit / scheme(0, "mean"));
    row.push(limit.map_or("none".into(), |limit| format!("{limit:.1}")));
    row.push(format!("{:.1}", cost.wall_seconds));
    Ok(row)
}

fn write_files(path: &Path, kind: &str, files: u64) -> Result<()> {
    let mut random = Random::new(files);
    let mut text = String::from("file,load\n");
    for file in 0..files {
        let load = match kind {
            "even" => 1.0 + 0.3 * random.unit(),
            _ => 1.0 / (0.05 + random.unit()),
        };
        let _ = writeln!(text, "part-{file},{load}");
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
