//! `onecopy-bench hostile`: how the cost grows on corpora whose pages share much and are not alike.
//!
//! Pages of one template share most of their shingles, so that keys and filters have little to tell them apart. A tool
//! that compares all pages with a common shingle needs four times as long for twice the pages.

mod corpus;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::generate::parse_count;
use crate::measure::{self, Cost};
use crate::peers;
use crate::table::{Table, count, megabytes};
use corpus::Kind;

/// Measures how onecopy's CPU time grows on corpora that are hard for it.
///
/// Each size is twice the one before. The last column says how many times as much CPU the last doubling cost.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench hostile
  onecopy-bench hostile --kinds weather,forms --sizes 6k,12k,25k,50k
  onecopy-bench hostile --write weather --sizes 10k --work hostile")]
pub struct Args {
    /// Kinds of corpora
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    kinds: Vec<Kind>,
    /// Numbers of pages, ascending
    #[arg(long, default_value = "6k,12k,25k,50k", value_delimiter = ',', value_parser = parse_count)]
    sizes: Vec<u64>,
    /// Only write the corpora of this kind into --work, one file for each size
    #[arg(long, value_enum)]
    write: Option<Kind>,
    /// More options for `onecopy dedup`, such as '--threshold 0.7'
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    options: String,
    /// End a run after this many seconds
    #[arg(long, default_value_t = 300)]
    limit: u64,
    /// Seed of the corpora
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder for corpora and outputs
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    ensure!(args.sizes.is_sorted(), "--sizes must rise, so that each can be compared with the one before");
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    if let Some(kind) = args.write {
        for &pages in &args.sizes {
            let path = args.work.join(format!("{}-{pages}.jsonl", kind.name()));
            write(kind, pages, args.seed, &path)?;
            println!("{}", path.display());
        }
        return Ok(());
    }
    let program = peers::onecopy(args.onecopy.as_deref())?;
    let mut table = Table::new(&["corpus", "pages", "MB", "CPU s", "x CPU", "peak MB"]);
    for &kind in &args.kinds {
        let mut before: Option<f64> = None;
        for &pages in &args.sizes {
            let (bytes, cost) = measure_size(args, &program, kind, pages)?;
            let cpu = cost.map(|cost| cost.cpu_seconds);
            table.push(row(kind, pages, bytes, cost, before));
            eprintln!("{} {pages}: {cpu:?}", kind.name());
            before = cpu;
            if cpu.is_none() {
                break;
            }
        }
    }
    print!("{}", table.aligned());
    Ok(())
}

fn row(kind: Kind, pages: u64, bytes: u64, cost: Option<Cost>, before: Option<f64>) -> Vec<String> {
    let shown = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let ratio = cost.zip(before).map(|(cost, before)| format!("{:.2}", cost.cpu_seconds / before));
    vec![
        kind.name().into(),
        count(pages),
        megabytes(bytes),
        cost.map_or("out of time".into(), |cost| format!("{:.2}", cost.cpu_seconds)),
        shown(ratio),
        shown(cost.map(|cost| megabytes(cost.peak_bytes))),
    ]
}

/// The size of a corpus, and the cost of a run over it. `None` if the run took too long.
fn measure_size(args: &Args, program: &Path, kind: Kind, pages: u64) -> Result<(u64, Option<Cost>)> {
    let (input, out) = (args.work.join("hostile.jsonl"), args.work.join("hostile-out"));
    write(kind, pages, args.seed, &input)?;
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let mut command = Command::new(program);
    command.arg("dedup").arg(&input).arg("--out").arg(&out).args(["--lists-only", "--quiet"]);
    command.args(args.options.split_whitespace());
    let limit = Duration::from_secs(args.limit);
    let cost = measure::run_within(&command, &args.work.join("hostile.log"), limit)?;
    let bytes = fs::metadata(&input)?.len();
    fs::remove_file(&input)?;
    Ok((bytes, cost))
}

fn write(kind: Kind, pages: u64, seed: u64, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    for number in 0..pages {
        let text = kind.page(seed, number);
        let record = serde_json::json!({"id": number, kind.field(): text});
        writeln!(out, "{record}")?;
    }
    out.flush().with_context(|| format!("cannot write {}", path.display()))
}
