//! `onecopy-bench experiment results`: repeats in the answers of a real search engine, next to the figures of Jain, Dahlin
//! and Tewari (2005).
//!
//! tantivy gives the answers. onecopy refines them, run as a child; an example program of its core measures times.

mod answers;
mod bootstrap;
mod labels;
mod picture;
mod published;
mod quality;
mod refined;
mod repeats;
mod scores;
mod tables;
mod versions;

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::jsonl;
use crate::peers::{self, Machine};
use answers::{Answers, write_lines};
use refined::Program;

/// Measures repeats in the answers of a search engine: how many, how fast they are found, and how well.
///
/// Indexes the corpus with tantivy, asks it queries made of words of the pages, and keeps the answers in the work folder.
/// Writes results.md with tables and three pictures. Only the times need a quiet machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench experiment results --corpus bench-100k.jsonl --out results
  onecopy-bench experiment results --corpus bench-20k.jsonl --only tables,versions --out results
Parts: tables, versions, repeats, quality. The labels of quality are of bench-100k.")]
pub struct Args {
    /// The folder for the report; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The pages, as JSON Lines with id, url and text
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// How many queries are asked, about
    #[arg(long, default_value_t = 240, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    queries: u32,
    /// Answers that were kept before [default: those of the corpus in the work folder]
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Labelled pairs of these answers [default: those of this repository]
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Measure only these parts
    #[arg(long, value_delimiter = ',', value_parser = ["tables", "versions", "repeats", "quality"])]
    only: Vec<String>,
    /// A Python that has tantivy; by default it is installed in the work folder
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// A folder for the index, the answers and other files
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

/// Bytes of text for the longest document that is measured, with some to spare for what the canonical form removes.
const START_BYTES: usize = 24 << 20;

/// Shared by all parts.
struct Bench {
    program: Program,
    corpus: PathBuf,
    out: PathBuf,
}

/// A part: its name, and a function that writes its text. Pictures go to the output folder.
type Part<'a> = (&'static str, &'a dyn Fn(&Bench, &Answers) -> Result<String>);

pub fn run(args: &Args) -> Result<()> {
    ensure!(args.corpus.exists(), "there is no corpus {}: check --corpus", args.corpus.display());
    for folder in [&args.out, &args.work] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let program = Program { path: peers::onecopy(args.onecopy.as_deref())?, work: args.work.clone() };
    let bench = Bench { program, corpus: args.corpus.clone(), out: args.out.clone() };
    let answers = Answers::get(args)?;
    let labels = args.labels.clone().unwrap_or_else(labels::path);
    let parts: [Part<'_>; 4] = [
        ("tables", &tables::section),
        ("versions", &|bench, _| versions::section(bench)),
        ("repeats", &repeats::section),
        ("quality", &|bench, answers| quality::section(bench, answers, &labels)),
    ];
    let mut report = format!("# Search results without repeats\n\n{}\n", Machine::this().line());
    for (name, section) in parts {
        if args.only.is_empty() || args.only.iter().any(|only| only == name) {
            let text = section(&bench, &answers).with_context(|| format!("{name} could not be measured"))?;
            report += &format!("\n{text}");
        }
    }
    let path = bench.out.join("results.md");
    fs::write(&path, &report).with_context(|| format!("cannot write {}", path.display()))?;
    print!("{report}");
    Ok(())
}

impl Bench {
    /// Writes a picture into the output folder. Returns the reference to it for the report.
    fn picture(&self, name: &str, alt: &str, svg: &str) -> Result<String> {
        let path = self.out.join(name);
        fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(format!("![{alt}]({name})\n"))
    }

    /// A file with the first pages of the corpus.
    fn corpus_start(&self) -> Result<PathBuf> {
        let path = self.program.work.join("results-start.jsonl");
        write_lines(&path, first_lines(&self.corpus)?.into_iter())?;
        Ok(path)
    }
}

fn first_lines(corpus: &Path) -> Result<Vec<String>> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for line in jsonl::open(corpus)?.lines() {
        let line = line.with_context(|| format!("cannot read {}", corpus.display()))?;
        bytes += line.len();
        lines.push(line);
        if bytes > START_BYTES {
            break;
        }
    }
    Ok(lines)
}
