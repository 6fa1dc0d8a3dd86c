//! Finds the inputs: turns files, folders, glob patterns and standard input into a list of sources.
//!
//! Links inside a folder are not followed, so that reading never leaves it. Hidden files are skipped.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::format::{Format, by_content, by_name};
use super::names::{NO_TEXT, passed_over};
use super::reason::{Class, Reason};
use super::remote::{RemoteFile, Stores, is_remote, is_web};
use crate::error::{At, Error, Result};

/// One input file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Source {
    /// Its full path, so that commands on a finished run work from any folder.
    #[serde(with = "super::names")]
    pub path: PathBuf,
    /// Its name in the outputs and below `kept/`: relative, with `/` between parts.
    pub name: String,
    pub format: Format,
    pub bytes: u64,
    /// Nanoseconds since 1970 of its last change. A run does not resume over a changed file.
    pub modified_ns: u64,
    /// The version of a file in an object store, which changes with the file. The path of such a file is its address.
    pub version: Option<String>,
}

impl Source {
    /// The object, if this source is in an object store.
    pub(crate) fn remote(&self) -> Option<RemoteFile> {
        let version = self.version.clone()?;
        Some(RemoteFile { address: self.path.display().to_string(), bytes: self.bytes, version })
    }

    /// Whether a local file has the size and the time that it had. A store refuses to read an object that changed.
    pub(crate) fn is_unchanged(&self) -> io::Result<bool> {
        if self.version.is_some() {
            return Ok(true);
        }
        let facts = fs::metadata(&self.path)?;
        Ok(facts.len() == self.bytes && modified_ns(&facts) == self.modified_ns)
    }

    /// Opens its bytes, still compressed.
    pub(crate) fn open(&self, stores: &Stores) -> io::Result<Box<dyn Read + Send>> {
        match self.remote() {
            Some(file) => Ok(Box::new(stores.read(&file)?)),
            None => Ok(Box::new(File::open(&self.path)?)),
        }
    }
}

/// The sources of a job, and the files that are not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Inputs {
    pub sources: Vec<Source>,
    /// Files that no run would read: name and reason.
    pub refused: Vec<(String, String)>,
    /// Files and folders that the system does not let us read: name and reason. Their pages are lost.
    #[serde(default)]
    pub unreadable: Vec<(String, String)>,
}

impl Inputs {
    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.refused.is_empty() && self.unreadable.is_empty()
    }

    /// Files that are not read, with the reason. Unreadable ones come first.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (&str, Reason)> {
        let lost = self.unreadable.iter().map(|(name, text)| (name.as_str(), Class::Refused, text));
        let skipped = self.refused.iter().map(|(name, text)| (name.as_str(), class_of(text), text));
        lost.chain(skipped).map(|(name, class, text)| (name, Reason::new(class, text.as_str())))
    }
}

/// The class of a refused file.
fn class_of(reason: &str) -> Class {
    match reason {
        LINK => Class::Link,
        SPECIAL => Class::Special,
        _ => Class::UnknownKind,
    }
}

const LINK: &str = "a link, which is not followed";
const SPECIAL: &str = "not a regular file";

/// Finds the sources of `inputs`, in order; those of a folder are sorted by name. `spool` holds what came from standard
/// input. `out` is never read.
pub(crate) fn plan(inputs: &[String], spool: Option<&Path>, out: &Path, stores: &Stores) -> Result<Inputs> {
    let out = fs::canonicalize(out).ok();
    let mut finder = Finder { found: Inputs::default(), seen: HashSet::new(), out };
    for input in inputs {
        match (input.as_str(), spool) {
            ("-", Some(spool)) => finder.file(spool, "stdin".into(), Asked::ByName)?,
            (address, _) if is_remote(address) => finder.remote(address, stores.list(address)?)?,
            _ => finder.input(input)?,
        }
    }
    let mut found = finder.found;
    part_names(&mut found.sources)?;
    Ok(found)
}

/// Whether the user named a file or it was found in a folder.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    ByName,
    ByFolder,
}

struct Finder {
    found: Inputs,
    seen: HashSet<PathBuf>,
    out: Option<PathBuf>,
}

impl Finder {
    fn input(&mut self, input: &str) -> Result<()> {
        let path = Path::new(input);
        if path.is_dir() {
            return self.folder(path, "");
        }
        if path.exists() {
            return self.file(path, file_name(path), Asked::ByName);
        }
        let mut matched = false;
        let pattern =
            glob::glob(input).map_err(|error| refused(input, &format!("not a pattern: {error}")))?;
        for path in pattern {
            matched = true;
            match path {
                Ok(path) if path.is_dir() => self.folder(&path, "")?,
                Ok(path) => self.file(&path, file_name(&path), Asked::ByName)?,
                Err(error) => self.lose(&file_name(error.path()), error.error()),
            }
        }
        for path in passed_over(input) {
            matched = true;
            self.lose(&file_name(&path), NO_TEXT);
        }
        let reason = if input.contains(['*', '?', '[']) {
            "nothing matches this pattern"
        } else {
            "no such file or folder"
        };
        if matched { Ok(()) } else { Err(refused(input, reason)) }
    }

    fn folder(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        if self.out.is_some() && fs::canonicalize(folder).ok() == self.out {
            return Ok(());
        }
        let found = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let mut entries = match found {
            Err(error) if is_denied(&error) && !prefix.is_empty() => {
                self.lose(prefix, error);
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
                self.lose(&below, NO_TEXT);
                continue;
            }
            let kind = entry.file_type().at("read", &entry.path())?;
            if kind.is_symlink() {
                self.refuse(&below, LINK);
            } else if kind.is_dir() {
                self.folder(&entry.path(), &below)?;
            } else if kind.is_file() {
                self.file(&entry.path(), below, Asked::ByFolder)?;
            } else {
                self.refuse(&below, SPECIAL);
            }
        }
        Ok(())
    }

    fn refuse(&mut self, name: &str, reason: &str) {
        self.found.refused.push((name.to_owned(), reason.to_owned()));
    }

    fn lose(&mut self, name: &str, reason: impl Display) {
        self.found.unreadable.push((name.to_owned(), reason.to_string()));
    }

    fn file(&mut self, path: &Path, name: String, asked: Asked) -> Result<()> {
        let full = fs::canonicalize(path).at("read", path)?;
        if !full.is_file() {
            let reason = "not a regular file; to read a stream, pipe it in and give - as the input";
            return Err(refused(&path.display().to_string(), reason));
        }
        if !self.seen.insert(full.clone()) {
            return Ok(());
        }
        let format = match (by_name(&name), asked) {
            (Some(format), _) => Ok(format),
            (None, Asked::ByName) => by_content(path)?,
            (None, Asked::ByFolder) => Err(UNKNOWN),
        };
        let format = match (format, asked) {
            (Ok(format), _) => format,
            (Err(reason), Asked::ByName) => {
                return Err(refused(&path.display().to_string(), reason));
            }
            (Err(reason), Asked::ByFolder) => {
                self.refuse(&name, reason);
                return Ok(());
            }
        };
        match File::open(path) {
            Err(error) if is_denied(&error) && asked == Asked::ByFolder => {
                self.lose(&name, error);
                return Ok(());
            }
            opened => opened.at("read", path)?,
        };
        let facts = fs::metadata(path).at("read", path)?;
        self.found.sources.push(Source {
            path: full,
            name,
            format,
            bytes: facts.len(),
            modified_ns: modified_ns(&facts),
            version: None,
        });
        Ok(())
    }

    /// Adds the files behind an object store address. Their formats are detected by name only.
    fn remote(&mut self, input: &str, files: Vec<RemoteFile>) -> Result<()> {
        if files.is_empty() {
            return Err(refused(input, "there is nothing at this address"));
        }
        let alone = files.len() == 1;
        for RemoteFile { address, bytes, version } in files {
            let name = remote_name(input, &address);
            // A web address ends its path at `?`; in an object key `?` is an ordinary character.
            let told = if is_web(&address) { name.split('?').next().unwrap_or_default() } else { &name };
            match by_name(told) {
                None if alone => return Err(refused(&address, UNKNOWN)),
                None => self.refuse(&name, UNKNOWN),
                Some(format) => {
                    let (path, version) = (PathBuf::from(address), Some(version));
                    if self.seen.insert(path.clone()) {
                        self.found.sources.push(Source {
                            path,
                            name,
                            format,
                            bytes,
                            modified_ns: 0,
                            version,
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// The name of a file in a store: its path below the requested folder, else the last part of its address.
fn remote_name(input: &str, address: &str) -> String {
    let below = address.strip_prefix(input).filter(|_| input.ends_with('/'));
    // A part of a key may be empty, or `..`, which would leave the output folder. So may the last part of an address.
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    match below.filter(|below| below.split('/').all(is_name)) {
        Some(below) => below.to_owned(),
        None => address.rsplit('/').next().filter(|name| is_name(name)).unwrap_or("input").to_owned(),
    }
}

/// The error for a file of an unknown format.
const UNKNOWN: &str = "not a kind of file that onecopy reads (.jsonl, .ndjson, .json, .warc, .wet, .arc, each also .gz or .zst; .parquet; .html, .htm, .txt)";

fn modified_ns(facts: &fs::Metadata) -> u64 {
    let age = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    age.map_or(0, |age| age.as_nanos() as u64)
}

/// Whether the owner of a file does not let us read it. Any other failure may pass, and stops the run.
fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "input".into(), |name| name.to_string_lossy().into_owned())
}

fn refused(input: &str, reason: &str) -> Error {
    Error::Input { input: input.into(), reason: reason.into() }
}

/// Lengthens clashing names by more parts of their paths, until all names differ.
fn part_names(sources: &mut [Source]) -> Result<()> {
    let mut depth = 1;
    loop {
        let Some(clash) = clash(sources) else { return Ok(()) };
        if depth > 64 {
            let reason = "another input has this name too, and one would overwrite the other: give it to a run of its own";
            return Err(refused(clash, reason));
        }
        depth += 1;
        for source in sources.iter_mut() {
            let parts: Vec<String> = source
                .path
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .filter(|part| is_plain(part))
                .collect();
            let own = source.name.split('/').count();
            let from = parts.len().saturating_sub(depth.max(own));
            source.name = parts[from..].join("/");
        }
    }
}

/// A name that two sources have, or that is also a folder of another.
fn clash(sources: &[Source]) -> Option<&str> {
    let mut names = HashSet::new();
    let twice = sources.iter().map(|source| source.name.as_str()).find(|name| !names.insert(*name));
    let folders = |name: &'_ str| name.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
    let folder = || {
        let above = |name: &'_ str| folders(name).into_iter().find(|&at| names.contains(&name[..at]));
        sources.iter().find_map(|source| above(&source.name).map(|at| &source.name[..at]))
    };
    twice.or_else(folder)
}

fn is_plain(part: &str) -> bool {
    !matches!(part, "/" | "." | ".." | "")
}

/// A unit of work: one file of many pages, or several files of one page each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lot {
    Stream(u32),
    Documents(std::ops::Range<u32>),
}

/// The most documents in a lot.
const DOCUMENTS: u32 = 256;

/// Groups sources into lots of about `bytes`.
pub(crate) fn lots(sources: &[Source], bytes: u64) -> Vec<Lot> {
    let mut lots = Vec::new();
    let mut at = 0;
    while at < sources.len() {
        if !sources[at].format.is_document() {
            lots.push(Lot::Stream(at as u32));
            at += 1;
            continue;
        }
        let start = at;
        let mut sum = 0;
        while at < sources.len() && sources[at].format.is_document() {
            sum += sources[at].bytes;
            if at > start && (sum > bytes || (at - start) as u32 == DOCUMENTS) {
                break;
            }
            at += 1;
        }
        lots.push(Lot::Documents(start as u32..at as u32));
    }
    lots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Packing;

    fn source(path: &str, format: Format) -> Source {
        let name = path.rsplit('/').next().expect("a part").to_owned();
        Source { path: path.into(), name, format, bytes: 10, modified_ns: 0, version: None }
    }

    #[test]
    fn equal_names_are_parted_by_their_folders() {
        let lines = Format::Lines(Packing::Plain);
        let mut sources =
            [source("x/a/p.jsonl", lines), source("./x/b/p.jsonl", lines), source("q.jsonl", lines)];
        part_names(&mut sources).unwrap();
        assert_eq!(sources.map(|s| s.name), ["a/p.jsonl", "b/p.jsonl", "q.jsonl"]);
    }

    #[test]
    fn names_that_cannot_be_parted_are_refused() {
        use std::os::unix::ffi::OsStringExt;
        let strange = |byte| PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', byte, b'/', b'p']));
        let mut sources =
            [0xfe, 0xff].map(|byte| Source { path: strange(byte), ..source("p", Format::Text) });
        assert!(matches!(part_names(&mut sources), Err(Error::Input { .. })));
    }

    #[test]
    fn documents_travel_together() {
        let lines = Format::Lines(Packing::Plain);
        let sources = [
            source("a.txt", Format::Text),
            source("b.html", Format::Html),
            source("c.jsonl", lines),
            source("d.txt", Format::Text),
        ];
        assert_eq!(lots(&sources, 100), [Lot::Documents(0..2), Lot::Stream(2), Lot::Documents(3..4)]);
        assert_eq!(
            lots(&sources, 10),
            [Lot::Documents(0..1), Lot::Documents(1..2), Lot::Stream(2), Lot::Documents(3..4)]
        );
    }
}
