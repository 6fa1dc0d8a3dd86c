//! The arguments of `onecopy tag`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_core::FilterRules;
use onecopy_engine::{ImportJob, ServiceOptions};

use super::environment;
use super::input::{FieldArgs, LimitArgs};

pub const EXAMPLES: &str = "\
Examples:
  onecopy tag pages.jsonl --out tags.jsonl
  onecopy tag 'crawl/*.warc.gz' --out tags.parquet --rejected rejected.jsonl
  zcat pages.jsonl.gz | onecopy tag - --out tags.jsonl

A tag is a Bloom filter of the page's chunks, 256 bytes by default. Store it with the page in your
index, and `onecopy refine` compares results by their tags in microseconds, without their texts.
  tags.jsonl     id, tag: version:chunk:bits:hashes:filter, the filter in URL-safe Base64
  tags.parquet   id, tag (the bytes of the filter), rules (version:chunk:bits:hashes)
Tags of another version or of other parameters cannot be compared.";

#[derive(ClapArgs)]
pub struct TagArgs {
    /// Any input of dedup: files, folders, glob patterns, addresses, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The file for the tags: Parquet if it ends in .parquet, else JSON Lines
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the file for the tags if it exists
    #[arg(long)]
    pub overwrite: bool,
    /// The average bytes of a chunk, a power of two. Higher: edits cost more similarity
    #[arg(long, value_name = "BYTES", default_value_t = FilterRules::default().chunk)]
    pub chunk: usize,
    /// The bits of a tag, a power of two. Higher: longer pages can be distinguished, and tags are larger
    #[arg(long, value_name = "BITS", default_value_t = FilterRules::default().bits)]
    pub bits: usize,
    /// How many bits a chunk sets
    #[arg(long, value_name = "N", default_value_t = FilterRules::default().hashes)]
    pub hashes: usize,
    /// Write all rejected records to this file: source, line, reason
    #[arg(long, value_name = "FILE")]
    pub rejected: Option<PathBuf>,
    /// Use this many threads. Never changes the answer [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl TagArgs {
    /// The inputs from the command line. Standard input is spooled to `spool`.
    pub fn job(&self, spool: PathBuf) -> ImportJob {
        ImportJob {
            inputs: self.inputs.clone(),
            data: self.out.clone(),
            spool,
            fields: self.fields.fields(),
            limits: self.limits.limits(),
            environment: environment(),
            threads: self.threads.map_or(ServiceOptions::new("").threads, |threads| threads as usize),
        }
    }

    /// The rules of the tags.
    pub fn rules(&self) -> FilterRules {
        FilterRules { chunk: self.chunk, bits: self.bits, hashes: self.hashes }
    }
}
