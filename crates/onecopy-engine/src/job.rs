//! A job: what to read, where to write, what counts as a duplicate, and what the machine may be used for.

use std::path::PathBuf;

use onecopy_core::Config;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::error::{Error, Result};

/// Everything that a run needs to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Job {
    /// Files, folders and glob patterns; `-` is standard input.
    pub inputs: Vec<String>,
    /// The folder that the results go to.
    pub out: PathBuf,
    /// What counts as a duplicate and which copy is kept.
    pub config: Config,
    /// Where a record's parts are found.
    pub fields: Fields,
    /// What is refused.
    pub limits: Limits,
    /// What becomes of removed records in WARC files.
    pub removed_records: RemovedRecords,
    /// Settings of object stores, under the names of the usual environment variables (`AWS_ACCESS_KEY_ID`, ...). Not
    /// kept with the results.
    pub environment: Environment,
    /// How many pages an approximate method is tried on after the run; zero for none.
    pub recall_pages: usize,
    /// The most memory to use, in bytes. Changes the speed, never the answer.
    pub memory_bytes: u64,
    /// How many threads to use. Changes the speed, never the answer.
    pub threads: usize,
    /// Whether the results of another run in `out` may be replaced.
    pub overwrite: bool,
}

impl Job {
    /// A job with the defaults, from `inputs` to `out`.
    pub fn new(inputs: impl IntoIterator<Item = impl Into<String>>, out: impl Into<PathBuf>) -> Job {
        Job {
            inputs: inputs.into_iter().map(Into::into).collect(),
            out: out.into(),
            config: Config::default(),
            fields: Fields::default(),
            limits: Limits::default(),
            removed_records: RemovedRecords::default(),
            environment: Environment::default(),
            recall_pages: RECALL_PAGES,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            overwrite: false,
        }
    }

    /// Refuses a job that cannot be done, before anything is read.
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

/// A setting that changes no answer, and has limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// How many threads are used.
    Threads,
    /// The most memory, in bytes.
    Memory,
    /// The longest page, in bytes.
    PageBytes,
    /// By which factor a compressed file may grow.
    Expansion,
    /// How many mistakes of each kind an evaluation shows.
    Mistakes {
        /// The most.
        limit: usize,
    },
}

/// Refuses a number of threads that no machine has.
pub(crate) fn check_threads(threads: usize) -> Result<()> {
    if (1..=THREADS_LIMIT).contains(&threads) {
        return Ok(());
    }
    Err(Error::Setting { setting: Setting::Threads, value: threads as u64 })
}

/// The most threads that are accepted.
pub(crate) const THREADS_LIMIT: usize = 1_024;
/// How many pages an approximate method is tried on unless a number is given.
pub const RECALL_PAGES: usize = 200;
/// The memory limit unless one is given.
pub const DEFAULT_MEMORY_BYTES: u64 = 1 << 30;
/// The smallest memory limit that is accepted.
pub const LEAST_MEMORY_BYTES: u64 = 64 << 20;
/// The largest page limit that is accepted: places within a chunk are 32-bit.
const PAGE_BYTES_LIMIT: usize = 1 << 30;

/// The names of a record's fields. Where one is not given, the usual names are tried.
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
    /// A number that grows with the page's worth.
    pub popularity: Option<String>,
    /// The address that the page sends its reader to.
    pub redirect: Option<String>,
    /// The address that the page gives as its own.
    pub canonical: Option<String>,
}

/// What becomes of the records of removed pages where the input is an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovedRecords {
    /// A `revisit` record names the page that stays.
    #[default]
    Revisit,
    /// They are left out.
    LeaveOut,
}

/// What is refused, so that no input can exhaust the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// A longer record or file is rejected.
    pub page_bytes: usize,
    /// A compressed file that grows by more than this factor is read no further.
    pub expansion: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { page_bytes: 4 << 20, expansion: 1_000 }
    }
}

impl Limits {
    /// Refuses limits that cannot be kept, before anything is read.
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
