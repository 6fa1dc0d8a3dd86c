//! Takes the bytes of a record that is too long for memory: keeps its start, and hashes its payload.

use std::io::{self, Write};

use ring::digest::{Context, Digest, SHA1_FOR_LEGACY_USE_ONLY};

use super::capture::start_of_capture;
use super::records::started;

/// How much of the record is kept. Its header and its HTTP header must fit.
const START_BYTES: usize = 128 << 10;

/// Receives an overlong record, piece by piece.
pub(crate) struct Overlong {
    start: Vec<u8>,
    purpose: Purpose,
    hash: Option<Context>,
    /// Bytes of the payload that are still to come.
    left: u64,
}

/// What the payload is hashed for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To compare it with others.
    Key,
    /// To state its digest.
    Digest,
}

impl Overlong {
    pub(crate) fn new(purpose: Purpose) -> Overlong {
        Overlong { start: Vec::new(), purpose, hash: None, left: 0 }
    }

    /// The start of the record.
    pub(crate) fn start(&self) -> &[u8] {
        &self.start
    }

    /// The start of the record and the hash of its payload; `None` if it is no capture, or a part of it is missing.
    pub(crate) fn finish(mut self) -> Option<(Vec<u8>, Digest)> {
        if self.start.len() < START_BYTES {
            self.begin();
        }
        let hash = self.hash.filter(|_| self.left == 0)?;
        Some((self.start, hash.finish()))
    }

    /// Finds the payload in the start of the record.
    fn begin(&mut self) {
        let Some(record) = started(&self.start) else { return };
        let Some(capture) = start_of_capture(&record) else { return };
        let length = record.block.len() as u64 + record.missing - capture.head.len() as u64;
        let mut hash = match self.purpose {
            Purpose::Key => capture.hash(),
            Purpose::Digest => Context::new(&SHA1_FOR_LEGACY_USE_ONLY),
        };
        let from = record.block_end() - record.block.len() + capture.head.len();
        let here = &self.start[from..];
        let here = &here[..(here.len() as u64).min(length) as usize];
        hash.update(here);
        self.left = length - here.len() as u64;
        self.hash = Some(hash);
    }
}

impl Write for Overlong {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = START_BYTES - self.start.len();
        if room > 0 {
            let taken = bytes.len().min(room);
            self.start.extend_from_slice(&bytes[..taken]);
            if taken == room {
                self.begin();
            }
            return Ok(taken);
        }
        if let Some(hash) = &mut self.hash {
            let here = (bytes.len() as u64).min(self.left) as usize;
            hash.update(&bytes[..here]);
            self.left -= here as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::capture::{capture, key_of};
    use super::super::records::records;
    use super::*;

    #[test]
    fn an_overlong_payload_has_the_key_of_one_in_memory() {
        for (head, length) in [("A: b\r\n", START_BYTES + 5), ("", 3 * START_BYTES), ("", 70)] {
            // Text that looks like the start of a record must not end the payload.
            let payload: Vec<u8> = b"WARC/1.0\r\nA: b\r\n".iter().copied().cycle().take(length).collect();
            let block = [format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes(), &payload].concat();
            let fields = "WARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Target-URI: http://a.example/\r\n\
                          WARC-Date: 2024-05-01T12:00:00Z";
            let header = format!("WARC/1.0\r\n{fields}\r\nContent-Length: {}\r\n\r\n", block.len());
            let record = [header.as_bytes(), &block, b"\r\n\r\n"].concat();
            let whole = records(&record).next().unwrap().record.unwrap();
            let expected = capture(&whole).unwrap();
            assert_eq!(expected.payload.len(), length);
            for cut in [record.len(), 1_000] {
                let mut overlong = Overlong::new(Purpose::Key);
                record.chunks(cut).for_each(|piece| overlong.write_all(piece).unwrap());
                let (start, hash) = overlong.finish().unwrap();
                assert!(record.starts_with(&start) && key_of(hash) == expected.key());
            }
            let mut half = Overlong::new(Purpose::Key);
            half.write_all(&record[..record.len() - 20]).unwrap();
            assert!(half.finish().is_none(), "a part of it is missing");
        }
    }
}
