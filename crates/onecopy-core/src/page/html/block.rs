//! A block: a run of text that no box interrupts, and its counts.

use std::ops::Range;

/// A run of text in one box.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The position of its text in the text of the page.
    pub text: Range<usize>,
    /// The box that it stands in.
    pub node: u32,
    /// The counts of its text.
    pub count: Count,
}

/// Counts over text. UTF-8 bytes are classified without decoding: the counts only have to be similar for similar
/// text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub words: u32,
    /// Words inside links.
    pub linked: u32,
    /// Bytes of letters and digits.
    pub letters: u32,
    /// Words that begin with a capital letter.
    pub capitals: u32,
    /// Words that begin with a digit.
    pub numbers: u32,
    /// Ends of sentences.
    pub stops: u32,
    pub commas: u32,
    /// Marks that separate the entries of menus.
    pub bars: u32,
    pub links: u32,
    /// Whether the text ends like a sentence.
    pub ended: bool,
}

/// The class of a byte, for counting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Mark,
    Lower,
    Capital,
    Digit,
    /// The first byte of a character that is about a word by itself, as in Chinese.
    Ideograph,
    /// A later byte of a character.
    Tail,
}

/// Counts `text`; `linked` says whether it is inside a link.
pub fn count(text: &str, linked: bool) -> Count {
    let mut count = Count::default();
    let mut previous = Class::Space;
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let class = CLASSES[byte as usize];
        match class {
            Class::Tail => {
                count.letters += u32::from(previous != Class::Mark);
                continue;
            }
            Class::Space => {}
            Class::Mark => count.mark(byte, bytes.get(at + 1)),
            _ => count.letter(class, previous),
        }
        previous = class;
    }
    let last = bytes.trim_ascii_end();
    count.ended = last.ends_with(b".")
        || last.ends_with(b"!")
        || last.ends_with(b"?")
        || last.ends_with("。".as_bytes())
        || last.ends_with(b".\"")
        || last.ends_with(".”".as_bytes());
    if linked {
        count.linked = count.words;
    }
    count
}

impl Count {
    fn letter(&mut self, class: Class, previous: Class) {
        self.letters += 1;
        let begins = matches!(previous, Class::Space | Class::Mark);
        // Two ideographs count as one word, which is about right.
        if class == Class::Ideograph {
            self.words += self.letters & 1;
        } else if begins {
            self.words += 1;
            self.capitals += u32::from(class == Class::Capital);
            self.numbers += u32::from(class == Class::Digit);
        }
    }

    fn mark(&mut self, byte: u8, next: Option<&u8>) {
        let before_space =
            next.is_none_or(|next| matches!(CLASSES[*next as usize], Class::Space | Class::Mark));
        match byte {
            b'.' | b'!' | b'?' if before_space => self.stops += 1,
            b',' | b';' => self.commas += 1,
            b'|' | b'>' | b'/' => self.bars += 1,
            _ => {}
        }
    }

    /// Adds the counts of the text that follows.
    pub fn add(&mut self, next: &Count) {
        self.words += next.words;
        self.linked += next.linked;
        self.letters += next.letters;
        self.capitals += next.capitals;
        self.numbers += next.numbers;
        self.stops += next.stops;
        self.commas += next.commas;
        self.bars += next.bars;
        self.links += next.links;
        self.ended = if next.letters > 0 { next.ended } else { self.ended || next.ended };
    }
}

static CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Mark; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\n' | b'\t' | b'\r' | 0x0c => Class::Space,
            b'a'..=b'z' | b'_' => Class::Lower,
            b'A'..=b'Z' => Class::Capital,
            b'0'..=b'9' => Class::Digit,
            0x80..=0xbf => Class::Tail,
            // Latin-1 signs and general punctuation.
            0xc2 | 0xe2 => Class::Mark,
            0xe3..=0xe9 | 0xf0.. => Class::Ideograph,
            0xc3..=0xff => Class::Lower,
            _ => Class::Mark,
        };
        byte += 1;
    }
    classes
}
