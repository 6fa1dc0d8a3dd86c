//! The files of this stage: for each archive its entries, the facts of its captures, and the rows that were settled.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use crate::error::{At, Result};
use crate::ingest::Capture;

/// In place of a lot: the record is left out.
pub(super) const LEFT_OUT: u32 = u32::MAX;
/// The bytes that the facts of a capture usually take, and take at most: the header of a record is shorter.
const FACTS_BYTES: [u64; 2] = [1 << 10, 256 << 10];

/// The original of a revisit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Original {
    /// With its angle brackets.
    pub id: String,
    pub uri: String,
    /// As written in its record.
    pub date: String,
    /// As written in its record; empty if there is none.
    pub payload_digest: String,
}

/// A settled record: its number, and the lot and the facts of its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settled {
    pub number: u32,
    pub lot: u32,
    pub facts: u64,
}

const ROW_BYTES: usize = 16;

/// The working folder.
pub(super) struct Files {
    folder: PathBuf,
}

impl Files {
    pub(super) fn new(folder: &Path) -> Files {
        Files { folder: folder.to_owned() }
    }

    /// Begins the files of a lot, in place of those of a stopped run.
    pub(super) fn begin(&self, lot: usize) -> Result<Facts> {
        let rows = path(&self.folder, "settled", lot);
        File::create(&rows).at("create", &rows)?;
        let create = |what| -> Result<(PathBuf, BufWriter<File>)> {
            let path = path(&self.folder, what, lot);
            let file = File::create(&path).at("create", &path)?;
            Ok((path, BufWriter::new(file)))
        };
        Ok(Facts { entries: create("entries")?, facts: create("facts")?, at: 0 })
    }

    /// Calls `each` with every entry of a lot, in input order.
    pub(super) fn entries(&self, lot: usize, mut each: impl FnMut(&Entry)) -> Result<()> {
        let path = path(&self.folder, "entries", lot);
        let Some(file) = existing(&path)? else { return Ok(()) };
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut bytes = [0; Entry::BYTES];
        loop {
            match reader.read_exact(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                read => read.at("read", &path)?,
            }
            each(&Entry::from_bytes(&bytes));
        }
    }

    /// Adds settled records of a lot.
    pub(super) fn settle(&self, lot: usize, rows: &[Settled]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let path = path(&self.folder, "settled", lot);
        let mut file = OpenOptions::new().append(true).open(&path).at("open", &path)?;
        let row = |row: &Settled| {
            let mut bytes = [0; ROW_BYTES];
            bytes[..4].copy_from_slice(&row.number.to_le_bytes());
            bytes[4..8].copy_from_slice(&row.lot.to_le_bytes());
            bytes[8..].copy_from_slice(&row.facts.to_le_bytes());
            bytes
        };
        file.write_all(&rows.iter().flat_map(row).collect::<Vec<u8>>()).at("write", &path)
    }

    /// The settled records of a lot, by number.
    pub(super) fn rows(&self, lot: usize) -> Result<Vec<Settled>> {
        let path = path(&self.folder, "settled", lot);
        let Some(mut file) = existing(&path)? else { return Ok(Vec::new()) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).at("read", &path)?;
        let (rows, _) = bytes.as_chunks::<ROW_BYTES>();
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let facts = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let row = |row: &[u8; ROW_BYTES]| Settled {
            number: number(&row[..4]),
            lot: number(&row[4..8]),
            facts: facts(&row[8..]),
        };
        let mut rows: Vec<Settled> = rows.iter().map(row).collect();
        rows.sort_unstable_by_key(|row| row.number);
        Ok(rows)
    }

    /// The facts of a capture.
    pub(super) fn original(&self, lot: u32, facts: u64) -> Result<Original> {
        let path = path(&self.folder, "facts", lot as usize);
        let file = File::open(&path).at("open", &path)?;
        let left = file.metadata().at("read", &path)?.len().saturating_sub(facts);
        let mut bytes = Vec::new();
        for most in FACTS_BYTES {
            bytes.resize(left.min(most) as usize, 0);
            file.read_exact_at(&mut bytes, facts).at("read", &path)?;
            if bytes.iter().filter(|&&byte| byte == b'\n').count() >= 4 {
                break;
            }
        }
        let mut parts = bytes.split(|&byte| byte == b'\n').map(|part| String::from_utf8_lossy(part).into());
        let mut next = || parts.next().unwrap_or_default();
        Ok(Original { id: next(), uri: next(), date: next(), payload_digest: next() })
    }
}

/// A file of the working folder. By its name a later run knows that it may delete it.
fn path(folder: &Path, what: &str, lot: usize) -> PathBuf {
    folder.join(format!("kept-{what}-{lot}.part"))
}

fn existing(path: &Path) -> Result<Option<File>> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        file => file.map(Some).at("open", path),
    }
}

/// Writes the entries of a lot, and the facts of its captures.
pub(super) struct Facts {
    entries: (PathBuf, BufWriter<File>),
    facts: (PathBuf, BufWriter<File>),
    at: u64,
}

impl Facts {
    /// Writes the facts of a capture, and returns their place.
    pub(super) fn capture(&mut self, capture: &Capture) -> Result<u64> {
        let digest = capture.payload_digest.as_deref().unwrap_or_default();
        let parts = [&*capture.id, &*capture.uri, &*capture.date, digest].map(one_line);
        let text = parts.join("\n") + "\n";
        let (path, file) = &mut self.facts;
        file.write_all(text.as_bytes()).at("write", path)?;
        let at = self.at;
        self.at += text.len() as u64;
        Ok(at)
    }

    pub(super) fn entry(&mut self, entry: Entry) -> Result<()> {
        let (path, file) = &mut self.entries;
        file.write_all(&entry.to_bytes()).at("write", path)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.entries.1.flush().at("write", &self.entries.0)?;
        self.facts.1.flush().at("write", &self.facts.0)
    }
}

/// A value without control characters: a line end would start another field of the revisit.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) { text.replace(char::is_control, " ").into() } else { text.into() }
}
