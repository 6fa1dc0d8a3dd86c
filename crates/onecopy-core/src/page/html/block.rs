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
enum ByteClass {
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
    let mut previous = ByteClass::Space;
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let class = CLASSES[byte as usize];
        match class {
            ByteClass::Tail => {
                count.letters += u32::from(previous != ByteClass::Mark);
                continue;
            }
            ByteClass::Space => {}
            ByteClass::Mark => count.mark(byte, bytes.get(at + 1)),
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
    fn letter(&mut self, class: ByteClass, previous: ByteClass) {
        self.letters += 1;
        let begins = matches!(previous, ByteClass::Space | ByteClass::Mark);
        // Two ideographs count as one word, which is about right.
        if class == ByteClass::Ideograph {
            self.words += self.letters & 1;
        } else if begins {
            self.words += 1;
            self.capitals += u32::from(class == ByteClass::Capital);
            self.numbers += u32::from(class == ByteClass::Digit);
        }
    }

    fn mark(&mut self, byte: u8, next: Option<&u8>) {
        let before_space =
            next.is_none_or(|next| matches!(CLASSES[*next as usize], ByteClass::Space | ByteClass::Mark));
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

static CLASSES: [ByteClass; 256] = classes();

const fn classes() -> [ByteClass; 256] {
    let mut classes = [ByteClass::Mark; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\n' | b'\t' | b'\r' | 0x0c => ByteClass::Space,
            b'a'..=b'z' | b'_' => ByteClass::Lower,
            b'A'..=b'Z' => ByteClass::Capital,
            b'0'..=b'9' => ByteClass::Digit,
            0x80..=0xbf => ByteClass::Tail,
            // Latin-1 signs and general punctuation.
            0xc2 | 0xe2 => ByteClass::Mark,
            0xe3..=0xe9 | 0xf0.. => ByteClass::Ideograph,
            0xc3..=0xff => ByteClass::Lower,
            _ => ByteClass::Mark,
        };
        byte += 1;
    }
    classes
}
