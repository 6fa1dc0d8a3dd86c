//! The service: a collection that is kept right while pages change, appear, redirect and die.
//!
//! A change is accepted when it is durable in the log, and answered at once from known groups (Tier 1). Tier 2 takes
//! what was accepted in batches, compares, and is the only writer of groups. When nothing waits, the groups and
//! decisions are those of a batch run over the same pages.
//!
//! Which file answers what: `accept` when is a change safe, `tier1` what may a request block on, `tier2` how do groups
//! change, `contents` which pages are compared, `ask` and `status` what is said, `check` is it all right, `collection`
//! what do threads share. The incremental graph itself is `onecopy_core::graph`.

mod accept;
mod ask;
mod check;
mod collection;
mod contents;
mod import;
mod prepare;
mod queue;
mod status;
#[cfg(test)]
mod tests;
mod tier1;
mod tier2;
mod tuning;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use onecopy_core::Config;
use onecopy_store::Look;

pub use import::{
    ImportJob, ImportPlan, ImportRejection, Imported, OnRejection, import, plan_import, settle,
};
pub use status::{
    Accepted, Answer, Change, CheckReport, GroupLine, GroupView, Likeness, PageView, Refusal, Stats, Status,
    StatusKind,
};

use crate::error::{Error, Result};
use crate::job::{Fields, Limits};
use collection::Collection;

/// How a collection is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// A folder without a collection gets one.
    #[default]
    Begin,
    /// The collection must be there.
    Existing,
    /// The collection must be there, and another process may serve it. It is seen as of one moment, nothing is settled,
    /// and nothing is written.
    Read,
}

/// Where a collection is, and how it is served.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServiceOptions {
    /// The collection's folder.
    pub data: PathBuf,
    /// Whether the collection may be begun, or is only read.
    pub opening: Opening,
    /// What counts as a duplicate and which copy is kept. It is fixed when a collection is begun: `None` takes that of
    /// the collection, or the usual one for a new collection.
    pub config: Option<Config>,
    /// Where a record's parts are found.
    pub fields: Fields,
    /// What is refused.
    pub limits: Limits,
    /// Whether pages are kept whole, compressed, so that they can be exported.
    pub keep_pages: bool,
    /// Changes that may wait for Tier 2, in bytes. More are refused until some are settled.
    pub queue_bytes: u64,
    /// The share of a group's checks that may fail before it is repaired. In (0, 1].
    pub repair_rate: f64,
    /// How many threads Tier 2 may use.
    pub threads: usize,
    /// Whether the tables are read whole and their checksums checked before they are used. [`Service::check`] cannot do
    /// that while others look at them.
    pub check_tables: bool,
}

/// What is to be changed.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// A page, new or fetched again: a JSON object as in a line of JSON Lines.
    Put(&'a [u8]),
    /// The page with this name is dead. It stays known as such.
    Dead(&'a str),
    /// The page with this name is forgotten.
    Delete(&'a str),
}

/// A collection that is open. All functions may be called from any thread; those that wait say so.
pub struct Service {
    collection: Arc<Collection>,
    tier2: Option<JoinHandle<()>>,
}

impl ServiceOptions {
    /// The usual options, for the collection in `data`.
    pub fn new(data: impl Into<PathBuf>) -> ServiceOptions {
        ServiceOptions {
            data: data.into(),
            opening: Opening::default(),
            config: None,
            fields: Fields::default(),
            limits: Limits::default(),
            keep_pages: true,
            queue_bytes: 64 << 20,
            repair_rate: 0.08,
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            check_tables: false,
        }
    }
}

impl Service {
    /// Opens a collection as [`ServiceOptions::opening`] says; takes up what was accepted and not settled; starts Tier 2.
    pub fn open(options: ServiceOptions) -> Result<Service> {
        Ok(Service::start(Collection::open(options)?))
    }

    /// The same in any folder: for tests and fuzzing, which lose power and keep all in memory.
    #[doc(hidden)]
    pub fn open_in(folder: Arc<dyn onecopy_store::Folder>, options: ServiceOptions) -> Result<Service> {
        Ok(Service::start(Collection::open_in(folder, options, tuning::Tuning::default())?))
    }

    /// The same with other sizes.
    #[cfg(test)]
    fn open_tuned(
        folder: Arc<dyn onecopy_store::Folder>,
        options: ServiceOptions,
        tuning: tuning::Tuning,
    ) -> Result<Service> {
        Ok(Service::start(Collection::open_in(folder, options, tuning)?))
    }

    fn start(collection: Collection) -> Service {
        let collection = Arc::new(collection);
        if collection.is_read_only() {
            return Service { collection, tier2: None };
        }
        let worker = collection.clone();
        let tier2 = std::thread::Builder::new().name("tier 2".into()).spawn(move || tier2::work(&worker));
        Service { collection, tier2: tier2.ok() }
    }

    /// What counts as a duplicate here.
    pub fn config(&self) -> &Config {
        &self.collection.preparation.config
    }

    /// Accepts changes, in their order. Waits until all are durable; one sync serves them all. A later change of a page
    /// replaces an earlier one, whatever their times say.
    pub fn accept(&self, actions: &[Action]) -> Vec<std::result::Result<Accepted, Refusal>> {
        accept::accept(&self.collection, actions)
    }

    /// The status of pages, by name, as of one moment; `None` for a page that is not known. With `verify` losers are
    /// compared with their winner again, and the outcome is counted for their group.
    pub fn status(&self, pages: &[&str], verify: bool) -> Result<Vec<Option<Status>>> {
        ask::status(&self.collection, pages, verify)
    }

    /// What would become of a page if it were put now. Stores nothing.
    pub fn query(&self, record: &[u8]) -> std::result::Result<Answer, Refusal> {
        ask::query(&self.collection, record)
    }

    /// A group, by its number.
    pub fn group(&self, group: u64) -> Result<Option<GroupView>> {
        ask::groups::view(&self.collection, group)
    }

    /// Groups with at least `least` pages and a number above `after`, at most `limit`, by number; only those with a page
    /// whose name contains `search`, if that is given.
    pub fn groups(
        &self,
        after: u64,
        limit: usize,
        least: u64,
        search: Option<&str>,
    ) -> Result<Vec<GroupLine>> {
        ask::groups::list(&self.collection, after, limit, &ask::groups::GroupFilter { least, search })
    }

    /// Compares the pages of a group anew and waits until that is settled. Says how many changed; `None` if there is no
    /// such group.
    pub fn repair(&self, group: u64) -> Result<Option<u64>> {
        self.collection.check_writable()?;
        let is_there = !self.collection.snapshot().group_contents(group, 1)?.is_empty();
        Ok(if is_there { self.collection.queue.repair(group) } else { None })
    }

    /// Changes of status with a number above `after`, at most `limit`, by number.
    pub fn feed(&self, after: u64, limit: usize) -> Result<Vec<Change>> {
        let read = |(sequence, bytes): (u64, Vec<u8>)| {
            let status: Status = serde_json::from_slice(&bytes).map_err(|error| Error::Broken {
                reason: format!("change {sequence} of the feed cannot be read: {error}"),
            })?;
            Ok(Change { sequence, status })
        };
        self.collection.snapshot().feed(after, limit)?.into_iter().map(read).collect()
    }

    /// Waits until the feed has a number above `after`, at most so long. Says the last number that it has.
    pub fn wait_for_feed(&self, after: u64, most: Duration) -> u64 {
        self.collection.queue.wait_for_feed(after, most)
    }

    /// Waits until nothing waits for Tier 2, at most so long. Says whether nothing does.
    pub fn drain(&self, most: Duration) -> bool {
        self.collection.queue.drain(most)
    }

    /// Whether the collection is only read, as of one moment. Nothing that waits is settled then.
    pub fn is_read_only(&self) -> bool {
        self.collection.is_read_only()
    }

    /// Numbers about the collection and the service.
    pub fn stats(&self) -> Stats {
        ask::stats(&self.collection)
    }

    /// Whether changes are accepted; if not, why.
    pub fn ready(&self) -> std::result::Result<(), Refusal> {
        self.collection.queue.refusal().map_or(Ok(()), Err)
    }

    /// Every page with what is known of it, by name, as of one moment.
    pub fn pages(&self, each: &mut dyn FnMut(PageView) -> Result<()>) -> Result<()> {
        ask::pages(&self.collection, each)
    }

    /// Checks all of the collection: checksums, tables against each other, and every decision anew.
    pub fn check(&self) -> Result<CheckReport> {
        check::check(&self.collection)
    }

    /// Ends Tier 2 after the batch that it is at, and closes the collection. What was accepted and is not settled is taken
    /// up when it is opened again.
    pub fn close(mut self) -> Result<()> {
        self.stop();
        self.collection.close()
    }

    fn stop(&mut self) {
        self.collection.queue.stop();
        if let Some(tier2) = self.tier2.take() {
            // What it has to say was said when it failed.
            tier2.join().ok();
        }
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Service in {}", self.collection.options.data.display())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}
