//! Bytes → text: finds the charset of a page and decodes it.
//!
//! It never fails: malformed input becomes U+FFFD. Labels lie, and those of servers lie more often than those of
//! pages. The bytes therefore decide before the labels do. In order:
//!
//! 1. A byte order mark.
//! 2. Valid UTF-8 is UTF-8, regardless of labels. Text of more than a few characters in another charset does not pass
//!    that test by accident, and servers that label everything latin1 are common.
//! 3. UTF-8 with a little damage (a cut character, a mixed-in comment) is still UTF-8.
//! 4. Labels that the bytes do not contradict. The header comes first, as in WHATWG. One exception: windows-1252 in a
//!    header is most often the server's default, so the page's own label comes before it.
//! 5. A guess.

mod prescan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memchr2;

/// How many bytes are examined to weigh labels or to guess. The guess takes a millisecond per 22 KB.
const WEIGHED_BYTES: usize = 32 << 10;

/// The text of `bytes`. `header` is the charset that the server named, if any. `html` says whether the page may name
/// one in a `meta` element. Valid UTF-8 is borrowed.
pub fn decode<'a>(bytes: &'a [u8], header: Option<&str>, html: bool) -> Cow<'a, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    let header = header.and_then(|label| Encoding::for_label_no_replacement(label.trim().as_bytes()));
    match std::str::from_utf8(bytes) {
        // UTF-8 text has no use for escapes and zeros: the page may be in a seven-bit charset or in UTF-16.
        Ok(text) => match memchr2(0, 0x1b, bytes).and_then(|_| disguised(bytes, header, html)) {
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
            None => text.into(),
        },
        Err(error) => legacy(bytes, error.valid_up_to(), header, html).decode_without_bom_handling(bytes).0,
    }
}

/// The charset of bytes that are valid UTF-8 by accident and contain escapes or zeros; `None` if it is UTF-8.
fn disguised(bytes: &[u8], header: Option<&'static Encoding>, html: bool) -> Option<&'static Encoding> {
    let claimed = header.or_else(|| prescan::label(bytes, html));
    let wide = |encoding| encoding == UTF_16LE || encoding == UTF_16BE;
    match claimed {
        Some(claimed) if !claimed.is_ascii_compatible() && !wide(claimed) => Some(claimed),
        _ => wide_by_zeros(bytes),
    }
}

/// Recognises UTF-16 of mostly Latin text: every other byte is zero. Like WHATWG, it does not believe a label alone.
fn wide_by_zeros(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(1_024)];
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|&&byte| byte == 0).count();
    let many = (head.len() / 4).max(4);
    match (zeros(0), zeros(1)) {
        (0, odd) if odd >= many => Some(UTF_16LE),
        (even, 0) if even >= many => Some(UTF_16BE),
        _ => None,
    }
}

/// The charset of bytes that are not valid UTF-8 from `valid` on.
fn legacy(bytes: &[u8], valid: usize, header: Option<&'static Encoding>, html: bool) -> &'static Encoding {
    if let Some(wide) = wide_by_zeros(bytes) {
        return wide;
    }
    // Bytes before the first one that is not ASCII are the same in all these charsets.
    let start = bytes[..valid].iter().position(|byte| !byte.is_ascii()).unwrap_or(valid).saturating_sub(16);
    let sample = &bytes[start..bytes.len().min(start + WEIGHED_BYTES)];
    let page = prescan::label(bytes, html);
    let claims = match (header, page) {
        (Some(header), Some(page)) if header == WINDOWS_1252 => [Some(page), Some(header)],
        claims => [claims.0, claims.1],
    };
    if nearly_utf8(sample, claims.contains(&Some(UTF_8))) {
        return UTF_8;
    }
    let claims = claims
        .into_iter()
        .flatten()
        .filter(|claim| !matches!(claim.name(), "UTF-8" | "UTF-16LE" | "UTF-16BE"));
    let believed = claims.clone().find(|claim| fits(claim, sample));
    believed.unwrap_or_else(|| guess(sample))
}

/// Whether this is UTF-8 with some damage: far more whole characters than broken ones, or as many if a label says
/// so.
fn nearly_utf8(sample: &[u8], claimed: bool) -> bool {
    let (mut whole, mut broken) = (0, 0);
    for chunk in sample.utf8_chunks() {
        whole += chunk.valid().bytes().filter(|&byte| byte >= 0xc0).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    whole > 0 && whole >= if claimed { broken } else { 8 * broken }
}

/// Whether `sample` can be text in `encoding`. It allows one broken character inside, and one at the cut.
fn fits(encoding: &'static Encoding, sample: &[u8]) -> bool {
    let (text, broken) = encoding.decode_without_bom_handling(sample);
    !broken || text.chars().filter(|&c| c == char::REPLACEMENT_CHARACTER).count() <= 2
}

fn guess(sample: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    detector.guess(None, Utf8Detection::Allow)
}
