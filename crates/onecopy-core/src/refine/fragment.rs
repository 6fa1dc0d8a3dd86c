//! The passages of a page around the words of a query: what a reader of the answer sees of it.

use std::collections::HashSet;

use crate::config::{CanonicalRules, PASSAGE_WORDS};
use crate::page::language::is_frequent_word;
use crate::text::canonical::{Canonical, canonicalise};

/// The words of a query that say what is searched for.
#[derive(Debug)]
pub(crate) struct Query {
    words: HashSet<String>,
}

impl Query {
    /// The words of `query` without stop words. `None` if all are stop words: those are on every page.
    pub(crate) fn new(query: &str, rules: &CanonicalRules) -> Option<Query> {
        let mut canonical = Canonical::default();
        canonicalise(query, rules, &mut canonical);
        let words: HashSet<String> =
            canonical.tokens().filter(|word| !is_stop_word(word)).map(str::to_owned).collect();
        (!words.is_empty()).then_some(Query { words })
    }

    /// Writes the passages of a page into `out`, each on a line, if the page has a word of the query.
    pub(crate) fn passages(&self, page: &Canonical, out: &mut String) -> bool {
        out.clear();
        let tokens: Vec<&str> = page.tokens().collect();
        let mut end = 0;
        for place in (0..tokens.len()).filter(|&place| self.words.contains(tokens[place])) {
            let start = place.saturating_sub(PASSAGE_WORDS);
            if start > end {
                out.push('\n');
            }
            let upto = (place + 1 + PASSAGE_WORDS).min(tokens.len());
            for token in &tokens[start.max(end)..upto] {
                out.push_str(token);
                out.push(' ');
            }
            end = upto;
        }
        end > 0
    }
}

/// Whether a word is on so many pages that it says nothing. Letters by themselves count among them.
fn is_stop_word(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic()) || is_frequent_word(word)
}
