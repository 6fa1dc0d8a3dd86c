//! The tags at the front of a page, in sequence.
//!
//! Attributes are parsed only if a caller asks for one. A tag, comment or script that is not closed ends the scan,
//! so that every byte is read a fixed number of times, whatever the page holds.

use std::borrow::Cow;

use memchr::memchr;
use memchr::memmem::find;

/// Start tags until the head ends: until text, `</head>` or the end of the page.
pub(super) struct Tags<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A start tag.
pub(super) struct StartTag<'a> {
    /// The name in lower case, up to the longest name that matters here.
    name: [u8; NAME_BYTES],
    name_length: usize,
    /// The bytes between the name and the end of the tag.
    attributes: &'a [u8],
}

const NAME_BYTES: usize = 12;

impl<'a> Tags<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Tags<'a> {
        Tags { bytes: bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes), at: 0 }
    }

    /// The next start tag.
    pub(super) fn next(&mut self) -> Option<StartTag<'a>> {
        loop {
            let rest = &self.bytes[self.at..];
            let text = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
            let rest = &rest[text..];
            self.at += text;
            match rest {
                [b'<', b'!', b'-', b'-', ..] => self.at += 2 + find(&rest[2..], b"-->")? + 3,
                [b'<', b'!' | b'?', ..] => self.at += memchr(b'>', rest)? + 1,
                [b'<', b'/', name @ ..] if starts_with(name, b"head") => return None,
                [b'<', b'/', ..] => self.at += memchr(b'>', rest)? + 1,
                [b'<', letter, ..] if letter.is_ascii_alphabetic() => return self.tag(),
                _ => return None,
            }
        }
    }

    fn tag(&mut self) -> Option<StartTag<'a>> {
        let rest = &self.bytes[self.at + 1..];
        let name_length = rest.iter().position(|&byte| ends_name(byte))?;
        let mut name = [0; NAME_BYTES];
        for (to, from) in name.iter_mut().zip(&rest[..name_length]) {
            *to = from.to_ascii_lowercase();
        }
        let attributes = &rest[name_length..];
        let end = tag_end(attributes)?;
        self.at += 1 + name_length + end + 1;
        Some(StartTag { name, name_length, attributes: &attributes[..end] })
    }

    /// Moves past the end tag of the element that `tag` began, and returns what is inside. Without an end tag the scan
    /// ends.
    pub(super) fn skip_element(&mut self, tag: &StartTag) -> &'a [u8] {
        let inside = &self.bytes[self.at..];
        while let Some(found) = find(&self.bytes[self.at..], b"</") {
            self.at += found + 2;
            if starts_with(&self.bytes[self.at..], tag.name()) {
                let length = inside.len() - (self.bytes.len() - self.at) - 2;
                let end = memchr(b'>', &self.bytes[self.at..]);
                self.at = end.map_or(self.bytes.len(), |end| self.at + end + 1);
                return &inside[..length];
            }
        }
        self.at = self.bytes.len();
        inside
    }
}

impl StartTag<'_> {
    /// The name in lower case; empty if it is longer than any that matters.
    pub(super) fn name(&self) -> &[u8] {
        self.name.get(..self.name_length).unwrap_or_default()
    }

    /// The value of the first attribute of that name, with entities decoded.
    pub(super) fn value(&self, name: &[u8]) -> Option<String> {
        let mut rest = self.attributes;
        while let Some((attribute, value, behind)) = attribute(rest) {
            if attribute.eq_ignore_ascii_case(name) {
                return Some(decoded(&String::from_utf8_lossy(value)).into_owned());
            }
            rest = behind;
        }
        None
    }
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'/' || byte == b'>'
}

/// Whether the tag name at the front of `bytes` is `name`.
fn starts_with(bytes: &[u8], name: &[u8]) -> bool {
    bytes.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
        && bytes.get(name.len()).is_none_or(|&byte| ends_name(byte))
}

/// The position of the `>` that ends a tag, outside quoted values. A quote opens a value only after `=`.
fn tag_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', &bytes[at..])?;
        if bytes[at] == b'>' {
            return Some(at);
        }
        let before = bytes[..at].iter().rposition(|byte| !byte.is_ascii_whitespace());
        let opens = before.is_some_and(|before| bytes[before] == b'=');
        at += 1 + if opens { memchr(bytes[at], &bytes[at + 1..])? + 1 } else { 0 };
    }
}

/// The first attribute, its value, and the rest.
fn attribute(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let start = bytes.iter().position(|&byte| !(byte.is_ascii_whitespace() || byte == b'/'))?;
    let bytes = &bytes[start..];
    // A name can begin with `=`, and ends before the next `=`.
    let end = bytes[1..]
        .iter()
        .position(|&byte| ends_name(byte) || byte == b'=')
        .map_or(bytes.len(), |end| end + 1);
    let (name, rest) = bytes.split_at(end);
    let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { return Some((name, b"", rest)) };
    let value = value.trim_ascii_start();
    let quote = value.first().filter(|quote| matches!(quote, b'"' | b'\''));
    if let Some(&quote) = quote {
        let end = memchr(quote, &value[1..])?;
        return Some((name, &value[1..=end], &value[end + 2..]));
    }
    let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
    Some((name, &value[..end], &value[end..]))
}

/// `text` with its entities decoded: numbers, and the five names that addresses use.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('&') else { return text.into() };
    let mut out = text[..first].to_owned();
    for piece in text[first + 1..].split('&') {
        match piece.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest))) {
            Some((c, rest)) => {
                out.push(c);
                out.push_str(rest);
            }
            None => {
                out.push('&');
                out.push_str(piece);
            }
        }
    }
    out.into()
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" | "AMP" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
