//! Decides whether a body is a page: by its media type, or by its first bytes if the type is missing or vague.

use crate::ingest::reason::{Class, Reason};

/// The content of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Html,
    Text,
    /// Something else: its media type, or what its first bytes show.
    Other(String),
}

/// How many bytes are searched for non-text bytes.
const SNIFFED_BYTES: usize = 512;

/// Magic numbers of files that servers send as text by mistake.
const MAGICS: [(&[u8], &str); 16] = [
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "a RIFF file"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"Rar!", "a RAR archive"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "an Ogg file"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x7fELF", "a program"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"FWS", "a Flash file"),
    (b"CWS", "a Flash file"),
];

/// Whether a body may be a page, before unpacking. `claimed` is its media type in lower case, empty if unknown.
pub(super) fn may_be_page(claimed: &str, packed: &[u8]) -> Result<(), Reason> {
    match by_type(claimed) {
        Some(Content::Other(what)) if !starts_like_html(packed) => Err(not_text(&what)),
        _ => Ok(()),
    }
}

/// The reason for rejecting a body that is something else.
pub(super) fn not_text(what: &str) -> Reason {
    Reason::new(Class::of_media(what), format!("not text: {what}"))
}

/// The content of an unpacked body.
pub(super) fn content(claimed: &str, bytes: &[u8]) -> Content {
    if starts_like_html(bytes) {
        return Content::Html;
    }
    if let Some((_, what)) = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Content::Other((*what).into());
    }
    if is_binary(bytes) {
        let claim = if claimed.is_empty() { "no media type" } else { claimed };
        return Content::Other(format!("binary data, although declared as {claim}"));
    }
    by_type(claimed).unwrap_or(Content::Text)
}

/// Whether a file that begins so is no text, by its magic number or by bytes that no text has.
pub(in crate::ingest) fn is_no_text(bytes: &[u8]) -> bool {
    matches!(content("", bytes), Content::Other(_))
}

/// The content that the media type indicates; `None` if it is vague.
fn by_type(claimed: &str) -> Option<Content> {
    match claimed {
        ""
        | "application/octet-stream"
        | "application/unknown"
        | "application/x-unknown"
        | "unknown/unknown" => None,
        "text/html" | "application/xhtml+xml" | "text/xml" | "application/xml" | "text/sgml" => {
            Some(Content::Html)
        }
        "text/css" | "text/javascript" | "text/ecmascript" | "text/x-javascript" | "text/json"
        | "text/calendar" => Some(Content::Other(claimed.into())),
        _ if claimed.starts_with("application/") && claimed.ends_with("+xml") => Some(Content::Html),
        _ if claimed.starts_with("text/") => Some(Content::Text),
        // A word that is not a media type, such as "html" or "text".
        _ if !claimed.contains('/') => None,
        _ => Some(Content::Other(claimed.into())),
    }
}

pub(in crate::ingest) fn starts_like_html(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let starts = |tag: &&[u8]| bytes.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
    let tags: [&[u8]; 4] = [b"<!doctype html", b"<html", b"<head>", b"<body"];
    tags.iter().any(starts)
}

/// Whether there are bytes that no charset uses for text. UTF-16 contains zeros, but only in every other byte.
fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return false;
    }
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|&&byte| byte == 0).count();
    let wide = (zeros(0) == 0) != (zeros(1) == 0);
    let control = |byte: &&u8| matches!(byte, 1..=8 | 0x0e..=0x1a | 0x1c..=0x1f) || (**byte == 0 && !wide);
    head.iter().filter(control).count() > head.len() / 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_first_bytes_decide() {
        let other = |what: &str| Content::Other(what.into());
        for (claimed, bytes, wanted) in [
            ("text/html", &b"some words"[..], Content::Html),
            ("application/rss+xml", b"<rss>", Content::Html),
            ("text/plain", b"words", Content::Text),
            ("text/plain", b" \n<!DOCTYPE HTML><p>", Content::Html),
            ("", b"words", Content::Text),
            ("", b"<html>", Content::Html),
            ("application/octet-stream", b"%PDF-1.4", other("application/pdf")),
            ("text/html", b"\x89PNG\r\n", other("image/png")),
            ("image/png", b"words", other("image/png")),
            ("text/css", b"p {}", other("text/css")),
            ("text/html", b"\0\x01\x02\x03", other("binary data, although declared as text/html")),
            ("text/plain", b"w\0i\0d\0e\0", Content::Text),
            ("html", b"words", Content::Text),
        ] {
            assert_eq!(content(claimed, bytes), wanted, "{claimed} {bytes:?}");
        }
        assert_eq!(may_be_page("image/png", b"x"), Err(not_text("image/png")));
        assert_eq!(may_be_page("image/png", b"<html>"), Ok(()));
        assert_eq!(may_be_page("", b"x"), Ok(()));
    }
}
