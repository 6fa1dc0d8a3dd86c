//! `onecopy-bench mirrors`: counts how many planted mirrors onecopy finds, and how many it reports wrongly.
//!
//! The true mirrors are known only if they were planted. So it makes up a web with mirrors of many kinds, and hosts
//! that only look like mirrors. By default it measures everything from page text to mirrors. With `--known-groups` the
//! groups are given, for sizes where only the last step matters.

mod judge;
mod press;
mod web;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::measure::{self, Cost};
use crate::peers;
use crate::table::{Table, count, megabytes};
use judge::Verdict;
use web::Web;

/// Measures how well onecopy finds mirrors in a made-up web with known mirrors.
///
/// A reported pair is right if both hosts and both path prefixes are as planted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench mirrors --hosts 300 --seeds 1,2,3
  onecopy-bench mirrors --hosts 300 --noise 0.8 --markdown
  onecopy-bench mirrors --hosts 20000 --known-groups
  onecopy-bench mirrors --hosts 100 --write pages.jsonl")]
pub struct Args {
    /// Approximate number of hosts
    #[arg(long, default_value_t = 300)]
    hosts: usize,
    /// Seeds; each makes one web
    #[arg(long, alias = "seed", default_value = "1", value_delimiter = ',')]
    seeds: Vec<u64>,
    /// How incomplete crawls are and how much is edited, from 0 to 1
    #[arg(long, default_value_t = 0.5)]
    noise: f64,
    /// Use the planted groups instead of finding them
    #[arg(long)]
    known_groups: bool,
    /// Only write the pages, with the first seed, to this file
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// List the wrong and the missing pairs
    #[arg(long)]
    verbose: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
    /// A folder for pages and outputs
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    ensure!((0.0..=1.0).contains(&args.noise), "--noise must be from 0 to 1");
    let web = |seed: u64| Web::new(seed, args.hosts, args.noise);
    if let Some(path) = &args.write {
        let seed = args.seeds.first().copied().unwrap_or(1);
        return press::write_pages(&web(seed), seed, path);
    }
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let program = peers::onecopy(args.onecopy.as_deref())?;
    let header = ["seed", "hosts", "pages", "planted", "reported", "right", "precision", "recall", "s", "MB"];
    let mut table = Table::new(&header);
    let mut total = Verdict::default();
    for &seed in &args.seeds {
        let web = web(seed);
        let (verdict, cost) = measure_web(args, &program, &web, seed)?;
        let mut row = vec![seed.to_string(), count(web.hosts as u64), count(web.pages.len() as u64)];
        row.extend(verdict.cells());
        row.extend([format!("{:.2}", cost.wall_seconds), megabytes(cost.peak_bytes)]);
        table.push(row);
        total.add(verdict);
    }
    let kinds = total.kinds();
    for table in [&table, &kinds] {
        println!("{}", if args.markdown { table.markdown() } else { table.aligned() });
    }
    println!("all seeds: precision {:.4}, recall {:.4}", total.precision(), total.recall());
    Ok(())
}

/// Lets onecopy find the mirrors of `web`. Returns their quality and the cost, without the deduplication.
fn measure_web(args: &Args, program: &Path, web: &Web, seed: u64) -> Result<(Verdict, Cost)> {
    let out = args.work.join("mirrors-out");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    if args.known_groups {
        fs::create_dir_all(&out)?;
        fs::write(out.join("report.json"), "{}\n")?;
        press::write_known(web, &out.join("pages.jsonl"))?;
    } else {
        let input = args.work.join("mirrors.jsonl");
        press::write_pages(web, seed, &input)?;
        let mut dedup = Command::new(program);
        dedup.arg("dedup").arg(&input).arg("--out").arg(&out).arg("--quiet");
        measure::run(&dedup, &args.work.join("mirrors.log"))?;
    }
    let log = args.work.join("mirrors.log");
    let mut command = Command::new(program);
    command.arg("mirrors").arg(&out).arg("--json");
    let cost = measure::run(&command, &log)?;
    let verdict = judge::judge(web, &log)?;
    if args.verbose {
        verdict.explain();
    }
    Ok((verdict, cost))
}
