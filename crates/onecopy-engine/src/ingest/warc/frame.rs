//! Where a record ends.
//!
//! A record ends where its length says, if another starts there or nothing follows. If not, the length lies: the
//! record then ends at the first start of another inside that length, and where there is none, what follows the
//! record is lost up to the next start. Every answer holds however many bytes follow, so that it does not matter
//! where a stream is cut, as long as each piece ends where a record starts.

use std::ops::Range;

use super::header::{self, Header, Outcome};
use super::marker::{self, Sure};

/// Line ends behind a record that belong to it: two as a rule, some writers put more.
pub(super) const BLANK_BYTES: usize = 4 << 10;
/// What is read behind a record to see whether another starts there.
const GLANCE_BYTES: usize = 8 << 10;

/// What some bytes begin with. Places count from their start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To tell, this many bytes are needed.
    Need(usize),
    Record(Frame),
    /// Bytes that belong to no record, up to here.
    Lost(usize),
    /// As many bytes as the limit that belong to no record, and more of them behind.
    Adrift,
    /// A record that goes beyond the limit, by its own account up to here.
    Overlong(u64),
    /// A record of unknown length that goes beyond the limit.
    Endless,
}

/// A record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub block: Range<usize>,
    /// Where the next begins.
    pub end: usize,
    /// How many bytes of the length that it promises are not there.
    pub missing: u64,
    /// Whether its end is where it said, or was only found by what follows.
    pub promised: bool,
    /// Whether all of its header is there.
    pub headed: bool,
}

/// Says what `bytes`, which are not empty, begin with. `whole` says that no more will come. A block, or something
/// lost, of more than `limit` bytes is not asked for.
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

/// A record that says how long it is.
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

/// A record whose block is cut off by what starts at `next`, before the `end` that it promised.
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

/// A record that does not say how long it is: it goes on to the next.
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

/// What is no record, up to the next; at most `limit` bytes of it at a time.
fn lost(bytes: &[u8], whole: bool, limit: usize) -> Step {
    // What it begins with is no start, even where it looks like one.
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

/// How many line ends there are, in bytes.
pub(super) fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take(BLANK_BYTES).take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

fn without_blanks(bytes: &[u8], block: usize, next: usize) -> Range<usize> {
    let blank = bytes[block..next].iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    block..next - blank
}
