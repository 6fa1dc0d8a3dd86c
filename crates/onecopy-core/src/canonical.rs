//! Page text → Canonical: the text that we compare.
//!
//! Any text is accepted. A canonical text is its tokens, one space between them; where each token ends is kept, so
//! that shingling need not look for words again. What decides whether a character belongs to a word is in
//! `letters`, the fast pass in `fold`, words of scripts without spaces in `segment`, what happens under the rarer rules
//! in `tokens`.

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

/// The text of a page as it is compared. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub struct Canonical {
    /// The canonical text, `length` bytes of it, and whatever an earlier page left behind.
    bytes: Vec<u8>,
    length: usize,
    /// Where each token ends, `count` of them, and leftovers.
    ends: Vec<u32>,
    count: usize,
    /// What the fast pass met of scripts without spaces.
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

    /// The fingerprint of the canonical text: equal for exact duplicates only.
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

    /// Where the tokens with these numbers begin and end, as far as there are so many.
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

    /// The canonical text with at least [`TOKEN_PADDING`] readable bytes behind it.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes room for the canonical text of `input` bytes of text. Lower-casing makes a character of two bytes
    /// at most three bytes long, and every separator written stands for at least one byte read. Blocks are written
    /// whole, whatever of them counts.
    fn start(&mut self, input: usize) {
        let bytes = input + input / 2 + 2 + TOKEN_PADDING + 2 * BLOCK;
        // New buffers, not longer ones: memory that was never written takes no room, and these are large estimates.
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

/// Writes the canonical form of `text` into `out`, replacing what was there.
pub fn canonicalise(text: &str, rules: &CanonicalRules, out: &mut Canonical) {
    if let Some(words) = first_pass(text, Written::Plain, rules, out) {
        tokens::by_rules(text, rules, words, out);
    }
}

/// Like [`canonicalise`], of a text that is given as the inside of a JSON string, escapes and all.
pub fn canonicalise_json(raw: &str, rules: &CanonicalRules, out: &mut Canonical) {
    if let Some(words) = first_pass(raw, Written::Json, rules, out) {
        tokens::by_rules(&unescape(raw), rules, words, out);
    }
}

/// The fast pass, where it is of use. What is left to do for the other: nothing, or words by [`Words::Runs`] or
/// [`Words::Segmented`].
fn first_pass(text: &str, written: Written, rules: &CanonicalRules, out: &mut Canonical) -> Option<Words> {
    let plain = is_plain(rules);
    if !plain && rules.words == Words::Runs {
        return Some(Words::Runs);
    }
    fold(text, written, out);
    match out.census.is_cut(rules.words, out.length) {
        true => Some(Words::Segmented),
        false => (!plain).then_some(Words::Runs),
    }
}

/// Whether the fast pass knows the rules, if words are runs.
fn is_plain(rules: &CanonicalRules) -> bool {
    rules.case == Case::Fold
        && rules.punctuation == Punctuation::Drop
        && rules.numbering == Numbering::Keep
        && rules.stop_words.is_empty()
}

#[cfg(test)]
mod tests;
