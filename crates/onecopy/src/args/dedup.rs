//! What may be typed behind `onecopy dedup`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use onecopy_engine::{DEFAULT_MEMORY_BYTES, Job, RECALL_PAGES, RemovedRecords};

use super::choice::ChoiceArgs;
use super::environment;
use super::input::{FieldArgs, LimitArgs};
use super::text::TextArgs;
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

Variables for addresses, as the stores' own tools have them:
  s3://     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL
  gs://     GOOGLE_APPLICATION_CREDENTIALS, a key file
  az://     AZURE_STORAGE_ACCOUNT_NAME, with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN
  public    AWS_SKIP_SIGNATURE=true, or GOOGLE_, or AZURE_
  all       SSL_CERT_FILE, certificates to trust instead of the system's; HTTPS_PROXY, NO_PROXY

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
    #[command(flatten)]
    pub choice: ChoiceArgs,
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

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum RemovedArg {
    /// A revisit record names the page that stays
    #[default]
    Revisit,
    /// They are left out
    LeaveOut,
}

impl DedupArgs {
    /// The job that was typed.
    pub fn job(&self) -> anyhow::Result<Job> {
        let mut job = Job::new(self.inputs.iter().cloned(), &self.out);
        job.config = self.choice.config(&self.text)?;
        job.fields = self.fields.fields();
        job.limits = self.limits.limits();
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
}
