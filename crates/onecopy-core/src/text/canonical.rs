//! Page text → Canonical: the text that is compared.
//!
//! It accepts any text. A canonical text is its tokens with one space between them. It keeps where each token ends,
//! so that shingling need not search for words again. `letters` decides which characters belong to words, and `fold`
//! is the fast pass. `segment` cuts scripts without spaces into words, and `tokens` applies the rarer rules.

mod block;
mod fold;
mod json;
mod letters;
mod segment;
mod simd;
mod tokens;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::config::{CanonicalRules, Case, Numbering, Punctuation, Words};
use crate::hash::{Fingerprint, TOKEN_PADDING, fingerprint};

use block::BLOCK;
use fold::{Written, fold};
pub use json::{escaped, unescape};
use segment::Census;
pub(crate) use simd::Functions;

/// The text of a page in the form that is compared. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub struct Canonical {
    /// The first `length` bytes are the canonical text. The rest is left over from earlier pages.
    bytes: Vec<u8>,
    length: usize,
    /// The first `count` values are where each token ends. The rest is left over.
    ends: Vec<u32>,
    count: usize,
    /// The letters of scripts without spaces that the fast pass met.
    census: Census,
}

impl Canonical {
    /// The canonical text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).expect("canonical text is made of whole characters")
    }

    /// The bytes of the canonical text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The fingerprint of the canonical text. Only exact duplicates have equal ones.
    pub fn fingerprint(&self) -> Fingerprint {
        fingerprint(self.as_bytes())
    }

    /// The tokens, in order.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.spans().map(|(start, end)| {
            std::str::from_utf8(&self.bytes[start..end]).expect("tokens are made of whole characters")
        })
    }

    /// How many tokens there are.
    pub fn token_count(&self) -> usize {
        self.count
    }

    /// Where each token begins and ends in [`Canonical::padded`].
    pub(crate) fn spans(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut start = 0;
        self.ends[..self.count].iter().map(move |&end| {
            let span = (start, end as usize);
            start = end as usize + 1;
            span
        })
    }

    /// Where the tokens with these numbers begin and end, as far as they exist.
    pub(crate) fn spans_of(&self, tokens: std::ops::Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let ends = &self.ends[..self.count];
        let tokens = tokens.start.min(self.count)..tokens.end.min(self.count);
        let mut start = tokens.start.checked_sub(1).map_or(0, |before| ends[before] as usize + 1);
        ends[tokens].iter().map(move |&end| {
            let span = (start, end as usize);
            start = end as usize + 1;
            span
        })
    }

    /// The canonical text with at least [`TOKEN_PADDING`] readable bytes after it.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes room for the canonical text of `input` bytes of text. Lower-casing turns a character of two bytes into
    /// at most three bytes, and every written separator stands for at least one input byte. Blocks are written
    /// whole, even if only part of them counts.
    fn start(&mut self, input: usize) {
        let bytes = input + input / 2 + 2 + TOKEN_PADDING + 2 * BLOCK;
        // Allocates new buffers instead of growing: the estimates are large, and untouched zeroed memory takes no
        // room.
        if self.bytes.len() < bytes {
            self.bytes = vec![0; bytes];
        }
        let ends = input / 2 + 2 + BLOCK;
        if self.ends.len() < ends {
            self.ends = vec![0; ends];
        }
        self.length = 0;
        self.count = 0;
    }
}

/// Writes the canonical form of `text` into `out`, replacing its contents.
pub fn canonicalise(text: &str, rules: &CanonicalRules, out: &mut Canonical) {
    if let Some(words) = first_pass(text, Written::Plain, rules, out) {
        tokens::by_rules(text, rules, words, out);
    }
}

/// Like [`canonicalise`], for text given as the inside of a JSON string with its escapes.
pub fn canonicalise_json(raw: &str, rules: &CanonicalRules, out: &mut Canonical) {
    if let Some(words) = first_pass(raw, Written::Json, rules, out) {
        tokens::by_rules(&unescape(raw), rules, words, out);
    }
}

/// Runs the fast pass if it helps. Returns the work left for `tokens`: none, or words cut in this way.
fn first_pass(text: &str, written: Written, rules: &CanonicalRules, out: &mut Canonical) -> Option<Words> {
    let plain = is_plain(rules);
    if !plain && rules.words == Words::Runs {
        return Some(Words::Runs);
    }
    fold(text, written, out);
    out.census.cut(rules.words, out.count).or((!plain).then_some(Words::Runs))
}

/// Whether the fast pass supports the rules, provided that words are runs.
fn is_plain(rules: &CanonicalRules) -> bool {
    rules.case == Case::Fold
        && rules.punctuation == Punctuation::Drop
        && rules.numbering == Numbering::Keep
        && rules.stop_words.is_empty()
}

#[cfg(test)]
mod tests;
