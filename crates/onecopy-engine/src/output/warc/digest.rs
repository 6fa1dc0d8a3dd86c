//! Digests of blocks and payloads, as WARC records state them.

use ring::digest::{Digest, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};

/// The digest of `bytes`, in the style of another: the same algorithm and the same alphabet. SHA-1 in base 32 is the
/// usual style, and stands in for unknown ones.
pub(crate) fn like(style: &str, bytes: &[u8]) -> String {
    let (label, value) = style.split_once(':').unwrap_or_default();
    let (label, algorithm) = match label.to_ascii_lowercase().as_str() {
        "sha1" | "sha-1" => (label, &SHA1_FOR_LEGACY_USE_ONLY),
        "sha256" | "sha-256" => (label, &SHA256),
        _ => ("sha1", &SHA1_FOR_LEGACY_USE_ONLY),
    };
    let digest = digest(algorithm, bytes);
    let digest = digest.as_ref();
    let is_hex = value.trim().len() == 2 * digest.len();
    if is_hex {
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        return format!("{label}:{digits}");
    }
    format!("{label}:{}", base32(digest))
}

/// A SHA-1 digest in the usual style.
pub(crate) fn stated(sha1: Digest) -> String {
    format!("sha1:{}", base32(sha1.as_ref()))
}

/// Base 32 (RFC 4648), padded.
fn base32(bytes: &[u8]) -> String {
    let letter = |value: u64| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[value as usize & 31]);
    let mut text = String::new();
    for five in bytes.chunks(5) {
        let value = five.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)) << (40 - 8 * five.len());
        let letters = (8 * five.len()).div_ceil(5);
        text.extend((0..8).map(|n| if n < letters { letter(value >> (35 - 5 * n)) } else { '=' }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_in_the_style_of_the_archive() {
        // From `printf abc | openssl dgst -sha1 -binary | base32` and its like.
        let sha1 = "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5";
        for style in ["", "md5:900150983CD24FB0", "sha1:OTHER", "SHORT"] {
            assert_eq!(like(style, b"abc"), sha1, "{style}");
        }
        let hex = format!("sha1:{}", "0".repeat(40));
        assert_eq!(like(&hex, b"abc"), "sha1:a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            like("sha-256:A", b"abc"),
            "sha-256:XJ4BNP4PAHH6UQKBIDPF3LRCEOYAGYNDSYLXVHFUCD7WD4QACWWQ===="
        );
    }
}
