//! Splits text into words for display: the end of each word, and a key to compare it by.
//!
//! The canonical text does not record the origin of its words, so the text is split again here. A word is a run of
//! letters, digits and underscores, plus everything up to the next word. So all words concatenate to the text.

use std::ops::Range;

use onecopy_core::{Canonical, CanonicalRules, Words as WordRules, canonicalise, digest};

/// A text and its words.
#[derive(Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    ends: Vec<usize>,
    /// Equal for words with equal canonical forms.
    pub keys: Vec<u64>,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str, rules: &CanonicalRules) -> Words<'a> {
        // Words this short contain nothing for a dictionary to segment.
        let rules = CanonicalRules { words: WordRules::Runs, ..rules.clone() };
        let (mut ends, mut canonical) = (Vec::new(), Canonical::default());
        ends.extend(starts(text).skip(1));
        if starts(text).next().is_some() {
            ends.push(text.len());
        }
        let mut start = 0;
        let keys = ends
            .iter()
            .map(|&end| key(&text[std::mem::replace(&mut start, end)..end], &rules, &mut canonical));
        Words { text, keys: keys.collect(), ends }
    }

    /// The number of words. In scripts without spaces each character is one.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of a range of words, with everything between and after them.
    pub(super) fn text(&self, words: Range<usize>) -> &'a str {
        let end = |count: usize| count.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.text[end(words.start)..end(words.end)]
    }
}

fn key(word: &str, rules: &CanonicalRules, canonical: &mut Canonical) -> u64 {
    canonicalise(word, rules, canonical);
    match canonical.as_bytes() {
        b"" => digest(word.trim().as_bytes()),
        bytes => digest(bytes),
    }
}

/// The starts of the words. Anything before the first word belongs to it.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    let mut inside = false;
    text.char_indices().filter_map(move |(at, c)| {
        let is_word = c == '_' || c.is_alphanumeric();
        let begins = is_word && (!inside || is_spaceless(c));
        inside = is_word;
        begins.then_some(at)
    })
}

/// Whether a word may begin at `c` without a space before it: Chinese, Japanese, Thai, Lao, Khmer and Burmese.
/// Combining signs attach to the letter before them and are excluded.
fn is_spaceless(c: char) -> bool {
    match c {
        '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' => false,
        '\u{eb1}' | '\u{eb4}'..='\u{ebc}' | '\u{ec8}'..='\u{ece}' => false,
        '\u{17b4}'..='\u{17d3}' | '\u{102b}'..='\u{103e}' | '\u{1056}'..='\u{1059}' => false,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => true,
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' => true,
        '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        let words = Words::new(text, &CanonicalRules::default());
        (0..words.len()).map(|word| words.text(word..word + 1)).collect()
    }

    #[test]
    fn words_keep_what_stands_behind_them() {
        assert_eq!(cut("  «One», two-three.\n\nFour "), ["  «One», ", "two-", "three.\n\n", "Four "]);
        assert_eq!(cut("湖畔の abc。"), ["湖", "畔", "の ", "abc。"]);
        assert_eq!(cut("กินข้าว").concat(), "กินข้าว");
        assert!(cut("").is_empty() && cut(" -- \n").is_empty());
    }

    #[test]
    fn keys_are_of_the_canonical_form() {
        let keys = |text| Words::new(text, &CanonicalRules::default()).keys;
        assert_eq!(keys("The END, (of) it"), keys("the end of\nit!"));
        assert_ne!(keys("the end"), keys("the and"));
    }
}
