//! What may be typed behind `onecopy dedup`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use onecopy_core::{AddressRules, Config, WinnerRule};
use onecopy_engine::{DEFAULT_MEMORY_BYTES, Fields, Job, Limits, RECALL_PAGES, RemovedRecords};

use super::environment;
use super::text::{ShingleArgs, TextArgs, read_text};
use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy dedup pages.jsonl --out clean
  onecopy dedup 'crawl/*.warc.gz' --out clean --memory 512M
  onecopy dedup s3://bucket/crawl/ --out clean --market uk,de
  onecopy dedup site/ --out clean --threshold 0.9 --winner newer,short-url
  zcat pages.jsonl.gz | onecopy dedup - --out clean --json

Results, complete once report.json is there:
  clean/kept/           the pages that stay, in files named and made like the input's
  clean/removed.jsonl   page, winner, similarity, kind: why each other page went
  clean/groups.jsonl    group, winner, kept, members
  clean/pages.jsonl     page, url, language, group: what is known of each page
  clean/rejected.jsonl  source, line or record, reason: what could not be judged
  clean/report.json     the numbers;  clean/run.json  the configuration

A run that was stopped continues when the same command is given again.";

#[derive(ClapArgs)]
pub struct DedupArgs {
    /// Files, folders, glob patterns, addresses (s3://, gs://, az://, https://), or - for standard input: JSON Lines, WARC,
    /// WET, ARC, each also .gz or .zst; Parquet; .html; .txt
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The folder for the results; made if it is not there
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// How pages are compared; `onecopy methods` lists the methods and their parameters
    #[arg(long, value_name = "NAME[:PARAMETER=VALUE]...", default_value_t = Config::default().method)]
    pub method: String,
    /// Pages at least this similar are duplicates. Higher: fewer pages removed [default: the method's own, 0.8 for auto]
    #[arg(long, short, value_name = "0..1")]
    pub threshold: Option<f64>,
    #[command(flatten)]
    pub shingles: ShingleArgs,
    /// Who wins among duplicates, most important rule first
    #[arg(long, value_enum, value_delimiter = ',', value_name = "RULE,...",
          default_value = default_winner())]
    pub winner: Vec<WinnerArg>,
    /// Prefer pages on hosts that end in this, such as uk or gov.uk; each of several markets gets its own lists of winners
    #[arg(long, value_delimiter = ',', value_name = "SUFFIX,...")]
    pub market: Vec<String>,
    /// Rules for which addresses name the same page, in place of those that `onecopy rules` prints
    #[arg(long, value_name = "FILE")]
    pub address_rules: Option<PathBuf>,
    /// What becomes of removed records in WARC files
    #[arg(long, value_enum, default_value_t)]
    pub removed_records: RemovedArg,
    /// The most memory to use, such as 512M or 4G; the rest goes to disk. Never changes the answer
    #[arg(long, short, value_name = "SIZE", default_value_t = Size(DEFAULT_MEMORY_BYTES))]
    pub memory: Size,
    /// Pages whose duplicates are looked for exactly after the run, to measure the recall of an approximate method; 0 for none
    #[arg(long, value_name = "N", default_value_t = RECALL_PAGES)]
    pub recall_pages: usize,
    /// How many threads to use. Never changes the answer [default: one a core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Replace the results of another run in the output folder
    #[arg(long)]
    pub overwrite: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the report as JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Fields of a record (guessed by their usual names unless given)")]
pub struct FieldArgs {
    /// The field with the page's text or HTML
    #[arg(long, value_name = "NAME")]
    pub text_field: Option<String>,
    /// The field with the page's id
    #[arg(long, value_name = "NAME")]
    pub id_field: Option<String>,
    /// The field with the page's address
    #[arg(long, value_name = "NAME")]
    pub url_field: Option<String>,
    /// The field with the time of fetching
    #[arg(long, value_name = "NAME")]
    pub time_field: Option<String>,
    /// The field with a number that grows with the page's worth
    #[arg(long, value_name = "NAME")]
    pub popularity_field: Option<String>,
    /// The field with the address that the page redirects to
    #[arg(long, value_name = "NAME")]
    pub redirect_field: Option<String>,
    /// The field with the address that the page gives as its own (rel=canonical)
    #[arg(long, value_name = "NAME")]
    pub canonical_field: Option<String>,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Reject records and files longer than this
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::default().page_bytes as u64))]
    pub max_page: Size,
    /// Read no further in a compressed file that grows more than this many times
    #[arg(long, value_name = "N", default_value_t = Limits::default().expansion)]
    pub max_expansion: u64,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum RemovedArg {
    /// A revisit record names the page that stays
    #[default]
    Revisit,
    /// They are left out
    LeaveOut,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum WinnerArg {
    /// The more popular page
    Popularity,
    /// A URL without a query before one with
    Static,
    /// The shorter URL
    ShortUrl,
    /// The earlier page
    Older,
    /// The later page
    Newer,
    /// The longer text
    Longer,
}

fn default_winner() -> String {
    let rules = Config::default().winner.into_iter().map(WinnerArg::from);
    let names = rules.filter_map(|rule| rule.to_possible_value().map(|value| value.get_name().to_owned()));
    names.collect::<Vec<_>>().join(",")
}

impl From<WinnerRule> for WinnerArg {
    fn from(rule: WinnerRule) -> WinnerArg {
        match rule {
            WinnerRule::Popularity => WinnerArg::Popularity,
            WinnerRule::Static => WinnerArg::Static,
            WinnerRule::ShortUrl => WinnerArg::ShortUrl,
            WinnerRule::Older => WinnerArg::Older,
            WinnerRule::Newer => WinnerArg::Newer,
            WinnerRule::Longer => WinnerArg::Longer,
        }
    }
}

impl From<WinnerArg> for WinnerRule {
    fn from(rule: WinnerArg) -> WinnerRule {
        match rule {
            WinnerArg::Popularity => WinnerRule::Popularity,
            WinnerArg::Static => WinnerRule::Static,
            WinnerArg::ShortUrl => WinnerRule::ShortUrl,
            WinnerArg::Older => WinnerRule::Older,
            WinnerArg::Newer => WinnerRule::Newer,
            WinnerArg::Longer => WinnerRule::Longer,
        }
    }
}

impl DedupArgs {
    /// The job that was typed.
    pub fn job(&self) -> anyhow::Result<Job> {
        let mut job = Job::new(self.inputs.iter().cloned(), &self.out);
        job.config = self.config()?;
        job.fields = Fields {
            text: self.fields.text_field.clone(),
            id: self.fields.id_field.clone(),
            url: self.fields.url_field.clone(),
            time: self.fields.time_field.clone(),
            popularity: self.fields.popularity_field.clone(),
            redirect: self.fields.redirect_field.clone(),
            canonical: self.fields.canonical_field.clone(),
        };
        job.limits =
            Limits { page_bytes: self.limits.max_page.0 as usize, expansion: self.limits.max_expansion };
        job.removed_records = match self.removed_records {
            RemovedArg::Revisit => RemovedRecords::Revisit,
            RemovedArg::LeaveOut => RemovedRecords::LeaveOut,
        };
        job.environment = environment();
        job.recall_pages = self.recall_pages;
        job.memory_bytes = self.memory.0;
        job.threads = self.threads.unwrap_or(job.threads);
        job.overwrite = self.overwrite;
        Ok(job)
    }

    fn config(&self) -> anyhow::Result<Config> {
        let mut config =
            Config { method: self.method.clone(), threshold: self.threshold, ..Config::default() };
        config.winner = self.winner.iter().map(|&rule| rule.into()).collect();
        config.markets = self.market.iter().map(|market| market.trim_matches('.').to_lowercase()).collect();
        if let Some(path) = &self.address_rules {
            let text = read_text(path, "address rules")?;
            let rules = AddressRules::parse(&text);
            config.addresses = rules.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        }
        self.shingles.apply(&mut config);
        self.text.apply(&mut config)?;
        Ok(config)
    }
}
