//! A depot: the snapshots in one place, and the pieces that they share.

use std::collections::{HashMap, HashSet};

use onecopy_store::Lock;

use super::manifest::{Manifest, PIECES, Piece, SnapshotLine};
use super::shelf::Shelf;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::ingest::{Stores, is_remote};

/// The folder of all manifests, and the ending of their names.
const SNAPSHOTS: &str = "snapshots";
const JSON: &str = ".json";

/// A place for snapshots of any number of collections.
#[derive(Clone, Debug, Default)]
pub struct Depot {
    /// A folder, or an address such as `s3://bucket/backups`.
    pub place: String,
    /// The settings of object stores.
    pub environment: Environment,
}

/// The snapshots of a depot, oldest first. One that cannot be read says so. [`Error::NoSnapshot`] if there is none.
pub fn list_backups(depot: &Depot) -> Result<Vec<SnapshotLine>> {
    let open = OpenDepot::open(depot)?;
    let names = open.some_snapshots()?;
    names.into_iter().map(|name| open.line(name)).collect()
}

/// A depot that is in use.
#[derive(Debug)]
pub(super) struct OpenDepot {
    place: String,
    shelf: Shelf,
}

/// What a depot has.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    /// The pieces that snapshots name and that are there in full.
    pub pieces: HashMap<String, Piece>,
}

impl OpenDepot {
    pub(super) fn open(depot: &Depot) -> Result<OpenDepot> {
        let place = depot.place.clone();
        let shelf = match is_remote(&place) {
            true => {
                let bucket = Stores::new(depot.environment.iter().cloned()).bucket(&place);
                Shelf::Bucket(bucket.map_err(|reason| Error::Backup { place: place.clone(), reason })?)
            }
            false => Shelf::Folder(place.clone().into()),
        };
        Ok(OpenDepot { place, shelf })
    }

    /// Keeps other backups out.
    pub(super) fn lock(&self) -> Result<Option<Box<dyn Lock>>> {
        self.shelf.lock().map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => self.wrong("another backup is written to it: wait for its end"),
            _ => self.failed("cannot write there", error),
        })
    }

    /// The names of all snapshots, oldest first.
    pub(super) fn snapshots(&self) -> Result<Vec<String>> {
        let files = self.shelf.list(SNAPSHOTS).map_err(|error| self.failed("cannot list it", error))?;
        let names = files.into_iter().filter_map(|(name, _)| name.strip_suffix(JSON).map(str::to_owned));
        let mut names: Vec<String> = names.filter(|name| !name.contains('/')).collect();
        names.sort();
        Ok(names)
    }

    /// The names of all snapshots, of which there must be one.
    pub(super) fn some_snapshots(&self) -> Result<Vec<String>> {
        let names = self.snapshots()?;
        let none = || Error::NoSnapshot { place: self.place.clone(), is_there: self.shelf.is_there() };
        if names.is_empty() { Err(none()) } else { Ok(names) }
    }

    /// A snapshot's manifest, or what is wrong with it.
    pub(super) fn manifest(&self, name: &str) -> Result<Result<Manifest, String>> {
        if name.contains('/') {
            return Ok(Err("that is no name of a snapshot".into()));
        }
        let bytes = self.shelf.get(&format!("{SNAPSHOTS}/{name}{JSON}"));
        Ok(match bytes.map_err(|error| self.failed(&format!("cannot read snapshot {name}"), error))? {
            Some(bytes) => Manifest::from_bytes(name, &bytes),
            None => Err("there is no such snapshot".into()),
        })
    }

    fn line(&self, name: String) -> Result<SnapshotLine> {
        Ok(match self.manifest(&name)? {
            Ok(manifest) => manifest.line(name),
            Err(reason) => SnapshotLine::unreadable(name, reason),
        })
    }

    /// Finds out which pieces need not be written again. A piece that no snapshot names may be of a backup that was
    /// killed, or about to be removed.
    pub(super) fn inventory(&self) -> Result<Inventory> {
        let there = self.stored()?;
        let mut inventory = Inventory::default();
        for name in self.snapshots()? {
            let Ok(manifest) = self.manifest(&name)? else { continue };
            let whole = manifest.pieces().filter(|piece| there.get(&piece.path()) == Some(&piece.stored));
            inventory.pieces.extend(whole.map(|piece| (piece.sha256.clone(), piece.clone())));
        }
        Ok(inventory)
    }

    /// The pieces that are there, by path, with their length.
    fn stored(&self) -> Result<HashMap<String, u64>> {
        let files = self.shelf.list(PIECES).map_err(|error| self.failed("cannot list it", error))?;
        Ok(files.into_iter().map(|(name, bytes)| (format!("{PIECES}/{name}"), bytes)).collect())
    }

    /// Writes a piece.
    pub(super) fn put(&self, piece: &Piece, bytes: Vec<u8>) -> Result<()> {
        let path = piece.path();
        self.shelf.put(&path, bytes).map_err(|error| self.failed(&format!("cannot write {path}"), error))
    }

    /// The stored bytes of a piece; `None` if it is missing.
    pub(super) fn get(&self, piece: &Piece) -> Result<Option<Vec<u8>>> {
        let path = piece.path();
        self.shelf.get(&path).map_err(|error| self.failed(&format!("cannot read {path}"), error))
    }

    /// Adds a snapshot whose pieces are all there.
    pub(super) fn add(&self, mut manifest: Manifest) -> Result<SnapshotLine> {
        manifest.bytes = manifest.pieces().map(|piece| piece.bytes).sum();
        let (name, bytes) = manifest.to_bytes();
        let written = self.shelf.put(&format!("{SNAPSHOTS}/{name}{JSON}"), bytes);
        written.map_err(|error| self.failed("cannot write the manifest", error))?;
        Ok(manifest.line(name))
    }

    /// Removes all but the newest `keep` snapshots of a collection, then the pieces that no snapshot names any more.
    /// Returns how many snapshots went.
    pub(super) fn prune(&self, collection: &str, keep: usize) -> Result<u64> {
        let (mut own, mut needed) = (Vec::new(), HashSet::new());
        for name in self.snapshots()? {
            // Nobody knows what a damaged snapshot needs.
            let manifest = self.manifest(&name)?.map_err(|reason| {
                self.wrong(format!("nothing was removed: snapshot {name}: {reason}; remove its file first"))
            })?;
            match manifest.facts.collection == collection {
                true => own.push((name, manifest)),
                false => needed.extend(manifest.pieces().map(Piece::path)),
            }
        }
        let kept = own.split_off(own.len().saturating_sub(keep.max(1)));
        needed.extend(kept.iter().flat_map(|(_, manifest)| manifest.pieces().map(Piece::path)));
        let remove = |path: &str| {
            self.shelf.remove(path).map_err(|error| self.failed(&format!("cannot remove {path}"), error))
        };
        own.iter().try_for_each(|(name, _)| remove(&format!("{SNAPSHOTS}/{name}{JSON}")))?;
        self.stored()?.keys().filter(|path| !needed.contains(*path)).try_for_each(|path| remove(path))?;
        Ok(own.len() as u64)
    }

    /// Something is wrong with this depot.
    pub(super) fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::Backup { place: self.place.clone(), reason: reason.into() }
    }

    fn failed(&self, what: &str, error: std::io::Error) -> Error {
        self.wrong(format!("{what}: {error}"))
    }
}
