//! Text → sentences, in every script.
//!
//! A sentence ends at a line break or after a mark that ends sentences. Abbreviations end one too. The same text
//! must be cut in the same way everywhere; the cuts need not be grammatical.

/// The sentences of `text`, with the marks that end them and the white space around them. Some have no words.
pub(crate) fn sentences(text: &str) -> Sentences<'_> {
    Sentences { text, at: 0 }
}

/// Iterates over the sentences of a text.
pub(crate) struct Sentences<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Sentences<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self.at;
        if start == self.text.len() {
            return None;
        }
        self.at = end(self.text, start);
        Some(&self.text[start..self.at])
    }
}

/// Where the sentence that begins at `start` ends.
fn end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte >= 0x80 {
            let c = text[at..].chars().next().expect("a character starts at every boundary");
            at += c.len_utf8();
            if ends_sentence(c) || (is_unmarked(c) && bytes.get(at) == Some(&b' ')) {
                return at;
            }
            continue;
        }
        at += 1;
        match ASCII[byte as usize] {
            Ascii::Plain => {}
            Ascii::Break => return at,
            // A dot inside `3.14`, `v2.0` or `example.com` ends nothing.
            Ascii::Mark if bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) => {}
            Ascii::Mark => return at,
        }
    }
    at
}

/// The effect of an ASCII character on a sentence.
#[derive(Clone, Copy, PartialEq)]
enum Ascii {
    Plain,
    /// Ends it.
    Break,
    /// Ends it unless a letter or digit follows immediately.
    Mark,
}

/// Two comparisons per byte would do, but a table lookup takes half the time.
const ASCII: [Ascii; 128] = {
    let mut table = [Ascii::Plain; 128];
    table[b'.' as usize] = Ascii::Mark;
    table[b'!' as usize] = Ascii::Mark;
    table[b'?' as usize] = Ascii::Mark;
    let mut breaks = b'\n';
    while breaks <= b'\r' {
        table[breaks as usize] = Ascii::Break;
        breaks += 1;
    }
    table
};

/// Whether sentences end after `c`, which is not ASCII. These are the marks of the basic plane that Unicode lists as
/// ends of sentences. Ellipses, Tibetan shads, the Khmer khan, the Greek question mark and line breaks end them too.
fn ends_sentence(c: char) -> bool {
    match c {
        // Most letters that are not ASCII: Latin, Greek, Cyrillic, then kana, Chinese and Hangul.
        '\u{a0}'..='\u{588}' => c == '\u{37e}',
        '\u{3003}'..='\u{a4fe}' | '\u{ac00}'..='\u{fe51}' => false,
        '\u{85}' | '\u{589}' | '\u{61d}'..='\u{61f}' | '\u{6d4}' | '\u{700}'..='\u{702}' | '\u{7f9}' => true,
        '\u{837}' | '\u{839}' | '\u{83d}' | '\u{83e}' | '\u{964}' | '\u{965}' => true,
        '\u{f0d}'..='\u{f11}' | '\u{104a}' | '\u{104b}' | '\u{1362}' | '\u{1367}' | '\u{1368}' => true,
        '\u{166e}' | '\u{1735}' | '\u{1736}' | '\u{17d4}' | '\u{17d5}' | '\u{1803}' | '\u{1809}' => true,
        '\u{1944}' | '\u{1945}' | '\u{1aa8}'..='\u{1aab}' | '\u{1b5a}' | '\u{1b5b}' | '\u{1b5e}' => true,
        '\u{1b5f}' | '\u{1c3b}' | '\u{1c3c}' | '\u{1c7e}' | '\u{1c7f}' => true,
        '\u{2026}' | '\u{2028}' | '\u{2029}' | '\u{203c}' | '\u{203d}' | '\u{2047}'..='\u{2049}' => true,
        '\u{2e2e}' | '\u{2e3c}' | '\u{2e53}' | '\u{2e54}' | '\u{3002}' => true,
        '\u{a4ff}' | '\u{a60e}' | '\u{a60f}' | '\u{a6f3}' | '\u{a6f7}' | '\u{a876}' | '\u{a877}' => true,
        '\u{a8ce}' | '\u{a8cf}' | '\u{a92f}' | '\u{a9c8}' | '\u{a9c9}' | '\u{aa5d}'..='\u{aa5f}' => true,
        '\u{aaf0}' | '\u{aaf1}' | '\u{abeb}' => true,
        '\u{fe52}' | '\u{fe56}' | '\u{fe57}' | '\u{ff01}' | '\u{ff0e}' | '\u{ff1f}' | '\u{ff61}' => true,
        _ => false,
    }
}

/// Whether `c` is Thai or Lao, which end a sentence with a space and have no mark for it.
fn is_unmarked(c: char) -> bool {
    ('\u{e00}'..='\u{eff}').contains(&c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = sentences(text).map(str::trim).filter(|part| !part.is_empty()).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn sentences_end_in_every_script() {
        check("One. Two! Three? Four… five", &["One.", "Two!", "Three?", "Four…", "five"]);
        check("He said \"Go.\" Then (so.) he went.", &["He said \"Go.", "\" Then (so.", ") he went."]);
        check("一。二！三？四｡", &["一。", "二！", "三？", "四｡"]);
        check("यह एक है। यह दो है॥", &["यह एक है।", "यह दो है॥"]);
        check("یہ ایک ہے۔ کیا؟ ہاں", &["یہ ایک ہے۔", "کیا؟", "ہاں"]);
        check("សួស្តី។ ពីរ", &["សួស្តី។", "ពីរ"]);
        check("አንድ። ሁለት፧", &["አንድ።", "ሁለት፧"]);
        check("หนึ่งสอง สามสี่ five six", &["หนึ่งสอง", "สามสี่", "five six"]);
        check("Ένα; Δύο.", &["Ένα; Δύο."]);
        check("Ένα\u{37e} Δύο.", &["Ένα\u{37e}", "Δύο."]);
        check("a\nb\r\nc\u{2028}d\u{85}e", &["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn marks_inside_words_end_nothing() {
        check("See v2.0 at example.com/?q=1 or 3.14 of it", &["See v2.0 at example.com/?q=1 or 3.14 of it"]);
        check("", &[]);
        check("...", &[".", ".", "."]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in any::<String>()) {
            prop_assert_eq!(sentences(&text).collect::<String>(), text);
        }
    }
}
