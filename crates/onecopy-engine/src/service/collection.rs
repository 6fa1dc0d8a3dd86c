//! An open collection: the state that all threads of a service share.
//!
//! It opens the files, provides snapshots and transactions, and closes. It changes no page: `accept` writes the log,
//! and only `tier2` writes tables and contents.

pub(crate) mod facts;
mod open;
mod past;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, RwLockWriteGuard};
use std::time::{Duration, Instant};

use onecopy_core::{Method, method};
use onecopy_store::{
    Disk, Folder, Log, LogReader, Look, Open, Overlay, Position, Snapshot, Tables, Version, Writing,
};

use super::accept::Doorway;
use super::contents::{ContentIndex, SearchView, Totals};
use super::prepare::Preparation;
use super::queue::{Queue, QueueLimits};
use super::scrub::Scrubbing;
use super::status::{Status, StatusKind, name_of};
use super::tier1::Tier1;
use super::tier2::Logged;
use super::tuning::Tuning;
use super::{Opening, ServiceOptions};
use crate::error::{Error, Result};
use crate::lock::{Lock, SharedLock};
use facts::Facts;
use open::{check_files, check_method, config, locked, open_tables, tags};
use past::Past;

/// How often a collection is opened that somebody else changes meanwhile.
const ATTEMPTS: usize = 5;

/// The greatest age of totals, per content: a hundred times the cost of counting it.
const TOTALS_AGE: Duration = Duration::from_micros(5);

/// An open collection.
pub(super) struct Collection {
    /// The name of the collection, which no other has.
    pub id: String,
    pub options: ServiceOptions,
    pub tuning: Tuning,
    pub preparation: Preparation,
    pub folder: Arc<dyn Folder>,
    pub doorway: Doorway,
    pub log: Lock<Log>,
    pub reader: LogReader,
    tables: SharedLock<Tables>,
    published: SharedLock<Published>,
    pub contents: SharedLock<ContentIndex>,
    pub queue: Queue,
    totals: Lock<(Option<Instant>, Totals)>,
    past: Past,
    pub scrubbing: Scrubbing,
    /// Held until everything is closed.
    _lock: Box<dyn onecopy_store::Lock>,
}

/// The state that readers see: the tables and the search of one moment.
#[derive(Clone)]
pub(super) struct Published {
    pub snapshot: Arc<Snapshot>,
    pub search: Arc<SearchView>,
}

impl Collection {
    /// Opens the folder in the options.
    pub(super) fn open(options: ServiceOptions) -> Result<Collection> {
        let disk = match options.opening {
            Opening::Begin => Disk::create(&options.data).map_err(|source| Error::Io {
                verb: "create",
                path: options.data.clone(),
                source,
            }),
            _ => Disk::open(&options.data).map_err(|_| Error::NoCollection { folder: options.data.clone() }),
        };
        let tuning = Tuning::within(options.memory_bytes);
        Collection::open_in(Arc::new(disk?), options, tuning)
    }

    /// Opens a collection in any folder.
    pub(super) fn open_in(
        folder: Arc<dyn Folder>,
        options: ServiceOptions,
        tuning: Tuning,
    ) -> Result<Collection> {
        options.check()?;
        if options.opening != Opening::Read {
            return Collection::open_once(folder, options, tuning);
        }
        // The owner may replace a file that is about to be opened. An open file stays as it is.
        for _ in 1..ATTEMPTS {
            let overlay = Arc::new(Overlay::new(folder.clone()));
            match Collection::open_once(overlay, options.clone(), tuning) {
                Err(Error::Store(_)) => {}
                opened => return opened,
            }
        }
        Collection::open_once(Arc::new(Overlay::new(folder)), options, tuning)
    }

    fn open_once(folder: Arc<dyn Folder>, options: ServiceOptions, tuning: Tuning) -> Result<Collection> {
        check_files(&*folder, &options)?;
        let lock = folder.lock().map_err(|error| locked(&options, error))?;
        // From now on others may read beside us.
        folder.has_readers();
        let tables = open_tables(&*folder, &options, tuning.cache_bytes)?;
        let config = config(&*folder, &tables, &options)?;
        let tags = tags(&tables, &options)?;
        let method = method(&config)?;
        check_method(&config, &*method)?;
        let snapshot = tables.snapshot()?;
        let heads = snapshot.heads()?;
        let from = Position { segment: heads.settled_to.0, offset: heads.settled_to.1 };
        let log = Log::open_after(folder.clone(), tuning.segment_bytes, from)?;
        let reader = log.reader();
        let mut contents = match options.opening {
            Opening::Read => ContentIndex::open_to_read(&snapshot, reader.clone(), &*method, tuning)?,
            _ => ContentIndex::open(&folder, &snapshot, reader.clone(), &*method, tuning)?,
        };
        let (id, search) = (Facts::of(&snapshot)?.id, Arc::new(contents.view()));
        let published = Published { snapshot: Arc::new(snapshot), search };
        let collection = Collection {
            id,
            preparation: Preparation::new(config, method, tags, &options),
            queue: Queue::new(queue_limits(&options, tuning), heads.clone()),
            options,
            tuning,
            folder,
            doorway: Doorway::default(),
            log: Lock::new(log),
            reader,
            tables: SharedLock::new(tables),
            published: SharedLock::new(published),
            contents: SharedLock::new(contents),
            totals: Lock::default(),
            past: Past::default(),
            scrubbing: Scrubbing::default(),
            _lock: lock,
        };
        collection.replay(from, heads.settled)?;
        Ok(collection)
    }

    /// Whether the collection is only read.
    pub(super) fn is_read_only(&self) -> bool {
        self.options.opening == Opening::Read
    }

    /// Refuses what would change a collection that is only read.
    pub(super) fn check_writable(&self) -> Result<()> {
        match self.is_read_only() {
            true => Err(Error::CollectionInUse { folder: self.options.data.clone() }),
            false => Ok(()),
        }
    }

    /// Queues the changes that were accepted but not settled.
    fn replay(&self, from: Position, settled: u64) -> Result<()> {
        let mut accepted = Vec::new();
        let log = self.log.lock();
        log.replay(from, &mut |place, bytes| {
            if let Some(version) = Version::from_bytes(bytes).filter(|version| version.accepted > settled) {
                accepted.push(Logged { place, version });
            }
            Ok(())
        })?;
        drop(log);
        let snapshot = self.snapshot();
        let mut waiting = Vec::new();
        for logged in accepted {
            waiting.push((self.waiting_status(&snapshot, &logged.version), logged));
        }
        self.queue.push(waiting.into_iter().map(|(status, logged)| (logged, status)).collect());
        Ok(())
    }

    /// The status that Tier 1 gives a change. If it fails, nothing is known yet: Tier 2 finds out why, and rejects the change.
    fn waiting_status(&self, snapshot: &Snapshot, version: &Version) -> Status {
        let answer = || self.tier1(snapshot).answer(version).map(|told| told.status).ok();
        let answered = catch_unwind(AssertUnwindSafe(answer)).ok().flatten();
        answered.unwrap_or_else(|| Status {
            settled: false,
            ..Status::bare(name_of(&version.name), StatusKind::Pending)
        })
    }

    /// The tables as they were after the last batch.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.published().snapshot
    }

    /// The tables and the search as they were after the last batch.
    pub(super) fn published(&self) -> Published {
        self.published.read().clone()
    }

    pub(super) fn tier1<'a>(&'a self, snapshot: &'a Snapshot) -> Tier1<'a> {
        Tier1 { preparation: &self.preparation, snapshot, reader: &self.reader }
    }

    pub(super) fn method(&self) -> &dyn Method {
        &*self.preparation.method
    }

    /// Begins a transaction. Only Tier 2 may call this.
    pub(super) fn begin(&self) -> Result<Writing> {
        Ok(self.tables.read().begin()?)
    }

    /// The tables as they are now.
    pub(super) fn latest(&self) -> Result<Snapshot> {
        Ok(self.tables.read().snapshot()?)
    }

    /// Publishes the current tables to all readers, and the search if contents changed.
    pub(super) fn renew_snapshot(&self, search: Option<SearchView>) -> Result<()> {
        let snapshot = Arc::new(self.latest()?);
        let mut published = self.published.write();
        let search = search.map_or_else(|| published.search.clone(), Arc::new);
        let before = std::mem::replace(&mut *published, Published { snapshot, search });
        drop(published);
        self.past.replaced(before.snapshot, || self.folder.has_readers());
        Ok(())
    }

    /// Opens the tables again if a write failed. Until then they refuse all operations.
    pub(super) fn reopen_tables(&self) -> Result<Snapshot> {
        let mut tables = self.tables.write();
        if tables.begin().is_err() {
            *tables = open_tables(&*self.folder, &self.options, self.tuning.cache_bytes)?;
        }
        Ok(tables.snapshot()?)
    }

    /// Publishes tables and contents that were reloaded from disk.
    pub(super) fn replace(&self, snapshot: Snapshot, mut contents: ContentIndex) {
        let (snapshot, search) = (Arc::new(snapshot), Arc::new(contents.view()));
        *self.contents.write() = contents;
        *self.published.write() = Published { snapshot, search };
    }

    /// Lets go of what is kept for other processes, if none reads.
    pub(super) fn release_past(&self) {
        self.past.release(|| self.folder.has_readers());
    }

    /// Marks a log segment that only readers of earlier snapshots need.
    pub(super) fn doom(&self, segment: u32) {
        self.past.doom(segment);
    }

    /// Marks a damaged log segment, which must not be rewritten.
    pub(super) fn spare(&self, segment: u32) {
        self.past.spare(segment);
    }

    /// Whether a segment is doomed or damaged, and so is not compacted.
    pub(super) fn is_passed_over(&self, segment: u32) -> bool {
        self.past.holds(segment)
    }

    /// Removes the doomed segments that nobody reads any more.
    pub(super) fn remove_doomed(&self) -> Result<()> {
        let remove = |segment| self.log.lock().remove(segment);
        Ok(self.past.clear(remove)?)
    }

    /// Locks the contents in memory. Refuses if a batch failed in the middle: then they may be wrong until Tier 2 has
    /// read them again.
    pub(super) fn write_contents(&self) -> Result<RwLockWriteGuard<'_, ContentIndex>> {
        let contents = self.contents.write();
        if contents.is_torn { Err(stale()) } else { Ok(contents) }
    }

    /// Totals over all contents. They are some seconds old in large collections, or while Tier 2 settles a batch.
    pub(super) fn totals(&self) -> Totals {
        let mut known = self.totals.lock();
        if let Some(contents) = self.contents.try_read() {
            let age = TOTALS_AGE * contents.len() as u32;
            if known.0.is_none_or(|when| when.elapsed() >= age) {
                *known =
                    (Some(Instant::now()), Totals { disk_bytes: self.disk_bytes(), ..contents.totals() });
            }
        }
        known.1
    }

    fn disk_bytes(&self) -> u64 {
        let length =
            |name: String| self.folder.open(&name, Open::Read).and_then(|file| file.len()).unwrap_or(0);
        self.folder.names().unwrap_or_default().into_iter().map(length).sum()
    }

    /// Writes files that the next start would otherwise rebuild.
    pub(super) fn close(&self) -> Result<()> {
        if self.is_read_only() {
            return Ok(());
        }
        let born = self.snapshot().heads()?.born;
        let mut contents = self.contents.write();
        if contents.is_torn {
            // A batch failed. The next start reads everything again, from the tables and the log.
            contents.halt();
            return Ok(());
        }
        contents.close(&*self.folder, born)
    }
}

fn queue_limits(options: &ServiceOptions, tuning: Tuning) -> QueueLimits {
    QueueLimits {
        waiting_bytes: options.queue_bytes.min(tuning.queue_bytes),
        batch_changes: tuning.batch_changes,
        batch_bytes: tuning.batch_bytes,
    }
}

/// A batch failed in the middle.
pub(super) fn stale() -> Error {
    Error::Broken { reason: "Tier 2 failed in the middle of a batch: restart the service".into() }
}
