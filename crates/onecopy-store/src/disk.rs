//! The files of a collection, all in one folder.
//!
//! All reads and writes go through [`Folder`] and [`File`]. Each has two implementations: the real disk, and
//! [`Volatile`], which forgets everything that was not synced. Tests use it to check crash safety.

mod backend;
mod overlay;
#[cfg(test)]
mod tests;
mod volatile;

use std::fmt::Debug;
use std::fs::{self, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use backend::Backend;
pub use overlay::Overlay;
pub use volatile::Volatile;

use crate::Error;

/// The lock file of the folder.
pub(crate) const LOCK_NAME: &str = "lock";
/// The lock file of processes that only read. The owner creates it.
pub(crate) const READERS_NAME: &str = "readers";

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// For reading. The file must exist.
    Read,
    /// For reading and writing. A missing file is created; an existing one keeps its bytes.
    Create,
}

/// A flat folder of files. A name is a plain file name, never a path.
pub trait Folder: Debug + Send + Sync {
    /// Opens a file. A new file is durable only after a sync of the folder.
    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn File>>;
    /// The names of all files, sorted.
    fn names(&self) -> io::Result<Vec<String>>;
    /// Removes a file. Open handles can still read it.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Renames a file atomically, replacing any file of the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Makes created, renamed and removed files durable. [`File::sync`] does so for their bytes.
    fn sync(&self) -> io::Result<()>;
    /// Locks the folder for one owner until the lock is dropped; `WouldBlock` if it is already locked.
    fn lock(&self) -> io::Result<Box<dyn Lock>>;
    /// Registers a reader beside the owner until the lock is dropped; `NotFound` if the owner knows no readers.
    fn lock_to_read(&self) -> io::Result<Box<dyn Lock>>;
    /// Whether somebody reads beside the owner. Only the owner may ask.
    fn has_readers(&self) -> bool;
}

/// A file with positional reads and writes from any thread.
pub trait File: Debug + Send + Sync {
    /// Its length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether it has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Fills `bytes` from `offset`; `UnexpectedEof` if the file is too short.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `bytes` at `offset`. After an error, any part of them may be written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Truncates the file, or extends it with zeros.
    fn set_len(&self, length: u64) -> io::Result<()>;
    /// Makes the bytes and the length durable.
    fn sync(&self) -> io::Result<()>;
}

/// The lock of a folder, held while this value lives.
pub trait Lock: Debug + Send + Sync {}

/// A folder on the real disk.
#[derive(Debug, Clone)]
pub struct Disk {
    path: PathBuf,
}

impl Disk {
    /// The folder at `path`, which must exist.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Disk> {
        let path = path.into();
        if !fs::metadata(&path)?.is_dir() {
            return Err(io::Error::new(ErrorKind::NotADirectory, "not a folder"));
        }
        Ok(Disk { path })
    }

    /// The folder at `path`. Missing folders, parents included, are created durably.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Disk> {
        let path = path.into();
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !is_there(folder)).collect();
        fs::create_dir_all(&path)?;
        for folder in missing.into_iter().rev() {
            sync_folder(above(folder))?;
        }
        Disk::open(path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `name`. A symbolic link is refused: it could leave the folder, and the store creates none.
    fn inside(&self, name: &str) -> io::Result<PathBuf> {
        check_name(name)?;
        let path = self.path.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                Err(io::Error::new(ErrorKind::InvalidInput, "a link is not followed"))
            }
            _ => Ok(path),
        }
    }
}

impl Folder for Disk {
    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn File>> {
        let path = self.inside(name)?;
        let mut options = OpenOptions::new();
        let create = how == Open::Create;
        Ok(Arc::new(options.read(true).write(create).create(create).truncate(false).open(path)?))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                names.extend(entry.file_name().into_string());
            }
        }
        names.sort();
        Ok(names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.inside(name)?)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.inside(from)?, self.inside(to)?)
    }

    fn sync(&self) -> io::Result<()> {
        sync_folder(&self.path)
    }

    fn lock(&self) -> io::Result<Box<dyn Lock>> {
        let path = self.inside(LOCK_NAME)?;
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(taken()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn lock_to_read(&self) -> io::Result<Box<dyn Lock>> {
        let file = OpenOptions::new().read(true).open(self.inside(READERS_NAME)?)?;
        // The owner holds it only for the moment of a question.
        file.lock_shared()?;
        Ok(Box::new(file))
    }

    fn has_readers(&self) -> bool {
        let path = self.inside(READERS_NAME);
        let open = |path| OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        // If nobody can be asked, somebody may be there.
        path.and_then(open).map_or(true, |file| file.try_lock().is_err())
    }
}

/// The system releases the lock when the file is closed, even if the process is killed.
impl Lock for fs::File {}

impl File for fs::File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, bytes, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        fs::File::set_len(self, length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Whether a folder exists. The empty path is the current folder.
fn is_there(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.exists()
}

fn above(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

fn check_name(name: &str) -> io::Result<()> {
    let plain = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
    if plain { Ok(()) } else { Err(io::Error::new(ErrorKind::InvalidInput, "not a plain file name")) }
}

fn taken() -> io::Error {
    io::Error::new(ErrorKind::WouldBlock, "another process has the collection open")
}

/// Converts a system error, for `map_err`.
pub(crate) fn cannot(verb: &'static str, file: &str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io { verb, file: file.to_owned(), source }
}

/// The error for a damaged file.
pub(crate) fn damaged(file: &str, offset: u64, what: impl Into<String>) -> Error {
    Error::Damaged { file: file.to_owned(), offset, what: what.into() }
}

/// Opens a file that must exist.
pub(crate) fn open_to_read(folder: &dyn Folder, name: &str) -> Result<Arc<dyn File>, Error> {
    folder.open(name, Open::Read).map_err(|error| match error.kind() {
        ErrorKind::NotFound => damaged(name, 0, "the file is missing"),
        _ => cannot("open", name)(error),
    })
}

/// Reads bytes. A file that is too short is reported as damaged.
pub(crate) fn read_at(file: &dyn File, name: &str, bytes: &mut [u8], offset: u64) -> Result<(), Error> {
    file.read_exact_at(bytes, offset).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => damaged(name, offset, "the file ends too early"),
        _ => cannot("read", name)(error),
    })
}
