//! `onecopy-bench experiment methods`: measures the quality and speed of each method, next to the published figures.
//!
//! The program itself gives the answers, run as a child: `eval` for labelled pairs, `dedup` for time. Other tools run on
//! the same labelled pairs in chains.

mod chains;
mod neighbours;
mod picture;
mod program;
mod published;
mod quality;
mod speed;
mod stages;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::peers::{self, Machine};
use program::Program;

/// The measured methods, those of the papers first.
const METHODS: [&str; 10] = [
    "shingles-b",
    "projection-c",
    "combined",
    "lcs",
    "cosine",
    "simhash",
    "bloom",
    "jaccard",
    "containment",
    "auto",
];

/// Measures every method: precision and recall, how many copies pages have, the stages of LCS, speed.
///
/// Writes methods.md with tables and three pictures (quality.svg, neighbours.svg, speed.svg). Takes some minutes; only
/// the times need a quiet machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench experiment methods --corpus bench-20k.jsonl --out methods
  onecopy-bench experiment methods --corpus bench-20k.jsonl --copies-of bench-100k.jsonl --out methods
  onecopy-bench experiment methods --corpus pages.jsonl --only speed --limit 30 --out methods
Parts: quality, neighbours, stages, speed")]
pub struct Args {
    /// The folder for the report; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The folder of labelled sets [default: labelled in $ONECOPY_DATA, else in ../shared/data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The pages that times are measured on, as JSON Lines [default: corpora/bench-20k.jsonl.zst next to the sets]
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// The pages whose copies are counted, as JSON Lines [default: those of --corpus]
    #[arg(long, value_name = "FILE")]
    copies_of: Option<PathBuf>,
    /// The seconds that a method may take for all its runs
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// How often each method runs; the run with the least CPU time counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Measure only these parts
    #[arg(long, value_delimiter = ',', value_parser = ["quality", "neighbours", "stages", "speed"])]
    only: Vec<String>,
    /// A folder for outputs, which are deleted
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

/// Shared by all parts.
struct Bench {
    program: Program,
    data: PathBuf,
    corpus: PathBuf,
    out: PathBuf,
    limit: Duration,
    runs: u32,
}

/// A part: its name, and a function that writes its text. Pictures go to the output folder.
type Part<'a> = (&'static str, &'a dyn Fn(&Bench) -> Result<String>);

pub fn run(args: &Args) -> Result<()> {
    let started = Instant::now();
    let bench = prepare(args)?;
    let copies_of = args.copies_of.as_ref().unwrap_or(&bench.corpus);
    ensure!(copies_of.exists(), "there is no {}: check --copies-of", copies_of.display());
    let count_copies = |bench: &Bench| neighbours::section(bench, copies_of);
    let parts: [Part<'_>; 4] = [
        ("quality", &quality::section),
        ("neighbours", &count_copies),
        ("stages", &stages::section),
        ("speed", &speed::section),
    ];
    let mut report = format!("# Methods\n\n{}\n", Machine::this().line());
    for (name, section) in parts {
        if args.only.is_empty() || args.only.iter().any(|only| only == name) {
            let text = section(&bench).with_context(|| format!("{name} could not be measured"))?;
            report += &format!("\n{text}");
        }
    }
    report += &format!("\nAll of it took {:.0} s.\n", started.elapsed().as_secs_f64());
    let path = bench.out.join("methods.md");
    fs::write(&path, &report).with_context(|| format!("cannot write {}", path.display()))?;
    print!("{report}");
    Ok(())
}

fn prepare(args: &Args) -> Result<Bench> {
    let data = args.data.clone().unwrap_or_else(|| shared_data().join("labelled"));
    let beside = || data.parent().unwrap_or(Path::new("")).join("corpora").join("bench-20k.jsonl.zst");
    let corpus = args.corpus.clone().unwrap_or_else(beside);
    ensure!(corpus.exists(), "there is no corpus {}: give one with --corpus", corpus.display());
    for folder in [&args.out, &args.work] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let program = Program { path: peers::onecopy(args.onecopy.as_deref())?, work: args.work.clone() };
    let limit = Duration::from_secs(args.limit);
    Ok(Bench { program, data, corpus, out: args.out.clone(), limit, runs: args.runs })
}

/// The folder of real data.
pub(super) fn shared_data() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("ONECOPY_DATA").map_or_else(beside, PathBuf::from)
}

impl Bench {
    /// Writes a picture into the output folder. Returns the reference to it for the report.
    fn picture(&self, name: &str, alt: &str, svg: &str) -> Result<String> {
        let path = self.out.join(name);
        fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(format!("![{alt}]({name})\n"))
    }
}

/// A figure between 0 and 1, or a dash if there is none.
fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}
