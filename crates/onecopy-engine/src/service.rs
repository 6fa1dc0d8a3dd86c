//! The service: a collection whose decisions stay correct while pages change, appear, redirect and die.
//!
//! A change is accepted once it is durable in the log, and Tier 1 answers it at once from known groups. Tier 2 takes
//! accepted changes in batches, compares them, and is the only writer of groups. When the queue is empty, groups and
//! decisions equal those of a batch run over the same pages.
//!
//! Each file answers a question. `accept`: when is a change safe? `tier1`: what may a request block on? `tier2`: how do
//! groups change? `contents`: which pages are compared? `ask` and `status`: how are questions answered? `check`: is the
//! collection intact? `collection`: what do threads share? The incremental graph is `onecopy_core::graph`.

mod accept;
mod ask;
mod check;
pub(crate) mod collection;
mod contents;
mod cursor;
mod import;
mod name;
mod prepare;
mod queue;
mod scrub;
mod status;
mod sweep;
#[cfg(test)]
mod tests;
mod tier1;
mod tier2;
mod tuning;
mod upgrade;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use onecopy_core::{Config, FilterRules};
use onecopy_store::Look;

pub use ask::changed::ChangedPages;
pub use ask::feed::{FeedCursor, FeedPage};
pub use ask::list::PageFilter;
pub use ask::stored::{Stored, StoredPart};
pub use cursor::PageCursor;
pub use import::{
    ImportJob, ImportPlan, ImportRejection, Imported, OnRejection, import, plan_import, settle,
};
pub(crate) use import::{ImportReading, reach};
pub use name::PageName;
pub use status::{
    Accepted, Answer, Change, CheckReport, FeedEntry, GroupLine, GroupView, Likeness, ListedPage, PageList,
    PageRecord, PageView, Refusal, Regrouped, Stats, Status, StatusKind, Swept,
};
pub use upgrade::{Upgraded, resume_upgrade, upgrade};

use crate::error::{At, Error, Result};
use crate::job::{DEFAULT_MEMORY_BYTES, Fields, LEAST_MEMORY_BYTES, Limits, Setting};
use crate::parallel::cores;
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

/// The location of a collection, and how it is served.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServiceOptions {
    /// The collection's folder.
    pub data: PathBuf,
    /// Whether the collection may be begun, or is only read.
    pub opening: Opening,
    /// The rules for duplicates and for the kept copy. They are fixed when a collection is created. `None` means the
    /// collection's own rules, or the defaults for a new collection.
    pub config: Option<Config>,
    /// The rules of the tags that the collection has of its pages. They are fixed when it is created. `None` means the
    /// collection's own tags, or none for a new collection.
    pub tags: Option<FilterRules>,
    /// The fields of a record.
    pub fields: Fields,
    /// The limits on accepted pages.
    pub limits: Limits,
    /// Whether pages are stored completely, compressed, for export.
    pub keep_pages: bool,
    /// The most bytes of changes that wait for Tier 2. More are refused until some are settled.
    pub queue_bytes: u64,
    /// The most memory for the queue, the batch that is being settled, and caches, in bytes. Beside it are a few hundred
    /// bytes for each page of the collection. Changes the speed, never the answer.
    pub memory_bytes: u64,
    /// A group is repaired if this share of its checks fails. In (0, 1].
    pub repair_rate: f64,
    /// How long the feed keeps the changes of deleted pages and of groups. The last status of every other page stays.
    pub feed_keep: Duration,
    /// How many bytes of such changes the feed keeps. The oldest go first.
    pub feed_bytes: u64,
    /// The number of threads of Tier 2.
    pub threads: usize,
    /// Whether to verify the checksums of all tables before use. [`Service::check`] cannot do that while others read
    /// them.
    pub check_tables: bool,
}

/// A change to a page.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Adds a page, or a new version of it: a JSON object as in a line of JSON Lines.
    Put(&'a [u8]),
    /// Marks the page with this name as dead. The service still knows it.
    Dead(PageName<'a>),
    /// Forgets the page with this name.
    Delete(PageName<'a>),
}

/// An open collection. Any thread may call all functions; the documentation says which of them wait.
pub struct Service {
    collection: Arc<Collection>,
    /// Tier 2, and who verifies checksums.
    threads: Vec<JoinHandle<()>>,
}

impl ServiceOptions {
    /// The default options for the collection in `data`.
    pub fn new(data: impl Into<PathBuf>) -> ServiceOptions {
        ServiceOptions {
            data: data.into(),
            opening: Opening::default(),
            config: None,
            tags: None,
            fields: Fields::default(),
            limits: Limits::default(),
            keep_pages: true,
            queue_bytes: 64 << 20,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            repair_rate: 0.08,
            feed_keep: Duration::from_secs(30 * 24 * 3600),
            feed_bytes: u64::MAX,
            threads: cores(),
            check_tables: false,
        }
    }
}

impl ServiceOptions {
    /// Refuses options that cannot be used.
    fn check(&self) -> Result<()> {
        self.limits.check()?;
        if self.memory_bytes < LEAST_MEMORY_BYTES {
            return Err(Error::Setting { setting: Setting::Memory, value: self.memory_bytes });
        }
        Ok(())
    }
}

impl Service {
    /// Opens or creates a collection, queues the changes that were accepted but not settled, and starts Tier 2.
    pub fn open(options: ServiceOptions) -> Result<Service> {
        Service::start(Collection::open(options)?)
    }

    /// Opens a collection in any folder. Tests and fuzzing lose power, and keep all files in memory.
    #[doc(hidden)]
    pub fn open_in(folder: Arc<dyn onecopy_store::Folder>, options: ServiceOptions) -> Result<Service> {
        let tuning = tuning::Tuning::within(options.memory_bytes);
        Service::start(Collection::open_in(folder, options, tuning)?)
    }

    /// Opens a collection with other sizes.
    #[cfg(test)]
    fn open_tuned(
        folder: Arc<dyn onecopy_store::Folder>,
        options: ServiceOptions,
        tuning: tuning::Tuning,
    ) -> Result<Service> {
        Service::start(Collection::open_in(folder, options, tuning)?)
    }

    fn start(collection: Collection) -> Result<Service> {
        let collection = Arc::new(collection);
        if collection.is_read_only() {
            return Ok(Service { collection, threads: Vec::new() });
        }
        type Task = fn(&Collection);
        let tasks: [(&str, Task); 2] = [("tier 2", tier2::work), ("scrub", scrub::work)];
        let mut service = Service { collection, threads: Vec::new() };
        for (name, work) in tasks {
            let collection = service.collection.clone();
            let started = std::thread::Builder::new().name(name.into()).spawn(move || work(&collection));
            // Without Tier 2 nothing would be settled. Dropping the service ends a thread that did start.
            service.threads.push(started.at("start threads for", &service.collection.options.data)?);
        }
        Ok(service)
    }

    /// The rules for duplicates of this collection.
    pub fn config(&self) -> &Config {
        &self.collection.preparation.config
    }

    /// The rules of this collection's tags, if it has some.
    pub fn tags(&self) -> Option<&FilterRules> {
        self.collection.preparation.tags.as_ref()
    }

    /// Accepts changes in their order. Waits until all are durable, with one sync for all. A later change of a page
    /// replaces an earlier one, whatever their times say.
    pub fn accept(&self, actions: &[Action]) -> Vec<std::result::Result<Accepted, Refusal>> {
        accept::accept(&self.collection, actions)
    }

    /// The status of pages by name, all as of one moment. `None` for an unknown page. With `verify`, it compares losers
    /// with their winner again, and counts the result for their group.
    pub fn status<'a, N>(&self, pages: &[N], verify: bool) -> Result<Vec<Option<Status>>>
    where
        N: Into<PageName<'a>> + Copy,
    {
        ask::status(&self.collection, pages.iter().map(|&page| page.into()), verify)
    }

    /// The status that a page would get if it were added now. Stores nothing.
    pub fn query(&self, record: &[u8]) -> std::result::Result<Answer, Refusal> {
        ask::query(&self.collection, record)
    }

    /// The stored sketches, texts or tags of pages, by name, as of the last settled batch. `None` for an unknown page.
    pub fn stored<'a, N>(&self, pages: &[N], part: StoredPart) -> Result<Vec<Option<Stored>>>
    where
        N: Into<PageName<'a>> + Copy,
    {
        ask::stored::stored(&self.collection, pages.iter().map(|&page| page.into()), part)
    }

    /// A group, by its number.
    pub fn group(&self, group: u64) -> Result<Option<GroupView>> {
        ask::groups::view(&self.collection, group)
    }

    /// A group and at most `limit` of its pages, by name, after a cursor. Who continues to the end gets each page that is
    /// in the group all the time once.
    pub fn group_page(
        &self,
        group: u64,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<Option<GroupView>> {
        ask::groups::page(&self.collection, group, after, limit)
    }

    /// At most `limit` pages that a filter selects, by name, after a cursor. Each call looks at a bounded number of
    /// pages, so it may return none, and still a cursor. Who continues to the end gets each page that is there all the
    /// time once, also if its changes wait.
    pub fn list(&self, filter: &PageFilter, after: Option<&PageCursor>, limit: usize) -> Result<PageList> {
        ask::list::list(&self.collection, filter, after, limit)
    }

    /// The status of a page, and the record that was put. `None` for an unknown page.
    pub fn record(&self, page: PageName) -> Result<Option<PageRecord>> {
        ask::record::record(&self.collection, page)
    }

    /// Deletes at most `limit` pages that a filter selects, by name, after a cursor. Waits until the deletions are
    /// durable. Like [`Service::list`], it may delete none and return a cursor.
    pub fn sweep(
        &self,
        filter: &PageFilter,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> std::result::Result<Swept, Refusal> {
        sweep::sweep(&self.collection, filter, after, limit)
    }

    /// At most `limit` groups with at least `least` pages and a number above `after`, by number. With `search`, only
    /// groups with a page whose name contains it.
    pub fn groups(
        &self,
        after: u64,
        limit: usize,
        least: u64,
        search: Option<&str>,
    ) -> Result<Vec<GroupLine>> {
        ask::groups::list(&self.collection, after, limit, &ask::groups::GroupFilter { least, search })
    }

    /// Compares the pages of a group again, and waits until they are settled. Returns how many changed; `None` if the
    /// group does not exist.
    pub fn repair(&self, group: u64) -> Result<Option<u64>> {
        self.collection.check_writable()?;
        let is_there = !self.collection.snapshot().group_contents(group, 1)?.is_empty();
        let repaired = if is_there { self.collection.queue.repair(group) } else { None };
        repaired.transpose().map_err(|reason| Error::Broken { reason })
    }

    /// The name of the collection, which no other has.
    pub fn id(&self) -> &str {
        &self.collection.id
    }

    /// At most `limit` changes after a cursor, by number. Refuses a cursor that is not of this feed, or too old.
    pub fn feed(&self, cursor: FeedCursor, limit: usize) -> std::result::Result<FeedPage, Refusal> {
        ask::feed::read(&self.collection, cursor, limit)
    }

    /// The pages that changed after a cursor, each with its settled status now: those of at most `limit` changes, and
    /// all pages of groups that changed. Refuses like [`Service::feed`].
    pub fn changed_pages(
        &self,
        cursor: FeedCursor,
        limit: usize,
    ) -> std::result::Result<ChangedPages, Refusal> {
        ask::changed::read(&self.collection, cursor, limit)
    }

    /// The settled status of pages by name, without changes that wait. An unknown page is `dead`.
    pub fn settled_status(&self, pages: &[PageName]) -> Result<Vec<Status>> {
        ask::changed::settled(&self.collection, pages.iter().copied())
    }

    /// Waits until the feed has a number above `after`, at most this long. Returns the last number.
    pub fn wait_for_feed(&self, after: u64, most: Duration) -> u64 {
        self.collection.queue.wait_for_feed(after, most)
    }

    /// Waits until no change waits for Tier 2, at most this long. Returns whether that happened.
    pub fn drain(&self, most: Duration) -> bool {
        self.collection.queue.drain(most)
    }

    /// Whether the collection is only read, as of one moment. Nothing that waits is settled then.
    pub fn is_read_only(&self) -> bool {
        self.collection.is_read_only()
    }

    /// Statistics of the collection and the service.
    pub fn stats(&self) -> Stats {
        ask::stats(&self.collection)
    }

    /// Whether changes are accepted now; if not, why.
    pub fn ready(&self) -> std::result::Result<(), Refusal> {
        let refusal = self.collection.queue.refusal().or_else(|| accept::log_failure(&self.collection));
        refusal.map_or(Ok(()), Err)
    }

    /// Tries to write the log again if that failed. Waits for the disk. Without it, only the next change would show
    /// that the disk works again.
    pub fn retry_log(&self) {
        accept::retry_log(&self.collection);
    }

    /// Every page with its status and record, by name, as of one moment.
    pub fn pages(&self, each: &mut dyn FnMut(PageView) -> Result<()>) -> Result<()> {
        ask::record::pages(&self.collection, each)
    }

    /// Checks the whole collection: checksums, tables against each other, and every decision.
    pub fn check(&self) -> Result<CheckReport> {
        check::check(&self.collection)
    }

    /// Stops Tier 2 after its current batch, and closes the collection. Changes that are accepted but not settled are
    /// queued at the next start.
    pub fn close(mut self) -> Result<()> {
        self.stop();
        self.collection.close()
    }

    fn stop(&mut self) {
        self.collection.queue.stop();
        for thread in self.threads.drain(..) {
            // It reported its error when it failed.
            thread.join().ok();
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
