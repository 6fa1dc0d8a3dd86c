//! A glance at a page: a few words, which settle most pages.
//!
//! Doubtful pages are left to a larger sample. No processor can predict what words say, so the code does not branch
//! on it. Each word is a set of languages, and the sets are added for all languages at once.

use super::table::{NUMBERS, WordTable, table};
use super::{Language, TOKEN_BYTES, WINDOWS};
use crate::hash::token;
use crate::text::canonical::Canonical;

/// How many words are taken from each place.
const WINDOW_TOKENS: usize = 16;
const TOKENS: usize = WINDOWS * WINDOW_TOKENS;
/// How many distinct words of a language must be met, and how many times as many as of the next language.
const WORDS_NEEDED: u32 = 4;
const LEAD: u32 = 2;

/// The bits of a lane that counts bytes, and the binary digits of a count of words. A whole glance fits in both.
const LANE: u32 = 12;
const DIGITS: usize = 6;
const _: () = assert!(TOKENS * TOKEN_BYTES < 1 << LANE && TOKENS < 1 << DIGITS);

/// The language of a page, if it is in Latin or Cyrillic script and there is no doubt.
pub(super) fn glance(canonical: &Canonical) -> Option<Language> {
    let (count, table) = (canonical.token_count(), table());
    if count < TOKENS {
        return None;
    }
    let mut glance = Glance { bytes: 0, hashes: [0; TOKENS + 1], words: 0 };
    for window in 0..WINDOWS {
        let start = (2 * window + 1) * count / (2 * WINDOWS) - WINDOW_TOKENS / 2;
        glance.take(canonical, start, table);
    }
    let languages = glance.languages()?;
    Counts::of(&glance.hashes[..glance.words], table).clear_leader(languages)
}

/// The words of a glance.
struct Glance {
    /// Bytes of words, with a lane for each kind.
    bytes: u64,
    /// The first `words` values are the hashes of words that may be in the table.
    hashes: [u64; TOKENS + 1],
    words: usize,
}

impl Glance {
    fn take(&mut self, canonical: &Canonical, start: usize, table: &WordTable) {
        let bytes = canonical.padded();
        for (start, end) in canonical.spans_of(start..start + WINDOW_TOKENS) {
            self.bytes += ((end - start).min(TOKEN_BYTES) as u64) << KINDS[usize::from(bytes[start])];
            let hash = token(bytes, start, end);
            self.hashes[self.words] = hash;
            self.words += usize::from(table.may_have(hash, end - start));
        }
    }

    /// The languages of the script that all words are in, one bit each by number.
    fn languages(&self) -> Option<u64> {
        let has = |kind: u32| self.bytes >> kind & ((1 << LANE) - 1) != 0;
        match (has(LATIN), has(CYRILLIC), has(OTHER)) {
            (true, false, false) => Some((1 << 41) - (1 << 1)),
            (false, true, false) => Some((1 << 49) - (1 << 41)),
            _ => None,
        }
    }
}

/// How many words each language has, in binary. First come the ones of all languages, one bit each by number, then
/// the twos, and so on.
struct Counts([u64; DIGITS]);

impl Counts {
    /// Counts words by their hashes, each once: a repeated name is not text.
    fn of(hashes: &[u64], table: &WordTable) -> Counts {
        let (mut counts, mut met) = (Counts([0; DIGITS]), [0_u64; NUMBERS / 64]);
        for &hash in hashes {
            let word = table.find(hash);
            let (met, bit) = (&mut met[usize::from(word) / 64], word % 64);
            // All ones if the word is met for the first time.
            let first = (*met >> bit & 1).wrapping_sub(1);
            *met |= 1 << bit;
            counts.add(table.languages(word) & first);
        }
        counts
    }

    /// Counts a word of these languages.
    fn add(&mut self, languages: u64) {
        let mut carry = languages;
        for digit in &mut self.0 {
            (*digit, carry) = (*digit ^ carry, *digit & carry);
        }
    }

    /// The languages with the most words, and how many.
    fn most(&self, mut languages: u64) -> (u64, u32) {
        let mut most = 0;
        for (place, digit) in self.0.iter().enumerate().rev() {
            let with = languages & digit;
            languages = if with == 0 { languages } else { with };
            most |= u32::from(with != 0) << place;
        }
        (languages, most)
    }

    /// The language that clearly leads the others among `languages`.
    fn clear_leader(&self, languages: u64) -> Option<Language> {
        let (leaders, first) = self.most(languages);
        let leader = leaders.trailing_zeros();
        let (_, second) = self.most(languages & !(1 << leader));
        let clear = first >= WORDS_NEEDED && first >= LEAD * second;
        clear.then(|| Language::from_u8(leader as u8))?
    }
}

const LATIN: u32 = 0;
const CYRILLIC: u32 = LANE;
const OTHER: u32 = 2 * LANE;
const NUMBER: u32 = 3 * LANE;

/// The kind of a word by its first byte, as its lane. A few letters of neighbouring scripts count as Latin or
/// Cyrillic: their words are in no list, so they decide nothing.
const KINDS: [u32; 256] = {
    let mut kinds = [OTHER; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | 0xc2..=0xc9 => LATIN,
            0..=0x7f => NUMBER,
            0xd0..=0xd4 => CYRILLIC,
            _ => OTHER,
        };
        byte += 1;
    }
    kinds
};
