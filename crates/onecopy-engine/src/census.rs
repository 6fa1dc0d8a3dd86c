//! Counts the contents of a WARC file: to inspect it before a run, and to compare readers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use crate::error::{At, Error, Result};
use crate::ingest::{Meaning, Packing, Trouble, WarcChunks, is_warc, meaning, open, records, sniff, unpack};
use crate::job::Limits;
use crate::parallel::Gate;

/// How many unpacked bytes are used to detect the format.
const HEAD_BYTES: u64 = 32 << 10;
/// The size of a chunk; it affects no count.
const CHUNK_BYTES: usize = 1 << 20;

/// The records of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Records by type name.
    pub records: BTreeMap<&'static str, u64>,
    /// The number of pages.
    pub pages: u64,
    /// The unpacked bytes of those pages, with their tags.
    pub page_bytes: u64,
    /// The number of redirects.
    pub redirects: u64,
    /// Records that the archive itself marks as copies.
    pub revisits: u64,
    /// The number of rejected pages by reason. Reasons contain no numbers.
    pub rejected: BTreeMap<String, u64>,
    /// The number of lost ranges by reason: bytes that belong to no record.
    pub lost: BTreeMap<String, u64>,
}

/// Counts the records of the file at `path`, compressed or not. A file of another format is an error.
pub fn census(path: &Path, limits: &Limits) -> Result<Census> {
    let packing = packing_of(path)?;
    let (reader, _) = open(path, packing, limits.expansion).at("read", path)?;
    count(reader, CHUNK_BYTES, limits).at("read", path)
}

/// Counts the records of some bytes, with any chunk size. The fuzzer calls this.
#[doc(hidden)]
pub fn census_of(bytes: &[u8], chunk_bytes: usize, limits: &Limits) -> io::Result<Census> {
    let (reader, _) = unpack(Box::new(Cursor::new(bytes.to_vec())), sniff(bytes), limits.expansion)?;
    count(reader, chunk_bytes, limits)
}

fn count(reader: impl Read, chunk_bytes: usize, limits: &Limits) -> io::Result<Census> {
    let mut chunks = WarcChunks::new(reader, chunk_bytes, limits.page_bytes, Gate::new(1));
    let (mut census, mut spare) = (Census::default(), Vec::new());
    while let Some(chunk) = chunks.next(spare)? {
        for item in records(&chunk.bytes) {
            match item.record {
                Ok(record) => {
                    *census.records.entry(record.kind.as_str()).or_default() += 1;
                    census.count(meaning(&record, limits));
                }
                Err(reason) => census.lose(&reason),
            }
        }
        match &chunk.trouble {
            Some(Trouble::Overlong | Trouble::Endless) => census.lose("longer than the limit"),
            Some(Trouble::Corrupt(what) | Trouble::Bomb(what) | Trouble::Refused(what)) => census.lose(what),
            None => {}
        }
        spare = chunk.bytes;
    }
    Ok(census)
}

impl Census {
    fn count(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::Page { body, .. } => {
                self.pages += 1;
                self.page_bytes += body.bytes.len() as u64;
            }
            Meaning::Redirect { .. } => self.redirects += 1,
            Meaning::Revisit { .. } => self.revisits += 1,
            Meaning::Skip(_) => {}
            Meaning::Reject(reason) => *self.rejected.entry(reason.text).or_default() += 1,
        }
    }

    fn lose(&mut self, reason: &str) {
        let reason = reason.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        *self.lost.entry(reason.into()).or_default() += 1;
    }
}

/// The compression of a file, if it is of the WARC family.
fn packing_of(path: &Path) -> Result<Packing> {
    let refused = |reason: &str| Error::Input { input: path.display().to_string(), reason: reason.into() };
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(16).read_to_end(&mut head)).at("read", path)?;
    let packing = sniff(&head);
    head.clear();
    let (reader, _) = open(path, packing, u64::MAX).at("read", path)?;
    // The bytes before any damage suffice.
    let _ = reader.take(HEAD_BYTES).read_to_end(&mut head);
    if is_warc(&head) { Ok(packing) } else { Err(refused("not a WARC or ARC file")) }
}
