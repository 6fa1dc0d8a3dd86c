//! The attributes of a start tag, read one by one.

use memchr::memchr;

/// The attributes of a start tag: names and values as written, with character references not decoded.
pub struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// Reads the part of a tag between the name of the element and its `>`.
    pub fn new(inside: &'a [u8]) -> Attributes<'a> {
        Attributes { rest: inside }
    }

    fn value(&mut self) -> &'a [u8] {
        let after = self.rest.trim_ascii_start();
        let Some(after) = after.strip_prefix(b"=") else { return b"" };
        let after = after.trim_ascii_start();
        let (value, rest) = match after.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                let inside = &after[1..];
                let end = memchr(quote, inside).unwrap_or(inside.len());
                (&inside[..end], inside.get(end + 1..).unwrap_or_default())
            }
            _ => {
                let end = after.iter().position(u8::is_ascii_whitespace).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        self.rest = rest;
        value
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let skipped = self.rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'/')?;
        let rest = &self.rest[skipped..];
        // The first byte belongs to the name even if it is `=`, so that every call consumes a byte.
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'/');
        let length = 1 + rest[1..].iter().position(ends).unwrap_or(rest.len() - 1);
        let (name, rest) = rest.split_at(length);
        self.rest = rest;
        Some((name, self.value()))
    }
}
