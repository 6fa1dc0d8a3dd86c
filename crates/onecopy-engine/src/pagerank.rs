//! PageRank of pages by their links: reads links, gives every page a number, iterates, and writes the scores.
//!
//! 1. `read` finds the links of pages, and `pages` gives each address a number; links go to disk, by target.
//! 2. `graph` renumbers pages so that nothing depends on the order of the input, and packs the links.
//! 3. `iterate` repeats the step of `onecopy_core` until the scores stand still, on all threads.
//! 4. `write` sorts the scores, best first.
//!
//! Memory holds a few dozen bytes per page. Names and, if they do not fit, links are on disk.

mod graph;
mod iterate;
mod merged;
mod named;
mod pages;
mod read;
mod resets;
pub(crate) mod scores;
mod scratch;
mod write;

pub(crate) use write::ScoreFormat;

use std::path::PathBuf;

use onecopy_core::{AddressRules, PageRankRules};
use serde::Serialize;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::job::{DEFAULT_MEMORY_BYTES, Fields, LEAST_MEMORY_BYTES, Limits, Setting, check_threads};
use crate::parallel::cores;
use crate::progress::{Note, Progress};
use crate::report::{Begun, Unreadable};
use crate::run::Run;

use self::graph::Graph;
use self::merged::Merged;
use self::pages::Pages;
use self::resets::read_resets;
use self::scratch::Scratch;

/// All settings of a ranking.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PageRankJob {
    /// Files, folders and glob patterns with pages, or files with links; `-` is standard input.
    pub inputs: Vec<String>,
    /// Whether the inputs are pages or links.
    pub kind: LinkInput,
    /// The file for the scores. Its ending decides the format: `.jsonl`, `.tsv` or `.parquet`.
    pub out: PathBuf,
    /// Whether to replace that file.
    pub overwrite: bool,
    /// The definition of the scores.
    pub rules: PageRankRules,
    /// A file with the pages where readers start over; all pages if there is none.
    pub resets: Option<PathBuf>,
    /// A finished run: its removed pages pass their links on to their winners.
    pub run: Option<PathBuf>,
    /// Whether pages that are only linked to have scores.
    pub unknown: UnknownPages,
    /// Whether links count whose authors do not vouch for them.
    pub nofollow: Nofollow,
    /// Which addresses name the same page. A finished run has its own rules.
    pub addresses: AddressRules,
    /// The names of record fields.
    pub fields: Fields,
    /// The limits on input.
    pub limits: Limits,
    /// Settings of object stores, as in [`Job::environment`](crate::Job::environment).
    pub environment: Environment,
    /// The most memory to use, in bytes. Changes the speed, never the scores.
    pub memory_bytes: u64,
    /// The number of threads. Changes the speed, never the scores.
    pub threads: usize,
}

impl PageRankJob {
    /// A job with the defaults, from `inputs` to the file `out`.
    pub fn new(inputs: impl IntoIterator<Item = impl Into<String>>, out: impl Into<PathBuf>) -> PageRankJob {
        PageRankJob {
            inputs: inputs.into_iter().map(Into::into).collect(),
            kind: LinkInput::default(),
            out: out.into(),
            overwrite: false,
            rules: PageRankRules::default(),
            resets: None,
            run: None,
            unknown: UnknownPages::default(),
            nofollow: Nofollow::default(),
            addresses: AddressRules::default(),
            fields: Fields::default(),
            limits: Limits::default(),
            environment: Environment::default(),
            memory_bytes: DEFAULT_MEMORY_BYTES,
            threads: cores(),
        }
    }

    fn check(&self) -> Result<()> {
        self.rules.check()?;
        self.limits.check()?;
        check_threads(self.threads)?;
        if self.memory_bytes < LEAST_MEMORY_BYTES {
            return Err(Error::Setting { setting: Setting::Memory, value: self.memory_bytes });
        }
        // A device such as /dev/stdout would be lost.
        if self.out.exists() && !(self.overwrite && self.out.is_file()) {
            return Err(Error::FileExists { path: self.out.clone() });
        }
        Ok(())
    }
}

/// What inputs hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkInput {
    /// Pages, whose links are in their HTML or in a field.
    #[default]
    Pages,
    /// One link on each line: the page that links, and the page that it links to.
    Links,
}

/// How to treat pages that are linked to, and are not in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownPages {
    /// They get a score, and take their part of the votes.
    #[default]
    Keep,
    /// Links to them do not count.
    Drop,
}

/// How to treat links that are marked `rel=nofollow`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nofollow {
    /// They do not count.
    #[default]
    Ignore,
    /// They count like others.
    Count,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkCounts {
    /// Pages, or lines with links.
    pub read: u64,
    /// Records and lines that could not be read.
    pub rejected: u64,
    /// The first of them: where it is, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_rejected: Option<String>,
    /// Links as they were found, without those of a page to itself.
    pub links: u64,
    /// Links of a page to itself, which do not count.
    pub own_links: u64,
    /// Links that are marked `rel=nofollow` and do not count.
    pub nofollow: u64,
    /// Lines with more than two columns; the others do not count.
    pub extra_columns: u64,
    /// Inputs that could not be read, wholly or from some point on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable>,
}

impl LinkCounts {
    fn add(&mut self, other: LinkCounts) {
        self.read += other.read;
        self.rejected += other.rejected;
        self.first_rejected = self.first_rejected.take().or(other.first_rejected);
        self.links += other.links;
        self.own_links += other.own_links;
        self.nofollow += other.nofollow;
        self.extra_columns += other.extra_columns;
        self.unreadable.extend(other.unreadable);
    }
}

/// The outcome of a ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ranking {
    /// What was read.
    #[serde(flatten)]
    pub counts: LinkCounts,
    /// Pages with a score.
    pub pages: u64,
    /// Pages that were only linked to: those among the pages, or those that were dropped.
    pub unknown_pages: u64,
    /// Removed pages of the finished run whose links were passed on to their winners.
    pub merged_pages: u64,
    /// Links that count: each pair of pages once.
    pub distinct_links: u64,
    /// Pages that link to no page.
    pub dangling_pages: u64,
    /// How much all scores changed in each iteration.
    pub changes: Vec<f64>,
    /// Whether the last change is below the tolerance.
    pub converged: bool,
    /// The best pages, best first.
    pub best: Vec<RankedPage>,
    /// Whether links were on disk.
    pub out_of_core: bool,
    /// Seconds for reading the input.
    pub read_seconds: f64,
    /// Seconds for numbering pages and packing links.
    pub pack_seconds: f64,
    /// Seconds for all iterations.
    pub iterate_seconds: f64,
    /// Seconds in total.
    pub seconds: f64,
    /// CPU seconds, over all threads.
    pub cpu_seconds: f64,
    /// The largest memory of the process.
    pub peak_memory_bytes: u64,
}

/// A page and its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedPage {
    /// Its address, or its id if it has none.
    pub page: String,
    /// Its score. All scores add up to one.
    pub pagerank: f64,
    /// The number of pages that link to it.
    pub links_in: u32,
    /// The number of pages that it links to.
    pub links_out: u32,
    /// Whether it is only linked to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

/// Ranks the pages of the job's inputs by their links, and writes their scores.
pub fn rank_pages(job: &PageRankJob, progress: &dyn Progress) -> Result<Ranking> {
    let begun = Begun::now();
    job.check()?;
    let format = ScoreFormat::of(&job.out)?;
    let scratch = Scratch::beside(&job.out)?;
    let (addresses, merged) = match &job.run {
        Some(folder) => (Run::current(folder)?.config.addresses, Merged::read(folder)?),
        None => (job.addresses.clone(), Merged::default()),
    };
    let pages = Pages::new(&scratch, job.memory_bytes);
    let reading = read::Reading { job, addresses: &addresses, merged: &merged, scratch: &scratch };
    let counts = reading.read(&pages, progress)?;
    if counts.links == 0 {
        return Err(Error::NoLinks { read: counts.read, rejected: counts.first_rejected });
    }
    let weights = job.resets.as_deref().map(|path| read_resets(path, &addresses, &merged, &pages));
    let weights = weights.transpose()?;
    let read_seconds = begun.seconds();
    let graph = Graph::build(pages, job, &scratch, counts.links, progress)?;
    let resets = weights.map(|weights| graph.resets(&weights, progress)).transpose()?;
    let pack_seconds = begun.seconds() - read_seconds;
    let (scores, convergence) = iterate::iterate(&graph, resets.as_deref(), job, progress)?;
    let iterate_seconds = begun.seconds() - read_seconds - pack_seconds;
    let best = write::write(&graph, &scores, &write::Target { job, format, scratch: &scratch }, progress)?;
    let converged = convergence.is_reached();
    if !converged {
        let change = convergence.changes.last().copied().unwrap_or_default();
        progress.note(&Note::NotConverged { iterations: job.rules.iterations, change });
    }
    let (seconds, cpu_seconds, peak_memory_bytes) = begun.until_now();
    Ok(Ranking {
        counts,
        pages: graph.pages() as u64,
        unknown_pages: graph.unknown,
        merged_pages: merged.len() as u64,
        distinct_links: graph.links,
        dangling_pages: graph.dangling(),
        changes: convergence.changes,
        converged,
        best,
        out_of_core: graph.is_on_disk(),
        read_seconds,
        pack_seconds,
        iterate_seconds,
        seconds,
        cpu_seconds,
        peak_memory_bytes,
    })
}

#[cfg(test)]
mod tests;
