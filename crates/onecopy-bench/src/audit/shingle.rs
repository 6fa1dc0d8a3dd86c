//! The token rule of the benchmark: turns text into a set of 5-word shingle hashes.
//!
//! It reimplements Python's `re.findall(r"\w+", text.lower())` in Rust, because the corpora's exact pairs were made by
//! that rule. It shares no code with onecopy, so that each checks the other.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use xxhash_rust::xxh3::xxh3_64;

/// Words in a shingle.
const SHINGLE: usize = 5;

/// The distinct shingles of `text`, sorted. A page of fewer than five words is one shingle.
pub fn shingles(text: &str) -> Vec<u64> {
    let lower = text.to_lowercase();
    let words: Vec<u64> = lower
        .split(|letter| !is_word(letter))
        .filter(|word| !word.is_empty())
        .map(|word| xxh3_64(word.as_bytes()))
        .collect();
    let mut set: Vec<u64> = match words.len() {
        0..SHINGLE => vec![hash_words(&words)],
        _ => words.windows(SHINGLE).map(hash_words).collect(),
    };
    set.sort_unstable();
    set.dedup();
    set.shrink_to_fit();
    set
}

/// Python's `\w`: letters, numbers and the underscore, but no combining marks. Rust's `is_alphanumeric` differs: it
/// counts vowel signs as letters.
pub fn is_word(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric() || letter == '_';
    }
    let group = letter.general_category_group();
    matches!(group, GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// At most five words, so the bytes fit on the stack.
fn hash_words(words: &[u64]) -> u64 {
    let mut bytes = [0; SHINGLE * 8];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    xxh3_64(&bytes[..words.len() * 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_are_windows_of_five_words() {
        assert_eq!(shingles("a b c d e f g").len(), 3);
        assert_eq!(shingles("A, b-C! d\ne"), shingles("a b c d e"));
        assert_eq!(shingles("x x x x x x x x").len(), 1);
    }

    #[test]
    fn a_short_page_is_one_shingle() {
        assert_eq!(shingles("a b").len(), 1);
        assert_ne!(shingles("a b"), shingles("b a"));
        assert_eq!(shingles("").len(), 1);
        assert_eq!(shingles(""), shingles(" - "));
    }

    #[test]
    fn words_are_those_of_python() {
        assert!("aÉ_5ß中ñ½²Ⅷ".chars().all(is_word));
        assert!(!" -.\u{300}\u{93f}\u{2028}€😀".chars().any(is_word));
    }
}
