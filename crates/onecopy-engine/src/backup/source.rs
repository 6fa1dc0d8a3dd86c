//! A collection as of one moment, also while another process changes it.
//!
//! The parts of the postings come first, then the tables, then the log. So the postings may lack what the tables have,
//! which opening a collection adds again, and the log has all that the tables point to. This is what a crash may leave.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onecopy_store::{
    Backend, Disk, File, Folder, Lock, Log, Look, Open, Overlay, Position, Postings, SEGMENT_BYTES, Snapshot,
    Tables, Version,
};

use super::manifest::SnapshotFacts;
use crate::error::{Error, Result};
use crate::service::collection::facts::{Facts, RESTORING, TABLES, TAGGED_FORMAT};

/// How often the files are opened if somebody changes them meanwhile.
const ATTEMPTS: usize = 5;
/// Memory for reading the tables.
const CACHE_BYTES: usize = 64 << 20;

/// A collection as of one moment.
pub(super) struct Source {
    data: PathBuf,
    pub facts: SnapshotFacts,
    pub tables: Snapshot,
    /// The segments of the log, and their lengths.
    segments: Vec<(String, u64)>,
    /// Segments that hold changes which nobody needs may go at any time; these stay.
    needed: Vec<String>,
    /// Postings and orders.
    others: Vec<(String, Arc<dyn File>)>,
    table_bytes: u64,
    folder: Arc<dyn Folder>,
    _database: Tables,
    /// Lets the owner keep what is read here.
    _lock: Box<dyn Lock>,
}

/// A file to copy.
pub(super) struct SourceFile {
    pub name: String,
    pub bytes: u64,
    path: PathBuf,
    opened: Opened,
}

enum Opened {
    Already(Arc<dyn File>),
    Later { folder: Arc<dyn Folder>, is_needed: bool },
}

impl Source {
    /// Opens the collection in a folder. It is not changed.
    pub(super) fn open(data: &Path) -> Result<Source> {
        let none = || Error::NoCollection { folder: data.to_owned() };
        let disk: Arc<dyn Folder> = Arc::new(Disk::open(data).map_err(|_| none())?);
        if disk.open(RESTORING, Open::Read).is_ok() {
            return Err(Error::RestoreUnfinished { folder: data.to_owned() });
        }
        if disk.open(TABLES, Open::Read).and_then(|file| file.len()).unwrap_or(0) == 0 {
            return Err(none());
        }
        for _ in 1..ATTEMPTS {
            match Source::open_once(&disk, data) {
                // The owner replaced a file that was about to be opened.
                Err(Error::Store(_)) => {}
                opened => return opened,
            }
        }
        Source::open_once(&disk, data)
    }

    fn open_once(disk: &Arc<dyn Folder>, data: &Path) -> Result<Source> {
        let lock = lock(&**disk, data)?;
        let mut others = postings(&**disk)?;
        let folder: Arc<dyn Folder> = Arc::new(Overlay::new(disk.clone()));
        let file = folder.open(TABLES, Open::Create).map_err(unreadable)?;
        let table_bytes = file.len().map_err(unreadable)?;
        let database = Tables::open(Backend::new(file), CACHE_BYTES, true)?;
        let tables = database.snapshot()?;
        let facts = Facts::of(&tables)?;
        let Some(format) = facts.format.filter(|format| *format <= TAGGED_FORMAT) else {
            let (folder, found) = (data.to_owned(), facts.format.unwrap_or(0));
            return Err(Error::CollectionFormat { folder, found, expected: TAGGED_FORMAT });
        };
        let heads = tables.heads()?;
        let settled_to = Position { segment: heads.settled_to.0, offset: heads.settled_to.1 };
        let log = Log::open_after(folder.clone(), SEGMENT_BYTES, settled_to)?;
        let accepted = last_accepted(&log, settled_to, heads.settled)?;
        others.extend(orders(&**disk)?);
        let needed = tables.live()?.into_iter().map(|(segment, _)| segment_name(segment)).collect();
        let segments = log.segments().into_iter().map(|(segment, bytes)| (segment_name(segment), bytes));
        let facts = SnapshotFacts {
            collection: facts.id,
            format,
            answers: facts.answers,
            pages: heads.counts.iter().sum(),
            feed: heads.feed,
            settled: heads.settled,
            accepted,
        };
        Ok(Source {
            data: data.to_owned(),
            facts,
            tables,
            segments: segments.collect(),
            needed,
            others,
            table_bytes,
            folder,
            _database: database,
            _lock: lock,
        })
    }

    /// About how many bytes there are to copy.
    pub(super) fn bytes(&self) -> u64 {
        self.segments.iter().map(|(_, bytes)| bytes).sum::<u64>() + self.table_bytes
    }

    /// The files to copy, beside the tables.
    pub(super) fn files(&self) -> Result<Vec<SourceFile>> {
        let mut files = Vec::new();
        for (name, bytes) in &self.segments {
            let is_last = self.segments.last().is_some_and(|(last, _)| last == name);
            let is_needed = is_last || self.needed.contains(name);
            let opened = Opened::Later { folder: self.folder.clone(), is_needed };
            files.push(SourceFile { name: name.clone(), bytes: *bytes, path: self.data.join(name), opened });
        }
        for (name, file) in &self.others {
            let bytes = file.len().map_err(unreadable)?;
            let (path, opened) = (self.data.join(name), Opened::Already(file.clone()));
            files.push(SourceFile { name: name.clone(), bytes, path, opened });
        }
        Ok(files)
    }
}

impl SourceFile {
    /// The file; `None` if it is gone and nobody needs it.
    pub(super) fn open(&self) -> Result<Option<Arc<dyn File>>> {
        match &self.opened {
            Opened::Already(file) => Ok(Some(file.clone())),
            Opened::Later { folder, is_needed } => match folder.open(&self.name, Open::Read) {
                Err(error) if error.kind() == ErrorKind::NotFound && !is_needed => Ok(None),
                opened => opened.map(Some).map_err(|error| self.failed(error)),
            },
        }
    }

    /// The file cannot be read.
    pub(super) fn failed(&self, source: io::Error) -> Error {
        Error::Io { verb: "read", path: self.path.clone(), source }
    }
}

/// Locks a collection that nobody uses, or registers as a reader with its owner.
fn lock(disk: &dyn Folder, data: &Path) -> Result<Box<dyn Lock>> {
    let in_use = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => Error::CollectionInUse { folder: data.to_owned() },
        _ => Error::Io { verb: "lock", path: data.to_owned(), source: error },
    };
    match disk.lock() {
        Err(error) if error.kind() == ErrorKind::WouldBlock => disk.lock_to_read().map_err(in_use),
        locked => locked.map_err(in_use),
    }
}

/// The number of the last change in the log.
fn last_accepted(log: &Log, from: Position, settled: u64) -> Result<u64> {
    let mut last = settled;
    log.replay(from, &mut |_, bytes| {
        last = last.max(Version::from_bytes(bytes).map_or(0, |version| version.accepted));
        Ok(())
    })?;
    Ok(last)
}

/// The orders of shingles, and the counts for the next one. They are replaced whole, never changed.
fn orders(disk: &dyn Folder) -> Result<Vec<(String, Arc<dyn File>)>> {
    let names = disk.names().map_err(unreadable)?;
    let is_order = |name: &String| name == "counts" || (name.starts_with("order-") && !name.contains('.'));
    let open = |name: String| match disk.open(&name, Open::Read) {
        Ok(file) => Ok(Some((name, file))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error)),
    };
    names.into_iter().filter(is_order).filter_map(|name| open(name).transpose()).collect()
}

fn segment_name(segment: u32) -> String {
    format!("log-{segment:08}")
}

/// The files of the postings. A part that is missing was merged a moment ago. Postings of another format, and damaged ones,
/// are of no use: opening the collection makes them again.
fn postings(disk: &dyn Folder) -> Result<Vec<(String, Arc<dyn File>)>> {
    use onecopy_store::Error::{Damaged, Refused};
    for _ in 0..ATTEMPTS {
        match Postings::files(disk) {
            Err(Damaged { .. }) => {}
            Err(Refused(_)) => break,
            files => return Ok(files?),
        }
    }
    Ok(Vec::new())
}

fn unreadable(source: io::Error) -> Error {
    onecopy_store::Error::Io { verb: "read", file: TABLES.into(), source }.into()
}
