//! `onecopy-bench experiment rank`: PageRank of a generated power-law graph, by onecopy and by its peers.

mod graph;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::measure::{Cost, run_within};
use crate::peers::{self, Machine};
use crate::table::Table;

/// Measures PageRank: onecopy, scipy, igraph, networkit and rustworkx on the same links, one after the other.
///
/// Writes rank.md with the table. All tools read the same text file. Times count from there to the scores; onecopy also
/// writes all scores, best first, and the others only find the ten best.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench experiment rank --out rank
  onecopy-bench experiment rank --links 1000000 --pages 100000 --out rank --python venv/bin/python")]
pub struct Args {
    /// The folder for the report; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The number of links
    #[arg(long, default_value_t = 100_000_000, value_name = "N")]
    links: u64,
    /// The number of pages
    #[arg(long, default_value_t = 10_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(2..1 << 31))]
    pages: u64,
    /// Stop once all scores together change by less
    #[arg(long, default_value_t = 1e-6, value_name = "NUMBER")]
    tolerance: f64,
    /// The memory limit of onecopy
    #[arg(long, default_value = "1G", value_name = "SIZE")]
    memory: String,
    /// The seconds that a tool may take
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    limit: u64,
    /// Measure only these peers
    #[arg(long, value_delimiter = ',', default_values = ["scipy", "igraph", "networkit", "rustworkx"])]
    peers: Vec<String>,
    /// A Python that has them; by default they are installed in the work folder
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// A folder for the graph and for outputs
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

/// The packages of the peers.
const PACKAGES: [&str; 6] = ["numpy", "pyarrow", "scipy", "igraph", "networkit", "rustworkx"];
/// How far the best scores of two tools may differ, relatively.
const AGREEMENT: f64 = 1e-3;

/// What a tool did.
struct Outcome {
    name: String,
    cost: Option<Cost>,
    /// Seconds for reading and building, and for solving.
    before: f64,
    solving: f64,
    best: Vec<(String, f64)>,
    remark: String,
}

pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.out).with_context(|| format!("cannot create {}", args.out.display()))?;
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let graph = args.work.join(format!("links-{}-{}.tsv", args.pages, args.links));
    if !graph.exists() {
        graph::write(&graph, args.pages, args.links)?;
    }
    let machine = Machine::this();
    let mut outcomes = vec![onecopy(args, &graph)?];
    let python = match &args.python {
        Some(python) => python.clone(),
        None => {
            let workshop = peers::Workshop { work: args.work.clone(), onecopy: None };
            workshop.python(&PACKAGES, "pagerank")?
        }
    };
    for peer in &args.peers {
        outcomes.push(peer_outcome(peer, &python, args, &graph)?);
    }
    let text = report(args, &machine, &outcomes);
    print!("{text}");
    let path = args.out.join("rank.md");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn onecopy(args: &Args, graph: &Path) -> Result<Outcome> {
    let scores = args.work.join("rank-scores.tsv");
    let mut command = Command::new(peers::onecopy(args.onecopy.as_deref())?);
    command.args(["rank", "--edges", "--json", "--quiet", "--overwrite", "--memory", &args.memory]);
    command.args(["--tolerance", &args.tolerance.to_string(), "--out"]).arg(&scores).arg(graph);
    let log = args.work.join("rank-onecopy.log");
    let cost = run_within(&command, &log, Duration::from_secs(args.limit))?;
    let report: Value = serde_json::from_slice(&fs::read(&log)?).context("onecopy printed no report")?;
    let number = |name: &str| report[name].as_f64().unwrap_or_default();
    let best = report["best"].as_array().into_iter().flatten();
    let iterations = report["changes"].as_array().map_or(0, Vec::len);
    let disk = if report["out_of_core"] == true { ", links on disk" } else { "" };
    fs::remove_file(&scores).context("onecopy wrote no scores")?;
    Ok(Outcome {
        name: "onecopy".into(),
        cost,
        before: number("read_seconds") + number("pack_seconds"),
        solving: number("iterate_seconds"),
        best: best
            .filter_map(|page| Some((page["page"].as_str()?.into(), page["pagerank"].as_f64()?)))
            .collect(),
        remark: format!(
            "{iterations} iterations, last change {:.1e}{disk}",
            report["changes"].as_array().and_then(|all| all.last()?.as_f64()).unwrap_or_default()
        ),
    })
}

fn peer_outcome(peer: &str, python: &Path, args: &Args, graph: &Path) -> Result<Outcome> {
    let mut command = Command::new(python);
    command
        .arg(peers::install::peers_folder().join("pagerank.py"))
        .arg(peer)
        .arg(graph)
        .arg(args.tolerance.to_string());
    let log = args.work.join(format!("rank-{peer}.log"));
    let mut outcome = Outcome {
        name: peer.into(),
        cost: None,
        before: 0.0,
        solving: 0.0,
        best: Vec::new(),
        remark: format!("not finished within {} s", args.limit),
    };
    match run_within(&command, &log, Duration::from_secs(args.limit)) {
        Ok(None) => return Ok(outcome),
        Ok(cost) => outcome.cost = cost,
        Err(error) => {
            outcome.remark =
                format!("failed: {}", format!("{error:#}").chars().take(120).collect::<String>());
            return Ok(outcome);
        }
    }
    let text = fs::read_to_string(&log)?;
    let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .with_context(|| format!("{peer} printed no report"))?;
    let number = |name: &str| report[name].as_f64().unwrap_or_default();
    (outcome.before, outcome.solving) = (number("read") + number("build"), number("solve"));
    let best = report["best"].as_array().into_iter().flatten();
    outcome.best = best.filter_map(|page| Some((page[0].as_u64()?.to_string(), page[1].as_f64()?))).collect();
    outcome.remark = String::new();
    Ok(outcome)
}

fn report(args: &Args, machine: &Machine, outcomes: &[Outcome]) -> String {
    let mut table =
        Table::new(&["tool", "wall s", "CPU s", "peak MB", "read, build s", "solve s", "remarks"]);
    let truth = &outcomes[0].best;
    for outcome in outcomes {
        let cost = |of: &dyn Fn(&Cost) -> f64| {
            outcome.cost.as_ref().map_or("-".into(), |cost| format!("{:.1}", of(cost)))
        };
        let agrees =
            if outcome.best.is_empty() || agree(truth, &outcome.best) { "" } else { " OTHER SCORES" };
        table.push(vec![
            outcome.name.clone(),
            cost(&|cost| cost.wall_seconds),
            cost(&|cost| cost.cpu_seconds),
            cost(&|cost| cost.peak_bytes as f64 / 1e6),
            format!("{:.1}", outcome.before),
            format!("{:.1}", outcome.solving),
            format!("{}{agrees}", outcome.remark),
        ]);
    }
    let mut text = String::from("# PageRank of a power-law graph\n\n");
    let _ = writeln!(
        text,
        "{} pages, {} links, tolerance {:e}. {}.\n",
        args.pages,
        args.links,
        args.tolerance,
        machine.line()
    );
    text + &table.markdown()
}

/// Whether the best scores of two tools are the same.
fn agree(truth: &[(String, f64)], other: &[(String, f64)]) -> bool {
    let close = |(a, b): (&(String, f64), &(String, f64))| (a.1 - b.1).abs() <= AGREEMENT * a.1;
    truth.len() == other.len() && truth.iter().zip(other).all(close)
}
