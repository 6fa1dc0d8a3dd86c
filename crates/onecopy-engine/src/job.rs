//! A job: its inputs, its output, its definition of a duplicate, and its resource limits.

use std::path::PathBuf;
use std::sync::Arc;

use onecopy_core::Config;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::ingest::Rows;
use crate::parallel::cores;

/// All settings of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Job {
    /// Files, folders and glob patterns; `-` is standard input.
    pub inputs: Vec<String>,
    /// The base: files, folders and glob patterns whose pages are given. A page that is similar to one of them goes. They
    /// are in no result, except as winners and in groups.
    pub against: Vec<String>,
    /// Pages of the base in memory, for a job with `rows`.
    pub against_rows: Option<Arc<dyn Rows>>,
    /// Pages in memory, instead of inputs. Give such a job to [`dedup_rows`](crate::dedup_rows).
    pub rows: Option<Arc<dyn Rows>>,
    /// The output folder.
    pub out: PathBuf,
    /// The definition of a duplicate, and the rules for which copy is kept.
    pub config: Config,
    /// The names of record fields.
    pub fields: Fields,
    /// The limits on input.
    pub limits: Limits,
    /// How to treat removed records in WARC files.
    pub removed_records: RemovedRecords,
    /// Which identical payloads a WARC file stores once.
    pub payloads: Payloads,
    /// Which results to write beside the lists.
    pub outputs: Outputs,
    /// Whether each kept WARC or ARC file gets a CDXJ index.
    pub cdxj: bool,
    /// Settings of object stores, under the names of the usual environment variables (`AWS_ACCESS_KEY_ID`, ...). Not
    /// kept with the results.
    pub environment: Environment,
    /// A file with the scores of pages, such as a ranking writes. A score replaces the popularity of its page.
    pub popularity: Option<PathBuf>,
    /// The number of pages for measuring the recall of an approximate method after the run; zero for none.
    pub recall_pages: usize,
    /// The most memory to use, in bytes. Changes the speed, never the answer.
    pub memory_bytes: u64,
    /// The number of threads. Changes the speed, never the answer.
    pub threads: usize,
    /// Whether to replace the results of another run in `out`.
    pub overwrite: bool,
    /// Whether to stop at the first input that cannot be read, instead of going on without it.
    pub strict: bool,
}

impl Job {
    /// A job with the defaults, from `inputs` to `out`.
    pub fn new(inputs: impl IntoIterator<Item = impl Into<String>>, out: impl Into<PathBuf>) -> Job {
        Job {
            inputs: inputs.into_iter().map(Into::into).collect(),
            against: Vec::new(),
            against_rows: None,
            rows: None,
            out: out.into(),
            config: Config::default(),
            fields: Fields::default(),
            limits: Limits::default(),
            removed_records: RemovedRecords::default(),
            payloads: Payloads::default(),
            outputs: Outputs::default(),
            cdxj: false,
            environment: Environment::default(),
            popularity: None,
            recall_pages: RECALL_PAGES,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            threads: cores(),
            overwrite: false,
            strict: false,
        }
    }

    /// Whether the same job continues a run that was stopped. Standard input cannot be read twice, and what was written
    /// to a stream cannot be taken back.
    pub(crate) fn continues(&self) -> bool {
        let keeps_results = !matches!(self.outputs.kept, KeptPages::Stream | KeptPages::Returned);
        keeps_results && self.inputs.iter().all(|input| input != "-")
    }

    /// This job, with no more threads than its memory limit has chunks for. Further threads would only wait.
    pub(crate) fn fitting(&self) -> Job {
        let most = (self.memory_bytes / BYTES_A_THREAD).max(1) as usize;
        Job { threads: self.threads.min(most), ..self.clone() }
    }

    /// Checks the job before anything is read.
    pub(crate) fn check(&self) -> Result<()> {
        self.config.check()?;
        if self.memory_bytes < LEAST_MEMORY_BYTES {
            return Err(Error::Setting { setting: Setting::Memory, value: self.memory_bytes });
        }
        check_threads(self.threads)?;
        self.limits.check()?;
        let (page_bytes, limit) = (self.limits.page_bytes, self.memory_bytes);
        if limit < 16 * page_bytes as u64 { Err(Error::PageMemory { page_bytes, limit }) } else { Ok(()) }
    }
}

/// A setting with limits that changes no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// The number of threads.
    Threads,
    /// The memory limit, in bytes.
    Memory,
    /// The page limit, in bytes.
    PageBytes,
    /// The largest expansion factor of a compressed file.
    Expansion,
    /// The number of mistakes of each kind that an evaluation shows.
    Mistakes {
        /// The highest accepted number.
        limit: usize,
    },
}

/// Checks the number of threads.
pub(crate) fn check_threads(threads: usize) -> Result<()> {
    if (1..=THREADS_LIMIT).contains(&threads) {
        return Ok(());
    }
    Err(Error::Setting { setting: Setting::Threads, value: threads as u64 })
}

/// The highest accepted number of threads.
pub(crate) const THREADS_LIMIT: usize = 1_024;
/// The default number of pages for measuring recall.
pub const RECALL_PAGES: usize = 200;
/// The default memory limit.
pub const DEFAULT_MEMORY_BYTES: u64 = 1 << 30;
/// The smallest accepted memory limit.
pub const LEAST_MEMORY_BYTES: u64 = 64 << 20;
/// Bytes of memory per thread: the smallest chunk, in buffers of forty times its size.
const BYTES_A_THREAD: u64 = 40 * (64 << 10);
/// The largest accepted page limit: offsets within a chunk have 32 bits.
const PAGE_BYTES_LIMIT: usize = 1 << 30;

/// The names of a record's fields. If one is `None`, the usual names are tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fields {
    /// The page's text or HTML.
    pub text: Option<String>,
    /// The page's id, a string or a number.
    pub id: Option<String>,
    /// The page's address.
    pub url: Option<String>,
    /// When it was fetched or dated.
    pub time: Option<String>,
    /// A number that is higher for a more popular page.
    pub popularity: Option<String>,
    /// The address that the page redirects to.
    pub redirect: Option<String>,
    /// The canonical address that the page states.
    pub canonical: Option<String>,
    /// The pages that the page links to. Only a ranking reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<String>,
}

impl Fields {
    /// The fields that have a name: the part of a record, and the name.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Fields { text, id, url, time, popularity, redirect, canonical, links } = self;
        let parts = [
            ("text", text),
            ("id", id),
            ("url", url),
            ("time", time),
            ("popularity", popularity),
            ("redirect", redirect),
            ("canonical", canonical),
            ("links", links),
        ];
        parts.into_iter().filter_map(|(part, name)| Some((part, name.as_deref()?)))
    }
}

/// Which results to write beside `removed.jsonl`, `groups.jsonl`, `pages.jsonl` and `rejected.jsonl`. Changes no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// Where kept pages go.
    pub kept: KeptPages,
    /// Whether to write the names of kept and removed pages as text, one on each line.
    pub names: bool,
    /// Whether to write every list as Parquet, too.
    pub parquet: bool,
}

/// Where kept pages go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptPages {
    /// Into the folder `kept`, in files like those of the input.
    #[default]
    Folder,
    /// Nowhere: only the lists are written.
    Nowhere,
    /// To one stream, as JSON Lines. See [`dedup_into`](crate::dedup_into).
    Stream,
    /// Nowhere, and the lists are returned instead of written. See [`dedup_rows`](crate::dedup_rows).
    Returned,
    /// Nowhere: nothing is decided, and the sketches of all pages are written. See [`sketch`](crate::sketch).
    Sketches,
}

/// How to treat the records of removed pages in archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovedRecords {
    /// Replace those whose payload another record has by `revisit` records. The others stay whole.
    #[default]
    Revisit,
    /// Replace those whose payload another record has by `revisit` records. Leave the others out.
    RevisitOrLeaveOut,
    /// Leave them out.
    LeaveOut,
}

/// Which identical payloads a WARC file stores once. `revisit` records replace the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payloads {
    /// Those of removed pages.
    #[default]
    Pages,
    /// Those of all records, whatever their media type.
    All,
}

/// Limits on input, so that no input can exhaust the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Longer records and files are rejected.
    pub page_bytes: usize,
    /// Reading stops if a compressed file expands by more than this factor.
    pub expansion: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { page_bytes: 4 << 20, expansion: 1_000 }
    }
}

impl Limits {
    /// Checks the limits before anything is read.
    pub(crate) fn check(&self) -> Result<()> {
        if self.page_bytes == 0 || self.page_bytes > PAGE_BYTES_LIMIT {
            return Err(Error::Setting { setting: Setting::PageBytes, value: self.page_bytes as u64 });
        }
        if self.expansion == 0 {
            return Err(Error::Setting { setting: Setting::Expansion, value: 0 });
        }
        Ok(())
    }
}
