//! Parses an HTTP response in a record: its status and the few needed fields.
//!
//! It tolerates what crawlers wrote: bare line feeds, no reason phrase, folded fields, and lines that are not fields.

use std::borrow::Cow;

use memchr::memchr;

use super::header::{trimmed, value_of};

/// The head of a response, and where its body starts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Response<'a> {
    pub status: u16,
    pub location: Option<&'a [u8]>,
    pub content_type: Option<&'a [u8]>,
    /// Content codings in the order they were applied.
    pub content_encodings: Encodings<'a>,
    pub transfer_encodings: Encodings<'a>,
    /// The header and its blank line.
    pub head: &'a [u8],
    pub body: &'a [u8],
}

/// At most four nested codings. Further ones are not undone.
pub(super) type Encodings<'a> = [Option<&'a [u8]>; 4];

/// The most interim responses (100 Continue) before the final one.
const INTERIM_LIMIT: usize = 4;

/// Parses a response; `None` if the block is not one.
pub(super) fn parse(block: &[u8]) -> Option<Response<'_>> {
    let mut rest = block;
    for _ in 0..INTERIM_LIMIT {
        let response = one(rest)?;
        if response.status / 100 != 1 || !response.body.starts_with(b"HTTP/") {
            return Some(response);
        }
        rest = response.body;
    }
    None
}

fn one(block: &[u8]) -> Option<Response<'_>> {
    let mut response = Response { status: status(block)?, ..Response::default() };
    let mut at = memchr(b'\n', block).map_or(block.len(), |end| end + 1);
    while at < block.len() {
        let mut end = at + memchr(b'\n', &block[at..]).unwrap_or(block.len() - at);
        let line = trimmed(&block[at..end]);
        if line.is_empty() {
            at = (end + 1).min(block.len());
            break;
        }
        while matches!(block.get(end + 1), Some(b' ' | b'\t')) && !is_blank_line(&block[end + 1..]) {
            end += 1 + memchr(b'\n', &block[end + 1..]).unwrap_or(block.len() - end - 1);
        }
        field(trimmed(&block[at..end]), &mut response);
        at = (end + 1).min(block.len());
    }
    (response.head, response.body) = block.split_at(at);
    Some(response)
}

fn is_blank_line(rest: &[u8]) -> bool {
    rest[..memchr(b'\n', rest).unwrap_or(rest.len())].trim_ascii().is_empty()
}

/// The number in `HTTP/1.1 200 OK`.
fn status(block: &[u8]) -> Option<u16> {
    let line = &block[..memchr(b'\n', block).unwrap_or(block.len())];
    let line = line.strip_prefix(b"HTTP")?;
    let digits = line[memchr(b' ', line)?..].trim_ascii_start();
    let digits = digits.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    Some(digits.iter().fold(0, |sum, digit| 10 * sum + u16::from(digit - b'0')))
}

fn field<'a>(line: &'a [u8], response: &mut Response<'a>) {
    let first = |slot: &mut Option<&'a [u8]>, value: &'a [u8]| {
        *slot = slot.or((!value.is_empty()).then_some(value));
    };
    match line.first().map(u8::to_ascii_lowercase) {
        Some(b'l') => value_of(line, b"location").into_iter().for_each(|v| first(&mut response.location, v)),
        Some(b't') => value_of(line, b"transfer-encoding")
            .into_iter()
            .for_each(|v| add(&mut response.transfer_encodings, v)),
        Some(b'c') => {
            if let Some(value) = value_of(line, b"content-type") {
                first(&mut response.content_type, value);
            } else if let Some(value) = value_of(line, b"content-encoding") {
                add(&mut response.content_encodings, value);
            }
        }
        _ => {}
    }
}

/// Adds the codings of a list such as `gzip, br`.
fn add<'a>(encodings: &mut Encodings<'a>, list: &'a [u8]) {
    for name in list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty()) {
        if let Some(free) = encodings.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(name);
        }
    }
}

/// A media type such as `text/html; charset=utf-8`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct MediaType<'a> {
    /// The type, in lower case.
    pub name: String,
    pub charset: Option<Cow<'a, str>>,
}

/// Parses a media type such as `text/html; charset=utf-8`: the type in lower case, and the charset.
pub(super) fn media_type(value: &[u8]) -> MediaType<'_> {
    let mut parts = value.split(|&byte| byte == b';' || byte == b',');
    let name = String::from_utf8_lossy(parts.next().unwrap_or_default().trim_ascii()).to_ascii_lowercase();
    let charset = parts.find_map(|part| {
        let (key, value) = part.split_at(memchr(b'=', part)?);
        let value = value[1..].trim_ascii().trim_ascii_start();
        let value = value.strip_prefix(b"\"").unwrap_or(value);
        let value = value.strip_suffix(b"\"").unwrap_or(value);
        key.trim_ascii().eq_ignore_ascii_case(b"charset").then(|| String::from_utf8_lossy(value))
    });
    MediaType { name, charset }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_however_it_is_written() {
        for block in [
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: y\r\n\r\nbody",
            "HTTP/1.0 200\ncontent-type :text/html\n\nbody",
            "HTTP/1.1  200 Fine\r\nno field\r\nContent-Type:\r\n text/html\r\n\r\nbody",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody",
        ] {
            let response = parse(block.as_bytes()).unwrap();
            assert_eq!((response.status, response.body), (200, &b"body"[..]), "{block}");
            assert_eq!(response.content_type.map(<[u8]>::trim_ascii), Some(&b"text/html"[..]), "{block}");
        }
        let response =
            parse(b"HTTP/1.1 301\r\nLocation: /x\r\nContent-Encoding: gzip , br\r\nContent-Encoding: a")
                .unwrap();
        assert_eq!((response.status, response.location, response.body), (301, Some(&b"/x"[..]), &b""[..]));
        assert_eq!(response.content_encodings, [Some(&b"gzip"[..]), Some(b"br"), Some(b"a"), None]);
    }

    #[test]
    fn what_is_no_response_is_none() {
        for block in ["", "HTTP", "HTTP/1.1", "HTTP/1.1 abc", "<html>", "HTTP/1.1 20\r\n\r\n"] {
            assert_eq!(parse(block.as_bytes()), None, "{block}");
        }
    }

    #[test]
    fn media_types_have_charsets() {
        assert_eq!(
            media_type(b"Text/HTML; a=b; Charset = \"KOI8-R\""),
            MediaType { name: "text/html".into(), charset: Some("KOI8-R".into()) }
        );
        assert_eq!(media_type(b"text/plain"), MediaType { name: "text/plain".into(), charset: None });
        assert_eq!(media_type(b""), MediaType::default());
    }
}
