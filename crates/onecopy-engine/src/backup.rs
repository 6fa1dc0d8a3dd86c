//! Backups: snapshots of collections in a folder or an object store, and collections made of them.
//!
//! A snapshot is a manifest that names pieces. A piece is named by the checksum of its bytes, so snapshots share what did
//! not change. The manifest is written last: a backup that is killed leaves pieces that no snapshot names, and all older
//! snapshots as they were.
//!
//! Each file answers a question. `source`: which files are of one moment? `pieces`: what is copied? `manifest`: what does
//! a snapshot consist of? `depot`: which snapshots and pieces are there? `shelf`: where are the bytes? `restore`: how do
//! they become a collection?

mod depot;
mod manifest;
mod pieces;
mod restore;
mod rows;
mod shelf;
mod source;

use std::path::PathBuf;
use std::time::SystemTime;

use serde::Serialize;

pub use depot::{Depot, list_backups};
pub use manifest::SnapshotLine;
pub use restore::{RestoreJob, restore};

use crate::clock::utc;
use crate::error::Result;
use crate::progress::{Progress, Stage};
use depot::OpenDepot;
use manifest::{LAYOUT, Manifest, TableEntry};
use pieces::PieceWriter;
use rows::RowCutter;
use source::Source;

/// A backup of a collection.
#[derive(Clone, Debug)]
pub struct BackupJob {
    /// The collection's folder. Another process may serve it.
    pub data: PathBuf,
    /// Where the snapshot goes.
    pub to: Depot,
    /// How many snapshots of this collection to keep; `None` for all.
    pub keep: Option<usize>,
}

/// A finished backup.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BackedUp {
    /// The snapshot.
    #[serde(flatten)]
    pub line: SnapshotLine,
    /// The pieces of the snapshot.
    pub pieces: u64,
    /// The pieces that were not there before.
    pub new_pieces: u64,
    /// The bytes that were written for them.
    pub new_bytes: u64,
    /// Older snapshots that were removed.
    pub removed: u64,
}

/// Copies a collection as of one moment. It has every change that was acknowledged before the call.
pub fn backup(job: &BackupJob, progress: &dyn Progress) -> Result<BackedUp> {
    let source = Source::open(&job.data)?;
    let depot = OpenDepot::open(&job.to)?;
    let _lock = depot.lock()?;
    let inventory = depot.inventory()?;
    progress.begin(Stage::Write, source.bytes());
    let mut writer = PieceWriter::new(&depot, inventory.pieces, progress)?;
    let tables = copy_tables(&source, &mut writer)?;
    let files = source.files()?.into_iter().map(|file| writer.file(&file)).collect::<Result<Vec<_>>>()?;
    let manifest = Manifest {
        layout: LAYOUT,
        version: env!("CARGO_PKG_VERSION").into(),
        made: utc(SystemTime::now()),
        facts: source.facts.clone(),
        bytes: 0,
        files: files.into_iter().flatten().collect(),
        tables,
    };
    let written = writer.written();
    let line = depot.add(manifest)?;
    // A collection of an old format has no name, so its snapshots may be mixed with those of others.
    let keep = job.keep.filter(|_| !line.collection.is_empty());
    let removed = keep.map_or(Ok(0), |keep| depot.prune(&line.collection, keep))?;
    let (pieces, new_pieces, new_bytes) = (written.pieces, written.new_pieces, written.new_bytes);
    Ok(BackedUp { line, pieces, new_pieces, new_bytes, removed })
}

fn copy_tables(source: &Source, writer: &mut PieceWriter) -> Result<Vec<TableEntry>> {
    let mut cutter = RowCutter::new(writer);
    let mut failed = None;
    let copied = source.tables.rows(&mut |row| {
        cutter.push(row).map_err(|error| {
            let reason = error.to_string();
            failed = Some(error);
            onecopy_store::Error::Refused(reason)
        })
    });
    failed.map_or(Ok(()), Err)?;
    copied?;
    cutter.finish()
}
