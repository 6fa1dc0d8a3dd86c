//! Refuses pages that claim a huge unpacked size, before any memory is allocated for them.
//!
//! The `parquet` crate trusts the page header and offers no hook to check it. This reader sits between the crate and
//! the file, and checks each header as it passes.

use std::io::{self, Cursor, Read};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use super::thrift::check_page;

/// Writers make pages of a megabyte, some of a hundred.
pub(super) const PAGE_BYTES: u64 = 512 << 20;
/// A head may hold the least and the largest value of its page.
const HEAD_BYTES: u64 = 64 << 20;
/// At the end of a file is no page.
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
            let from = self.rest.by_ref().take(HEAD_BYTES);
            check_page(Keeping { from, kept: self.head.get_mut() }, PAGE_BYTES)?;
        }
        match self.head.read(buffer)? {
            0 => self.rest.read(buffer),
            n => Ok(n),
        }
    }
}

/// Keeps what it reads.
struct Keeping<'a, R> {
    from: R,
    kept: &'a mut Vec<u8>,
}

impl<R: Read> Read for Keeping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.kept.extend_from_slice(&buffer[..length]);
        Ok(length)
    }
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
        let fair = [&[0x15, 0, 0x15, 0xa8, 0x46, 0x15, 2, 0][..], &[9; 30]].concat();
        assert_eq!(read(&fair).unwrap(), fair);
        // 2 GiB - 1, a negative size, a size that comes twice, a head without an end.
        for head in [
            &[0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 2][..],
            &[0x15, 0, 0x15, 0x01, 0x15, 2],
            &[0x15, 0, 0x15, 2, 0x15, 2, 0x05, 4, 0xfe, 0xff, 0xff, 0xff, 0x0f],
            &[0x15, 0, 0x15, 2, 0x18, 99],
        ] {
            assert!(read(&[head, &[0; 30]].concat()).is_err(), "{head:?}");
        }
    }
}
