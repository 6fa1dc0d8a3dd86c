//! Undoes the codings of an HTTP body, within limits.
//!
//! Crawlers often store a body unpacked and leave the header unchanged, so a coding is undone only if the bytes show
//! it. If a body is damaged or truncated, the part before the damage is used.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use memchr::memchr;

use super::http::Response;
use crate::ingest::reason::{Class, Reason};
use crate::job::Limits;

/// Below this unpacked size, no page counts as a decompression bomb.
const HARMLESS_BYTES: u64 = 64 << 20;
/// The largest accepted zstd window in a body (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;

/// The decoded body of `response`, or why it cannot be decoded.
pub(super) fn body<'a>(response: &Response<'a>, limits: &Limits) -> Result<Cow<'a, [u8]>, Reason> {
    let mut body = Cow::Borrowed(response.body);
    let encodings = response.content_encodings.iter().chain(&response.transfer_encodings).flatten();
    for name in encodings.rev() {
        body = if name.eq_ignore_ascii_case(b"chunked") {
            match body {
                Cow::Borrowed(body) => dechunk(body),
                Cow::Owned(body) => Cow::Owned(dechunk(&body).into_owned()),
            }
        } else {
            decode(name, body, limits)?
        };
    }
    if body.len() > limits.page_bytes {
        return Err(Reason::overlong(limits.page_bytes));
    }
    Ok(body)
}

/// Joins the chunks of a chunked body. A body that is not chunked is returned unchanged.
fn dechunk(body: &[u8]) -> Cow<'_, [u8]> {
    let mut joined: Cow<[u8]> = Cow::Borrowed(b"");
    let (mut rest, mut count) = (body, 0);
    while let Some((size, data)) = chunk_size(rest) {
        if size == 0 {
            return joined;
        }
        let (chunk, behind) = data.split_at(size.min(data.len()));
        match count {
            0 => joined = Cow::Borrowed(chunk),
            _ => joined.to_mut().extend_from_slice(chunk),
        }
        count += 1;
        let Some(next) = behind.strip_prefix(b"\r\n").or_else(|| behind.strip_prefix(b"\n")) else {
            // No line end follows the first chunk, so its size was a word of the text.
            return if count == 1 && !behind.is_empty() { body.into() } else { joined };
        };
        rest = next;
    }
    if count == 0 { body.into() } else { joined }
}

/// The size of a chunk, and the bytes after its size line.
fn chunk_size(rest: &[u8]) -> Option<(usize, &[u8])> {
    let end = memchr(b'\n', &rest[..rest.len().min(256)])?;
    let line = rest[..end].trim_ascii();
    let digits = line.split(|&byte| byte == b';').next()?.trim_ascii();
    let digits = std::str::from_utf8(digits).ok().filter(|digits| (1..=8).contains(&digits.len()))?;
    let size = digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| usize::from_str_radix(digits, 16).ok())??;
    Some((size, &rest[end + 1..]))
}

/// Undoes one coding.
fn decode<'a>(name: &[u8], body: Cow<'a, [u8]>, limits: &Limits) -> Result<Cow<'a, [u8]>, Reason> {
    let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    let bytes = body.as_ref();
    let unpacked = if is(&["gzip", "x-gzip"]) {
        bytes.starts_with(b"\x1f\x8b").then(|| unpack(MultiGzDecoder::new(bytes), bytes.len(), limits))
    } else if is(&["deflate"]) {
        let zlib =
            matches!(bytes, [a, b, ..] if a & 15 == 8 && (u16::from(*a) << 8 | u16::from(*b)) % 31 == 0);
        Some(match zlib {
            true => unpack(ZlibDecoder::new(bytes), bytes.len(), limits),
            false => unpack(DeflateDecoder::new(bytes), bytes.len(), limits),
        })
    } else if is(&["br"]) {
        Some(unpack(brotli_decompressor::Decompressor::new(bytes, 4_096), bytes.len(), limits))
    } else if is(&["zstd"]) {
        bytes.starts_with(b"\x28\xb5\x2f\xfd").then(|| unpack_zstd(bytes, limits))
    } else {
        // An unknown coding is a mistake in the header. If it is real, the sniffer will find no text.
        None
    };
    match unpacked {
        None => Ok(body),
        Some(Unpacked::Bytes(bytes)) => Ok(bytes.into()),
        Some(Unpacked::Bomb) => {
            let text = format!("it grows more than {} times when unpacked", limits.expansion);
            Err(Reason::new(Class::Bomb, text))
        }
        Some(Unpacked::Nothing(_)) if is_text(&body) => Ok(body),
        Some(Unpacked::Nothing(error)) => {
            let name = String::from_utf8_lossy(name);
            Err(Reason::new(Class::Encoded, format!("its content encoding {name} cannot be undone: {error}")))
        }
    }
}

enum Unpacked {
    Bytes(Vec<u8>),
    /// No bytes, for this reason.
    Nothing(String),
    Bomb,
}

/// Reads up to one byte over the page limit, or up to the damage.
fn unpack(mut reader: impl Read, packed: usize, limits: &Limits) -> Unpacked {
    let allowed = (packed as u64).saturating_mul(limits.expansion).max(HARMLESS_BYTES);
    let most = (limits.page_bytes as u64 + 1).min(allowed + 1);
    let mut out = Vec::with_capacity((4 * packed).min(most as usize));
    let end = reader.by_ref().take(most).read_to_end(&mut out);
    match end {
        Err(error) if out.is_empty() => Unpacked::Nothing(error.to_string()),
        _ if out.len() as u64 > allowed => Unpacked::Bomb,
        _ => Unpacked::Bytes(out),
    }
}

fn unpack_zstd(bytes: &[u8], limits: &Limits) -> Unpacked {
    let decoder = zstd::Decoder::with_buffer(bytes).and_then(|mut decoder| {
        decoder.window_log_max(ZSTD_WINDOW_LOG)?;
        Ok(decoder)
    });
    match decoder {
        Ok(decoder) => unpack(decoder, bytes.len(), limits),
        Err(error) => Unpacked::Nothing(error.to_string()),
    }
}

/// Whether bytes that do not unpack are plain text: no control characters except white space.
fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(512)];
    head.iter().all(|&byte| byte >= 0x20 || byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    const TEXT: &[u8] = b"<html>The very same words, the very same words, the very same words.</html>";
    /// `TEXT` as brotli: an uncompressed meta-block of 75 bytes, then an empty last one (RFC 7932, 9.2).
    fn brotli() -> Vec<u8> {
        let mut packed = vec![];
        // WBITS 16 in one bit, ISLAST 0, four nibbles of MLEN - 1, ISUNCOMPRESSED 1, padding.
        let bits: u32 = (TEXT.len() as u32 - 1) << 4 | 1 << 20;
        packed.extend_from_slice(&bits.to_le_bytes()[..3]);
        packed.extend_from_slice(TEXT);
        packed.push(3);
        packed
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(encodings: &[&'static str], packed: &[u8]) -> Result<Vec<u8>, String> {
        let mut response = Response { body: packed, ..Response::default() };
        for (slot, name) in response.content_encodings.iter_mut().zip(encodings) {
            *slot = Some(name.as_bytes());
        }
        body(&response, &Limits { page_bytes: 1_000, expansion: 1_000 })
            .map(Cow::into_owned)
            .map_err(|reason| reason.text)
    }

    #[test]
    fn every_coding_is_undone() {
        let mut zlib = ZlibEncoder::new(vec![], Compression::default());
        zlib.write_all(TEXT).unwrap();
        let mut raw = DeflateEncoder::new(vec![], Compression::default());
        raw.write_all(TEXT).unwrap();
        let zstd = zstd::encode_all(TEXT, 3).unwrap();
        let twice = gzip(&zstd);
        for (names, packed) in [
            (&["gzip"][..], gzip(TEXT)),
            (&["X-GZIP"], [gzip(&TEXT[..20]), gzip(&TEXT[20..])].concat()),
            (&["deflate"], zlib.finish().unwrap()),
            (&["deflate"], raw.finish().unwrap()),
            (&["br"], brotli()),
            (&["zstd"], zstd),
            (&["zstd", "gzip"], twice),
            (&["identity"], TEXT.to_vec()),
        ] {
            assert_eq!(unpacked(names, &packed), Ok(TEXT.to_vec()), "{names:?}");
        }
    }

    #[test]
    fn a_body_that_is_not_packed_is_taken_as_it_is() {
        for name in ["gzip", "deflate", "br", "zstd", "chunked", "nonsense"] {
            assert_eq!(unpacked(&[name], TEXT), Ok(TEXT.to_vec()), "{name}");
        }
        // A repeated header.
        assert_eq!(unpacked(&["gzip", "gzip"], &gzip(TEXT)), Ok(TEXT.to_vec()));
        assert!(unpacked(&["br"], b"\x00\xff\x00\x01\x02").unwrap_err().contains("content encoding br"));
    }

    #[test]
    fn of_a_damaged_body_the_beginning_is_taken() {
        let packed = gzip(TEXT);
        let cut = unpacked(&["gzip"], &packed[..packed.len() - 8]).unwrap();
        assert!(TEXT.starts_with(&cut) && cut.len() > 40, "{}", cut.len());
        let garbage = [&packed[..], b"garbage"].concat();
        assert_eq!(unpacked(&["gzip"], &garbage), Ok(TEXT.to_vec()));
        assert!(unpacked(&["gzip"], b"\x1f\x8b\x01").is_err());
    }

    #[test]
    fn limits_hold() {
        assert!(unpacked(&["gzip"], &gzip(&[b'a'; 5_000])).unwrap_err().starts_with("longer than the limit"));
        assert!(unpacked(&[], &[b'a'; 1_001]).unwrap_err().starts_with("longer than the limit"));
        let limits = Limits { page_bytes: 1 << 30, expansion: 10 };
        let bomb = gzip(&vec![0; 65 << 20]);
        let packed = Response {
            body: &bomb,
            content_encodings: [Some(b"gzip"), None, None, None],
            ..Response::default()
        };
        assert!(body(&packed, &limits).unwrap_err().text.contains("10 times"));
    }

    #[test]
    fn chunks_are_joined() {
        for (chunked, plain) in [
            ("5\r\nhello\r\n1;x=y\r\n \r\n5 \r\nworld\r\n0\r\n\r\n", "hello world"),
            ("b\nhello world\n0\n\n", "hello world"),
            ("b\r\nhello world", "hello world"),
            ("5\r\nhello\r\n6\r\n wor", "hello wor"),
            ("5\r\nhello\r\nnonsense", "hello"),
            ("0\r\n\r\n", ""),
            ("dead\r\nnot chunked, and longer than it says", "not chunked, and longer than it says"),
            ("add\nthis", "this"),
            ("a\r\nis a letter of many", "a\r\nis a letter of many"),
            ("<html>", "<html>"),
            ("", ""),
        ] {
            assert_eq!(dechunk(chunked.as_bytes()), plain.as_bytes(), "{chunked:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_unpack_to_something(bytes in prop::collection::vec(any::<u8>(), 0..300), first in 0..5usize, magic: bool) {
            let names = ["gzip", "deflate", "br", "zstd", "chunked"];
            let start: &[u8] = match (magic, first) {
                (true, 0) => b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00",
                (true, 1) => b"\x78\x9c",
                (true, 3) => b"\x28\xb5\x2f\xfd",
                _ => b"",
            };
            let _ = unpacked(&[names[first], "chunked"], &[start, &bytes].concat());
        }
    }
}
