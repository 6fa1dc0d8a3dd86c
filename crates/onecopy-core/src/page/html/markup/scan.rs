//! HTML → text runs and tags, reading the bytes once.
//!
//! It follows the tokens of the HTML standard, and simplifies what no reader sees. Names are kept as [`Tag`]s,
//! attributes are not parsed, and the contents of scripts and the like are skipped.

use memchr::{memchr, memchr3, memmem};

use super::tag::Tag;

/// Names longer than this are unknown elements.
const NAME_LIMIT: usize = 12;

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Text, with character references not decoded.
    Text(&'a str),
    Open(Open<'a>),
    Close(Tag),
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open<'a> {
    pub tag: Tag,
    /// The bytes between the name and the `>`.
    pub attributes: &'a [u8],
}

/// The tokens of a page.
pub struct Scanner<'a> {
    html: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(html: &'a str) -> Scanner<'a> {
        Scanner { html, at: 0 }
    }

    fn bytes(&self) -> &'a [u8] {
        self.html.as_bytes()
    }

    /// The next `<` from `from` on that begins something other than text.
    fn markup(&self, mut from: usize) -> Option<usize> {
        let bytes = self.bytes();
        loop {
            let at = from + memchr(b'<', bytes.get(from..)?)?;
            match bytes.get(at + 1) {
                Some(b'!' | b'?') => return Some(at),
                Some(byte) if byte.is_ascii_alphabetic() => return Some(at),
                Some(b'/') if bytes.get(at + 2).is_some_and(|byte| *byte != b'>') => return Some(at),
                _ => from = at + 1,
            }
        }
    }

    /// Skips the tag, comment or declaration at the cursor.
    fn step(&mut self) -> Option<Token<'a>> {
        let bytes = self.bytes();
        match (bytes[self.at + 1], bytes.get(self.at + 2)) {
            (b'/', Some(byte)) if byte.is_ascii_alphabetic() => {
                let (tag, end) = self.name(self.at + 2);
                self.at = self.tag_end(end);
                Some(Token::Close(tag))
            }
            (b'!' | b'?' | b'/', _) => {
                self.at = comment_end(bytes, self.at);
                None
            }
            _ => self.open(),
        }
    }

    fn open(&mut self) -> Option<Token<'a>> {
        let bytes = self.bytes();
        let (tag, end) = self.name(self.at + 1);
        let name = &bytes[self.at + 1..end];
        let next = self.tag_end(end);
        self.at = next;
        // A tag that the end of the page cuts off is not a tag.
        let attributes = bytes[end..next].strip_suffix(b">")?;
        if tag == Tag::Raw {
            self.at = raw_end(bytes, next, name);
        }
        Some(Token::Open(Open { tag, attributes }))
    }

    /// The tag whose name begins at `start`, and where the name ends.
    fn name(&self, start: usize) -> (Tag, usize) {
        let rest = &self.bytes()[start..];
        let ends = |byte: &u8| matches!(byte, b'>' | b'/' | b' ' | b'\n' | b'\t' | b'\r' | 0x0c);
        let mut lower = [0; NAME_LIMIT];
        let short = rest.iter().take(NAME_LIMIT + 1).position(ends);
        let length = short.or_else(|| rest.iter().position(ends)).unwrap_or(rest.len());
        if length > NAME_LIMIT {
            return (Tag::Other, start + length);
        }
        for (to, from) in lower.iter_mut().zip(&rest[..length]) {
            *to = from.to_ascii_lowercase();
        }
        (Tag::named(&lower[..length]), start + length)
    }

    /// The position after the `>` that ends the tag. A `>` in a quoted value does not end it.
    fn tag_end(&self, mut from: usize) -> usize {
        let bytes = self.bytes();
        while let Some(offset) = memchr3(b'>', b'"', b'\'', &bytes[from..]) {
            let at = from + offset;
            let quote = bytes[at];
            if quote == b'>' {
                return at + 1;
            }
            from = at + 1;
            // A quote begins a value only after `=`.
            if bytes[..at].trim_ascii_end().last() == Some(&b'=') {
                match memchr(quote, &bytes[from..]) {
                    Some(length) => from += length + 1,
                    None => break,
                }
            }
        }
        bytes.len()
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        while self.at < self.html.len() {
            let start = self.at;
            let end = self.markup(start).unwrap_or(self.html.len());
            if end > start {
                self.at = end;
                return Some(Token::Text(&self.html[start..end]));
            }
            if let Some(token) = self.step() {
                return Some(token);
            }
        }
        None
    }
}

/// The position after the comment, declaration or other markup without text that begins at `start`.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    let end = if !rest.starts_with(b"<!--") {
        memchr(b'>', rest).map(|at| at + 1)
    } else if rest.starts_with(b"<!-->") {
        Some(5)
    } else {
        // The search includes its own dashes: `<!--->` is a whole comment.
        dashes_end(&rest[2..]).map(|end| end + 2)
    };
    start + end.unwrap_or(rest.len())
}

/// The position after the first `-->` or `--!>`.
fn dashes_end(bytes: &[u8]) -> Option<usize> {
    let mut from = 1;
    loop {
        let at = from + memmem::find(bytes.get(from..)?, b"--")?;
        match &bytes[at + 2..] {
            [b'>', ..] => return Some(at + 3),
            [b'!', b'>', ..] if at > 1 => return Some(at + 4),
            _ => from = at + 1,
        }
    }
}

/// Where the end tag of the raw element called `name` begins, from `from` on.
fn raw_end(bytes: &[u8], mut from: usize, name: &[u8]) -> usize {
    while let Some(offset) = memmem::find(&bytes[from..], b"</") {
        let at = from + offset;
        let found = bytes.get(at + 2..at + 2 + name.len());
        let ended = bytes.get(at + 2 + name.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        if ended && found.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return at;
        }
        from = at + 2;
    }
    bytes.len()
}
