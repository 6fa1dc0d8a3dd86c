//! Packed bodies: gzip and Zstandard, unpacked a buffer at a time, so that a small body cannot fill the memory.

use std::io;

use bytes::{Buf, Bytes};
use flate2::{Decompress, FlushDecompress, Status};
use hyper::HeaderMap;
use hyper::header::CONTENT_ENCODING;
use zstd::stream::raw::{DParameter, Decoder, Operation};

/// The most unpacked bytes at a time.
const PIECE_BYTES: usize = 64 << 10;
/// The largest window of gzip, as a power of two.
const GZIP_WINDOW: u8 = 15;
/// The largest window of Zstandard, as a power of two: 8 MiB, as for all content codings (RFC 9659).
const ZSTD_WINDOW: u32 = 23;

/// An unpacker, with the packed bytes that it has not read.
pub struct Unpacker {
    kind: Kind,
    packed: Bytes,
    /// Whether the last piece filled the buffer, so that more may follow without further input.
    is_full: bool,
    /// Whether the last stream or frame is complete.
    is_complete: bool,
}

enum Kind {
    Gzip(Box<Decompress>),
    Zstd(Decoder<'static>),
}

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Plain,
    Gzip,
    Zstd,
}

/// The declared coding; `None` if it is unknown.
pub fn coding(headers: &HeaderMap) -> Option<Coding> {
    let name = headers.get(CONTENT_ENCODING).map_or(&b"identity"[..], |coding| coding.as_bytes());
    match name.to_ascii_lowercase().as_slice() {
        b"identity" => Some(Coding::Plain),
        b"gzip" | b"x-gzip" => Some(Coding::Gzip),
        b"zstd" => Some(Coding::Zstd),
        _ => None,
    }
}

impl Unpacker {
    /// The unpacker for a coding. A plain body needs none.
    pub fn new(coding: Coding) -> Option<Unpacker> {
        let kind = match coding {
            Coding::Plain => return None,
            Coding::Gzip => Kind::Gzip(Box::new(Decompress::new_gzip(GZIP_WINDOW))),
            Coding::Zstd => {
                let mut decoder = Decoder::new().ok()?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW)).ok()?;
                Kind::Zstd(decoder)
            }
        };
        Some(Unpacker { kind, packed: Bytes::new(), is_full: false, is_complete: false })
    }

    /// Adds packed bytes, once [`Unpacker::next`] has none left.
    pub fn push(&mut self, packed: Bytes) {
        self.packed = packed;
    }

    /// The next unpacked bytes; `None` if it needs more input.
    pub fn next(&mut self) -> io::Result<Option<Bytes>> {
        let mut piece = vec![0; PIECE_BYTES];
        while !self.packed.is_empty() || self.is_full {
            let (read, written) = match &mut self.kind {
                Kind::Gzip(gzip) => {
                    if std::mem::take(&mut self.is_complete) {
                        // Another member follows.
                        **gzip = Decompress::new_gzip(GZIP_WINDOW);
                    }
                    let (before_in, before_out) = (gzip.total_in(), gzip.total_out());
                    let status = gzip.decompress(&self.packed, &mut piece, FlushDecompress::None)?;
                    self.is_complete = status == Status::StreamEnd;
                    ((gzip.total_in() - before_in) as usize, (gzip.total_out() - before_out) as usize)
                }
                Kind::Zstd(zstd) => {
                    let status = zstd.run_on_buffers(&self.packed, &mut piece)?;
                    self.is_complete = status.remaining == 0;
                    (status.bytes_read, status.bytes_written)
                }
            };
            self.packed.advance(read);
            self.is_full = written == PIECE_BYTES && !self.is_complete;
            if written > 0 {
                piece.truncate(written);
                return Ok(Some(piece.into()));
            } else if read == 0 {
                // It needs more input to continue.
                self.is_full = false;
                break;
            }
        }
        Ok(None)
    }

    /// Whether the body may end here.
    pub fn is_complete(&self) -> bool {
        self.is_complete && self.packed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Unpacks a body that arrives in pieces of this length.
    fn unpack(coding: Coding, packed: &[u8], length: usize) -> io::Result<(Vec<u8>, bool)> {
        let mut unpacker = Unpacker::new(coding).unwrap();
        let mut text = Vec::new();
        for piece in packed.chunks(length) {
            unpacker.push(Bytes::copy_from_slice(piece));
            while let Some(piece) = unpacker.next()? {
                assert!(piece.len() <= PIECE_BYTES);
                text.extend_from_slice(&piece);
            }
        }
        Ok((text, unpacker.is_complete()))
    }

    #[test]
    fn bodies_are_unpacked_wherever_they_are_cut() {
        let text: Vec<u8> = (0..300_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        let zeros = vec![0; 10 << 20];
        for text in [&text, &zeros, &Vec::new()] {
            let twice = [text.as_slice(), text.as_slice()].concat();
            let zstd = zstd::stream::encode_all(&text[..], 1).unwrap();
            let packed = [(Coding::Gzip, gzip(text)), (Coding::Zstd, zstd)];
            for (coding, packed) in packed {
                let packed = [packed.as_slice(), packed.as_slice()].concat();
                for length in [97, 70_000, usize::MAX] {
                    let unpacked = unpack(coding, &packed, length).unwrap();
                    assert!(unpacked == (twice.clone(), true), "{coding:?} in pieces of {length}");
                }
                let (_, is_complete) = unpack(coding, &packed[..packed.len() - 3], 97).unwrap();
                assert!(!is_complete, "{coding:?} is cut off");
            }
        }
        assert!(unpack(Coding::Gzip, b"not packed", 97).is_err());
        assert!(unpack(Coding::Zstd, b"not packed", 97).is_err());
    }
}
