//! Makes a collection of a snapshot.
//!
//! The tables make a folder a collection, so they come last. Until then the folder has a file that says so. A restore that
//! was killed is run again: it keeps the pieces that are there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use onecopy_store::{Backend, Disk, File, Folder, Open, Tables};

use super::depot::{Depot, OpenDepot};
use super::manifest::{FileEntry, Manifest, SnapshotLine, TableEntry, sha256};
use super::pieces::fetch;
use super::rows::rows;
use crate::error::{At, Error, Result};
use crate::progress::{Progress, Stage};
use crate::service::collection::facts::{ID, RESTORING, TABLES, is_part, new_id};

/// The tables until they are complete.
const TABLES_ASIDE: &str = "tables.redb.part";
/// Memory for writing the tables.
const CACHE_BYTES: usize = 64 << 20;

/// A snapshot to make a collection of.
#[derive(Clone, Debug)]
pub struct RestoreJob {
    /// Where the snapshot is.
    pub from: Depot,
    /// The name of the snapshot; `None` for the newest.
    pub snapshot: Option<String>,
    /// The folder for the collection. It must be new or empty, or have an unfinished restore.
    pub data: PathBuf,
    /// Whether the collection keeps its name, so that readers of the feed continue where they were. That is right only if
    /// the original is gone and changed nothing after the snapshot.
    pub keep_id: bool,
}

/// Restores a collection. Every byte is verified.
pub fn restore(job: &RestoreJob, progress: &dyn Progress) -> Result<SnapshotLine> {
    let depot = OpenDepot::open(&job.from)?;
    let (name, manifest) = chosen(&depot, job.snapshot.as_deref())?;
    let folder = prepare(&job.data, &manifest)?;
    let _lock = folder.lock().map_err(|_| Error::CollectionInUse { folder: job.data.clone() })?;
    progress.begin(Stage::Write, manifest.bytes);
    let restoring = Restoring { depot: &depot, folder: &folder, data: &job.data, progress };
    manifest.files.iter().try_for_each(|file| restoring.file(file))?;
    let tables = restoring.tables(&manifest.tables)?;
    if !job.keep_id && !manifest.facts.collection.is_empty() {
        let writing = tables.begin()?;
        writing.batch()?.set_meta(ID, new_id().as_bytes())?;
        writing.commit()?;
    }
    drop(tables);
    let at = |verb, name: &str| (verb, job.data.join(name));
    let (verb, path) = at("create", TABLES);
    folder.rename(TABLES_ASIDE, TABLES).and_then(|()| folder.sync()).at(verb, &path)?;
    let (verb, path) = at("remove", RESTORING);
    folder.remove(RESTORING).and_then(|()| folder.sync()).at(verb, &path)?;
    Ok(manifest.line(name))
}

/// The snapshot to restore.
fn chosen(depot: &OpenDepot, wanted: Option<&str>) -> Result<(String, Manifest)> {
    let newest = depot.some_snapshots()?.pop().expect("there is one");
    let name = wanted.map_or(newest, str::to_owned);
    let manifest = depot.manifest(&name)?;
    let manifest = manifest.map_err(|reason| depot.wrong(format!("snapshot {name}: {reason}")))?;
    if wanted.is_none() {
        check_only_collection(depot, &manifest)?;
    }
    Ok((name, manifest))
}

/// The newest snapshot is only meant if all are of one collection.
fn check_only_collection(depot: &OpenDepot, newest: &Manifest) -> Result<()> {
    for name in depot.snapshots()? {
        if depot.manifest(&name)?.is_ok_and(|other| other.facts.collection != newest.facts.collection) {
            return Err(depot.wrong("it has snapshots of several collections: name one of them"));
        }
    }
    Ok(())
}

/// Prepares the folder: a new one, an empty one, or one that an earlier restore of any snapshot left.
fn prepare(data: &Path, manifest: &Manifest) -> Result<Disk> {
    let folder = Disk::create(data).at("create", data)?;
    let is_continued = folder.open(RESTORING, Open::Read).is_ok();
    if !is_continued {
        let mut names = std::fs::read_dir(data).at("read", data)?;
        if names.any(|entry| entry.is_ok_and(|entry| entry.file_name() != "lock")) {
            return Err(Error::RestoreNotEmpty { folder: data.to_owned() });
        }
        folder.open(RESTORING, Open::Create).and_then(|file| file.sync()).at("create", data)?;
        folder.sync().at("create", data)?;
    }
    for name in folder.names().at("read", data)? {
        let is_wanted = manifest.files.iter().any(|file| file.name == name);
        if name == TABLES_ASIDE || name == TABLES || (is_part(&name) && !is_wanted) {
            folder.remove(&name).at("remove", &data.join(&name))?;
        }
    }
    Ok(folder)
}

struct Restoring<'a> {
    depot: &'a OpenDepot,
    folder: &'a Disk,
    data: &'a Path,
    progress: &'a dyn Progress,
}

impl Restoring<'_> {
    /// Writes a file. Pieces that are there already stay.
    fn file(&self, entry: &FileEntry) -> Result<()> {
        let path = self.data.join(&entry.name);
        let file = self.folder.open(&entry.name, Open::Create).at("create", &path)?;
        let mut offset = 0;
        for piece in &entry.pieces {
            if !has(&*file, offset, piece.bytes, &piece.sha256) {
                let bytes = fetch(self.depot, piece, &entry.name)?;
                file.write_all_at(&bytes, offset).at("write", &path)?;
            }
            offset += piece.bytes;
            self.advance(piece.bytes)?;
        }
        if offset != entry.bytes {
            return Err(self.depot.wrong(format!("{} has {offset} bytes, not {}", entry.name, entry.bytes)));
        }
        file.set_len(offset).and_then(|()| file.sync()).at("write", &path)
    }

    /// Writes all tables beside their place.
    fn tables(&self, entries: &[TableEntry]) -> Result<Tables> {
        let path = self.data.join(TABLES_ASIDE);
        let file: Arc<dyn File> = self.folder.open(TABLES_ASIDE, Open::Create).at("create", &path)?;
        let tables = Tables::open(Backend::new(file), CACHE_BYTES, false)?;
        for entry in entries {
            let mut count = 0;
            for piece in &entry.pieces {
                let of = format!("table {}", entry.name);
                let bytes = fetch(self.depot, piece, &of)?;
                let damaged = || self.depot.wrong(format!("{} of {of} has no rows", piece.path()));
                let rows = rows(&bytes).ok_or_else(damaged)?;
                count += rows.len() as u64;
                tables.insert_rows(&entry.name, &mut rows.into_iter())?;
                self.advance(piece.bytes)?;
            }
            if count != entry.rows {
                let (name, rows) = (&entry.name, entry.rows);
                return Err(self.depot.wrong(format!("table {name} has {count} rows, not {rows}")));
            }
        }
        Ok(tables)
    }

    fn advance(&self, bytes: u64) -> Result<()> {
        self.progress.advance(bytes);
        if self.progress.stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Whether a file has these bytes already.
fn has(file: &dyn File, offset: u64, bytes: u64, sum: &str) -> bool {
    if file.len().is_ok_and(|length| length < offset + bytes) {
        return false;
    }
    let mut found = vec![0; bytes as usize];
    file.read_exact_at(&mut found, offset).is_ok_and(|()| sha256(&found) == sum)
}
