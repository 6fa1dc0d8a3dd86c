//! The byte layout of records and segment headers.
//!
//! A head has its own checksum, which includes its position. So the next record can be found after a damaged one, and
//! bytes from another place are not mistaken for a record. `since` distinguishes a torn end from damage: bytes that
//! were durable before a record was written cannot be torn by a later power loss.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{Place, Position};
use crate::disk::damaged;
use crate::{Error, Result};

/// The longest record, in bytes.
pub const MAX_RECORD_BYTES: u32 = 64 << 20;
/// The offset of the first record in a segment.
pub(super) const SEGMENT_HEAD_BYTES: u32 = 16;
/// The length of a record's head.
pub(super) const HEAD_BYTES: u32 = 20;

/// The largest number with eight digits.
const MAX_NUMBER: u32 = 99_999_999;
const MAGIC: [u8; 8] = *b"1copylog";
const VERSION: u32 = 1;

/// The head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// The length of the record.
    pub(super) length: u32,
    /// The durable length of the segment when this record was written.
    pub(super) since: u32,
    /// The checksum of the record.
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

    /// Decodes a head; `None` if it is invalid or belongs to another position.
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
        return Err(damaged(&name, 0, "its header is not that of a log"));
    }
    match u32_at(bytes, 8) {
        Some(VERSION) if u32_at(bytes, 12) == Some(segment) => Ok(()),
        Some(VERSION) => Err(damaged(&name, 12, "it has the number of another segment")),
        version => Err(Error::Refused(format!(
            "{name} has format version {}, and this build reads version {VERSION}: use the version that wrote it",
            version.unwrap_or_default()
        ))),
    }
}

pub(super) fn segment_name(segment: u32) -> String {
    format!("log-{segment:08}")
}

/// The number of the segment with this name. Accepts only names in our own format.
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

    /// Decodes a place.
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

    /// Decodes a position.
    pub fn from_bytes(bytes: [u8; 8]) -> Position {
        let both = u64::from_le_bytes(bytes);
        Position { segment: both as u32, offset: (both >> 32) as u32 }
    }
}
