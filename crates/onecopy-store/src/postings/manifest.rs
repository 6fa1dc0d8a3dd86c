//! The manifest: the list of parts and what they cover. It is replaced atomically, so a power loss leaves the old or
//! the new one.

use std::io::ErrorKind;

use xxhash_rust::xxh3::xxh3_64;

use super::block::u64_at;
use super::part::Part;
use crate::disk::{File, Folder, Open, cannot, damaged, read_at};
use crate::{Error, Result};

pub(super) const NAME: &str = "postings";
pub(super) const ASIDE_NAME: &str = "postings-aside";
const MAGIC: [u8; 8] = *b"1copypos";
const VERSION: u64 = 2;
/// Magic, version and count, covered.
const HEAD_BYTES: usize = 24;
const ENTRY_BYTES: usize = 40;
const CHECKSUM_BYTES: usize = 8;
/// Far more parts than merging leaves.
const MAX_PARTS: u64 = 1 << 16;

/// The contents of a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) covered: u64,
    pub(super) entries: Vec<Entry>,
}

/// A part that must exist, with its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) number: u32,
    pub(super) bytes: u64,
    pub(super) checksum: u64,
    pub(super) covered: u64,
    pub(super) contents: u64,
}

/// Why a manifest could not be written.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    /// The manifest may still be in effect after a power loss.
    pub(super) unsure: bool,
}

impl Entry {
    pub(super) fn of(part: &Part) -> Entry {
        let Part { number, bytes, checksum, covered, contents, .. } = *part;
        Entry { number, bytes, checksum, covered, contents }
    }
}

impl Manifest {
    /// The manifest in the folder; empty if there is none.
    pub(super) fn read(folder: &dyn Folder) -> Result<Manifest> {
        let file = match folder.open(NAME, Open::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Manifest::default()),
            Err(error) => return Err(cannot("open", NAME)(error)),
        };
        Manifest::of(&*file)
    }

    /// The manifest in an open file.
    pub(super) fn of(file: &dyn File) -> Result<Manifest> {
        let length = file.len().map_err(cannot("read", NAME))?;
        if length > HEAD_BYTES as u64 + MAX_PARTS * ENTRY_BYTES as u64 + CHECKSUM_BYTES as u64 {
            return Err(damaged(NAME, length, "no manifest is that long"));
        }
        let mut bytes = vec![0; length as usize];
        read_at(file, NAME, &mut bytes, 0)?;
        Manifest::from_bytes(&bytes)
    }

    /// Durably replaces the previous manifest.
    pub(super) fn write(&self, folder: &dyn Folder) -> Result<(), Failure> {
        let failed = |verb, file, unsure| move |error| Failure { error: cannot(verb, file)(error), unsure };
        let file = folder.open(ASIDE_NAME, Open::Create).map_err(failed("create", ASIDE_NAME, false))?;
        file.set_len(0).map_err(failed("write", ASIDE_NAME, false))?;
        file.write_all_at(&self.to_bytes(), 0).map_err(failed("write", ASIDE_NAME, false))?;
        file.sync().map_err(failed("sync", ASIDE_NAME, false))?;
        folder.rename(ASIDE_NAME, NAME).map_err(failed("replace", NAME, true))?;
        folder.sync().map_err(failed("sync", "the folder", true))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(((self.entries.len() as u64) << 32 | VERSION).to_le_bytes());
        bytes.extend(self.covered.to_le_bytes());
        for entry in &self.entries {
            let Entry { number, bytes: length, checksum, covered, contents } = *entry;
            let numbers = [u64::from(number), length, checksum, covered, contents];
            bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        }
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Manifest> {
        let end = bytes.len().saturating_sub(CHECKSUM_BYTES);
        if end < HEAD_BYTES || bytes[..8] != MAGIC || xxh3_64(&bytes[..end]) != u64_at(bytes, end) {
            return Err(damaged(NAME, 0, "its checksum does not match"));
        }
        let version = u64_at(bytes, 8) & u64::from(u32::MAX);
        if version != VERSION {
            let text = format!(
                "{NAME} has format version {version}, and this build reads version {VERSION}: use the version that wrote it"
            );
            return Err(Error::Refused(text));
        }
        let entry = |bytes: &[u8]| Entry {
            number: u64_at(bytes, 0) as u32,
            bytes: u64_at(bytes, 8),
            checksum: u64_at(bytes, 16),
            covered: u64_at(bytes, 24),
            contents: u64_at(bytes, 32),
        };
        let entries: Vec<Entry> = bytes[HEAD_BYTES..end].chunks_exact(ENTRY_BYTES).map(entry).collect();
        if entries.len() as u64 != u64_at(bytes, 8) >> 32 {
            return Err(damaged(NAME, 8, "its number of parts does not match"));
        }
        Ok(Manifest { covered: u64_at(bytes, 16), entries })
    }
}
