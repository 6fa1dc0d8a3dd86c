//! The single pass that lower-cases text and cuts it into words.
//!
//! Text is mostly ASCII, which `block` takes in blocks. JSON text is read with its escapes: unescaping it first
//! would be one more pass.

use super::Canonical;
use super::json::unescape_one;
use super::letters::{Class, class, classes, is_word};
use super::segment::Census;
use super::simd::taker;
use crate::simd::{Level, level};

/// How a text is encoded.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Written {
    /// Plain text.
    Plain,
    /// The inside of a JSON string.
    Json,
}

/// Writes the words of `text`, in lower case and one space apart.
pub(super) fn fold(text: &str, written: Written, out: &mut Canonical) {
    fold_by(level(), text, written, out);
}

/// Takes the ASCII characters at the front of some bytes; returns how many.
pub(super) type Taker = fn(&mut Cursor, &[u8], &mut Canonical) -> usize;

/// Like [`fold`], with the instructions of `level`.
pub(super) fn fold_by(level: Level, text: &str, written: Written, out: &mut Canonical) {
    out.start(text.len());
    let mut cursor = Cursor { length: 0, count: 0, in_word: 0, written, census: Census::default() };
    let take = taker(level);
    let classes = classes();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (c, length) = match bytes[at] {
            b'\\' if written == Written::Json => unescape_one(&bytes[at..]),
            0x80.. => {
                let c = text[at..].chars().next().expect("a character starts at every boundary");
                (c, c.len_utf8())
            }
            _ => {
                at += take(&mut cursor, &bytes[at..], out);
                continue;
            }
        };
        cursor.character(c, classes, out);
        at += length;
    }
    cursor.finish(out);
}

/// Where the next byte and the next token go, and whether a word is open (1) or not (0).
pub(super) struct Cursor {
    pub length: usize,
    pub count: usize,
    pub in_word: usize,
    pub written: Written,
    census: Census,
}

impl Cursor {
    fn character(&mut self, c: char, classes: &[Class], out: &mut Canonical) {
        match class(c, classes) {
            Class::Separator => self.separator(out),
            Class::Word => self.word(c, out),
            Class::Dense => {
                self.census.dense(self.count);
                self.word(c, out);
            }
            Class::Complex => {
                self.census.complex(self.count);
                self.word(c, out);
            }
            Class::Mark => {
                let before = self.count;
                self.separator(out);
                self.census.mark(before, self.count);
            }
            Class::Fold => {
                for lower in c.to_lowercase() {
                    let lower = if lower == 'ς' { 'σ' } else { lower };
                    if is_word(lower) { self.word(lower, out) } else { self.separator(out) }
                }
            }
        }
    }

    fn word(&mut self, c: char, out: &mut Canonical) {
        self.length += c.encode_utf8(&mut out.bytes[self.length..]).len();
        self.in_word = 1;
    }

    fn separator(&mut self, out: &mut Canonical) {
        if self.in_word == 1 {
            out.ends[self.count] = self.length as u32;
            out.bytes[self.length] = b' ';
            self.count += 1;
            self.length += 1;
            self.in_word = 0;
        }
    }

    /// Closes the last word and removes the separator after it.
    fn finish(mut self, out: &mut Canonical) {
        self.separator(out);
        out.length = self.length.saturating_sub(1);
        out.count = self.count;
        out.census = self.census;
    }
}
