//! The arguments of `onecopy eval`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_core::Config;
use onecopy_engine::{DEFAULT_MISTAKES, EvalJob};

use super::choice::refuse_second_threshold;
use super::text::{ShingleArgs, TextArgs};

pub const EXAMPLES: &str = "\
Examples:
  onecopy eval sets/news sets/terms
  onecopy eval sets/* --method jaccard,jaccard:threshold=0.6 --content main
  onecopy eval sets/hard --listed-only --mistakes 20
  onecopy eval sets/news --plot news.png --json > news.json

A set is a folder with
  docs.jsonl     one page per line: id; html or text; url or site, if known (also .zst or .gz)
  pairs.csv      id1,id2,label: 1 duplicates, 0 not, -1 not scored; unlisted pairs are 0
  clusters.csv   id,cluster: the expected groups; without pairs.csv they define the duplicates

onecopy compares all pairs and prints, with 95 % intervals (too narrow, because pairs of one cluster
are not independent):
  precision      the share of right pairs among those found
  recall         the share of duplicates that are found
  F1, ARI        the harmonic mean of the two; how well the groups match the expected ones";

#[derive(ClapArgs)]
pub struct EvalArgs {
    /// Folders of labelled sets
    #[arg(required = true, value_name = "SET")]
    pub sets: Vec<PathBuf>,
    /// The methods to measure, such as jaccard,jaccard:threshold=0.6 [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME[:PARAMETER=VALUE]...,...")]
    pub method: Vec<String>,
    /// Count pairs at least this similar as duplicates, for all methods [default: each method's own]
    #[arg(long, short, value_name = "0..1")]
    pub threshold: Option<f64>,
    /// Ignore unlisted pairs instead of counting them as no duplicates
    #[arg(long)]
    pub listed_only: bool,
    /// Show this many of the worst mistakes of each kind
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MISTAKES)]
    pub mistakes: usize,
    /// Draw precision and recall curves into this file; its ending, .svg or .png, decides the format
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub shingles: ShingleArgs,
    /// Use this many threads. Never changes the answer [default: one per core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Print only errors and the result
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub text: TextArgs,
}

impl EvalArgs {
    /// The job from the command line.
    pub fn job(&self) -> anyhow::Result<EvalJob> {
        self.method.iter().try_for_each(|method| refuse_second_threshold(self.threshold, method))?;
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
