//! Words with a tag: hashes whose last bits say what a word of a sketch is, and where it is on its page.
//!
//! The other bits identify the word, so sketches are sorted by what they share.

/// The bits of the tag. Two words are the same if all other bits are equal.
pub(crate) const TAG: u64 = 0xfff;
/// The bit of a tag that is set unless the word is a shingle of main content.
pub(crate) const REST: u64 = 1;
/// The tag of a shingle outside the main content.
const ELSEWHERE: u64 = TAG;
/// The tag of a word of the title.
pub(crate) const TITLE: u64 = 1;
/// The tag of a word of the title that the main content has too: a word of the page's subject.
pub(crate) const SUBJECT: u64 = 3;
/// How many words of main content have a place of their own. Shingles behind them share the last place.
pub(crate) const PLACES: usize = (TAG >> 1) as usize;

/// A shingle of main content whose first word is at `place` in the main content.
#[inline]
pub(crate) fn placed(hash: u64, place: usize) -> u64 {
    hash & !TAG | (place.min(PLACES) as u64) << 1
}

/// The place of a shingle of main content, or [`PLACES`] if it has none.
#[inline]
pub(crate) fn place(word: u64) -> usize {
    ((word & TAG) >> 1) as usize
}

/// A shingle outside the main content.
#[inline]
pub(crate) fn elsewhere(hash: u64) -> u64 {
    hash | ELSEWHERE
}

/// A shingle of a page without places. Its tag is made of its other bits, so that it is a hash as good as any.
#[inline]
pub(crate) fn untagged(word: u64) -> u64 {
    word & !TAG | word >> 52 & (TAG - REST)
}

/// The same for all tags of a word.
#[inline]
pub(crate) fn identity(word: u64) -> u64 {
    word | TAG
}

/// Whether a word is a shingle of main content.
#[inline]
pub(crate) fn is_main(word: u64) -> bool {
    word & REST == 0
}

/// Whether a word is a shingle outside the main content.
#[inline]
pub(crate) fn is_elsewhere(word: u64) -> bool {
    word & TAG == ELSEWHERE
}
