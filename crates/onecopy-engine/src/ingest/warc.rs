//! Reads files of the WARC family: WARC 0.17 to 1.1, WET and WAT, and ARC 1.0.
//!
//! `WarcChunks` cuts the unpacked stream into chunks of whole records. `records` iterates over the records of a chunk,
//! and `meaning` interprets each record. Records keep their original bytes, so that `kept` can contain them unchanged.
//!
//! Bytes outside any record stay in the chunk and become a rejection. A record that is too long, or cut off by the end
//! of the file, is left out and reported as the chunk's trouble. An overlong record can still be copied piece by piece
//! before the next chunk is requested.

mod arc;
mod capture;
mod frame;
mod header;
mod http;
mod marker;
mod meaning;
mod overlong;
mod page;
mod records;
mod sniff;
#[cfg(test)]
mod tests;
mod unpack;

pub(crate) use capture::{
    Capture, Names, PayloadKey, capture, id_hash, key_of, names, names_of_original, start_of_capture,
};
pub(crate) use meaning::{Meaning, meaning};
pub(crate) use overlong::{Overlong, Purpose};
pub(crate) use page::read_record;
pub(crate) use records::{RecordKind, WarcRecord, records, started};
pub(super) use sniff::{is_no_text, starts_like_html};

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use memchr::memchr;

use self::frame::{BLANK_BYTES, Step, frame};
use super::chunks::{Chunk, Chunks, Copied, Trouble};
use super::packing::is_no_damage;
use crate::parallel::{Gate, Permit};

/// A block holds an HTTP header before the page. The header does not count toward the page limit.
const HTTP_HEADER_BYTES: usize = 64 << 10;
/// How many bytes are read at a time while searching for the next record.
const SEEK_BYTES: usize = 128 << 10;

/// The status, the media type and the body of an HTTP response.
type HttpParts<'a> = (u16, Option<&'a [u8]>, &'a [u8]);

/// The parts of an HTTP response; `None` if the block is not one.
pub(crate) fn http_parts(block: &[u8]) -> Option<HttpParts<'_>> {
    http::parse(block).map(|response| (response.status, response.content_type, response.body))
}

/// Whether a file whose unpacked bytes begin with `head` is of the WARC family.
pub(crate) fn is_warc(head: &[u8]) -> bool {
    marker::likely(head.trim_ascii_start(), true) == marker::Sure::Yes
}

/// Cuts an unpacked stream into chunks of whole records.
///
/// The cuts depend only on the bytes and the sizes. Every chunk except the last ends at the start of a record.
pub(crate) struct WarcChunks<R> {
    reader: R,
    chunk_bytes: usize,
    /// The longest block that is held in memory.
    limit: usize,
    /// How many bytes were read.
    read: u64,
    /// Bytes read after the last chunk.
    carry: Vec<u8>,
    next: u32,
    /// The action before the next chunk.
    pending: Pending,
    /// The stream has ended.
    whole: bool,
    /// The error, if the stream ended because of damage.
    damage: Option<Trouble>,
    ended: bool,
    large: Arc<Gate>,
}

#[derive(Clone, Copy, Debug)]
enum Pending {
    Nothing,
    /// Skip this many bytes.
    Skip(u64),
    /// Skip to the start of the next record. The current position is not a start.
    Seek,
}

impl<R: Read + Send> Chunks for WarcChunks<R> {
    fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        WarcChunks::next(self, spare)
    }

    fn overlong(&mut self, out: &mut dyn Write) -> io::Result<Copied> {
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Skip(count) => self.pass(count, out),
            pending => {
                self.pending = pending;
                Ok(Copied::Nothing)
            }
        }
    }
}

impl<R: Read> WarcChunks<R> {
    pub(crate) fn new(reader: R, chunk_bytes: usize, page_bytes: usize, large: Arc<Gate>) -> WarcChunks<R> {
        WarcChunks {
            reader,
            chunk_bytes,
            limit: page_bytes + HTTP_HEADER_BYTES,
            read: 0,
            carry: Vec::new(),
            next: 0,
            pending: Pending::Nothing,
            whole: false,
            damage: None,
            ended: false,
            large,
        }
    }

    /// The next chunk, or `None` at the end. Returns an error only if the system fails. `spare` is a buffer to reuse.
    pub(crate) fn next(&mut self, mut spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        if self.ended {
            return Ok(None);
        }
        spare.clear();
        let mut bytes = spare;
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => bytes.append(&mut self.carry),
            Pending::Skip(count) => {
                self.pass(count, &mut io::sink())?;
                bytes.append(&mut self.carry);
            }
            Pending::Seek => self.seek(&mut bytes)?,
        }
        let (at, mut permit) = (self.read - bytes.len() as u64, None);
        let (end, trouble) = self.fill(&mut bytes, &mut permit)?;
        self.carry.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        if bytes.is_empty() && trouble.is_none() {
            return Ok(None);
        }
        let chunk = Chunk { index: self.next, at, bytes, trouble, permit, ..Chunk::default() };
        self.next += 1;
        Ok(Some(chunk))
    }

    /// Reads until `bytes` begin with a chunk of whole records. Returns where the chunk ends and the trouble after it.
    /// A chunk larger than usual must pass the gate first.
    fn fill(
        &mut self,
        bytes: &mut Vec<u8>,
        permit: &mut Option<Permit>,
    ) -> io::Result<(usize, Option<Trouble>)> {
        let mut at = 0;
        self.read_to(bytes, self.chunk_bytes)?;
        loop {
            if at == bytes.len() {
                if !self.whole && at < self.chunk_bytes {
                    self.read_to(bytes, self.chunk_bytes)?;
                    continue;
                } else if !self.whole {
                    // The chunk is exactly full. Lost bytes may follow, which belong to this chunk, so it must look
                    // further.
                    self.read_to(bytes, at + 512)?;
                    continue;
                }
                return Ok((at, self.finish()));
            }
            match frame(&bytes[at..], self.whole, self.limit) {
                Step::Need(count) => {
                    if at + count > 2 * self.chunk_bytes {
                        // The bytes read here would be carried over to the next chunk, which has no permit for them.
                        if at > 0 && marker::likely(&bytes[at..], self.whole) == marker::Sure::Yes {
                            return Ok((at, None));
                        }
                        permit.get_or_insert_with(|| self.large.enter());
                    }
                    self.read_to(bytes, at + count)?;
                }
                Step::Record(frame) => {
                    let last = at + frame.end == bytes.len() && self.whole;
                    if last && self.is_cut(&frame) {
                        bytes.truncate(at);
                        return Ok((at, Some(self.cut(&frame))));
                    }
                    if at > 0 && at + frame.end > self.chunk_bytes {
                        return Ok((at, None));
                    }
                    at += frame.end;
                }
                Step::Adrift => {
                    self.pending = Pending::Seek;
                    return Ok((at + self.limit, Some(Trouble::Endless)));
                }
                Step::Lost(count) => at += count,
                Step::Overlong(end) => {
                    self.pending = Pending::Skip(end);
                    return Ok((at, Some(Trouble::Overlong)));
                }
                Step::Endless => {
                    self.pending = Pending::Seek;
                    return Ok((at, Some(Trouble::Endless)));
                }
            }
        }
    }

    /// Whether the last record of the stream is incomplete. In a damaged file, a record without a length counts as
    /// incomplete.
    fn is_cut(&self, frame: &frame::Frame) -> bool {
        frame.missing > 0 || !frame.headed || (!frame.promised && self.damage.is_some())
    }

    fn cut(&mut self, frame: &frame::Frame) -> Trouble {
        self.ended = true;
        Trouble::Corrupt(match (self.damage.take(), frame.missing) {
            (Some(damage), _) => return damage,
            (None, 0) => "the file ends within the header of a record".into(),
            (None, missing) => format!("the file ends {missing} bytes before its last record does"),
        })
    }

    fn finish(&mut self) -> Option<Trouble> {
        self.ended = true;
        self.damage.take()
    }

    /// Copies `count` bytes and the line ends after them to `out`. Any further bytes already read are carried over.
    fn pass(&mut self, count: u64, out: &mut dyn Write) -> io::Result<Copied> {
        let arc = !self.carry.starts_with(b"WARC/");
        let mut piece = std::mem::take(&mut self.carry);
        let mut left = count;
        loop {
            let here = left.min(piece.len() as u64) as usize;
            out.write_all(&piece[..here])?;
            left -= here as u64;
            piece.drain(..here);
            if left == 0 || self.whole {
                break;
            }
            self.read_to(&mut piece, left.min(SEEK_BYTES as u64) as usize)?;
        }
        if left > 0 {
            let what = || format!("the file ends {left} bytes before its last record does");
            self.damage.get_or_insert_with(|| Trouble::Corrupt(what()));
            return Ok(Copied::Cut);
        }
        self.read_to(&mut piece, BLANK_BYTES)?;
        let blanks = frame::blanks(&piece);
        let line_ends = piece[..blanks].iter().filter(|&&byte| byte == b'\n').count();
        out.write_all(&piece[..blanks])?;
        self.carry = piece.split_off(blanks);
        Ok(Copied::Whole { line_ends, arc })
    }

    /// Skips to the start of the next record, so that `bytes` begin with it. The bytes already read do not start a
    /// record.
    fn seek(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.append(&mut self.carry);
        loop {
            let line = memchr(b'\n', bytes).map(|end| end + 1);
            match line.map_or(Ok(None), |line| marker::find(bytes, line, self.whole)) {
                Ok(Some(start)) => {
                    bytes.drain(..start);
                    return Ok(());
                }
                Ok(None) => bytes.clear(),
                // Keeps the newline in front: a start must follow a newline.
                Err(maybe) => drop(bytes.drain(..maybe - 1)),
            }
            if self.whole {
                return Ok(());
            }
            let wanted = bytes.len() + SEEK_BYTES;
            self.read_to(bytes, wanted)?;
        }
    }

    /// Reads until `bytes` has `wanted` bytes or the stream ends.
    fn read_to(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<()> {
        let mut length = bytes.len();
        if self.whole || length >= wanted {
            return Ok(());
        }
        bytes.resize(wanted, 0);
        while length < wanted && !self.whole {
            match self.reader.read(&mut bytes[length..]) {
                Ok(0) => self.whole = true,
                Ok(n) => {
                    length += n;
                    self.read += n as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_no_damage(&error) => {
                    self.ended = true;
                    return Err(error);
                }
                Err(error) => {
                    self.whole = true;
                    self.damage = Some(Trouble::of(&error));
                }
            }
        }
        bytes.truncate(length);
        Ok(())
    }
}
