//! `onecopy-bench peers`: measures onecopy and its peers in one run, on one machine, on one input.
//!
//! Speed means nothing if the answers are wrong, so every tool is audited. A tool that fails is listed with its reason.

pub mod install;
pub mod machine;
mod roster;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::audit::{Audit, Truth, audit, read_removed};
use crate::jsonl;
use crate::measure::{self, Cost};
use crate::table::{Table, count, megabytes};
use install::Ready;
pub use install::{Workshop, onecopy, warc_census};
pub use machine::Machine;
pub use roster::{Kind, Peer};

/// Measures onecopy and other tools side by side, and audits each.
///
/// All use 5-word shingles by the same token rule, and 128 hashes if there is a choice. Each script in the folder
/// `peers` says which bands it uses and why. Reading and writing count. Runs take turns; the cheapest is shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench peers --input pages.jsonl --pairs oracle.csv
  onecopy-bench peers --input pages.jsonl --only onecopy,gaoya-rust --runs 5 --markdown
Tools: onecopy, onecopy-python, gaoya-rust, gaoya-default, gaoya-python, rensa, daft, datasketch, text-dedup, datatrove")]
pub struct Args {
    /// The pages, as plain JSON Lines; repeat for several files
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Measure only these tools
    #[arg(long, value_delimiter = ',', value_name = "TOOLS")]
    only: Vec<String>,
    /// The exact pairs (CSV, see `audit`); computed if not given
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Similarity from which pages count as near-duplicates
    #[arg(long, default_value_t = 0.8)]
    threshold: f64,
    /// How often each tool runs
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// A folder for environments, builds and outputs; kept, so that the next run starts sooner
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    packages: String,
    input: Vec<PathBuf>,
    threshold: f64,
    runs: u32,
    pages: usize,
    redundant: usize,
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    tool: &'static str,
    #[serde(flatten)]
    result: Measured,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Measured {
    Done { cost: Cost, audit: Audit },
    Failed { reason: String },
}

/// The output of a tool.
struct Answer {
    cost: Cost,
    removed: PathBuf,
    /// The pages that it did not remove. onecopy writes rejected pages to a separate file.
    kept: Vec<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    let peers = roster::chosen(&args.only).map_err(anyhow::Error::msg)?;
    for input in &args.input {
        ensure!(input.exists(), "there is no input {}", input.display());
    }
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    // Cargo builds a peer from another folder, where a relative path would be wrong.
    let work = args.work.canonicalize()?;
    let workshop = Workshop { work, onecopy: args.onecopy.clone() };
    let machine = Machine::this();
    eprintln!("reading the pairs ...");
    let truth = Truth::load(&args.input, args.pairs.as_deref(), args.threshold)?;
    let answers = measure_in_turns(args, &workshop, &peers);
    let outcome = |(peer, answers): (&&'static Peer, Result<Vec<Answer>>)| {
        let judged = answers.and_then(|answers| judge(&truth, answers));
        let failed = |error: anyhow::Error| Measured::Failed { reason: format!("{error:#}") };
        Outcome { tool: peer.name, result: judged.unwrap_or_else(failed) }
    };
    let report = Report {
        machine,
        packages: install::packages(),
        input: args.input.clone(),
        threshold: args.threshold,
        runs: args.runs,
        pages: truth.pages(),
        redundant: truth.redundant(),
        results: peers.iter().zip(answers).map(outcome).collect(),
    };
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => print!("{}", text(&report, args.markdown)),
    }
    Ok(())
}

/// Runs every peer once, then every peer again, so that a busy moment of the machine affects all of them.
fn measure_in_turns(args: &Args, workshop: &Workshop, peers: &[&'static Peer]) -> Vec<Result<Vec<Answer>>> {
    let mut ready = vec![];
    for peer in peers {
        eprintln!("preparing {} ...", peer.name);
        ready.push(workshop.ready(peer));
    }
    let mut answers: Vec<Result<Vec<Answer>>> = peers.iter().map(|_| Ok(vec![])).collect();
    for round in 1..=args.runs {
        for ((peer, ready), answers) in peers.iter().zip(&ready).zip(&mut answers) {
            let Ok(so_far) = answers else { continue };
            eprintln!("run {round} of {}: {} ...", args.runs, peer.name);
            let answer = match ready {
                Ok(ready) => run_once(args, workshop, peer, ready),
                Err(error) => Err(anyhow::anyhow!("not installed: {error:#}")),
            };
            match answer {
                Ok(answer) => so_far.push(answer),
                Err(error) => *answers = Err(error),
            }
        }
    }
    answers
}

fn run_once(args: &Args, workshop: &Workshop, peer: &Peer, ready: &Ready) -> Result<Answer> {
    let folder = workshop.work.join(peer.key);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    let mut command = Command::new(&ready.program);
    let (removed, kept) = if matches!(peer.kind, Kind::Onecopy) {
        let out = folder.join("out");
        command.arg("dedup").args(&args.input).arg("--out").arg(&out).arg("--quiet");
        let name = |input: &PathBuf| input.file_name().map(|name| out.join("kept").join(name));
        (
            out.join("removed.jsonl"),
            args.input.iter().filter_map(name).chain([out.join("rejected.jsonl")]).collect(),
        )
    } else {
        let (removed, kept) = (folder.join("removed.txt"), folder.join("kept.jsonl"));
        command.args(&ready.script).args(&args.input);
        command.arg("--kept").arg(&kept).arg("--removed").arg(&removed);
        // Without this, Python leaves compiled scripts in the source tree.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        (removed, vec![kept])
    };
    command.arg("--threshold").arg(args.threshold.to_string());
    let cost = measure::run(&command, &workshop.work.join(format!("{}.log", peer.key)))?;
    Ok(Answer { cost, removed, kept })
}

/// Audits the last answer, and uses the cost of the cheapest run.
fn judge(truth: &Truth, answers: Vec<Answer>) -> Result<Measured> {
    let last = answers.last().context("it never ran")?;
    let audit = audit(truth, &read_removed(&last.removed)?);
    let written = last.kept.iter().map(|path| jsonl::count_lines(path)).sum::<Result<u64>>()?;
    let wanted = audit.kept as u64;
    ensure!(
        written == wanted,
        "it kept {wanted} pages but wrote {written}: {} are lost",
        wanted.abs_diff(written)
    );
    let cost = measure::best(answers.iter().map(|answer| answer.cost)).context("it never ran")?;
    Ok(Measured::Done { cost, audit })
}

fn text(report: &Report, markdown: bool) -> String {
    let mut table = Table::new(&[
        "tool",
        "CPU s",
        "of onecopy",
        "wall s",
        "peak MB",
        "removed",
        "wrong",
        "orphaned",
        "residual",
        "false claims",
    ]);
    let mut failures = String::new();
    let ours = report.results.iter().find_map(|outcome| match &outcome.result {
        Measured::Done { cost, .. } if outcome.tool == "onecopy" => Some(cost.cpu_seconds),
        _ => None,
    });
    for Outcome { tool, result } in &report.results {
        match result {
            Measured::Done { cost, audit } => table.push(row(tool, cost, audit, ours)),
            Measured::Failed { reason } => failures += &format!("{tool} failed: {reason}\n"),
        }
    }
    let Report { machine, packages, threshold, runs, pages, redundant, .. } = report;
    let head = format!(
        "{}\n{packages}\n{} pages, {} redundant at {threshold}; least CPU of {runs} runs\n",
        machine.line(),
        count(*pages as u64),
        count(*redundant as u64),
    );
    match markdown {
        true => format!("{}\n{}\n{failures}", head.replace('\n', "  \n"), table.markdown()),
        false => format!("{head}\n{}\n{failures}", table.aligned()),
    }
}

fn row(tool: &str, cost: &Cost, audit: &Audit, ours: Option<f64>) -> Vec<String> {
    let number = |value: usize| count(value as u64);
    let claims = audit.claims.as_ref().map(|claims| number(claims.winner_not_kept + claims.similarity_false));
    vec![
        tool.to_owned(),
        format!("{:.2}", cost.cpu_seconds),
        ours.map_or_else(|| "-".to_owned(), |ours| format!("{:.1} x", cost.cpu_seconds / ours)),
        format!("{:.2}", cost.wall_seconds),
        megabytes(cost.peak_bytes),
        number(audit.removed),
        number(audit.wrong),
        number(audit.orphaned),
        number(audit.residual),
        claims.unwrap_or_else(|| "-".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let cost = |cpu_seconds| Cost {
            cpu_seconds,
            system_seconds: 0.0,
            wall_seconds: 1.5,
            peak_bytes: 85_000_000,
        };
        let done = |cpu| Measured::Done { cost: cost(cpu), audit: Audit { wrong: 1234, ..Audit::default() } };
        Report {
            machine: Machine::this(),
            packages: "p 1".into(),
            input: vec![],
            threshold: 0.8,
            runs: 3,
            pages: 20_009,
            redundant: 6_263,
            results: vec![
                Outcome { tool: "onecopy", result: done(2.0) },
                Outcome { tool: "slow", result: done(5.0) },
                Outcome { tool: "broken", result: Measured::Failed { reason: "no such package".into() } },
            ],
        }
    }

    #[test]
    fn the_report_names_ratios_errors_and_failures() {
        let text = text(&report(), false);
        assert!(text.contains("20,009 pages, 6,263 redundant at 0.8"), "{text}");
        assert!(
            text.lines()
                .any(|line| line.starts_with("slow") && line.contains("2.5 x") && line.contains("1,234"))
        );
        assert!(text.contains("broken failed: no such package"));
    }

    #[test]
    fn markdown_and_json_hold_the_same_rows() {
        assert!(text(&report(), true).contains("| slow    |  5.00 |"), "{}", text(&report(), true));
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!(json["results"][1]["cost"]["cpu_seconds"], 5.0);
        assert_eq!(json["results"][2]["reason"], "no such package");
    }
}
