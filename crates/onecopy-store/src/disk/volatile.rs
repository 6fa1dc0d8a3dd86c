//! An in-memory disk that simulates power loss: unsynced data is kept, lost or torn, as a seed decides.
//!
//! Bytes are lost by sector. Each sector of an unsynced file holds its state after any of the changes since the last
//! sync, independent of other sectors. Name changes are lost one by one, in any combination. Real disks behave better.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{File, Folder, Lock, Open, check_name, taken};

const SECTOR_BYTES: usize = 512;

/// An in-memory disk. Clones share one disk.
#[derive(Debug, Clone, Default)]
pub struct Volatile {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    names: Names,
    durable_names: Names,
    name_changes: Vec<NameChange>,
    inodes: Vec<Inode>,
    locked: bool,
    readers: usize,
    read_only: bool,
    writes: u64,
    full_from: Option<u64>,
}

type Names = BTreeMap<String, usize>;

#[derive(Debug, Clone)]
enum NameChange {
    Create { name: String, inode: usize },
    Rename { from: String, to: String, inode: usize },
    Remove { name: String, inode: usize },
}

/// The bytes of a file, whatever its name.
#[derive(Debug, Clone, Default)]
struct Inode {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    changes: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

impl Volatile {
    /// An empty disk.
    pub fn new() -> Volatile {
        Volatile::default()
    }

    /// The disk after a power loss at this moment. The original disk continues unchanged.
    pub fn power_loss(&self, seed: u64) -> Volatile {
        let state = self.state();
        let mut names = state.durable_names.clone();
        for (at, change) in state.name_changes.iter().enumerate() {
            if chance(seed, u64::MAX, at as u64).is_multiple_of(2) {
                change.apply(&mut names);
            }
        }
        let survivor = |(at, inode): (usize, &Inode)| inode.after_power_loss(seed ^ (at as u64 + 1) << 32);
        let inodes = state.inodes.iter().enumerate().map(survivor).collect();
        let found = State { durable_names: names.clone(), names, inodes, ..State::default() };
        Volatile { state: Arc::new(Mutex::new(found)) }
    }

    /// Lets `count` more writes succeed; all later ones fail half done because the disk is full. With `None` all
    /// succeed again. Creating, renaming, extending and syncing count as writes; truncating and removing do not.
    pub fn fail_after(&self, count: Option<u64>) {
        let mut state = self.state();
        state.full_from = count.map(|count| state.writes + count);
    }

    /// The number of attempted writes so far, counted as in [`Volatile::fail_after`].
    pub fn writes(&self) -> u64 {
        self.state().writes
    }

    /// Refuses all changes, or allows them again.
    pub fn set_read_only(&self, read_only: bool) {
        self.state().read_only = read_only;
    }

    /// A poisoned lock must not hide the failure of the test that held it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folder for Volatile {
    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn File>> {
        check_name(name)?;
        let mut state = self.state();
        let inode = match (state.names.get(name), how) {
            (Some(&inode), _) => inode,
            (None, Open::Read) => return Err(absent(name)),
            (None, Open::Create) => {
                state.may_write()?;
                let inode = state.inodes.len();
                state.inodes.push(Inode::default());
                state.change_name(NameChange::Create { name: name.to_owned(), inode });
                inode
            }
        };
        let writable = how == Open::Create;
        if writable {
            state.may_change()?;
        }
        Ok(Arc::new(VolatileFile { disk: self.clone(), inode, writable }))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.state().names.keys().cloned().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.may_change()?;
        let inode = *state.names.get(name).ok_or_else(|| absent(name))?;
        state.change_name(NameChange::Remove { name: name.to_owned(), inode });
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        check_name(to)?;
        let mut state = self.state();
        state.may_write()?;
        let inode = *state.names.get(from).ok_or_else(|| absent(from))?;
        state.change_name(NameChange::Rename { from: from.to_owned(), to: to.to_owned(), inode });
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state();
        state.may_write()?;
        state.name_changes.clear();
        state.durable_names = state.names.clone();
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Lock>> {
        let mut state = self.state();
        state.may_change()?;
        if std::mem::replace(&mut state.locked, true) {
            return Err(taken());
        }
        Ok(Box::new(VolatileLock(self.clone())))
    }

    fn lock_to_read(&self) -> io::Result<Box<dyn Lock>> {
        self.state().readers += 1;
        Ok(Box::new(VolatileReader(self.clone())))
    }

    fn has_readers(&self) -> bool {
        self.state().readers > 0
    }
}

impl State {
    fn may_change(&self) -> io::Result<()> {
        if self.read_only { Err(ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(()) }
    }

    fn may_write(&mut self) -> io::Result<()> {
        self.may_change()?;
        self.writes += 1;
        match self.full_from {
            Some(limit) if self.writes > limit => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }
}

impl NameChange {
    /// Works for any subset of the earlier changes: a file never has two names.
    fn apply(&self, names: &mut Names) {
        match self {
            NameChange::Create { name, inode } => {
                names.insert(name.clone(), *inode);
            }
            NameChange::Rename { from, to, inode } => {
                names.retain(|name, found| name != from || found != inode);
                names.insert(to.clone(), *inode);
            }
            NameChange::Remove { name, inode } => names.retain(|n, found| n != name || found != inode),
        }
    }
}

impl Inode {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.bytes, |_| true);
        self.bytes.truncate(change.length_after(self.bytes.len()));
        self.changes.push(change);
    }

    fn sync(&mut self) {
        self.durable.clone_from(&self.bytes);
        self.changes.clear();
    }

    fn after_power_loss(&self, seed: u64) -> Inode {
        let count = self.changes.len() as u64;
        let mood = chance(seed, 0, 0) % 4;
        let kept = |what: u64, about: u64| match mood {
            0 => 0,
            1 => count,
            _ => match chance(seed, what, about) % 3 {
                0 => 0,
                1 => count,
                _ => chance(seed, what + 1, about) % (count + 1),
            },
        };
        let mut bytes = self.durable.clone();
        for (at, change) in self.changes.iter().enumerate() {
            change.apply(&mut bytes, |sector| (at as u64) < kept(2, sector));
        }
        let changes = &self.changes[..kept(4, 0) as usize];
        bytes
            .resize(changes.iter().fold(self.durable.len(), |length, change| change.length_after(length)), 0);
        Inode { durable: bytes.clone(), bytes, changes: Vec::new() }
    }
}

impl Change {
    /// Applies the change to the sectors that `reached` the disk. A truncated range is zeroed instead.
    fn apply(&self, file: &mut Vec<u8>, reached: impl Fn(u64) -> bool) {
        file.resize(file.len().max(self.length_after(0)), 0);
        match self {
            Change::Write { offset, bytes } => {
                for sector in sectors(*offset..offset + bytes.len()).filter(|part| reached(sector_of(part))) {
                    let from = sector.start - offset..sector.end - offset;
                    file[sector].copy_from_slice(&bytes[from]);
                }
            }
            Change::Length(length) => {
                sectors(*length..file.len())
                    .filter(|part| reached(sector_of(part)))
                    .for_each(|sector| file[sector].fill(0));
            }
        }
    }

    fn length_after(&self, before: usize) -> usize {
        match self {
            Change::Write { offset, bytes } => before.max(offset + bytes.len()),
            Change::Length(length) => *length,
        }
    }
}

/// Splits a range of bytes at sector boundaries.
fn sectors(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let whole = range.start / SECTOR_BYTES..range.end.div_ceil(SECTOR_BYTES);
    whole.map(move |at| range.start.max(at * SECTOR_BYTES)..range.end.min((at + 1) * SECTOR_BYTES))
}

fn sector_of(part: &Range<usize>) -> u64 {
    (part.start / SECTOR_BYTES) as u64
}

#[derive(Debug)]
struct VolatileFile {
    disk: Volatile,
    inode: usize,
    writable: bool,
}

impl VolatileFile {
    fn write(&self, state: &mut State, change: Change) -> io::Result<()> {
        if !self.writable {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let done = state.may_write();
        let change = match (&done, change) {
            (Err(error), Change::Write { offset, mut bytes }) if error.kind() == ErrorKind::StorageFull => {
                bytes.truncate(bytes.len() / 2);
                Change::Write { offset, bytes }
            }
            (Err(_), _) => return done,
            (Ok(()), change) => change,
        };
        state.inodes[self.inode].change(change);
        done
    }
}

impl File for VolatileFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().inodes[self.inode].bytes.len() as u64)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let state = self.disk.state();
        let file = &state.inodes[self.inode].bytes;
        let found = file.get(offset as usize..).and_then(|rest| rest.get(..bytes.len()));
        bytes.copy_from_slice(found.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        self.write(&mut state, Change::Write { offset: offset as usize, bytes: bytes.to_vec() })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let change = Change::Length(length as usize);
        if length as usize > state.inodes[self.inode].bytes.len() {
            return self.write(&mut state, change);
        }
        state.may_change()?;
        state.inodes[self.inode].change(change);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.may_write()?;
        state.inodes[self.inode].sync();
        Ok(())
    }
}

#[derive(Debug)]
struct VolatileLock(Volatile);

impl Lock for VolatileLock {}

impl Drop for VolatileLock {
    fn drop(&mut self) {
        self.0.state().locked = false;
    }
}

#[derive(Debug)]
struct VolatileReader(Volatile);

impl Lock for VolatileReader {}

impl Drop for VolatileReader {
    fn drop(&mut self) {
        self.0.state().readers -= 1;
    }
}

fn absent(name: &str) -> io::Error {
    io::Error::new(ErrorKind::NotFound, format!("no file {name}"))
}

fn chance(seed: u64, what: u64, about: u64) -> u64 {
    xxh3_64_with_seed(&[what.to_le_bytes(), about.to_le_bytes()].concat(), seed)
}
