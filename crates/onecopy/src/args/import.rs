//! What may be typed behind `onecopy import`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_core::Config;
use onecopy_engine::{Error, ImportJob, ServiceOptions};

use super::choice::ChoiceArgs;
use super::environment;
use super::input::{FieldArgs, LimitArgs};
use super::routing::RoutingArg;
use super::text::TextArgs;

pub const EXAMPLES: &str = "\
Examples:
  onecopy import --data pages pages.jsonl
  onecopy import --data pages 'crawl/*.warc.gz' --rejected rejected.jsonl
  onecopy import --data pages clean                 the pages of a finished run, as it was told
  zcat more.jsonl.gz | onecopy import --data pages - --no-wait --json

A page is known by its id, else by its address, else by its file and line. Two records of one name
are two versions of one page: the later in the input is the one that counts, whatever their times.
Importing the same again changes nothing. What counts as a duplicate is fixed when a collection is
begun. While a server uses the collection, put pages through its HTTP interface, or stop it first.";

/// A byte takes at most six as part of a JSON string.
const ESCAPED: usize = 6;
/// The largest limit that the engine accepts.
const MOST_PAGE_BYTES: usize = 1 << 30;

#[derive(ClapArgs)]
pub struct ImportArgs {
    /// Files, folders, glob patterns, addresses (s3://, gs://, az://, https://), - for standard input, as dedup reads them; or
    /// the output folder of a finished run, whose inputs are read again
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The collection's folder; begun if it is not there
    #[arg(long, short, value_name = "DIR")]
    pub data: PathBuf,
    /// Do not wait until all is compared: that goes on when the collection is opened the next time
    #[arg(long)]
    pub no_wait: bool,
    /// Keep only what is needed to compare pages, not the pages themselves: they cannot be exported
    #[arg(long)]
    pub no_keep_pages: bool,
    /// Which partitions a page is compared in: lossless, or approximate, which is faster and misses some pairs; the
    /// factor by which its intervals are enlarged is sampled unless it is given
    #[arg(long, value_name = "lossless|approximate[:RHO]", default_value = "lossless")]
    pub routing: RoutingArg,
    /// List all that was rejected in this file: source, line, reason
    #[arg(long, value_name = "FILE")]
    pub rejected: Option<PathBuf>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// How many threads to use. Never changes the answer [default: one a core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl ImportArgs {
    /// The import that was typed. Standard input goes to `spool`.
    pub fn job(&self, spool: PathBuf) -> ImportJob {
        ImportJob {
            inputs: self.inputs.clone(),
            data: self.data.clone(),
            spool,
            fields: self.fields.fields(),
            limits: self.limits.limits(),
            environment: environment(),
            threads: self.thread_count(),
        }
    }

    /// How the collection is opened; `run` is what the finished run was told that is imported.
    pub fn options(&self, run: Option<&Config>) -> anyhow::Result<ServiceOptions> {
        let mut options = ServiceOptions::new(&self.data);
        let typed = self.choice.config(&self.text)?;
        options.config = match (run, typed == Config::default()) {
            (Some(run), true) => Some(run.clone()),
            (Some(_), false) => {
                let remedy = "leave out the options on what counts as a duplicate";
                return Err(
                    Error::Config(format!("a finished run brings its own configuration: {remedy}")).into()
                );
            }
            (None, true) => None,
            (None, false) => Some(typed),
        };
        // Before a folder is made for it.
        if let Some(config) = &options.config {
            config.check().map_err(Error::Config)?;
        }
        options.limits = self.limits.limits();
        // The limit is on records as they stand in the input; as lines of JSON they may be longer.
        options.limits.page_bytes = options.limits.page_bytes.saturating_mul(ESCAPED).min(MOST_PAGE_BYTES);
        options.keep_pages = !self.no_keep_pages;
        options.routing = self.routing.0;
        options.threads = self.thread_count();
        Ok(options)
    }

    fn thread_count(&self) -> usize {
        self.threads.unwrap_or_else(|| ServiceOptions::new(&self.data).threads)
    }
}
