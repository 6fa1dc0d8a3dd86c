//! Walks a folder and what links in it lead to.
//!
//! Each folder is entered once, so links cannot lead in a circle. If a file has several names there, the first that
//! tells a format is used: a download cache keeps files under hashes and links to them by name.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::fs::{self, DirEntry};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::classify::name_tells;
use super::names::NO_TEXT;
use super::{LINK, Links, NOWHERE, SPECIAL, full, is_denied};
use crate::error::{At, Result};
use crate::run::is_results;

/// A file that was found in a folder.
pub(super) struct Walked {
    pub path: PathBuf,
    /// Where the file itself is, if `path` is a link: the [`mark`] of that path.
    pub real: u128,
    /// Its path below the given folder.
    pub name: String,
}

/// Stands for a path in a set of many: 128 bits instead of a text. They are other bits in each run, so that nobody can
/// choose two names with the same mark, and hide a file.
pub(super) fn mark(path: &Path) -> u128 {
    static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));
    xxh3_128_with_seed(path.as_os_str().as_encoded_bytes(), *SEED)
}

/// Walks folders.
pub(super) struct Walk {
    links: Links,
    /// The output folder, which is not entered.
    out: Option<PathBuf>,
    entered: HashSet<PathBuf>,
    files: Vec<Walked>,
    /// Whether a link was followed, so that a file may have several names.
    has_links: bool,
    /// Files that no run would read: name and reason.
    pub refused: Vec<(String, String)>,
    /// Files that the system does not let us read: name and reason.
    pub unreadable: Vec<(String, String)>,
    /// The output folders of other runs.
    pub results: Vec<PathBuf>,
}

impl Walk {
    pub(super) fn new(links: Links, out: Option<PathBuf>) -> Walk {
        Walk {
            links,
            out,
            entered: HashSet::new(),
            files: Vec::new(),
            has_links: false,
            refused: Vec::new(),
            unreadable: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Finds the files of a folder. `prefix` is its path below the given folder.
    pub(super) fn folder(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let real = fs::canonicalize(folder).at("read", folder)?;
        if self.out.as_ref() == Some(&real) || !self.entered.insert(real) {
            return Ok(());
        }
        if is_results(folder) {
            self.results.push(folder.to_owned());
            return Ok(());
        }
        let found = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let mut entries = match found {
            Err(error) if is_denied(&error) && !prefix.is_empty() => {
                self.lose(prefix.to_owned(), error);
                return Ok(());
            }
            found => found.at("read", folder)?,
        };
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let file_name = entry.file_name();
            let name = file_name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            let below = if prefix.is_empty() { name.into_owned() } else { format!("{prefix}/{name}") };
            if file_name.to_str().is_none() {
                self.lose(below, NO_TEXT);
                continue;
            }
            self.entry(&entry, below)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, name: String) -> Result<()> {
        let path = entry.path();
        let kind = entry.file_type().at("read", &path)?;
        if kind.is_symlink() && self.links == Links::Refuse {
            self.refuse(name, LINK);
            return Ok(());
        }
        self.has_links |= kind.is_symlink();
        let kind =
            if kind.is_symlink() { fs::metadata(&path).map(|facts| facts.file_type()) } else { Ok(kind) };
        match kind {
            Ok(kind) if kind.is_dir() => return self.folder(&path, &name),
            Ok(kind) if kind.is_file() => {
                let real = fs::canonicalize(&path).at("read", &path)?;
                if self.is_out(&real) {
                    return Ok(());
                }
                let (mut path, real, mut name) = (full(&path)?, mark(&real), name);
                // Files may be many, and a path that was joined has room for more.
                path.shrink_to_fit();
                name.shrink_to_fit();
                self.files.push(Walked { path, real, name });
            }
            Ok(_) => self.refuse(name, SPECIAL),
            Err(error) if is_denied(&error) => self.lose(name, error),
            Err(_) => self.refuse(name, NOWHERE),
        }
        Ok(())
    }

    /// Whether a link leads into the output folder.
    pub(super) fn is_out(&self, real: &Path) -> bool {
        self.out.as_ref().is_some_and(|out| real.starts_with(out))
    }

    fn refuse(&mut self, name: String, reason: &str) {
        self.refused.push((name, reason.to_owned()));
    }

    fn lose(&mut self, name: String, reason: impl Display) {
        self.unreadable.push((name, reason.to_string()));
    }

    /// The files that were found, each once.
    pub(super) fn take(&mut self) -> Vec<Walked> {
        let files = std::mem::take(&mut self.files);
        if !std::mem::take(&mut self.has_links) {
            return files;
        }
        let mut best: HashMap<u128, (bool, usize)> = HashMap::new();
        for (number, file) in files.iter().enumerate() {
            let tells = name_tells(&file.name);
            let known = best.entry(file.real).or_insert((tells, number));
            if tells && !known.0 {
                *known = (tells, number);
            }
        }
        let mut numbers: Vec<usize> = best.into_values().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        let (mut numbers, mut number) = (numbers.into_iter().peekable(), 0..);
        let is_best = |_: &Walked| number.next().is_some_and(|at| numbers.next_if_eq(&at).is_some());
        files.into_iter().filter(is_best).collect()
    }
}
