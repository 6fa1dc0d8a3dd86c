//! What may be typed behind `onecopy eval`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_core::Config;
use onecopy_engine::{DEFAULT_MISTAKES, EvalJob};

use super::text::{ShingleArgs, TextArgs};

pub const EXAMPLES: &str = "\
Examples:
  onecopy eval sets/news sets/terms
  onecopy eval sets/* --method jaccard,jaccard:threshold=0.6 --content main
  onecopy eval sets/hard --listed-only --mistakes 20
  onecopy eval sets/news --plot news.svg --json > news.json

A set is a folder with
  docs.jsonl     a line a page: id, html or text; url or site if sites are to be told apart; also .zst, .gz
  pairs.csv      id1,id2,label: 1 duplicates, 0 not, -1 not scored; pairs that are not listed are 0
  clusters.csv   id,cluster: the groups that should be; without pairs.csv, pages of a cluster are duplicates

All pairs are compared. Told are, with 95 % intervals (pairs of one cluster are not independent, so
they are rather wider):
  precision      the share of right pairs among those found
  recall         the share of duplicates that are found
  F1, ARI        the mean of the two; how well the groups agree with those that should be";

#[derive(ClapArgs)]
pub struct EvalArgs {
    /// Folders of labelled sets
    #[arg(required = true, value_name = "SET")]
    pub sets: Vec<PathBuf>,
    /// Methods to measure, such as jaccard,jaccard:threshold=0.6 [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME[:PARAMETER=VALUE]...,...")]
    pub method: Vec<String>,
    /// Pairs at least this similar are duplicates, for all methods [default: each method's own]
    #[arg(long, short, value_name = "0..1")]
    pub threshold: Option<f64>,
    /// Leave pairs that are not listed out, rather than count them as no duplicates
    #[arg(long)]
    pub listed_only: bool,
    /// How many of the worst mistakes of each kind to show
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MISTAKES)]
    pub mistakes: usize,
    /// Draw precision against recall into this file
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub shingles: ShingleArgs,
    /// How many threads to use. Never changes the answer [default: one a core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Say nothing but errors and the result
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub text: TextArgs,
}

impl EvalArgs {
    /// The job that was typed.
    pub fn job(&self) -> anyhow::Result<EvalJob> {
        let mut job = EvalJob::new(self.sets.iter().cloned());
        let mut config = Config { threshold: self.threshold, ..Config::default() };
        self.shingles.apply(&mut config);
        self.text.apply(&mut config)?;
        job.config = config;
        if !self.method.is_empty() {
            job.methods = self.method.clone();
        }
        job.listed_only = self.listed_only;
        job.mistakes = self.mistakes;
        job.threads = self.threads.unwrap_or(job.threads);
        Ok(job)
    }
}
