//! Which characters make words, and the one pass that lower-cases text and cuts it into words.
//!
//! A word is a run of letters, digits and underscores after lower-casing, as in Python's `\w+` on `text.lower()`:
//! combining marks separate. That rule is the one by which the exact-Jaccard figures of this field are computed.
//! One deviation: a final sigma equals a sigma, whatever stands behind it.

use std::sync::OnceLock;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::Canonical;

/// Whether `c`, already lower-cased, belongs to a word.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    // `is_alphanumeric` alone would take in vowel signs and circled letters, which are not letters by category.
    c.is_alphanumeric()
        && !matches!(
            c.general_category(),
            GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark | GeneralCategory::OtherSymbol
        )
}

/// Writes the words of `text`, lower-cased and one space apart.
pub(super) fn fold(text: &str, out: &mut Canonical) {
    out.start(text.len());
    let mut cursor = Cursor { length: 0, count: 0, in_word: 0 };
    let classes = classes();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] < 0x80 {
            at += cursor.ascii(&bytes[at..], out);
        } else {
            let c = text[at..].chars().next().expect("a character starts at every boundary");
            cursor.character(c, classes, out);
            at += c.len_utf8();
        }
    }
    cursor.finish(out);
}

/// Where the next byte and the next token go, and whether a word is open (1) or not (0).
struct Cursor {
    length: usize,
    count: usize,
    in_word: usize,
}

impl Cursor {
    /// Takes the ASCII characters at the front of `bytes`; says how many. The loop has no branch but its end:
    /// word lengths are what a branch predictor cannot learn.
    fn ascii(&mut self, bytes: &[u8], out: &mut Canonical) -> usize {
        let (text, ends) = (&mut out.bytes[..], &mut out.ends[..]);
        let (mut length, mut count, mut in_word) = (self.length, self.count, self.in_word);
        let mut taken = 0;
        for &byte in bytes {
            if byte >= 0x80 {
                break;
            }
            let folded = ASCII[byte as usize];
            let word = usize::from(folded != b' ');
            ends[count] = length as u32;
            count += in_word & (1 - word);
            text[length] = folded;
            length += word | in_word;
            in_word = word;
            taken += 1;
        }
        *self = Cursor { length, count, in_word };
        taken
    }

    fn character(&mut self, c: char, classes: &[Class], out: &mut Canonical) {
        match class(c, classes) {
            Class::Separator => self.separator(out),
            Class::Word => self.word(c, out),
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
    }
}

/// What to do with a character that is not ASCII.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Separator,
    /// Belongs to a word as it is.
    Word,
    /// Has a lower-case form, which must be looked up.
    Fold,
}

fn classify(c: char) -> Class {
    let mut lower = c.to_lowercase();
    if c == 'ς' || (lower.next(), lower.next()) != (Some(c), None) {
        Class::Fold
    } else if is_word(c) {
        Class::Word
    } else {
        Class::Separator
    }
}

fn class(c: char, classes: &[Class]) -> Class {
    match classes.get(c as usize) {
        Some(&class) => class,
        None => classify(c),
    }
}

/// The class of each character of the basic plane: looking it up in Unicode's compressed tables costs as much
/// as all the rest of the pass on text in Russian or Chinese.
fn classes() -> &'static [Class] {
    static CLASSES: OnceLock<Vec<Class>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        (0..0x1_0000).map(|code| char::from_u32(code).map_or(Class::Separator, classify)).collect()
    })
}

/// The lower-case form of each ASCII character of a word; a space for all others.
const ASCII: [u8; 128] = {
    let mut table = [b' '; 128];
    let mut byte = 0u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};
