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
    /// The first byte of a character that is about half a word, as in Chinese.
    Ideograph,
    /// The first byte of a character in a script that has spaces between phrases, not words, as in Thai.
    Spaceless,
    /// A byte that both letters and marks begin with.
    Mixed,
    /// A later byte of a character.
    Tail,
}

/// Counts `text`; `linked` says whether it is inside a link.
pub fn count(text: &str, linked: bool) -> Count {
    let mut count = Count::default();
    let mut previous = ByteClass::Space;
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let mut class = CLASSES[byte as usize];
        if class == ByteClass::Mixed {
            class = text[at..].chars().next().map_or(class, class_of);
        }
        match class {
            ByteClass::Tail => {
                count.letters += u32::from(previous != ByteClass::Mark);
                continue;
            }
            ByteClass::Space => count.commas += u32::from(previous == ByteClass::Spaceless),
            ByteClass::Mark if byte.is_ascii() => count.mark(byte, bytes.get(at + 1)),
            ByteClass::Mark => count.far_mark(&text[at..]),
            _ => count.letter(class, previous),
        }
        previous = class;
    }
    count.ended = is_ended(text.trim_ascii_end());
    if linked {
        count.linked = count.words;
    }
    count
}

/// The class of a character that begins with a mixed byte.
fn class_of(character: char) -> ByteClass {
    match character {
        _ if is_far_stop(character) || is_far_comma(character) => ByteClass::Mark,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => ByteClass::Spaceless,
        '\u{3000}'..='\u{3fff}' => ByteClass::Ideograph,
        _ => ByteClass::Lower,
    }
}

/// Whether a character ends a sentence in Chinese, Japanese, Arabic, Urdu, Hindi, Burmese or Khmer.
fn is_far_stop(character: char) -> bool {
    matches!(character, '。' | '！' | '？' | '．' | '｡' | '؟' | '۔' | '।' | '။' | '។')
}

/// Whether a character is the comma or the semicolon of one of these languages.
fn is_far_comma(character: char) -> bool {
    matches!(character, '、' | '，' | '；' | '､' | '،' | '؛')
}

/// Whether a text ends like a sentence.
fn is_ended(text: &str) -> bool {
    text.ends_with(['.', '!', '?'])
        || text.ends_with(is_far_stop)
        || text.ends_with(".\"")
        || text.ends_with(".”")
}

impl Count {
    fn letter(&mut self, class: ByteClass, previous: ByteClass) {
        self.letters += 1;
        let begins = matches!(previous, ByteClass::Space | ByteClass::Mark);
        // Two ideographs count as one word, which is about right.
        if class == ByteClass::Ideograph {
            self.words += self.letters & 1;
        } else if class == ByteClass::Spaceless {
            // So do four of these, since vowel signs count.
            self.words += u32::from(self.letters & 3 == 1);
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

    /// Counts the mark beyond ASCII that `text` begins with.
    fn far_mark(&mut self, text: &str) {
        self.stops += u32::from(text.starts_with(is_far_stop));
        self.commas += u32::from(text.starts_with(is_far_comma));
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
            // Arabic; Hindi, Thai and Lao; Burmese and Khmer; marks of Chinese, kana; wide forms.
            0xd8 | 0xdb | 0xe0 | 0xe1 | 0xe3 | 0xef => ByteClass::Mixed,
            0xe4..=0xe9 | 0xf0.. => ByteClass::Ideograph,
            0xc3..=0xff => ByteClass::Lower,
            _ => ByteClass::Mark,
        };
        byte += 1;
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words, stops and commas.
    fn counts(text: &str) -> [u32; 3] {
        let count = count(text, false);
        [count.words, count.stops, count.commas]
    }

    #[test]
    fn marks_of_all_scripts_count_as_those_of_latin() {
        assert_eq!(counts("One, two. Three!"), [3, 2, 1]);
        assert_eq!(counts("我们走，你们来。好！"), [4, 2, 1]);
        assert_eq!(counts("行く、来る。"), [2, 1, 1]);
        assert_eq!(counts("واحد، اثنان؛ ثلاثة؟"), [3, 1, 2]);
        assert_eq!(counts("एक, दो।"), [2, 1, 1]);
        for ended in ["Done.", "好。 ", "好！", "तीन।", "ثلاثة؟", "He said \"no.\""] {
            assert!(count(ended, false).ended, "{ended}");
        }
        for open in ["Menu", "菜单", "菜单、", "وا", "เมนู", ""] {
            assert!(!count(open, false).ended, "{open}");
        }
    }

    #[test]
    fn thai_has_several_words_between_its_spaces_which_are_its_commas() {
        assert_eq!(counts("ภาษาไทยไม่มีช่องว่างระหว่างคำ แต่มีระหว่างวลี"), [11, 0, 1]);
        assert_eq!(counts("ພາສາລາວ"), [2, 0, 0]);
        assert_eq!(counts("ភាសាខ្មែរ។"), [3, 1, 0]);
    }
}
