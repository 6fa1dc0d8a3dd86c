//! The bytes of a record and of a segment's beginning.
//!
//! A head is checked on its own and by its place, so that a record can be found again after a damaged one, and
//! bytes that belong elsewhere are not taken for a record. `since` tells a torn end from damage: what was durable
//! before a record was written cannot have been torn by a loss of power after it.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{Place, Position};
use crate::disk::damaged;
use crate::{Error, Result};

/// The longest record, in bytes.
pub const MAX_RECORD_BYTES: u32 = 64 << 20;
/// Where the first record of a segment begins.
pub(super) const SEGMENT_HEAD_BYTES: u32 = 16;
/// What comes before a record's bytes.
pub(super) const HEAD_BYTES: u32 = 20;

/// The largest with eight digits.
const MAX_NUMBER: u32 = 99_999_999;
const MAGIC: [u8; 8] = *b"1copylog";
const VERSION: u32 = 1;

/// What comes before a record's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Of the record's bytes.
    pub(super) length: u32,
    /// How far the segment was durable when this was written.
    pub(super) since: u32,
    /// Of the record's bytes.
    pub(super) checksum: u64,
}

impl Head {
    pub(super) fn of(bytes: &[u8], since: u32) -> Head {
        Head { length: bytes.len() as u32, since, checksum: xxh3_64(bytes) }
    }

    pub(super) fn to_bytes(self, at: Position) -> [u8; HEAD_BYTES as usize] {
        let mut bytes = [0; HEAD_BYTES as usize];
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.since.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.checksum.to_le_bytes());
        let check = check(&bytes[4..], at);
        bytes[..4].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// The head in these bytes, unless it is none or belongs elsewhere.
    pub(super) fn from_bytes(bytes: &[u8], at: Position) -> Option<Head> {
        let length = u32_at(bytes, 4)?;
        let checksum = bytes.get(12..20)?.try_into().ok()?;
        let head = Head { length, since: u32_at(bytes, 8)?, checksum: u64::from_le_bytes(checksum) };
        let right = length <= MAX_RECORD_BYTES && u32_at(bytes, 0)? == check(&bytes[4..20], at);
        right.then_some(head)
    }

    pub(super) fn fits(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.length as usize && xxh3_64(bytes) == self.checksum
    }
}

fn check(head: &[u8], at: Position) -> u32 {
    xxh3_64_with_seed(head, u64::from(at.segment) << 32 | u64::from(at.offset)) as u32
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(super) fn segment_head(segment: u32) -> [u8; SEGMENT_HEAD_BYTES as usize] {
    let mut bytes = [0; SEGMENT_HEAD_BYTES as usize];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..].copy_from_slice(&segment.to_le_bytes());
    bytes
}

pub(super) fn check_segment_head(bytes: &[u8], segment: u32) -> Result<()> {
    let name = segment_name(segment);
    if bytes.get(..8) != Some(&MAGIC) {
        return Err(damaged(&name, 0, "it does not begin like a log"));
    }
    match u32_at(bytes, 8) {
        Some(VERSION) if u32_at(bytes, 12) == Some(segment) => Ok(()),
        Some(VERSION) => Err(damaged(&name, 12, "it has the number of another segment")),
        version => Err(Error::Refused(format!(
            "{name} is of version {}, and this program reads version {VERSION}",
            version.unwrap_or_default()
        ))),
    }
}

pub(super) fn segment_name(segment: u32) -> String {
    format!("log-{segment:08}")
}

/// The number of a segment with this name. Only names that we would give.
pub(super) fn segment_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix("log-")?.parse().ok()?;
    (segment_name(number) == name && (1..=MAX_NUMBER).contains(&number)).then_some(number)
}

impl Place {
    /// Where the record begins.
    pub fn position(self) -> Position {
        Position { segment: self.segment, offset: self.offset }
    }

    /// Where the record ends.
    pub fn end(self) -> Position {
        let offset = self.offset.saturating_add(HEAD_BYTES).saturating_add(self.length);
        Position { segment: self.segment, offset }
    }

    /// Segment, offset and length, little-endian.
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.position().to_bytes());
        bytes[8..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// The place that was written so.
    pub fn from_bytes(bytes: [u8; 12]) -> Place {
        let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
        let Position { segment, offset } = Position::from_bytes([a, b, c, d, e, f, g, h]);
        Place { segment, offset, length: u32::from_le_bytes(rest) }
    }
}

impl Position {
    /// Segment and offset, little-endian.
    pub fn to_bytes(self) -> [u8; 8] {
        (u64::from(self.offset) << 32 | u64::from(self.segment)).to_le_bytes()
    }

    /// The position that was written so.
    pub fn from_bytes(bytes: [u8; 8]) -> Position {
        let both = u64::from_le_bytes(bytes);
        Position { segment: both as u32, offset: (both >> 32) as u32 }
    }
}
