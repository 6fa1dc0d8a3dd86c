//! The arguments of `onecopy layout`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy layout plan files.csv --servers 40 --save plan.json
  onecopy layout simulate plan.json requests.csv --plot loads.svg
  onecopy layout simulate plan.json --generate 1000000 --seed 1 --drift 0.5";

const PLAN_EXAMPLES: &str = "\
Examples:
  onecopy layout plan files.csv --servers 40 --save plan.json
  onecopy layout plan files.jsonl.gz --servers 40 --capacity 200G --json

FILES is CSV with a header, or JSON Lines, compressed or not:
  file    the name of a file of the index: all entries for a part of the documents
  load    the expected load of its requests, in any unit; 1 if there is no such column
  size    its bytes; 0 if there is no such column

Each file has an imaginary load of one. Every server gets the same sum of them: n div m whole files,
and parts of the other files, which therefore have copies. These are the hottest. A server has at
most two files more than its equal share; if this leaves spare places and the guarantee allows it,
hot files get further copies there.

The guarantee: with the greedy scheduler (`onecopy layout simulate`) the heaviest server has at
most 2 (1 + a) Opt + 2 b. Opt is the best that any layout allows, the loads of two files differ by
at most the factor 1 + a, and no request is heavier than b.";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  onecopy layout simulate plan.json requests.csv
  onecopy layout simulate plan.json requests.jsonl.gz --plot loads.svg --json
  onecopy layout simulate plan.json --generate 1000000 --seed 1 --drift 0.5

LOG has a request on each line, in the order of time. It is CSV with a header, or JSON Lines,
compressed or not:
  file    the file of the plan that is asked
  load    the load of the request, such as its milliseconds; 1 if there is no such column

Three schemes answer the same requests:
  planned        the plan, and the greedy scheduler: the lightest server that has the file
  hand-picked    files are dealt to servers in turn, and the hottest by the plan's loads get one more
                 copy each, as many copies as the plan has; the greedy scheduler
  round robin    the plan; the servers of a file take turns

A generated log draws files by the loads of the plan. Loads of requests are from 0 to 4, with mean 1.";

#[derive(ClapArgs)]
#[command(disable_help_subcommand = true)]
pub struct LayoutArgs {
    #[command(subcommand)]
    pub command: LayoutCommand,
}

#[derive(Subcommand)]
pub enum LayoutCommand {
    /// Place the files of an index on servers, with copies of hot files
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(LayoutPlanArgs),
    /// Answer a log of requests by a plan, and show the loads of servers over time
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(LayoutSimulateArgs),
}

#[derive(ClapArgs)]
pub struct LayoutPlanArgs {
    /// The table of files
    #[arg(value_name = "FILES")]
    pub files: PathBuf,
    /// The number of servers. At most as many as there are files
    #[arg(long, value_name = "S")]
    pub servers: usize,
    /// The most bytes of a server, such as 200G. Lower: fewer copies [default: no limit]
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Size>,
    /// Write the plan to this file
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long, requires = "save")]
    pub overwrite: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct LayoutSimulateArgs {
    /// A plan that `onecopy layout plan --save` wrote
    pub plan: PathBuf,
    /// The log of requests
    #[arg(value_name = "LOG", required_unless_present = "generate", conflicts_with = "generate")]
    pub log: Option<PathBuf>,
    /// Generate this many requests instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub generate: Option<u32>,
    /// The seed of generated requests: the same seed gives the same log
    #[arg(long, value_name = "N", default_value_t = 1, requires = "generate")]
    pub seed: u64,
    /// How wrong the plan is about generated requests: real loads of files are up to 1 + SHARE times the expected ones
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, requires = "generate")]
    pub drift: f64,
    /// Draw the loads into this file; its ending, .svg or .png, decides the format
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
