//! An open collection: what all threads of a service share.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, RwLock, RwLockWriteGuard, Weak};
use std::time::{Duration, Instant};

use onecopy_core::{Config, Method, Search, method};
use onecopy_store::{
    Backend, Disk, Error as StoreError, Folder, Heads, Lock, Log, LogReader, Look, Open, Place, Position,
    Postings, SEGMENT_BYTES, Snapshot, Tables, Version, Writing,
};

use super::ServiceOptions;
use super::accept::Doorway;
use super::compact::compact;
use super::contents::{Census, Contents};
use super::prepare::Preparation;
use super::queue::{Queue, Work};
use super::search::Found;
use super::tier1::Tier1;
use super::tier2::{Settled, Settling};
use crate::error::{Error, Result};

/// The version of everything that a collection's folder holds.
const FORMAT: u32 = 2;
/// Memory for what is read again from the tables.
const CACHE_BYTES: usize = 64 << 20;
/// How long Tier 2 waits for more changes at most.
const LINGER: Duration = Duration::from_millis(200);
/// The length of a segment of the log. In tests it is short, so that segments come and go.
const SEGMENT: u32 = if cfg!(test) { 4 << 10 } else { SEGMENT_BYTES };
/// How long Tier 2 waits before it tries again what failed.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 1_000 });
/// How old what is counted over all contents may be, for each of them: a hundred times what it takes to count it.
const CENSUS_AGE: Duration = Duration::from_micros(5);

/// An open collection.
pub(super) struct Shared {
    pub options: ServiceOptions,
    pub preparation: Preparation,
    pub folder: Arc<dyn Folder>,
    pub doorway: Doorway,
    pub log: Mutex<Log>,
    pub reader: LogReader,
    tables: RwLock<Tables>,
    snapshot: RwLock<Arc<Snapshot>>,
    pub contents: RwLock<Contents>,
    pub queue: Queue,
    census: Mutex<(Option<Instant>, Census)>,
    past: Mutex<Past>,
    /// Held until all is closed.
    _lock: Box<dyn Lock>,
}

/// What a batch came to.
struct Done {
    settled: Settled,
    /// Groups that were repaired, and how many pages that changed.
    repaired: Vec<(u64, u64)>,
    /// Pairs that were compared since the start.
    compared_pairs: u64,
}

/// What is kept for those who look at an earlier moment.
#[derive(Debug, Default)]
struct Past {
    /// Moments that somebody may look at.
    seen: Vec<Weak<Snapshot>>,
    /// Segments of the log that only they may want.
    doomed: Vec<u32>,
    /// Damaged segments of the log, which stay.
    spared: Vec<u32>,
}

impl Shared {
    /// Opens the folder that the options name.
    pub(super) fn open(options: ServiceOptions) -> Result<Shared> {
        let disk = Disk::create(&options.data).map_err(|source| Error::Io {
            verb: "create",
            path: options.data.clone(),
            source,
        })?;
        Shared::open_in(Arc::new(disk), options)
    }

    /// Opens a collection in any folder.
    pub(super) fn open_in(folder: Arc<dyn Folder>, options: ServiceOptions) -> Result<Shared> {
        options.limits.check()?;
        let lock = folder.lock().map_err(|error| locked(&options, error))?;
        let tables = open_tables(&*folder, &options)?;
        upgrade(&*folder, &tables)?;
        let config = config(&tables, &options)?;
        let method = method(&config)?;
        check_method(&config, &*method)?;
        let snapshot = tables.snapshot()?;
        let heads = snapshot.heads()?;
        let from = Position { segment: heads.settled_to.0, offset: heads.settled_to.1 };
        let log = Log::open_after(folder.clone(), SEGMENT, from)?;
        let reader = log.reader();
        let position = (heads.last_group, heads.generations.max(1));
        let contents = Contents::open(&folder, &snapshot, reader.clone(), &*method, position)?;
        let shared = Shared {
            preparation: Preparation::new(config, method, &options),
            queue: Queue::new(options.queue_bytes, heads.clone()),
            options,
            folder,
            doorway: Doorway::default(),
            log: Mutex::new(log),
            reader,
            tables: RwLock::new(tables),
            snapshot: RwLock::new(Arc::new(snapshot)),
            contents: RwLock::new(contents),
            census: Mutex::default(),
            past: Mutex::default(),
            _lock: lock,
        };
        shared.replay(from, heads.settled)?;
        Ok(shared)
    }

    /// Takes up what was accepted and is not settled.
    fn replay(&self, from: Position, settled: u64) -> Result<()> {
        let mut versions = Vec::new();
        let log = self.log.lock().expect("no thread panics with this lock");
        log.replay(from, &mut |place, bytes| {
            if let Some(version) = Version::from_bytes(bytes).filter(|version| version.accepted > settled) {
                versions.push((place, version));
            }
            Ok(())
        })?;
        drop(log);
        let snapshot = self.snapshot();
        let mut waiting = Vec::new();
        for (place, version) in versions {
            let status = self.tier1(&snapshot).answer(&version)?.status;
            waiting.push(((place, version), status));
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

    /// A transaction. Only Tier 2 may ask for one.
    pub(super) fn begin(&self) -> Result<Writing> {
        Ok(self.tables.read().map_err(|_| stale())?.begin()?)
    }

    /// The tables as they are now.
    pub(super) fn latest(&self) -> Result<Snapshot> {
        Ok(self.tables.read().map_err(|_| stale())?.snapshot()?)
    }

    /// Lets everybody see the tables as they are now.
    pub(super) fn renew_snapshot(&self) -> Result<()> {
        let snapshot = Arc::new(self.latest()?);
        let before = std::mem::replace(&mut *self.snapshot.write().map_err(|_| stale())?, snapshot);
        let mut past = self.past.lock().expect("no thread panics with this lock");
        past.seen.retain(|seen| seen.strong_count() > 0);
        past.seen.push(Arc::downgrade(&before));
        Ok(())
    }

    /// Notes that nothing of a segment of the log is wanted, but by those who look at an earlier moment.
    pub(super) fn doom(&self, segment: u32) {
        self.past.lock().expect("no thread panics with this lock").doomed.push(segment);
    }

    /// Notes that a segment of the log is damaged, and not to be written anew.
    pub(super) fn spare(&self, segment: u32) {
        self.past.lock().expect("no thread panics with this lock").spared.push(segment);
    }

    /// Whether a segment goes, or stays as it is.
    pub(super) fn is_passed_over(&self, segment: u32) -> bool {
        let past = self.past.lock().expect("no thread panics with this lock");
        past.doomed.contains(&segment) || past.spared.contains(&segment)
    }

    /// Removes the segments that nobody looks at any more.
    pub(super) fn remove_doomed(&self) -> Result<()> {
        let mut past = self.past.lock().expect("no thread panics with this lock");
        past.seen.retain(|seen| seen.strong_count() > 0);
        if !past.seen.is_empty() {
            return Ok(());
        }
        let mut log = self.log.lock().expect("no thread panics with this lock");
        while let Some(segment) = past.doomed.pop() {
            log.remove(segment)?;
        }
        Ok(())
    }

    /// The contents in memory, for their one writer.
    pub(super) fn write_contents(&self) -> Result<RwLockWriteGuard<'_, Contents>> {
        self.contents.write().map_err(|_| stale())
    }

    /// Tier 2: settles until the collection is closed.
    pub(super) fn work(&self) {
        let (mut failed, mut linger) = (None, Duration::ZERO);
        while let Some(work) = self.queue.take(linger) {
            let begun = Instant::now();
            let settle = || {
                // Nothing is settled on what a batch that failed has left in memory.
                failed.as_ref().map_or(Ok(()), |error| self.reload(error))?;
                let done = self.settle(&work)?;
                compact(self).map(|_| done)
            };
            // A thread that is gone would leave all that is accepted waiting for ever, and nobody told.
            let done = catch_unwind(AssertUnwindSafe(settle)).unwrap_or_else(|_| Err(stale()));
            // A transaction costs much, however little is in it: the longer the last took, the more are gathered.
            linger = begun.elapsed().min(LINGER);
            match done {
                Ok(Done { settled, repaired, compared_pairs }) => {
                    failed = None;
                    self.queue.done(work, settled.heads, &repaired, |numbers| {
                        numbers.compared_pages += settled.compared;
                        numbers.compared_pairs = compared_pairs;
                        numbers.repaired += repaired.len() as u64;
                    });
                }
                Err(error) => {
                    self.queue.failed(work, error.to_string(), PAUSE);
                    failed = Some(error);
                }
            }
        }
    }

    /// Settles a batch in one transaction.
    fn settle(&self, work: &Work) -> Result<Done> {
        let mut contents = self.write_contents()?;
        let (config, method) = (&self.preparation.config, self.method());
        let writing = self.begin()?;
        let mut batch = writing.batch()?;
        let heads = batch.heads()?;
        let mut settling =
            Settling { config, method, contents: &mut contents, threads: self.options.threads };
        let mut settled = settling.settle(&mut batch, &work.versions, heads)?;
        let mut due: Vec<u64> = work.repairs.clone();
        for (&group, &(checked, failed)) in &work.checks {
            let (checked, failed) = batch.add_checks(group, checked, failed)?;
            let is_due = failed > 0 && failed as f64 > self.options.repair_rate * checked as f64;
            due.extend(is_due.then_some(group));
        }
        let mut repaired = Vec::new();
        for group in due {
            repaired.push((group, settling.repair(&mut batch, group, &mut settled.heads)?));
        }
        if let Some((place, _)) = work.versions.last() {
            let end = place.end();
            settled.heads.settled_to = (end.segment, end.offset);
        }
        batch.set_heads(&settled.heads)?;
        drop(batch);
        let ahead = self.commit(writing, &contents)?;
        contents.take_ahead(ahead);
        let compared_pairs = contents.compared;
        contents.tend(&*self.folder, self.method(), settled.heads.born)?;
        drop(contents);
        self.renew_snapshot()?;
        Ok(Done { settled, repaired, compared_pairs })
    }

    /// Makes a batch durable. Meanwhile what waits is looked for: one thread waits for the disk, and one has nothing to do.
    fn commit(&self, writing: Writing, contents: &Contents) -> Result<Found<Place>> {
        let snapshot = self.snapshot();
        let is_known = |fingerprint| matches!(snapshot.fingerprint(fingerprint), Ok(Some(_)));
        let upcoming = self.queue.upcoming(is_known);
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| contents.look_ahead(&upcoming, self.method(), self.options.threads));
            writing.commit()?;
            looking.join().map_err(|_| stale())?
        })
    }

    /// Reads what is in memory again from disk, after a batch failed in the middle with `error`.
    fn reload(&self, error: &Error) -> Result<()> {
        self.contents.clear_poison();
        self.write_contents()?.halt();
        if matches!(error, Error::Store(StoreError::Damaged { file, .. }) if file.starts_with("postings")) {
            Postings::remove_all(&*self.folder)?;
        }
        let snapshot = self.mend_tables()?;
        let heads = snapshot.heads()?;
        let position = (heads.last_group, heads.generations.max(1));
        let fresh = Contents::open(&self.folder, &snapshot, self.reader.clone(), self.method(), position)?;
        *self.write_contents()? = fresh;
        *self.snapshot.write().map_err(|_| stale())? = Arc::new(snapshot);
        Ok(())
    }

    /// Opens the tables anew if a write of theirs failed: they refuse everything after that, until they are.
    fn mend_tables(&self) -> Result<Snapshot> {
        let mut tables = self.tables.write().map_err(|_| stale())?;
        if tables.begin().is_err() {
            *tables = open_tables(&*self.folder, &self.options)?;
        }
        Ok(tables.snapshot()?)
    }

    /// What is counted over all contents; some seconds old if they are many, or if a batch is being settled.
    pub(super) fn census(&self) -> Census {
        let mut known = self.census.lock().expect("no thread panics with this lock");
        if let Ok(contents) = self.contents.try_read() {
            let age = CENSUS_AGE * contents.len() as u32;
            if known.0.is_none_or(|when| when.elapsed() >= age) {
                *known =
                    (Some(Instant::now()), Census { disk_bytes: self.disk_bytes(), ..contents.census() });
            }
        }
        known.1
    }

    fn disk_bytes(&self) -> u64 {
        let length =
            |name: String| self.folder.open(&name, Open::Read).and_then(|file| file.len()).unwrap_or(0);
        self.folder.names().unwrap_or_default().into_iter().map(length).sum()
    }

    /// Writes what would have to be found again.
    pub(super) fn close(&self) -> Result<()> {
        let born = self.snapshot().heads()?.born;
        let mut contents = self.write_contents()?;
        contents.close(&*self.folder, born)
    }
}

fn open_tables(folder: &dyn Folder, options: &ServiceOptions) -> Result<Tables> {
    let file = folder.open("tables.redb", Open::Create).map_err(|source| Error::Io {
        verb: "open",
        path: options.data.join("tables.redb"),
        source,
    })?;
    Ok(Tables::open(Backend::new(file), CACHE_BYTES, options.check_tables)?)
}

/// Format 1 had other postings. They hold nothing that is not elsewhere, and are made anew.
fn upgrade(folder: &dyn Folder, tables: &Tables) -> Result<()> {
    if tables.snapshot()?.meta("format")? != Some(1_u32.to_le_bytes().to_vec()) {
        return Ok(());
    }
    Postings::remove_all(folder)?;
    let writing = tables.begin()?;
    writing.batch()?.set_meta("format", &FORMAT.to_le_bytes())?;
    Ok(writing.commit()?)
}

fn stale() -> Error {
    Error::Broken { reason: "Tier 2 failed in the middle of a batch: restart the service".into() }
}

fn locked(options: &ServiceOptions, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::WouldBlock => Error::CollectionInUse { folder: options.data.clone() },
        _ => Error::Io { verb: "lock", path: options.data.clone(), source: error },
    }
}

/// The configuration of a collection: its own, or that of a new one.
fn config(tables: &Tables, options: &ServiceOptions) -> Result<Config> {
    let snapshot = tables.snapshot()?;
    let damaged = |reason: String| Error::CollectionConfigDamaged { folder: options.data.clone(), reason };
    let (format, stored) = (snapshot.meta("format")?, snapshot.meta("config")?);
    let is_begun = format.is_some();
    if let Some(format) = format.filter(|format| *format != FORMAT.to_le_bytes()) {
        let found = format.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        return Err(Error::CollectionFormat { folder: options.data.clone(), found, expected: FORMAT });
    }
    if is_begun && stored.is_none() {
        return Err(damaged("it is not there".into()));
    }
    let Some(stored) = stored else {
        let config = options.config.clone().unwrap_or_default();
        config.check()?;
        let writing = tables.begin()?;
        let mut batch = writing.batch()?;
        batch.set_meta("format", &FORMAT.to_le_bytes())?;
        batch.set_meta("config", &serde_json::to_vec(&config).expect("a configuration is JSON"))?;
        batch.set_heads(&Heads { generations: 1, ..Heads::default() })?;
        drop(batch);
        writing.commit()?;
        return Ok(config);
    };
    let stored: Config = serde_json::from_slice(&stored).map_err(|error| damaged(error.to_string()))?;
    if options.config.as_ref().is_some_and(|asked| *asked != stored) {
        return Err(Error::CollectionConfig { folder: options.data.clone() });
    }
    Ok(stored)
}

/// Refuses what cannot be kept right page by page.
fn check_method(config: &Config, method: &dyn Method) -> Result<()> {
    if method.search() != Search::Keys {
        return Err(Error::CollectionMethod { method: config.method.clone() });
    }
    if config.markets.len() > 1 {
        return Err(Error::CollectionMarkets { count: config.markets.len() });
    }
    Ok(())
}
