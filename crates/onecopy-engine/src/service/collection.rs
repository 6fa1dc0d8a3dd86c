//! An open collection: the state that all threads of a service share.
//!
//! It opens the files, provides snapshots and transactions, and closes. It changes no page: `accept` writes the log,
//! and only `tier2` writes tables and contents.

mod open;
mod past;

use std::sync::{Arc, Mutex, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use onecopy_core::{Method, method};
use onecopy_store::{
    Disk, Folder, Lock, Log, LogReader, Look, Open, Overlay, Position, Snapshot, Tables, Version, Writing,
};

use super::accept::Doorway;
use super::contents::{ContentIndex, Totals};
use super::prepare::Preparation;
use super::queue::Queue;
use super::scrub::Scrubbing;
use super::tier1::Tier1;
use super::tier2::Logged;
use super::tuning::Tuning;
use super::{Opening, ServiceOptions};
use crate::error::{Error, Result};
use open::{check_files, check_method, config, locked, open_tables};
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
    pub log: Mutex<Log>,
    pub reader: LogReader,
    tables: RwLock<Tables>,
    snapshot: RwLock<Arc<Snapshot>>,
    pub contents: RwLock<ContentIndex>,
    pub queue: Queue,
    totals: Mutex<(Option<Instant>, Totals)>,
    past: Past,
    pub scrubbing: Scrubbing,
    /// Held until everything is closed.
    _lock: Box<dyn Lock>,
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
        Collection::open_in(Arc::new(disk?), options, Tuning::default())
    }

    /// Opens a collection in any folder.
    pub(super) fn open_in(
        folder: Arc<dyn Folder>,
        options: ServiceOptions,
        tuning: Tuning,
    ) -> Result<Collection> {
        options.limits.check()?;
        if options.opening != Opening::Read {
            return Collection::open_once(folder, options, tuning);
        }
        // The owner may replace a file that is about to be opened. What is open stays as it is.
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
        let tables = open_tables(&*folder, &options)?;
        let config = config(&*folder, &tables, &options)?;
        let method = method(&config)?;
        check_method(&config, &*method)?;
        let snapshot = tables.snapshot()?;
        let heads = snapshot.heads()?;
        let from = Position { segment: heads.settled_to.0, offset: heads.settled_to.1 };
        let log = Log::open_after(folder.clone(), tuning.segment_bytes, from)?;
        let reader = log.reader();
        let contents = match options.opening {
            Opening::Read => ContentIndex::open_to_read(&snapshot, reader.clone(), &*method, tuning)?,
            _ => ContentIndex::open(&folder, &snapshot, reader.clone(), &*method, tuning)?,
        };
        let collection = Collection {
            id: open::id(&snapshot)?,
            preparation: Preparation::new(config, method, &options),
            queue: Queue::new(options.queue_bytes, tuning.batch_changes, heads.clone()),
            options,
            tuning,
            folder,
            doorway: Doorway::default(),
            log: Mutex::new(log),
            reader,
            tables: RwLock::new(tables),
            snapshot: RwLock::new(Arc::new(snapshot)),
            contents: RwLock::new(contents),
            totals: Mutex::default(),
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
        let log = self.log.lock().expect("no thread panics with this lock");
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
            let status = self.tier1(&snapshot).answer(&logged.version)?.status;
            waiting.push((logged, status));
        }
        self.queue.push(waiting);
        Ok(())
    }

    /// The tables as they were after the last batch.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.read().expect("no thread panics with this lock").clone()
    }

    pub(super) fn tier1<'a>(&'a self, snapshot: &'a Snapshot) -> Tier1<'a> {
        Tier1 { preparation: &self.preparation, snapshot, reader: &self.reader }
    }

    pub(super) fn method(&self) -> &dyn Method {
        &*self.preparation.method
    }

    /// Begins a transaction. Only Tier 2 may call this.
    pub(super) fn begin(&self) -> Result<Writing> {
        Ok(self.tables.read().map_err(|_| stale())?.begin()?)
    }

    /// The tables as they are now.
    pub(super) fn latest(&self) -> Result<Snapshot> {
        Ok(self.tables.read().map_err(|_| stale())?.snapshot()?)
    }

    /// Publishes the current tables to all readers.
    pub(super) fn renew_snapshot(&self) -> Result<()> {
        let snapshot = Arc::new(self.latest()?);
        let before = std::mem::replace(&mut *self.snapshot.write().map_err(|_| stale())?, snapshot);
        self.past.replaced(before, || self.folder.has_readers());
        Ok(())
    }

    /// Opens the tables again if a write failed. Until then they refuse all operations.
    pub(super) fn reopen_tables(&self) -> Result<Snapshot> {
        let mut tables = self.tables.write().map_err(|_| stale())?;
        if tables.begin().is_err() {
            *tables = open_tables(&*self.folder, &self.options)?;
        }
        Ok(tables.snapshot()?)
    }

    /// Publishes tables and contents that were reloaded from disk.
    pub(super) fn replace(&self, snapshot: Snapshot, contents: ContentIndex) -> Result<()> {
        *self.write_contents()? = contents;
        *self.snapshot.write().map_err(|_| stale())? = Arc::new(snapshot);
        Ok(())
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
        let remove = |segment| self.log.lock().expect("no thread panics with this lock").remove(segment);
        Ok(self.past.clear(remove)?)
    }

    /// Locks the contents in memory for Tier 2.
    pub(super) fn write_contents(&self) -> Result<RwLockWriteGuard<'_, ContentIndex>> {
        self.contents.write().map_err(|_| stale())
    }

    /// Totals over all contents. They are some seconds old in large collections, or while Tier 2 settles a batch.
    pub(super) fn totals(&self) -> Totals {
        let mut known = self.totals.lock().expect("no thread panics with this lock");
        if let Ok(contents) = self.contents.try_read() {
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
        let mut contents = self.write_contents()?;
        contents.close(&*self.folder, born)
    }
}

/// A panic in Tier 2 poisoned a lock.
pub(super) fn stale() -> Error {
    Error::Broken { reason: "Tier 2 failed in the middle of a batch: restart the service".into() }
}
