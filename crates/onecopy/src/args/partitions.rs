//! The arguments of `onecopy partitions`.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use onecopy_core::Config;
use onecopy_engine::ImportJob;

use super::environment;
use super::input::{FieldArgs, LimitArgs};

pub const EXAMPLES: &str = "\
Examples:
  onecopy partitions plan pages.jsonl --machines 16
  onecopy partitions plan 'crawl/*.warc.gz' --machines 16 --dimensions 3 --save plan.json
  onecopy partitions apply plan.json newer.jsonl";

const PLAN_EXAMPLES: &str = "\
Examples:
  onecopy partitions plan pages.jsonl --machines 16
  onecopy partitions plan pages.jsonl --machines 2,4,8,16,32,64 --plot plan.svg
  onecopy partitions plan 'crawl/*.warc.gz' --machines 16 --dimensions 3 --save plan.json
  onecopy partitions plan --generate 100000000 --machines 64 --json

A page has a length in each dimension, and similar pages have similar lengths. Slices of lengths
make cells, and each machine has a run of cells. A page lives on one machine, and visits all
machines where a similar page may live:
  published   Zhu et al. 2012: lengths count the words of sub-dictionaries, and may differ by the
              factor rho / threshold. An estimate, which can miss pairs. delta and epsilon are
              medians of the sample, rho = (1 + delta)(1 + epsilon) / ((1 - delta)(1 - epsilon)),
              but at most 1.3, the largest that its authors tested
  lossless    lengths count the shingles of classes, and no similar page is missed

Columns of the table:
  cells         combinations of slices that have pages
  used          machines that have pages; cells may be too large to divide them further
  imbalance     pages of the fullest machine over the mean
  speed-up      machines / imbalance: the throughput, if comparing takes time in proportion to pages
  visits        machines that a page visits, its own included
  saved         visits to other machines saved over sending each page to all
  met           the share of all pages that a page is compared with";

const APPLY_EXAMPLES: &str = "\
Examples:
  onecopy partitions apply plan.json newer.jsonl
  onecopy partitions apply plan.json 'crawl/*.warc.gz' --plot drift.svg --json

The drift is the share of pages that would have to move to another machine to restore the planned
shares. Plan again once the imbalance is too high for you.";

#[derive(ClapArgs)]
#[command(disable_help_subcommand = true)]
pub struct PartitionsArgs {
    #[command(subcommand)]
    pub command: PartitionsCommand,
}

#[derive(Subcommand)]
pub enum PartitionsCommand {
    /// Divide pages among machines by their lengths, and show balance and communication
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(Box<PartitionsPlanArgs>),
    /// Apply a plan to other pages, and show how far they have drifted from it
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(Box<PartitionsApplyArgs>),
}

/// Where lengths come from.
#[derive(ClapArgs)]
pub struct LengthArgs {
    /// Any input of dedup: files, folders, glob patterns, addresses, or - for standard input
    #[arg(value_name = "INPUT", required_unless_present = "generate", conflicts_with = "generate")]
    pub inputs: Vec<String>,
    /// Take the lengths of this many generated pages instead: 20 to 1686 words, most often 237, with spikes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000_000))]
    pub generate: Option<u64>,
    /// The seed of generated pages: the same seed gives the same lengths
    #[arg(long, value_name = "N", default_value_t = 1, requires = "generate")]
    pub seed: u64,
    /// Use the lengths of at most this many pages, chosen at random
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub sample: u64,
    /// Draw the result into this file; its ending, .svg or .png, decides the format
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl LengthArgs {
    /// The inputs from the command line. Standard input is spooled to `spool`.
    pub fn job(&self, spool: &Path) -> ImportJob {
        ImportJob {
            inputs: self.inputs.clone(),
            data: spool.to_owned(),
            spool: spool.to_owned(),
            fields: self.fields.fields(),
            limits: self.limits.limits(),
            environment: environment(),
            threads: 1,
        }
    }
}

#[derive(ClapArgs)]
pub struct PartitionsPlanArgs {
    #[command(flatten)]
    pub lengths: LengthArgs,
    /// The number of machines, or several to compare
    #[arg(long, value_name = "M", required = true, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub machines: Vec<u32>,
    /// The number of dimensions, or several to compare
    #[arg(long, value_name = "1..3", value_delimiter = ',', default_values_t = [1, 2, 3], value_parser = clap::value_parser!(u8).range(1..=3))]
    pub dimensions: Vec<u8>,
    /// Which bound decides the machines that a page visits
    #[arg(long, value_enum, default_value_t)]
    pub bound: BoundArg,
    /// The similarity from which pages must meet. Higher: fewer visits
    #[arg(long, value_name = "0..1", default_value_t = 0.8)]
    pub threshold: f64,
    /// Tokens per shingle
    #[arg(long, short = 'k', value_name = "K", default_value_t = Config::default().shingles.length)]
    pub shingle: usize,
    /// Lengths whose ratio is at least this share a slice. Higher: smaller cells [default: the threshold]
    #[arg(long, value_name = "0..1")]
    pub ratio: Option<f64>,
    /// The factor rho of the published bound [default: from the sample, at most 1.3]
    #[arg(long, value_name = "NUMBER")]
    pub rho: Option<f64>,
    /// Write the plan in the last line of the table to this file
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long, requires = "save")]
    pub overwrite: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BoundArg {
    /// Both, to compare
    #[default]
    Both,
    /// That of the paper, an estimate
    Published,
    /// Ours, which misses nothing
    Lossless,
}

#[derive(ClapArgs)]
pub struct PartitionsApplyArgs {
    /// A plan that `onecopy partitions plan --save` wrote
    pub plan: PathBuf,
    #[command(flatten)]
    pub lengths: LengthArgs,
}
