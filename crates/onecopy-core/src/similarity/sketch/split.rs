//! Parts of a page → Split: the shingles of its main content, those of the rest, and the words of its title.
//!
//! Windows cover the whole page, so that a shingle does not depend on the choice of main content. A shingle belongs
//! to the main content if all its tokens do. Shingles of the main content alone would also join words that are apart
//! on the page, and no other page would have those.

use std::ops::Range;

use super::number_replicas;
use super::sort::{SortTable, sort_unique};
use super::tag::{PLACES, SUBJECT, TAG, TITLE, elsewhere, identity, placed, untagged};
use crate::config::{CanonicalRules, Replicas, ShingleRules, Unit};
use crate::hash;
use crate::similarity::method::Parts;
use crate::text::canonical::{Canonical, canonicalise};
use crate::text::shingle::{append_tokens, windows};

/// A page's shingles and the words of its title, all with their tags. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    words: Vec<u64>,
    title: Vec<u64>,
    /// Whether main content was separated from the rest.
    told: bool,
    canonical: Canonical,
    tokens: Vec<u64>,
    /// Which tokens are main content, as ranges.
    marked: Vec<Range<usize>>,
    table: SortTable,
}

impl Split {
    /// The number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Appends all words to `out`, ascending. A large page leaves no memory behind, and its words become the first of
    /// `out` without a copy.
    pub(crate) fn append_to(&mut self, out: &mut Vec<u64>) {
        let is_large = self.words.len() > LARGE_TOKENS;
        if is_large && out.is_empty() {
            *out = std::mem::take(&mut self.words);
        } else {
            out.extend_from_slice(&self.words);
        }
        if is_large {
            (self.words, self.table) = Default::default();
        }
    }

    /// Whether main content was separated from the rest. If not, all shingles are main content.
    pub(crate) fn is_told(&self) -> bool {
        self.told
    }
}

/// The rules that a text is split by.
#[derive(Clone, Copy)]
pub(crate) struct SplitRules<'a> {
    pub canonical: &'a CanonicalRules,
    pub shingles: &'a ShingleRules,
}

/// Writes the shingles of `page` into `out`, replacing its contents. If its main content holds no shingle, all of the
/// text counts as main content.
pub(crate) fn split(page: Parts, rules: SplitRules, out: &mut Split) {
    let Parts { text, main, title } = page;
    let SplitRules { canonical: canonical_rules, shingles: rules } = rules;
    out.read_title(title, canonical_rules, rules);
    out.tokens.clear();
    out.marked.clear();
    let mut at = 0;
    for part in main {
        out.append(text.get(at..part.start), canonical_rules, rules);
        let start = out.tokens.len();
        out.append(text.get(part.clone()), canonical_rules, rules);
        out.marked.push(start..out.tokens.len());
        at = part.end;
    }
    out.append(text.get(at..), canonical_rules, rules);
    out.find_subject();
    out.shingle(rules);
}

impl Split {
    /// Appends the tokens of a part of the text, some lines at a time: a canonical text takes several times the
    /// memory.
    fn append(&mut self, part: Option<&str>, canonical_rules: &CanonicalRules, rules: &ShingleRules) {
        let mut left = part.unwrap_or_default();
        while !left.is_empty() {
            let (lines, behind) = left.split_at(some_lines(left));
            canonicalise(lines, canonical_rules, &mut self.canonical);
            append_tokens(&self.canonical, rules.unit, &mut self.tokens);
            left = behind;
        }
    }

    /// The first words of the title. Characters say nothing of a subject.
    fn read_title(&mut self, title: &str, canonical_rules: &CanonicalRules, rules: &ShingleRules) {
        self.tokens.clear();
        if rules.unit == Unit::Words {
            self.append(Some(title), canonical_rules, rules);
        }
        self.tokens.truncate(TITLE_WORDS);
        self.title.clear();
        self.title.append(&mut self.tokens);
        self.title.sort_unstable();
        self.title.dedup();
    }

    /// Turns the words of the title into words of a sketch, which say whether the main content has them.
    fn find_subject(&mut self) {
        // Most words of a page are ruled out by one bit.
        let bits = self.title.iter().fold(0u64, |bits, token| bits | 1 << (token & 63));
        let mut found = [false; TITLE_WORDS];
        let main = self.marked.iter().flat_map(|marked| &self.tokens[marked.clone()]);
        for token in main.filter(|token| bits >> (*token & 63) & 1 == 1) {
            if let Ok(at) = self.title.binary_search(token) {
                found[at] = true;
            }
        }
        for (word, found) in self.title.iter_mut().zip(found) {
            *word = hash::repeated(*word, u64::MAX) & !TAG | if found { SUBJECT } else { TITLE };
        }
        self.title.sort_unstable();
        self.title.dedup_by_key(|word| identity(*word));
    }

    fn shingle(&mut self, rules: &ShingleRules) {
        let all_is_main = self.marked.iter().map(Range::len).sum::<usize>() == self.tokens.len();
        let length = rules.length.min(self.tokens.len());
        self.make_windows(rules.length);
        let main = if all_is_main { vec![(0..self.words.len(), 0)] } else { self.main_windows(length) };
        self.told = all_is_main || !main.is_empty();
        if !self.told || self.words.is_empty() {
            self.title.clear();
        }
        match (self.told, rules.replicas) {
            (true, Replicas::Ignore) => self.tag(&main),
            (true, Replicas::Count) => self.tag_numbered(&main),
            (false, Replicas::Ignore) => {}
            (false, Replicas::Count) => number(&mut self.words),
        }
        if !self.told {
            self.words.iter_mut().for_each(|shingle| *shingle = untagged(*shingle));
        }
        self.words.append(&mut self.title);
        sort_unique(&mut self.words, 0, &mut self.table);
        // The first place of a shingle counts, and any place in the main content more than one elsewhere.
        self.words.dedup_by_key(|word| identity(*word));
    }

    /// Turns the tokens into shingles, those of a large page in their own memory.
    fn make_windows(&mut self, length: usize) {
        self.words.clear();
        if self.tokens.len() <= LARGE_TOKENS {
            return windows(&self.tokens, length, &mut self.words);
        }
        let count = self.tokens.len() + 1 - length.min(self.tokens.len());
        for start in (0..count).step_by(LARGE_TOKENS) {
            let end = (start + LARGE_TOKENS).min(count);
            self.words.clear();
            windows(&self.tokens[start..(end + length - 1).min(self.tokens.len())], length, &mut self.words);
            self.tokens[start..end].copy_from_slice(&self.words);
        }
        self.words = std::mem::take(&mut self.tokens);
        self.words.truncate(count);
    }

    /// The windows of `length` tokens that are main content.
    fn main_windows(&self, length: usize) -> Vec<MainWindows> {
        let mut before = 0;
        let windows = self.marked.iter().map(|marked| {
            let place = before;
            before += marked.len();
            (marked.start..(marked.end + 1).saturating_sub(length), place)
        });
        windows.filter(|(windows, _)| !windows.is_empty()).collect()
    }

    /// Gives each shingle its place in the main content, or none.
    fn tag(&mut self, main: &[MainWindows]) {
        let mut at = 0;
        for (windows, first) in main {
            self.words[at..windows.start].iter_mut().for_each(|word| *word = elsewhere(*word));
            let words = &mut self.words[windows.clone()];
            (*first..).zip(words).for_each(|(place, word)| *word = placed(*word, place));
            at = windows.end;
        }
        self.words[at..].iter_mut().for_each(|word| *word = elsewhere(*word));
    }

    /// Numbers the occurrences of each shingle, those in the main content first.
    fn tag_numbered(&mut self, main: &[MainWindows]) {
        let mut numbered: Vec<u64> =
            main.iter().flat_map(|(windows, _)| &self.words[windows.clone()]).copied().collect();
        number(&mut numbered);
        number(&mut self.words);
        numbered.extend(self.words.iter().map(|&word| elsewhere(word)));
        self.words = numbered;
    }
}

/// A range of windows in the main content, and the place of the first.
type MainWindows = (Range<usize>, usize);

/// Numbers the occurrences of each shingle, which then has no place.
fn number(shingles: &mut [u64]) {
    shingles.sort_unstable();
    number_replicas(shingles);
    shingles.iter_mut().for_each(|shingle| *shingle = placed(*shingle, PLACES));
}

/// The most words of a title that count.
const TITLE_WORDS: usize = 32;

/// The shingles of a page with more tokens take over their memory.
const LARGE_TOKENS: usize = 1 << 17;

/// The length in bytes of the first lines of a text. A line is cut only if it is very long, and then between words.
fn some_lines(text: &str) -> usize {
    const SOME: usize = 1 << 16;
    let behind = text.as_bytes().get(SOME..).unwrap_or_default();
    let line = &behind[..behind.len().min(SOME)];
    let end = memchr::memchr(b'\n', line).or_else(|| memchr::memchr(b' ', line));
    end.map_or(text.len(), |end| SOME + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::sketch::tag::is_main;
    use crate::similarity::sketch::{Sketch, sketch};

    const RULES: ShingleRules =
        ShingleRules { length: 2, unit: crate::config::Unit::Words, replicas: Replicas::Ignore };

    fn split_of(text: &str, main: &[&str], rules: &ShingleRules) -> (Vec<u64>, Vec<u64>) {
        let part = |part: &&str| text.find(part).map(|at| at..at + part.len()).unwrap();
        let main: Vec<Range<usize>> = main.iter().map(part).collect();
        let mut out = Split::default();
        let parts = Parts { text, main: &main, title: "" };
        split(parts, SplitRules { canonical: &CanonicalRules::default(), shingles: rules }, &mut out);
        assert!(out.words.is_sorted());
        let (main, rest): (Vec<u64>, Vec<u64>) = out.words.iter().partition(|word| is_main(**word));
        let known = |words: Vec<u64>| words.into_iter().map(identity).collect();
        (known(main), known(rest))
    }

    fn sketch_of(text: &str, rules: &ShingleRules) -> Vec<u64> {
        let (mut canonical, mut out) = (Canonical::default(), Sketch::default());
        canonicalise(text, &CanonicalRules::default(), &mut canonical);
        sketch(&canonical, rules, &mut out);
        out.shingles().iter().map(|word| identity(*word)).collect()
    }

    #[test]
    fn a_shingle_is_main_content_if_all_its_words_are() {
        let (main, rest) =
            split_of("Home\none two three\nads\nfour five\n", &["one two three\n", "four five\n"], &RULES);
        let mut expected = [sketch_of("one two three", &RULES), sketch_of("four five", &RULES)].concat();
        expected.sort_unstable();
        assert_eq!(main, expected);
        let mut expected = ["home one", "three ads", "ads four"].map(|text| sketch_of(text, &RULES)).concat();
        expected.sort_unstable();
        assert_eq!(rest, expected);
    }

    #[test]
    fn where_a_long_text_is_cut_makes_no_difference() {
        // The last has the memory of its shingles in common with its tokens.
        for words in [40_000, 2 * LARGE_TOKENS + 1, 2 * LARGE_TOKENS + 2] {
            let word = |n: usize| format!("w{n}{}", if n.is_multiple_of(9) { "\n" } else { " " });
            let text: String = (0..words).map(word).collect();
            assert!(some_lines(&text) < text.len());
            assert_eq!(split_of(&text, &[&text], &RULES), (sketch_of(&text, &RULES), vec![]));
        }
    }

    #[test]
    fn a_shingle_that_is_both_is_main_content() {
        let (main, rest) = split_of("c one two d\none two\n", &["one two\n"], &RULES);
        assert_eq!(main.len(), 1);
        assert_eq!(rest.len(), 3, "c one, two d, d one, and not one two");
    }

    #[test]
    fn text_without_main_content_is_whole() {
        let text = "one two three four";
        for replicas in [Replicas::Ignore, Replicas::Count] {
            let rules = ShingleRules { replicas, ..RULES };
            for main in [&[][..], &["three"], &[text]] {
                assert_eq!(split_of(text, main, &rules), (sketch_of(text, &rules), vec![]));
            }
        }
        assert_eq!(split_of("", &[], &RULES), (vec![], vec![]));
        assert_eq!(split_of("one", &["one"], &RULES), (sketch_of("one", &RULES), vec![]));
    }
}
