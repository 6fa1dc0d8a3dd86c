//! Parses the header of a record: where it ends, and the length it states.
//!
//! Crawlers leave lines out and insert blank ones. So a header ends at the blank line after its Content-Length. Without
//! a Content-Length it ends at the first line that cannot be a field.

use memchr::memchr;

use super::arc;
use super::marker::{self, Sure};

/// The longest accepted header.
pub(super) const HEADER_BYTES: usize = 64 << 10;

/// The parts of a header needed for framing. Offsets count from the start of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Where the block begins.
    pub block: usize,
    /// The stated length of the block.
    pub length: Option<u64>,
    /// Whether the header is complete.
    pub complete: bool,
    /// Whether another record starts where the block should.
    pub cut: bool,
}

/// The result of reading a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Read(Header),
    /// The answer needs more bytes.
    Open,
    /// The header has no end within the limit.
    Endless,
}

/// Parses the header at the start of `bytes`, of WARC or ARC. `whole` means that the stream has ended.
pub(super) fn read(bytes: &[u8], whole: bool) -> Outcome {
    if bytes.starts_with(b"WARC/") {
        return Scan { bytes, whole, at: 0, length: None }.run();
    }
    let line = match memchr(b'\n', &bytes[..bytes.len().min(arc::LINE_BYTES + 2)]) {
        Some(end) => &bytes[..end],
        None if whole => bytes,
        None => return Outcome::Open,
    };
    let length = arc::parse(trimmed(line)).and_then(|line| line.length);
    Outcome::Read(Header { block: (line.len() + 1).min(bytes.len()), length, complete: true, cut: false })
}

struct Scan<'a> {
    bytes: &'a [u8],
    whole: bool,
    at: usize,
    length: Option<u64>,
}

impl Scan<'_> {
    fn run(mut self) -> Outcome {
        // The version line has no information we need.
        let mut first = true;
        loop {
            let rest = &self.bytes[self.at..];
            // The search stops here even if more bytes are present: the answer must not depend on them.
            let end = match memchr(b'\n', &rest[..rest.len().min(HEADER_BYTES + 1)]) {
                _ if self.at > HEADER_BYTES => return Outcome::Endless,
                Some(end) => end,
                None if rest.len() > HEADER_BYTES => return Outcome::Endless,
                // The stream may end inside the first line of a block.
                None if self.whole && self.is_block(rest) => return self.ended(self.at, true),
                None if self.whole => return self.ended(self.bytes.len(), false),
                None => return Outcome::Open,
            };
            let line = trimmed(&rest[..end]);
            if !first {
                match self.line(line, self.at + end + 1) {
                    Next::Field => {}
                    Next::Block(block) => return self.ended(block, true),
                    Next::Start => return self.interrupted(),
                    Next::Open => return Outcome::Open,
                }
            }
            first = false;
            self.at += end + 1;
        }
    }

    fn ended(&self, block: usize, complete: bool) -> Outcome {
        Outcome::Read(Header { block, length: self.length, complete, cut: false })
    }

    fn interrupted(&self) -> Outcome {
        Outcome::Read(Header { block: self.at, length: self.length, complete: true, cut: true })
    }

    /// Whether the blank line is missing and the block begins with this line.
    fn is_block(&self, line: &[u8]) -> bool {
        self.length.is_some() && (line.starts_with(b"HTTP/") || line.starts_with(b"<"))
    }

    /// Interprets a line; `next` is the start of the line after it.
    fn line(&mut self, line: &[u8], next: usize) -> Next {
        if line.is_empty() {
            return self.blank(next);
        }
        if self.length.is_none()
            && let Some(value) = value_of(line, b"content-length")
        {
            self.length = arc::number(value);
        }
        if self.is_block(line) {
            return Next::Block(self.at);
        }
        // A start of either format counts: if this header never ends, its bytes are lost up to the next start of
        // either.
        match marker::sure(&self.bytes[self.at..], self.whole) {
            Sure::Yes => Next::Start,
            Sure::Unknown => Next::Open,
            Sure::No => Next::Field,
        }
    }

    /// A blank line ends the header, unless the length is still missing and more fields follow.
    fn blank(&self, next: usize) -> Next {
        let rest = &self.bytes[next..];
        if self.length.is_some() {
            return Next::Block(next);
        }
        let fields: [&[u8]; 3] = [b"warc-", b"content-type:", b"content-length:"];
        let follows =
            |name: &&[u8]| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        if fields.iter().any(follows) {
            Next::Field
        } else if rest.len() < 16 && !self.whole {
            Next::Open
        } else {
            Next::Block(next)
        }
    }
}

enum Next {
    Field,
    Block(usize),
    /// The start of another record.
    Start,
    Open,
}

/// A line without its carriage return.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The value of a field, if the line has this field name. `name` is in lower case.
pub(super) fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = line.split_at_checked(name.len())?;
    if !head.eq_ignore_ascii_case(name) {
        return None;
    }
    Some(rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> (usize, Option<u64>) {
        match read(text.as_bytes(), true) {
            Outcome::Read(Header { block, length, .. }) => (block, length),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_end_where_the_block_begins() {
        for (head, rest, length) in [
            ("WARC/1.0\r\ncontent-length : 5\r\n\r\n", "hello", Some(5)),
            ("WARC/0.18\nWARC-Type: response\nContent-Length: 5\n\n", "\n\nabc", Some(5)),
            ("WARC/1.0\r\nWARC-Type: x\r\n\r\nContent-Length: 3\r\n\r\n", "abc", Some(3)),
            ("WARC/1.0\r\nWARC-Type: x\r\n\r\n", "abc", None),
            ("WARC/1.0\r\nContent-Length: 12\r\n", "HTTP/1.1 200 OK\r\n\r\n", Some(12)),
            ("WARC/1.0\r\nWARC-Target-URI: http://a\nb\r\nContent-Length: 1\r\n\r\n", "x", Some(1)),
            ("WARC/1.0\r\nWARC-Type: x\r\n", "WARC/1.0\r\nWARC-Type: y\r\n\r\n", None),
            ("WARC/1.0\r\nContent-Length: -1\r\n\r\n", "abc", None),
            ("WARC/1.0\r\nContent-", "", None),
            ("http://a.example/ 1.2.3.4 20080509190241 text/html 3\n", "abc", Some(3)),
        ] {
            assert_eq!(block(&format!("{head}{rest}")), (head.len(), length), "{head:?}");
        }
    }

    #[test]
    fn a_header_that_does_not_end_is_none() {
        let long = format!("WARC/1.0\r\n{}", "a: b\r\n".repeat(HEADER_BYTES / 5));
        assert_eq!(read(long.as_bytes(), true), Outcome::Endless);
        assert_eq!(
            read(&[b"WARC/1.0\r\n", &*vec![b'a'; HEADER_BYTES + 9]].concat(), false),
            Outcome::Endless
        );
        assert_eq!(read(b"WARC/1.0\r\nContent-Len", false), Outcome::Open);
    }
}
