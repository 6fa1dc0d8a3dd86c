//! The one pass that lower-cases text and cuts it into words.
//!
//! Text is mostly ASCII, so that is taken in blocks: all characters of a block are classified at once, then whole words
//! are copied. Text from JSON is taken as it stands there: unescaping it first would be one more pass over everything.

use super::Canonical;
use super::json::unescape_one;
use super::letters::{Class, class, classes, is_word};
use super::segment::Census;
use super::simd::{Classified, Classifier, classifier};
use super::wide::wide;

/// How a text is written down.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Written {
    /// As it is.
    Plain,
    /// As the inside of a JSON string.
    Json,
}

/// Writes the words of `text`, lower-cased and one space apart.
pub(super) fn fold(text: &str, written: Written, out: &mut Canonical) {
    fold_by(wide(), text, written, out);
}

/// How the ASCII characters at the front of some bytes are taken where the machine has wide instructions for it; says how
/// many that are.
pub(super) type Taker = fn(&mut Cursor, &[u8], &mut Canonical) -> usize;

/// As [`fold`]; without a `taker` words are copied one by one.
pub(super) fn fold_by(taker: Option<Taker>, text: &str, written: Written, out: &mut Canonical) {
    out.start(text.len());
    let mut cursor = Cursor {
        length: 0,
        count: 0,
        in_word: 0,
        written,
        classify: classifier(),
        block: Classified::default(),
        census: Census::default(),
    };
    let take = taker.unwrap_or(Cursor::ascii);
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
    classify: Classifier,
    block: Classified,
    census: Census,
}

impl Cursor {
    /// Takes the ASCII characters at the front of `bytes`; says how many. Whole blocks are classified at once, and
    /// then words are copied, not characters: a character at a time takes three times as long.
    fn ascii(&mut self, bytes: &[u8], out: &mut Canonical) -> usize {
        let mut taken = 0;
        while let Some(block) = bytes.get(taken..taken + BLOCK) {
            (self.classify)(block.try_into().expect("a block"), &mut self.block);
            if self.written == Written::Json && self.block.escapes != 0 {
                self.block.skip_escapes(block);
            }
            let ascii = self.block.other.trailing_zeros() as usize;
            if ascii < BLOCK {
                self.block.words &= (1 << ascii) - 1;
            }
            self.copy_words(ascii, out);
            taken += ascii;
            if ascii < BLOCK {
                return taken;
            }
        }
        taken + self.ascii_tail(&bytes[taken..], out)
    }

    /// Takes the first `length` characters of the block, in which words are only among those.
    fn copy_words(&mut self, length: usize, out: &mut Canonical) {
        let mut mask = self.block.words;
        if length == 0 {
            return;
        }
        if mask & 1 == 0 {
            self.separator(out);
        }
        let (text, ends) = (&mut out.bytes[..], &mut out.ends[..]);
        let (mut at, mut count) = (self.length, self.count);
        while mask != 0 {
            let start = mask.trailing_zeros() as usize;
            let run = (!(mask >> start)).trailing_zeros() as usize;
            copy(&self.block.folded[start..], &mut text[at..], run);
            at += run;
            let end = start + run;
            if end >= length {
                (self.length, self.count, self.in_word) = (at, count, 1);
                return;
            }
            ends[count] = at as u32;
            count += 1;
            text[at] = b' ';
            at += 1;
            mask &= u64::MAX << end;
        }
        (self.length, self.count, self.in_word) = (at, count, 0);
    }

    /// Takes the ASCII characters at the front of what is shorter than a block; says how many.
    fn ascii_tail(&mut self, bytes: &[u8], out: &mut Canonical) -> usize {
        let length =
            bytes.iter().take(BLOCK).position(|&byte| self.stops(byte)).unwrap_or(bytes.len().min(BLOCK));
        let mut block = [b' '; BLOCK];
        block[..length].copy_from_slice(&bytes[..length]);
        (self.classify)(&block, &mut self.block);
        self.copy_words(length, out);
        length
    }

    /// Whether a character cannot be taken as it stands.
    fn stops(&self, byte: u8) -> bool {
        byte >= 0x80 || (byte == b'\\' && self.written == Written::Json)
    }

    fn character(&mut self, c: char, classes: &[Class], out: &mut Canonical) {
        match class(c, classes) {
            Class::Separator => self.separator(out),
            Class::Word => self.word(c, out),
            Class::Dense => {
                self.census.dense(self.count);
                self.word(c, out);
            }
            Class::Complex => {
                self.census.complex();
                self.word(c, out);
            }
            Class::Mark => {
                self.census.mark();
                self.separator(out);
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

    /// Closes the last word and takes away the separator behind it.
    fn finish(mut self, out: &mut Canonical) {
        self.separator(out);
        out.length = self.length.saturating_sub(1);
        out.count = self.count;
        out.census = self.census;
    }
}

/// Characters that are classified at once: a bit each in a word of the machine.
pub(super) const BLOCK: usize = 64;
/// Bytes that a word is copied by, whatever its length.
pub(super) const COPY: usize = 16;

/// Copies `length` bytes, and up to fifteen more: a copy of fixed length needs no loop.
#[inline]
fn copy(from: &[u8], to: &mut [u8], length: usize) {
    to[..COPY].copy_from_slice(&from[..COPY]);
    if length > COPY {
        to[COPY..length].copy_from_slice(&from[COPY..length]);
    }
}
