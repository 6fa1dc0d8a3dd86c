//! Finds the inputs: turns files, folders, containers, glob patterns and standard input into a list of sources.
//!
//! Hidden files and old results of onecopy are skipped. A file that is reached twice is read once.

mod clash;
mod classify;
mod lots;
mod members;
mod names;
mod walk;

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use self::clash::part_names;
use self::classify::kind_of;
pub(crate) use self::lots::{Lot, lots, lots_of};
use self::names::{NO_TEXT, passed_over};
use self::walk::{Walk, mark};
use super::container::{Member, Reach};
use super::format::{Asked, FileKind, Format};
use super::packing::Packing;
use super::reason::{Class, Reason};
use super::remote::{RemoteFile, is_remote, is_web};
use super::rows::{RowColumns, Rows};
use crate::error::{At, Error, Result};
use crate::job::Fields;
use crate::progress::{Note, Progress};
use crate::run::is_results;

/// One input file, or a member of a container.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Source {
    /// Its full path, so that commands on a finished run work from any folder. That of its container, if it is in one.
    #[serde(with = "self::names")]
    pub path: PathBuf,
    /// Its name in the outputs and below `kept/`: relative, with `/` between parts.
    pub name: String,
    pub format: Format,
    pub bytes: u64,
    /// Nanoseconds since 1970 of its last change. A run does not resume over a changed file.
    pub modified_ns: u64,
    /// The version of a file in an object store, which changes with the file. The path of such a file is its address.
    pub version: Option<String>,
    /// Where it is in its container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Box<Member>>,
}

impl Source {
    /// The object, if this source is in an object store.
    pub(crate) fn remote(&self) -> Option<RemoteFile> {
        let version = self.version.clone()?;
        Some(RemoteFile { address: self.path.display().to_string(), bytes: self.file_bytes(), version })
    }

    /// Whether a local file has the size and the time that it had. A store refuses to read an object that changed.
    pub(crate) fn is_unchanged(&self) -> io::Result<bool> {
        if self.version.is_some() {
            return Ok(true);
        }
        let facts = fs::metadata(&self.path)?;
        Ok(facts.len() == self.file_bytes() && modified_ns(&facts) == self.modified_ns)
    }

    /// The memory that it takes.
    pub(crate) fn held_bytes(&self) -> u64 {
        let texts =
            self.path.capacity() + self.name.capacity() + self.version.as_ref().map_or(0, String::len);
        let member = self.member.as_ref().map_or(0, |member| size_of::<Member>() + member.name.len());
        (size_of::<Source>() + texts + member + ALLOCATED) as u64
    }

    /// The size of its file, or of the file of its container.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.member.as_ref().map_or(self.bytes, |member| member.file_bytes)
    }
}

/// Bytes that an allocator adds to the texts of a source.
const ALLOCATED: usize = 32;

/// The sources of a job, and the files that are not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Inputs {
    pub sources: Vec<Source>,
    /// Files that no run would read: name and reason.
    pub refused: Vec<(String, String)>,
    /// Files and folders that the system does not let us read: name and reason. Their pages are lost.
    #[serde(default)]
    pub unreadable: Vec<(String, String)>,
    /// How many sources are the base; they come first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub base: usize,
    /// Folders of sketches in place of the first sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sketched: Vec<Sketched>,
}

/// A folder of sketches, made of sources that need not be read again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sketched {
    pub folder: PathBuf,
    /// How many sources it was made of.
    pub sources: usize,
    /// The size of chunks when they were read.
    pub chunk_bytes: usize,
    /// Its size, and nanoseconds from 1970 to its last change.
    pub bytes: u64,
    pub modified_ns: u64,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Inputs {
    /// Pages in memory, as one source. Fails if their columns make no page.
    pub(crate) fn of_rows(name: &str, rows: &dyn Rows, fields: &Fields) -> Result<Inputs> {
        let columns = RowColumns::choose(rows, fields)?;
        columns.check_ids(rows)?;
        let bytes = columns.bytes(rows);
        let (path, name, format) = (name.into(), name.into(), Format::Rows);
        let source = Source { path, name, format, bytes, modified_ns: 0, version: None, member: None };
        Ok(Inputs { sources: vec![source], ..Inputs::default() })
    }

    /// These inputs, with others before them as the base. Names of the base begin with `base`.
    pub(crate) fn against(self, mut base: Inputs) -> Inputs {
        for source in base.sources.iter_mut().filter(|source| source.format != Format::Rows) {
            source.name.insert_str(0, "base/");
        }
        base.base = base.sources.len();
        base.sources.extend(self.sources);
        base.refused.extend(self.refused);
        base.unreadable.extend(self.unreadable);
        base
    }

    /// The sources that must be read.
    pub(crate) fn unsketched(&self) -> &[Source] {
        &self.sources[self.sketched.iter().map(|folder| folder.sources).sum()..]
    }

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
        LINK | NOWHERE => Class::Link,
        SPECIAL => Class::Special,
        _ => Class::UnknownKind,
    }
}

const LINK: &str = "a link, which is not followed";
const NOWHERE: &str = "a link that leads to no file";
const SPECIAL: &str = "not a regular file";

/// How links inside folders are treated. They may lead out of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    Refuse,
}

/// What is needed to find inputs.
#[derive(Clone, Copy)]
pub(crate) struct Planning<'a> {
    /// A copy of standard input.
    pub stdin: Option<&'a Path>,
    /// A folder that is never read.
    pub out: &'a Path,
    pub links: Links,
    pub reach: &'a Reach,
    pub progress: &'a dyn Progress,
}

/// Finds the sources of `inputs`, in order; those of a folder are sorted by name.
pub(crate) fn plan(inputs: &[String], planning: &Planning) -> Result<Inputs> {
    let mut finder = Finder {
        planning,
        found: Inputs::default(),
        walk: Walk::new(planning.links, fs::canonicalize(planning.out).ok()),
        seen: HashSet::new(),
        no_pages: 0,
    };
    for input in inputs {
        match (input.as_str(), planning.stdin) {
            ("-", Some(spool)) => finder.file(spool, "stdin".into())?,
            (address, _) if is_remote(address) => {
                finder.remote(address, planning.reach.stores.list(address)?)?;
            }
            _ => finder.input(input)?,
        }
    }
    for folder in &finder.walk.results {
        planning.progress.note(&Note::OldResults { folder: folder.clone() });
    }
    if finder.no_pages > 0 {
        planning.progress.note(&Note::NoPages { files: finder.no_pages });
    }
    let mut found = finder.found;
    part_names(&mut found.sources)?;
    Ok(found)
}

struct Finder<'a> {
    planning: &'a Planning<'a>,
    found: Inputs,
    walk: Walk,
    /// Files that were found, by the [`mark`] of their paths.
    seen: HashSet<u128>,
    /// Files that accompany pages, such as images.
    no_pages: u64,
}

impl Finder<'_> {
    fn input(&mut self, input: &str) -> Result<()> {
        let path = Path::new(input);
        if path.is_dir() {
            return self.folder(path);
        }
        if path.exists() {
            return self.file(path, file_name(path));
        }
        if let Some(reason) = foreign_address(input) {
            return Err(refused(input, reason));
        }
        let mut matched = false;
        let pattern =
            glob::glob(input).map_err(|error| refused(input, &format!("not a pattern: {error}")))?;
        for path in pattern {
            matched = true;
            match path {
                Ok(path) if path.is_dir() => self.folder(&path)?,
                Ok(path) => self.file(&path, file_name(&path))?,
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

    fn folder(&mut self, folder: &Path) -> Result<()> {
        let out = self.planning.out;
        let real = fs::canonicalize(folder).at("read", folder)?;
        if self.walk.is_out(&real) && fs::canonicalize(out).ok() != Some(real) {
            let input = folder.display().to_string();
            return Err(Error::InputInOutput { input, folder: out.to_owned() });
        }
        if is_results(folder) {
            let reason = "the output folder of a run: give its folder kept/, or the inputs of that run";
            return Err(refused(&folder.display().to_string(), reason));
        }
        self.walk.folder(folder, "")?;
        self.found.refused.append(&mut self.walk.refused);
        self.found.unreadable.append(&mut self.walk.unreadable);
        let mut files = self.walk.take();
        self.found.sources.reserve(files.len());
        files.reverse();
        // Files may be many, so the list of what was found goes while that of the sources grows.
        while let Some(file) = files.pop() {
            if self.seen.insert(file.real) {
                self.add(local(file.path, file.name)?, Asked::ByFolder)?;
            }
            if files.len() < files.capacity() / 2 {
                files.shrink_to_fit();
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

    /// Adds a file that the user named.
    fn file(&mut self, path: &Path, name: String) -> Result<()> {
        let real = fs::canonicalize(path).at("read", path)?;
        if !real.is_file() {
            let reason = "not a regular file; to read a stream, pipe it in and give - as the input";
            return Err(refused(&path.display().to_string(), reason));
        }
        if !self.seen.insert(mark(&real)) {
            return Ok(());
        }
        // A link into the output folder must be seen to lead there.
        let full = if self.walk.is_out(&real) { real } else { full(path)? };
        self.add(local(full, name)?, Asked::ByName)
    }

    /// Adds the files behind an object store address. Their formats are detected by name only.
    fn remote(&mut self, input: &str, files: Vec<RemoteFile>) -> Result<()> {
        if files.is_empty() {
            return Err(refused(input, "there is nothing at this address"));
        }
        let asked = if files.len() == 1 { Asked::ByName } else { Asked::ByFolder };
        for RemoteFile { address, bytes, version } in files {
            let name = remote_name(input, &address);
            let (path, version) = (PathBuf::from(address), Some(version));
            if self.seen.insert(mark(&path)) {
                let (format, modified_ns) = (UNKNOWN_FORMAT, 0);
                self.add(Source { path, name, format, bytes, modified_ns, version, member: None }, asked)?;
            }
        }
        Ok(())
    }

    /// Adds a file, or the members of a container.
    fn add(&mut self, mut file: Source, asked: Asked) -> Result<()> {
        if asked == Asked::ByFolder
            && file.version.is_none()
            && let Err(error) = File::open(&file.path)
            && is_denied(&error)
        {
            self.lose(&file.name, error);
            return Ok(());
        }
        match kind_of(&file, asked, self.planning.reach).at("read", &file.path)? {
            FileKind::Pages(format) => {
                file.format = format;
                self.found.sources.push(file);
                Ok(())
            }
            FileKind::Container(kind) => self.members(&file, kind),
            FileKind::NoPage if asked == Asked::ByFolder => {
                self.no_pages += 1;
                Ok(())
            }
            kind => {
                let reason = classify::reason(kind, &file, asked);
                if asked == Asked::ByName {
                    return Err(refused(&file.path.display().to_string(), reason));
                }
                self.refuse(&file.name, reason);
                Ok(())
            }
        }
    }
}

/// Stands for the format of a source until it is known.
const UNKNOWN_FORMAT: Format = Format::Text(Packing::Plain);

/// A local file as a source, of a format that is not known yet.
fn local(path: PathBuf, name: String) -> Result<Source> {
    let facts = fs::metadata(&path).at("read", &path)?;
    let (modified_ns, bytes) = (modified_ns(&facts), facts.len());
    Ok(Source { path, name, format: UNKNOWN_FORMAT, bytes, modified_ns, version: None, member: None })
}

/// The full path of a file. Links to folders are resolved, and a link to a file keeps its own name, which may tell more.
fn full(path: &Path) -> Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match path.file_name() {
        Some(name) => Ok(fs::canonicalize(folder).at("read", path)?.join(name)),
        None => fs::canonicalize(path).at("read", path),
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

/// Why an address of a kind that is not supported cannot be read.
fn foreign_address(input: &str) -> Option<&'static str> {
    let (scheme, _) = input.split_once("://")?;
    Some(match scheme {
        "hf" => {
            "hf:// is not supported: download the files first (huggingface-cli download) and give their folder"
        }
        scheme if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) => {
            "addresses of this kind are not supported (s3://, gs://, az://, http:// and https:// are): copy the files here first"
        }
        _ => return None,
    })
}

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
