//! The arguments of `onecopy sketch`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_engine::{DEFAULT_MEMORY_BYTES, Job};

use super::choice::ChoiceArgs;
use super::environment;
use super::input::{FieldArgs, LimitArgs};
use super::text::TextArgs;
use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy sketch 2024-05/ --out 2024-05.sketches
  onecopy dedup 2024-06/ --out clean --against 2024-05.sketches
  onecopy sketch test.jsonl --out test.sketches --method containment --text-field question
  onecopy dedup train.parquet --out clean --against test.sketches --method containment

Method, content and other choices about texts, winners and addresses must be those of the runs that
use the sketches. Only the threshold, the fields and the limits may differ.

Exit status: as for `onecopy dedup --help`. A stopped command continues if you give it again.";

#[derive(ClapArgs)]
pub struct SketchArgs {
    /// Files, folders, glob patterns, addresses, or - for standard input, as for dedup
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The folder for the sketches; created if needed
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Use at most this much memory, such as 512M or 4G
    #[arg(long, short, value_name = "SIZE", default_value_t = Size(DEFAULT_MEMORY_BYTES))]
    pub memory: Size,
    /// Use this many threads [default: one per core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Replace the results of another run in the output folder
    #[arg(long)]
    pub overwrite: bool,
    /// Stop at the first input that cannot be read or breaks off, instead of going on without it
    #[arg(long)]
    pub strict: bool,
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

impl SketchArgs {
    /// The job from the command line.
    pub fn job(&self) -> anyhow::Result<Job> {
        let mut job = Job::new(self.inputs.iter().cloned(), &self.out);
        job.config = self.choice.config(&self.text)?;
        job.fields = self.fields.fields();
        job.limits = self.limits.limits();
        job.environment = environment();
        job.memory_bytes = self.memory.0;
        job.threads = self.threads.unwrap_or(job.threads);
        (job.overwrite, job.strict) = (self.overwrite, self.strict);
        Ok(job)
    }
}
