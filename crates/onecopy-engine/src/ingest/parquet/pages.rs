//! Refuses pages that claim a huge unpacked size, before any memory is allocated for them.
//!
//! The `parquet` crate trusts the page header and offers no hook to check it. This reader sits between the crate and
//! the file, and checks each header as it passes.

use std::io::{self, Cursor, Read};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// The largest accepted page. Writers make pages of a megabyte, some of a hundred.
const PAGE_BYTES: u64 = 512 << 20;
/// The bytes of a page header that must be read: three varints, each after a type byte.
const HEAD_BYTES: u64 = 18;
/// The last bytes of a file are the footer's length and magic, never a page.
const END_BYTES: u64 = 8;

/// A file whose page headers are checked.
pub(crate) struct Pages<R>(pub R);

impl<R: ChunkReader> Length for Pages<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Pages<R> {
    type T = PageReader<R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let unseen = start.saturating_add(END_BYTES) < self.len();
        Ok(PageReader { rest: self.0.get_read(start)?, head: Cursor::new(Vec::new()), unseen })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Reads from the start of a page.
pub(crate) struct PageReader<R> {
    head: Cursor<Vec<u8>>,
    rest: R,
    unseen: bool,
}

impl<R: Read> Read for PageReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unseen {
            self.unseen = false;
            self.rest.by_ref().take(HEAD_BYTES).read_to_end(self.head.get_mut())?;
            check(self.head.get_ref())?;
        }
        match self.head.read(buffer)? {
            0 => self.rest.read(buffer),
            n => Ok(n),
        }
    }
}

/// Checks a page header in Thrift's compact protocol: type, unpacked size and packed size, all required and in this
/// order.
fn check(head: &[u8]) -> io::Result<()> {
    let mut numbers = head;
    let (_, unpacked) = (number(&mut numbers), number(&mut numbers));
    match unpacked {
        Some(bytes) if bytes <= PAGE_BYTES => Ok(()),
        Some(bytes) => Err(invalid(format!("a page of {bytes} bytes: {PAGE_BYTES} is the limit"))),
        None => Err(invalid("the head of a page is damaged".into())),
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The next field, if it is a 32-bit integer with the next field number.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (&0x15, mut rest) = bytes.split_first()? else { return None };
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            *bytes = rest;
            // Zigzag encoding: an odd value is negative, so it is no size.
            return (value & 1 == 0).then_some(value >> 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = Pages(Bytes::from(head.to_vec()));
        file.get_read(0).unwrap().read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn only_heads_of_pages_of_a_fair_size_pass() {
        let fair = [&[0x15, 0, 0x15, 0xa8, 0x46, 0x15, 2][..], &[9; 30]].concat();
        assert_eq!(read(&fair).unwrap(), fair);
        // 2 GiB - 1, a negative size, an unterminated number, another field, nothing.
        for head in [
            &[0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 2][..],
            &[0x15, 0, 0x15, 0x01],
            &[0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
            &[0x15, 0, 0x25, 0x02],
            &[0x15],
        ] {
            assert!(read(&[head, &[0; 30]].concat()).is_err(), "{head:?}");
        }
    }
}
