//! Content codings of answers: unpacked to be read, and packed again if the text changed.

use std::io::{self, Read, Write};

use brotli_decompressor::Decompressor;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use hyper::HeaderMap;
use hyper::header::CONTENT_ENCODING;

/// The largest window of Zstandard, as a power of two: 8 MiB, as for all content codings (RFC 9659).
const ZSTD_WINDOW: u32 = 23;
/// The buffer for Brotli.
const BROTLI_BYTES: usize = 16 << 10;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Plain,
    Gzip,
    Deflate,
    Zstd,
    Brotli,
}

impl Coding {
    /// The declared coding; `None` if it is unknown.
    pub fn of(headers: &HeaderMap) -> Option<Coding> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let name = values.next().map_or(&b"identity"[..], |value| value.as_bytes());
        if values.next().is_some() {
            return None;
        }
        match name.to_ascii_lowercase().as_slice() {
            b"identity" | b"" => Some(Coding::Plain),
            b"gzip" | b"x-gzip" => Some(Coding::Gzip),
            b"deflate" => Some(Coding::Deflate),
            b"zstd" => Some(Coding::Zstd),
            b"br" => Some(Coding::Brotli),
            _ => None,
        }
    }

    /// Unpacks a body; `None` if it has more than `limit` bytes then.
    pub fn unpack(self, body: Bytes, limit: usize) -> io::Result<Option<Bytes>> {
        let (most, packed) = (limit as u64 + 1, &*body);
        let mut text = Vec::new();
        match self {
            Coding::Plain => return Ok((body.len() <= limit).then_some(body)),
            Coding::Gzip => _ = MultiGzDecoder::new(packed).take(most).read_to_end(&mut text)?,
            Coding::Deflate => _ = ZlibDecoder::new(packed).take(most).read_to_end(&mut text)?,
            Coding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(packed)?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                decoder.take(most).read_to_end(&mut text)?;
            }
            Coding::Brotli => {
                Decompressor::new(packed, BROTLI_BYTES).take(most).read_to_end(&mut text)?;
            }
        }
        Ok((text.len() <= limit).then(|| text.into()))
    }

    /// Packs a text again, fast rather than small. Brotli has no fast form here: such an answer becomes plain.
    pub fn pack(self, text: Vec<u8>) -> io::Result<(Coding, Vec<u8>)> {
        let packed = match self {
            Coding::Plain | Coding::Brotli => return Ok((Coding::Plain, text)),
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&text)?;
                encoder.finish()?
            }
            Coding::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&text)?;
                encoder.finish()?
            }
            Coding::Zstd => zstd::bulk::compress(&text, 1)?,
        };
        Ok((self, packed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_can_be_unpacked_within_its_limit() {
        let text: Vec<u8> = b"nine pages told the same story ".repeat(100);
        for coding in [Coding::Plain, Coding::Gzip, Coding::Deflate, Coding::Zstd] {
            let (packed_as, packed) = coding.pack(text.clone()).expect("packed");
            assert_eq!(packed_as, coding);
            let unpack = |limit| coding.unpack(packed.clone().into(), limit).expect("unpacked");
            assert_eq!(unpack(text.len()), Some(text.clone().into()));
            assert_eq!(unpack(text.len() - 1), None, "{coding:?}");
        }
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Zstd, Coding::Brotli] {
            assert!(coding.unpack(Bytes::from_static(b"\xff not packed"), 100).is_err(), "{coding:?}");
        }
    }
}
