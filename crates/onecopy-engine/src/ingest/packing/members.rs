//! Where the members of a gzip file, or the frames of a zstd file, begin. A record that is a whole member can then be
//! copied as it is, which costs hardly anything. Packing it again would cost more than everything else.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use flate2::bufread::GzDecoder;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer, WriteBuf};

/// The beginnings of members that a reader has met and nobody has asked for yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members(Arc<Mutex<VecDeque<Start>>>);

/// Where a member begins, in the file and in the unpacked bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Start {
    packed: u64,
    unpacked: u64,
}

impl Members {
    /// Adds a beginning, or the end of the last member.
    fn note(&self, start: Start) {
        let mut starts = self.0.lock().expect("no thread panics with this lock");
        if starts.back() != Some(&start) {
            starts.push_back(start);
        }
    }

    /// The range in the file of the member that holds just these unpacked bytes, if there is one. Ranges must ascend, and
    /// the reader must be behind them.
    pub(crate) fn range_of(&self, unpacked: Range<u64>) -> Option<Range<u64>> {
        let mut starts = self.0.lock().expect("no thread panics with this lock");
        // Empty members may begin at the same place.
        while starts.get(1).is_some_and(|next| next.unpacked <= unpacked.start) {
            starts.pop_front();
        }
        let (this, next) = (starts.front()?, starts.get(1)?);
        let is_whole = this.unpacked == unpacked.start && next.unpacked == unpacked.end;
        is_whole.then_some(this.packed..next.packed)
    }
}

/// Unpacks all members of a gzip file.
pub(super) struct Ungzip<R> {
    /// `None` after the last member.
    member: Option<GzDecoder<Consumed<R>>>,
    unpacked: u64,
    members: Option<Members>,
}

impl<R: BufRead> Ungzip<R> {
    pub(super) fn new(file: R, members: Option<Members>) -> Ungzip<R> {
        members.iter().for_each(|members| members.note(Start::default()));
        Ungzip { member: Some(GzDecoder::new(Consumed { inner: file, bytes: 0 })), unpacked: 0, members }
    }
}

impl<R: BufRead> Read for Ungzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                self.unpacked += n as u64;
                return Ok(n);
            }
            let mut file = self.member.take().expect("it was just read").into_inner();
            let start = Start { packed: file.bytes, unpacked: self.unpacked };
            self.members.iter().for_each(|members| members.note(start));
            if !file.fill_buf()?.is_empty() {
                self.member = Some(GzDecoder::new(file));
            }
        }
        Ok(0)
    }
}

/// Counts the bytes that were consumed.
struct Consumed<R> {
    inner: R,
    bytes: u64,
}

impl<R: BufRead> Read for Consumed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes += n as u64;
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Consumed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes += amount as u64;
        self.inner.consume(amount);
    }
}

/// A zstd decoder that notes where frames begin.
pub(super) struct NotingDecoder {
    decoder: Decoder<'static>,
    at: Start,
    members: Option<Members>,
}

impl NotingDecoder {
    pub(super) fn new(decoder: Decoder<'static>, members: Option<Members>) -> NotingDecoder {
        members.iter().for_each(|members| members.note(Start::default()));
        NotingDecoder { decoder, at: Start::default(), members }
    }
}

impl Operation for NotingDecoder {
    fn run<C: WriteBuf + ?Sized>(
        &mut self,
        input: &mut InBuffer<'_>,
        output: &mut OutBuffer<'_, C>,
    ) -> io::Result<usize> {
        let before = (input.pos(), output.pos());
        let hint = self.decoder.run(input, output)?;
        self.at.packed += (input.pos() - before.0) as u64;
        self.at.unpacked += (output.pos() - before.1) as u64;
        if hint == 0 {
            self.members.iter().for_each(|members| members.note(self.at));
        }
        Ok(hint)
    }

    fn reinit(&mut self) -> io::Result<()> {
        self.decoder.reinit()
    }

    fn finish<C: WriteBuf + ?Sized>(
        &mut self,
        output: &mut OutBuffer<'_, C>,
        finished_frame: bool,
    ) -> io::Result<usize> {
        self.decoder.finish(output, finished_frame)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::{Packing, Unpacking, unpack_by, write_member};
    use super::*;

    #[test]
    fn whole_members_are_found_and_others_are_not() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let text = "some words ".repeat(9_000);
            let parts = ["one", "", text.as_str(), "", "", "two", ""];
            let mut file = Vec::new();
            let mut ends = Vec::new();
            for part in parts {
                write_member(&mut file, packing, |out| out.write_all(part.as_bytes())).unwrap();
                ends.push(file.len() as u64);
            }
            let members = Members::default();
            let unpacking = Unpacking { members: Some(members.clone()), ..Unpacking::default() };
            let (mut reader, _) = unpack_by(Box::new(Cursor::new(file)), packing, unpacking).unwrap();
            let mut unpacked = String::new();
            reader.read_to_string(&mut unpacked).unwrap();
            assert_eq!(unpacked, parts.concat());
            let long = text.len() as u64;
            assert_eq!(members.range_of(0..3), Some(0..ends[0]));
            assert_eq!(members.range_of(3..9), None, "a part of a member");
            assert_eq!(members.range_of(3..3 + long), Some(ends[1]..ends[2]));
            assert_eq!(members.range_of(4 + long..6 + long), None, "not from its beginning");
            assert_eq!(members.range_of(3 + long..6 + long), Some(ends[4]..ends[5]));
        }
    }
}
