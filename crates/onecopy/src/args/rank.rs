//! The arguments of `onecopy rank`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use onecopy_core::{AddressRules, PageRankRules};
use onecopy_engine::{DEFAULT_MEMORY_BYTES, Fields, LinkInput, Nofollow, PageRankJob, UnknownPages};

use super::environment;
use super::input::LimitArgs;
use super::text::read_text;
use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy rank 'crawl/*.warc.gz' --out scores.jsonl
  onecopy rank pages.jsonl --links-field outlinks --out scores.tsv
  onecopy rank --edges web-Google.txt.gz --out scores.parquet
  onecopy rank site/ --out about-birds.tsv --resets birds.txt
  onecopy dedup crawl.warc.gz --out clean --popularity scores.jsonl
  onecopy rank crawl.warc.gz --run clean --out merged.jsonl

The score (PageRank) of a page is the chance to find a reader there who follows links at random and
now and then, with chance --reset, starts over at any page:
  score(v) = d / n + (1 - d) * sum of score(u) / links(u) over the pages u that link to v
All scores add up to one. A link counts once, a page does not vote for itself, and pages without
links vote by the reset. Redirects count as links. --resets FILE names the pages where readers start
over, one on each line, each with a weight behind a blank if it is not 1: pages about a topic, or
those that one person likes.

Scores are sorted, best first:
  page        the address in its one form, or the id if there is none
  pagerank    the score
  links_in    pages that link to it; links_out likewise
  unknown     1 if the page is only linked to, and not in the input

Merge copies: run dedup first, then rank with --run. Links to a removed page count for its winner.";

#[derive(ClapArgs)]
pub struct RankArgs {
    /// Files, folders, glob patterns, addresses (s3://, gs://, az://, https://), or - for standard input, with pages in any
    /// format of dedup. Links come from HTML, and from the field `links`
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// Read edge lists: on each line two pages, of which the first links to the second, with a tab, a comma or blanks
    /// between them. Lines that begin with # or % do not count
    #[arg(long)]
    pub edges: bool,
    /// The file for the scores; its ending, .jsonl, .tsv or .parquet, decides the format
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace that file if it exists
    #[arg(long)]
    pub overwrite: bool,
    /// The finished run whose removed pages pass their links on to their winners
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// The chance that a reader starts over. Higher: links count less
    #[arg(long, value_name = "0..1", default_value_t = PageRankRules::default().reset)]
    pub reset: f64,
    /// The pages where readers start over, with weights [default: all pages]
    #[arg(long, value_name = "FILE")]
    pub resets: Option<PathBuf>,
    /// Stop once all scores together change by less than this. Lower: more exact
    #[arg(long, value_name = "NUMBER", default_value_t = PageRankRules::default().tolerance)]
    pub tolerance: f64,
    /// The most iterations
    #[arg(long, value_name = "N", default_value_t = PageRankRules::default().iterations)]
    pub iterations: u32,
    /// The treatment of pages that are linked to and not in the input
    #[arg(long, value_enum, default_value_t)]
    pub unknown: UnknownArg,
    /// Count links that are marked rel=nofollow
    #[arg(long)]
    pub nofollow: bool,
    /// The rules for equal addresses; `onecopy rules` prints the usual ones [default: these, or the rules of --run]
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub address_rules: Option<PathBuf>,
    /// The field with the links of a page: a list of addresses or ids [default: links]
    #[arg(long, value_name = "NAME")]
    pub links_field: Option<String>,
    /// The field with the page's address [default: the usual names]
    #[arg(long, value_name = "NAME")]
    pub url_field: Option<String>,
    /// The field with the page's id [default: the usual names]
    #[arg(long, value_name = "NAME")]
    pub id_field: Option<String>,
    /// Use at most this much memory, such as 512M or 4G, and the disk for the rest. Never changes the scores
    #[arg(long, short, value_name = "SIZE", default_value_t = Size(DEFAULT_MEMORY_BYTES))]
    pub memory: Size,
    /// Use this many threads. Never changes the scores [default: one per core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum UnknownArg {
    /// They get a score and take their part of the votes
    #[default]
    Keep,
    /// Links to them do not count
    Drop,
}

impl RankArgs {
    /// The job from the command line.
    pub fn job(&self) -> anyhow::Result<PageRankJob> {
        let mut job = PageRankJob::new(self.inputs.iter().cloned(), &self.out);
        job.kind = if self.edges { LinkInput::Links } else { LinkInput::Pages };
        job.overwrite = self.overwrite;
        job.rules =
            PageRankRules { reset: self.reset, tolerance: self.tolerance, iterations: self.iterations };
        job.resets = self.resets.clone();
        job.run = self.run.clone();
        job.unknown = match self.unknown {
            UnknownArg::Keep => UnknownPages::Keep,
            UnknownArg::Drop => UnknownPages::Drop,
        };
        job.nofollow = if self.nofollow { Nofollow::Count } else { Nofollow::Ignore };
        if let Some(path) = &self.address_rules {
            let rules = AddressRules::parse(&read_text(path, "address rules")?);
            job.addresses = rules.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        }
        job.fields = Fields {
            links: self.links_field.clone(),
            url: self.url_field.clone(),
            id: self.id_field.clone(),
            ..Fields::default()
        };
        job.limits = self.limits.limits();
        job.environment = environment();
        job.memory_bytes = self.memory.0;
        job.threads = self.threads.unwrap_or(job.threads);
        Ok(job)
    }
}
