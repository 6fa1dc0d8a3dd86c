//! The arguments of `onecopy dedup`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use onecopy_engine::{DEFAULT_MEMORY_BYTES, Job, KeptPages, Outputs, Payloads, RECALL_PAGES, RemovedRecords};

use super::choice::ChoiceArgs;
use super::environment;
use super::input::{FieldArgs, LimitArgs};
use super::text::TextArgs;
use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy dedup pages.jsonl --out clean
  onecopy dedup 'crawl/*.warc.gz' --out clean --memory 512M
  onecopy dedup 'crawl/*.warc.gz' --out clean --payloads all --cdxj
  onecopy dedup s3://bucket/crawl/ --out clean --market uk,de
  onecopy dedup site/ --out clean --threshold 0.9 --winner newer,short-url
  onecopy dedup crawl.wacz mirror.tar.gz --out clean
  onecopy dedup crawl.warc.gz --out clean --popularity scores.jsonl
  onecopy dedup pages.csv.xz --out clean --text-field body --url-field link
  onecopy dedup train.parquet --out clean --text-field data.text
  onecopy dedup 2024-06/ --out clean --against 2024-05/
  onecopy dedup train.parquet --out clean --against test.jsonl --method containment
  zcat pages.jsonl.gz | onecopy dedup - --out clean --json
  zcat pages.jsonl.gz | onecopy dedup - --out - | zstd > kept.jsonl.zst
  onecopy dedup 'crawl/*.warc.gz' --out clean --lists-only --lists names,parquet

Results, complete once report.json exists:
  clean/kept/           the kept pages, with the file names and formats of the input
  clean/removed.jsonl   page, winner, similarity, kind: why each page was removed
  clean/groups.jsonl    group, winner, kept, members
  clean/pages.jsonl     page, status, url, language, group of each page
  clean/rejected.jsonl  source, line or record, reason: records that could not be judged
  clean/report.json     the numbers;  clean/run.json  the configuration
Every list has the place of each page, too: source, and line, record or row.

Environment variables for addresses, as in the stores' own tools:
  s3://     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL
  gs://     GOOGLE_APPLICATION_CREDENTIALS, a key file
  az://     AZURE_STORAGE_ACCOUNT_NAME, with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN
  public    AWS_SKIP_SIGNATURE=true, or GOOGLE_, or AZURE_
  all       SSL_CERT_FILE, certificates to trust instead of the system's; HTTPS_PROXY, NO_PROXY

Exit status:
  0    all input was read
  1    the run failed, or no record could be judged
  2    the call cannot work: a flag, a setting or a folder is wrong
  3    the run finished without some input, which could not be read: standard error, the summary
       and report.json name it. kept/ has no file for it, or one that ends in .incomplete
  130  stopped by Ctrl-C or SIGTERM

A stopped run continues if you give the same command again.";

#[derive(ClapArgs)]
pub struct DedupArgs {
    /// Files, folders, glob patterns, addresses (s3://, gs://, az://, https://), or - for standard input. Formats: JSON
    /// Lines, JSON arrays, CSV, TSV, WARC, WET, ARC, .html, .txt and .md, each also .gz, .zst, .xz, .bz2 or .lz4; Parquet;
    /// .wacz, .zip and .tar of such files
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The folder for the results; created if needed. With - the kept lines of JSON Lines go to standard output, and no
    /// list is kept
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// Also remove pages that repeat a page of this input, the base, or of a folder that `onecopy sketch` made. The base
    /// stays as it is, and is in no result except as winners and in groups
    #[arg(long, value_name = "BASE", num_args = 1)]
    pub against: Vec<String>,
    /// Write the lists, but no kept pages
    #[arg(long)]
    pub lists_only: bool,
    /// More forms of the lists, beside JSON Lines
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORM,...")]
    pub lists: Vec<ListArg>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// How removed pages appear in WARC and ARC files
    #[arg(long, value_enum, default_value_t)]
    pub removed_records: RemovedArg,
    /// Which identical payloads a WARC file stores once; revisit records replace the others
    #[arg(long, value_enum, default_value_t)]
    pub payloads: PayloadsArg,
    /// Write an index beside each kept WARC or ARC file, as NAME.cdxj, for replay with pywb
    #[arg(long)]
    pub cdxj: bool,
    /// Use at most this much memory, such as 512M or 4G, and the disk for the rest. Never changes the answer
    #[arg(long, short, value_name = "SIZE", default_value_t = Size(DEFAULT_MEMORY_BYTES))]
    pub memory: Size,
    /// The scores of pages, as `onecopy rank` writes them, for the winner rule popularity. A score replaces the
    /// popularity of its page, and is found by address or id
    #[arg(long, value_name = "FILE")]
    pub popularity: Option<PathBuf>,
    /// Measure the recall of an approximate method on this many pages after the run; 0 for no measurement
    #[arg(long, value_name = "N", default_value_t = RECALL_PAGES)]
    pub recall_pages: usize,
    /// Use this many threads. Never changes the answer [default: one per core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Replace the results of another run in the output folder
    #[arg(long)]
    pub overwrite: bool,
    /// Stop at the first input that cannot be read or breaks off, instead of going on without it
    #[arg(long)]
    pub strict: bool,
    /// Print how long each stage took, too. report.json always says so
    #[arg(long)]
    pub timings: bool,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum RemovedArg {
    /// As a revisit record if another record has the same payload, byte for byte; otherwise unchanged
    #[default]
    Revisit,
    /// As a revisit record if another record has the same payload; otherwise not at all
    RevisitOrLeaveOut,
    /// Not at all, nor their requests and metadata
    LeaveOut,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListArg {
    /// kept.txt and removed.txt: the names of pages, one on each line
    Names,
    /// Each list as Parquet, too
    Parquet,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum PayloadsArg {
    /// Those of removed pages
    #[default]
    Pages,
    /// Those of all responses and resources: images, styles, scripts and pages that were rejected
    All,
}

impl DedupArgs {
    /// Whether the kept pages go to standard output.
    pub fn to_stdout(&self) -> bool {
        self.out.as_os_str() == "-"
    }

    /// The results beside the lists.
    fn outputs(&self) -> Outputs {
        let kept = if self.lists_only { KeptPages::Nowhere } else { KeptPages::Folder };
        let has = |form| self.lists.contains(&form);
        Outputs { kept, names: has(ListArg::Names), parquet: has(ListArg::Parquet) }
    }

    /// The job from the command line.
    pub fn job(&self) -> anyhow::Result<Job> {
        let mut job = Job::new(self.inputs.iter().cloned(), &self.out);
        job.config = self.choice.config(&self.text)?;
        job.against = self.against.clone();
        job.fields = self.fields.fields();
        job.limits = self.limits.limits();
        job.removed_records = match self.removed_records {
            RemovedArg::Revisit => RemovedRecords::Revisit,
            RemovedArg::RevisitOrLeaveOut => RemovedRecords::RevisitOrLeaveOut,
            RemovedArg::LeaveOut => RemovedRecords::LeaveOut,
        };
        job.outputs = self.outputs();
        job.payloads = match self.payloads {
            PayloadsArg::Pages => Payloads::Pages,
            PayloadsArg::All => Payloads::All,
        };
        job.cdxj = self.cdxj;
        job.environment = environment();
        job.popularity = self.popularity.clone();
        job.recall_pages = self.recall_pages;
        job.memory_bytes = self.memory.0;
        job.threads = self.threads.unwrap_or(job.threads);
        job.overwrite = self.overwrite;
        job.strict = self.strict;
        Ok(job)
    }
}
