//! Where the bytes of backups are: a folder, or a part of an object store. A file there has all of its bytes, or does not
//! exist.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use onecopy_store::{Disk, Folder, Lock, Open};

use crate::ingest::Bucket;

/// The ending of files that are being written.
const PART: &str = ".part";

/// A place for files. Names have parts, separated by slashes.
#[derive(Debug)]
pub(super) enum Shelf {
    Folder(PathBuf),
    Bucket(Bucket),
}

impl Shelf {
    /// The bytes of a file; `None` if there is none.
    pub(super) fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match self {
            Shelf::Bucket(bucket) => bucket.get(name),
            Shelf::Folder(root) => match fs::read(root.join(name)) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                read => read.map(Some),
            },
        }
    }

    /// Writes a file, durably.
    pub(super) fn put(&self, name: &str, bytes: Vec<u8>) -> io::Result<()> {
        let root = match self {
            Shelf::Bucket(bucket) => return bucket.put(name, bytes),
            Shelf::Folder(root) => root,
        };
        let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
        let (disk, aside) = (Disk::create(root.join(folder))?, format!("{name}{PART}"));
        let file = disk.open(&aside, Open::Create)?;
        file.set_len(0)?;
        file.write_all_at(&bytes, 0)?;
        file.sync()?;
        disk.rename(&aside, name)?;
        disk.sync()
    }

    /// The names and lengths of all files below a folder, also of those that a killed process left half written.
    pub(super) fn list(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        match self {
            Shelf::Bucket(bucket) => bucket.list(folder),
            Shelf::Folder(root) => {
                let mut files = Vec::new();
                walk(&root.join(folder), "", &mut files)?;
                Ok(files)
            }
        }
    }

    /// Whether the place exists. A part of an object store needs no beginning.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Shelf::Bucket(_) => true,
            Shelf::Folder(root) => root.is_dir(),
        }
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match self {
            Shelf::Bucket(bucket) => bucket.remove(name),
            Shelf::Folder(root) => match fs::remove_file(root.join(name)) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                removed => removed,
            },
        }
    }

    /// Keeps others from writing here, as far as that is possible: an object store has no locks.
    pub(super) fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        match self {
            Shelf::Bucket(_) => Ok(None),
            Shelf::Folder(root) => Disk::create(root)?.lock().map(Some),
        }
    }
}

fn walk(folder: &Path, above: &str, out: &mut Vec<(String, u64)>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let (name, kind) = (format!("{above}{name}"), entry.file_type()?);
        if kind.is_dir() {
            walk(&entry.path(), &format!("{name}/"), out)?;
        } else if kind.is_file() {
            out.push((name, entry.metadata()?.len()));
        }
    }
    Ok(())
}
