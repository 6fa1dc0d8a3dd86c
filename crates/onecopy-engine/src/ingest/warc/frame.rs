//! Finds the end of a record.
//!
//! A record ends where its length says, if another record starts there or the stream ends. Otherwise the length is
//! wrong, and the record ends at the first start of another record within that length. If there is none, the bytes
//! after the record are lost up to the next start.
//!
//! No answer depends on how many bytes follow. So a stream may be cut anywhere, as long as each piece ends at the start
//! of a record.

use std::ops::Range;

use super::header::{self, Header, Outcome};
use super::marker::{self, Sure};

/// The most line ends after a record that belong to it, in bytes. Two line ends are usual, but some writers add more.
pub(super) const BLANK_BYTES: usize = 4 << 10;
/// How many bytes are read after a record to check that another starts there.
const GLANCE_BYTES: usize = 8 << 10;

/// The first item of some bytes. Offsets count from their start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The answer needs this many bytes.
    Need(usize),
    Record(Frame),
    /// Bytes that belong to no record, up to this offset.
    Lost(usize),
    /// More bytes than the limit that belong to no record.
    Adrift,
    /// A record over the limit, which claims to end at this offset.
    Overlong(u64),
    /// A record of unknown length that exceeds the limit.
    Endless,
}

/// A record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub block: Range<usize>,
    /// Where the next record begins.
    pub end: usize,
    /// How many bytes of its stated length are missing.
    pub missing: u64,
    /// Whether it ends where its length said. Otherwise its end was found by the next start.
    pub promised: bool,
    /// Whether its header is complete.
    pub headed: bool,
}

/// Finds the first item of `bytes`, which are not empty. `whole` means that the stream has ended. It never requests
/// more than `limit` bytes for a block or for lost bytes.
pub(super) fn frame(bytes: &[u8], whole: bool, limit: usize) -> Step {
    match marker::likely(bytes, whole) {
        Sure::Unknown => return Step::Need(more(bytes)),
        Sure::No => return lost(bytes, whole, limit),
        Sure::Yes => {}
    }
    let Header { block, length, complete, cut } = match header::read(bytes, whole) {
        Outcome::Read(header) => header,
        Outcome::Open => return Step::Need(more(bytes)),
        Outcome::Endless => return lost(bytes, whole, limit),
    };
    match length {
        Some(length) if cut => short(bytes, block, block, block as u64 + length),
        Some(length) if length > limit as u64 => Step::Overlong(block as u64 + length),
        Some(length) => promised(bytes, whole, block, length as usize),
        None => match found(bytes, whole, block, limit) {
            Step::Record(frame) => Step::Record(Frame { headed: complete, ..frame }),
            step => step,
        },
    }
}

fn more(bytes: &[u8]) -> usize {
    2 * bytes.len() + 512
}

/// A record that states its length.
fn promised(bytes: &[u8], whole: bool, block: usize, length: usize) -> Step {
    let end = block + length;
    if bytes.len() < end {
        if !whole {
            return Step::Need(end + GLANCE_BYTES);
        }
        let next = marker::find(bytes, block, true).ok().flatten().unwrap_or(bytes.len());
        return short(bytes, block, next, end as u64);
    }
    let next = end + blanks(&bytes[end..]);
    let cut_short = next == bytes.len() && next - end < BLANK_BYTES && !whole;
    let follows = if next == bytes.len() { Sure::Yes } else { marker::likely(&bytes[next..], whole) };
    if cut_short || follows == Sure::Unknown {
        return Step::Need(more(&bytes[end..]) + end);
    }
    if follows == Sure::No {
        match marker::find(bytes, block, whole) {
            Ok(Some(found)) | Err(found) if found >= end => {}
            Ok(Some(found)) => return short(bytes, block, found, end as u64),
            Ok(None) => {}
            Err(_) => return Step::Need(more(bytes)),
        }
    }
    Step::Record(Frame { block: block..end, end: next, missing: 0, promised: true, headed: true })
}

/// A record that is cut off at `next`, before its stated `end`.
fn short(bytes: &[u8], block: usize, next: usize, end: u64) -> Step {
    let inside = without_blanks(bytes, block, next);
    Step::Record(Frame {
        block: inside,
        end: next,
        missing: end - next as u64,
        promised: false,
        headed: true,
    })
}

/// A record without a length: it ends at the next start.
fn found(bytes: &[u8], whole: bool, block: usize, limit: usize) -> Step {
    match marker::find(bytes, block, whole) {
        Ok(Some(next)) if next - block <= limit => ends_at(bytes, block, next),
        Ok(None) if whole && bytes.len() - block <= limit => ends_at(bytes, block, bytes.len()),
        Err(_) | Ok(None) if bytes.len() - block <= limit => Step::Need(more(bytes)),
        Err(maybe) if maybe - block <= limit => Step::Need(more(bytes)),
        _ => Step::Endless,
    }
}

fn ends_at(bytes: &[u8], block: usize, next: usize) -> Step {
    let inside = without_blanks(bytes, block, next);
    Step::Record(Frame { block: inside, end: next, missing: 0, promised: false, headed: true })
}

/// Bytes outside any record, up to the next start; at most `limit` bytes at a time.
fn lost(bytes: &[u8], whole: bool, limit: usize) -> Step {
    // The first line is not a start, even if it looks like one.
    let line = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    let next = if line < bytes.len() { marker::find(bytes, line, whole) } else { Ok(None) };
    match next {
        Ok(Some(next)) if next <= limit => Step::Lost(next),
        Ok(None) if whole && bytes.len() <= limit => Step::Lost(bytes.len()),
        Err(maybe) if maybe <= limit => Step::Need(more(bytes)),
        Ok(None) if bytes.len() <= limit => Step::Need(more(bytes)),
        _ => Step::Adrift,
    }
}

/// The length of the leading line ends, in bytes.
pub(super) fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take(BLANK_BYTES).take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

fn without_blanks(bytes: &[u8], block: usize, next: usize) -> Range<usize> {
    let blank = bytes[block..next].iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    block..next - blank
}
