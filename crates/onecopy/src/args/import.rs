//! The arguments of `onecopy import`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_core::{Config, FilterRules};
use onecopy_engine::{Error, ImportJob, ServiceOptions};

use super::choice::ChoiceArgs;
use super::environment;
use super::input::{FieldArgs, LimitArgs};
use super::text::TextArgs;
use crate::commands::WrongCall;

pub const EXAMPLES: &str = "\
Examples:
  onecopy import --data pages pages.jsonl
  onecopy import --data pages 'crawl/*.warc.gz' --rejected rejected.jsonl
  onecopy import --data pages clean                 the inputs of a finished run, with its settings
  zcat more.jsonl.gz | onecopy import --data pages - --no-wait --json

A page is identified by its id, else by its address, else by its file and line. Two records with one
name are versions of one page: the later in the input wins, whatever their timestamps. Importing the
same input again changes nothing. The settings for duplicates are fixed when a collection is created.
While a server uses the collection, put pages through its HTTP interface, or stop it first.";

/// A byte takes at most six bytes in a JSON string.
const ESCAPED: usize = 6;
/// The largest limit that the engine accepts.
const MOST_PAGE_BYTES: usize = 1 << 30;

#[derive(ClapArgs)]
pub struct ImportArgs {
    /// Any input of dedup: files, folders, glob patterns, addresses, or - for standard input. Or the output folder of a
    /// finished run, whose inputs are read again
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The folder of the collection; created if needed
    #[arg(long, short, value_name = "DIR")]
    pub data: PathBuf,
    /// Do not wait for the comparison of all pages; it continues when the collection is next opened
    #[arg(long)]
    pub no_wait: bool,
    /// Store only the data for comparing, not the pages. They cannot be exported
    #[arg(long)]
    pub no_keep_pages: bool,
    /// Store a tag of 256 bytes with each page, for comparing search results. Whether a collection has tags is fixed
    /// when it is created
    #[arg(long)]
    pub tags: bool,
    /// Write all rejected records to this file: source, line, reason
    #[arg(long, value_name = "FILE")]
    pub rejected: Option<PathBuf>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Use this many threads. Never changes the answer [default: one per core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as JSON
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
    /// The import from the command line. Standard input is spooled to `spool`.
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

    /// The options of the collection. `run` is the configuration of an imported run.
    pub fn options(&self, run: Option<&Config>) -> anyhow::Result<ServiceOptions> {
        let mut options = ServiceOptions::new(&self.data);
        let typed = self.choice.config(&self.text)?;
        options.config = match (run, typed == Config::default()) {
            (Some(run), true) => Some(run.clone()),
            (Some(_), false) => {
                let remedy = "omit the options that decide about duplicates";
                return Err(
                    WrongCall(format!("a finished run brings its own configuration: {remedy}")).into()
                );
            }
            (None, true) => None,
            (None, false) => Some(typed),
        };
        // Check before a folder is created for it.
        if let Some(config) = &options.config {
            config.check().map_err(Error::from)?;
        }
        options.limits = self.limits.limits();
        // The limit applies to records of the input; as JSON lines they may be longer.
        options.limits.page_bytes = options.limits.page_bytes.saturating_mul(ESCAPED).min(MOST_PAGE_BYTES);
        options.keep_pages = !self.no_keep_pages;
        options.tags = self.tags.then(FilterRules::default);
        options.threads = self.thread_count();
        Ok(options)
    }

    fn thread_count(&self) -> usize {
        self.threads.unwrap_or_else(|| ServiceOptions::new(&self.data).threads)
    }
}
