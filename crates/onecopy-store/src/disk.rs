//! The files of a collection: one folder, and nothing outside it.
//!
//! All reading and writing goes through [`Folder`] and [`File`], since there are two of each: the real disk, and
//! [`Volatile`], which forgets what was not synced. A promise about lost power is worth what tests it.

mod backend;
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
pub use volatile::Volatile;

use crate::Error;

/// The file whose lock is the folder's.
pub(crate) const LOCK_NAME: &str = "lock";

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// To read. It must exist.
    Read,
    /// To read and write. It is created where there is none, and keeps its bytes where there is one.
    Create,
}

/// A flat folder of files. A name is a plain file name, never a path.
pub trait Folder: Debug + Send + Sync {
    /// Opens a file. A new one is durable only after `sync` of the folder.
    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn File>>;
    /// The names of all files, sorted.
    fn names(&self) -> io::Result<Vec<String>>;
    /// Removes a file; who has it open can still read it.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Gives a file another name, at once and in place of the file that had it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Makes what was created, renamed and removed durable. The bytes of files are made so by [`File::sync`].
    fn sync(&self) -> io::Result<()>;
    /// Takes the folder for one owner until the lock is dropped; `WouldBlock` if it is taken.
    fn lock(&self) -> io::Result<Box<dyn Lock>>;
}

/// A file that is read and written by position, from any thread.
pub trait File: Debug + Send + Sync {
    /// Its length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether it has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Fills `bytes` from `offset` on; `UnexpectedEof` if the file ends before.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `bytes` at `offset`. After an error any part of them may have been written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts the file, or makes it longer with zeros.
    fn set_len(&self, length: u64) -> io::Result<()>;
    /// Makes bytes and length durable.
    fn sync(&self) -> io::Result<()>;
}

/// A folder taken for one owner, for as long as this lives.
pub trait Lock: Debug + Send + Sync {}

/// A folder of the real disk.
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

    /// The folder at `path`, created where there is none, with those above it, and durable.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Disk> {
        let path = path.into();
        let missing: Vec<&Path> = path.ancestors().take_while(|folder| !is_there(folder)).collect();
        fs::create_dir_all(&path)?;
        for folder in missing.into_iter().rev() {
            sync_folder(above(folder))?;
        }
        Disk::open(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `name`. A link could lead out of the folder, and we make none, so it is refused.
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
}

/// The system gives the lock back when the file is closed, also if the process is killed.
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

/// Whether a folder need not be made. The empty path is where we are.
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

/// Makes the system's word ours, for `map_err`.
pub(crate) fn cannot(verb: &'static str, file: &str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io { verb, file: file.to_owned(), source }
}

/// What a file says that was not written so.
pub(crate) fn damaged(file: &str, offset: u64, what: impl Into<String>) -> Error {
    Error::Damaged { file: file.to_owned(), offset, what: what.into() }
}

/// Opens a file that must be there.
pub(crate) fn open_to_read(folder: &dyn Folder, name: &str) -> Result<Arc<dyn File>, Error> {
    folder.open(name, Open::Read).map_err(|error| match error.kind() {
        ErrorKind::NotFound => damaged(name, 0, "the file is missing"),
        _ => cannot("open", name)(error),
    })
}

/// A read that must succeed unless the file is shorter than it was.
pub(crate) fn read_at(file: &dyn File, name: &str, bytes: &mut [u8], offset: u64) -> Result<(), Error> {
    file.read_exact_at(bytes, offset).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => damaged(name, offset, "the file ends too early"),
        _ => cannot("read", name)(error),
    })
}
