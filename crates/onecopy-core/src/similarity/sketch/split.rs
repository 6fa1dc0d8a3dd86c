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

/// A page's shingles in two sets, and the words of its title, all with their tags. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    main: Vec<u64>,
    rest: Vec<u64>,
    title: Vec<u64>,
    /// Whether main content was separated from the rest.
    told: bool,
    canonical: Canonical,
    tokens: Vec<u64>,
    /// How many tokens came before these, and are shingles by now.
    taken: usize,
    /// Which tokens are main content, as ranges.
    marked: Vec<Range<usize>>,
    /// A bit for each word of the title, by its last bits, and whether the main content has the word.
    title_bits: u64,
    found: [bool; TITLE_WORDS],
    table: SortTable,
}

impl Split {
    /// Appends the shingles of main content, the others, and the distinct words of the title. None is in two of them. If
    /// main content was not separated, the title has no words.
    pub(crate) fn append_to(&mut self, out: &mut Vec<u64>) {
        let is_large = self.main.len() + self.rest.len() > LARGE_TOKENS;
        if is_large && out.is_empty() {
            std::mem::swap(out, &mut self.main);
        }
        let words = self.main.len() + self.rest.len() + self.title.len();
        if words >= out.capacity() - out.len() {
            // Growth by doubling could take twice the memory.
            out.reserve_exact((words + 1).max(out.len().min(LARGE_WORDS)));
        }
        for part in [&mut self.main, &mut self.rest, &mut self.title] {
            out.extend_from_slice(part);
            if is_large {
                *part = Vec::new();
            }
        }
        if is_large {
            self.table = SortTable::default();
        }
    }

    /// Whether main content was separated from the rest. If not, all shingles are in the first half.
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
    out.read_title(title, rules);
    out.begin();
    let mut at = 0;
    for part in main {
        out.append(text.get(at..part.start), Place::Rest, rules);
        let start = out.token_count();
        out.append(text.get(part.clone()), Place::Main, rules);
        out.marked.push(start..out.token_count());
        at = part.end;
    }
    out.append(text.get(at..), Place::Rest, rules);
    out.tell_subject();
    out.shingle(rules.shingles);
}

/// Where some text is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Main,
    Rest,
}

impl Split {
    fn begin(&mut self) {
        self.tokens.clear();
        self.taken = 0;
        self.marked.clear();
        self.main.clear();
        self.rest.clear();
        self.found = [false; TITLE_WORDS];
    }

    /// The number of tokens so far.
    fn token_count(&self) -> usize {
        self.taken + self.tokens.len()
    }

    /// Appends the tokens of a part of the text, and looks for words of the title among those of main content.
    fn append(&mut self, part: Option<&str>, place: Place, rules: SplitRules) {
        for lines in pieces(part.unwrap_or_default()) {
            let before = self.tokens.len();
            self.read(lines, rules);
            if place == Place::Main {
                self.find_subject(before);
            }
            if self.tokens.len() > LARGE_TOKENS.max(rules.shingles.length) {
                self.take_tokens(rules.shingles.length);
            }
        }
    }

    /// Appends the tokens of a text.
    fn read(&mut self, text: &str, rules: SplitRules) {
        canonicalise(text, rules.canonical, &mut self.canonical);
        append_tokens(&self.canonical, rules.shingles.unit, &mut self.tokens);
    }

    /// Turns the tokens of a large page into shingles. All its tokens would take as much memory as its shingles.
    fn take_tokens(&mut self, length: usize) {
        windows(&self.tokens, length, &mut self.rest);
        // The last tokens begin no window yet.
        let taken = self.tokens.len() - (length - 1);
        self.tokens.drain(..taken);
        self.taken += taken;
    }

    /// The first words of the title. Characters say nothing of a subject.
    fn read_title(&mut self, title: &str, rules: SplitRules) {
        self.tokens.clear();
        if rules.shingles.unit == Unit::Words {
            pieces(title).for_each(|lines| self.read(lines, rules));
        }
        self.tokens.truncate(TITLE_WORDS);
        self.title.clear();
        self.title.append(&mut self.tokens);
        self.title.sort_unstable();
        self.title.dedup();
        // Most words of a page are ruled out by one bit.
        self.title_bits = self.title.iter().fold(0, |bits, token| bits | 1 << (token & 63));
    }

    /// Notes which words of the title are among the tokens from number `from` on.
    fn find_subject(&mut self, from: usize) {
        let bits = self.title_bits;
        for token in self.tokens[from..].iter().filter(|token| bits >> (**token & 63) & 1 == 1) {
            if let Ok(at) = self.title.binary_search(token) {
                self.found[at] = true;
            }
        }
    }

    /// Turns the words of the title into words of a sketch, which say whether the main content has them.
    fn tell_subject(&mut self) {
        for (word, found) in self.title.iter_mut().zip(self.found) {
            *word = hash::repeated(*word, u64::MAX) & !TAG | if found { SUBJECT } else { TITLE };
        }
        self.title.sort_unstable();
        self.title.dedup_by_key(|word| identity(*word));
    }

    fn shingle(&mut self, rules: &ShingleRules) {
        let all_is_main = self.marked.iter().map(Range::len).sum::<usize>() == self.token_count();
        let length = rules.length.min(self.token_count());
        if self.tokens.len() >= length {
            windows(&self.tokens, length, &mut self.rest);
        }
        match rules.replicas {
            Replicas::Ignore => self.choose(all_is_main, length, placed),
            Replicas::Count => self.choose(all_is_main, length, |shingle, _| shingle),
        }
        self.told = all_is_main || !self.main.is_empty();
        if self.main.is_empty() {
            std::mem::swap(&mut self.main, &mut self.rest);
            self.title.clear();
        }
        if rules.replicas == Replicas::Count {
            [&mut self.main, &mut self.rest].into_iter().for_each(|half| number(half));
        }
        let (told, main, rest) = (self.told, &mut self.main, &mut self.rest);
        main.iter_mut().filter(|_| !told).for_each(|shingle| *shingle = untagged(*shingle));
        rest.iter_mut().for_each(|shingle| *shingle = elsewhere(*shingle));
        for half in [main, rest] {
            sort_unique(half, 0, &mut self.table);
            // The first place of a shingle counts.
            half.dedup_by_key(|shingle| identity(*shingle));
        }
        remove_sorted(&mut self.rest, &self.main);
    }

    /// Copies the shingles of main content, each with its place. If all is main content, it moves them.
    fn choose(&mut self, all_is_main: bool, length: usize, placed: fn(u64, usize) -> u64) {
        if all_is_main {
            std::mem::swap(&mut self.main, &mut self.rest);
            return (0..).zip(&mut self.main).for_each(|(at, shingle)| *shingle = placed(*shingle, at));
        }
        let mut before = 0;
        for marked in &self.marked {
            let inside = marked.start..(marked.end + 1).saturating_sub(length).max(marked.start);
            // A part at the end with fewer tokens than a window begins after the last window.
            let shingles = self.rest.get(inside.start..inside.end.min(self.rest.len())).unwrap_or_default();
            self.main.extend((before..).zip(shingles).map(|(place, &shingle)| placed(shingle, place)));
            before += marked.len();
        }
    }
}

/// Numbers the occurrences of each shingle, which then has no place.
fn number(shingles: &mut [u64]) {
    shingles.sort_unstable();
    number_replicas(shingles);
    shingles.iter_mut().for_each(|shingle| *shingle = placed(*shingle, PLACES));
}

/// The most words of a title that count.
const TITLE_WORDS: usize = 32;

/// Room for sketches grows by at most this many words, unless one needs more.
const LARGE_WORDS: usize = 1 << 19;

/// A page with more tokens is large.
const LARGE_TOKENS: usize = 1 << 17;

/// A text in pieces of some lines: the canonical form of a large text would take several times its memory.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (lines, behind) = text.split_at(some_lines(text));
        text = behind;
        (!lines.is_empty()).then_some(lines)
    })
}

/// The length in bytes of the first lines of a text. A line is cut only if it is very long, and then between words.
fn some_lines(text: &str) -> usize {
    const SOME: usize = 1 << 16;
    let behind = text.as_bytes().get(SOME..).unwrap_or_default();
    let line = &behind[..behind.len().min(SOME)];
    let end = memchr::memchr(b'\n', line).or_else(|| memchr::memchr(b' ', line));
    end.map_or(text.len(), |end| SOME + end + 1)
}

/// Removes the words that are in `others`; both ascend.
fn remove_sorted(words: &mut Vec<u64>, others: &[u64]) {
    let mut at = 0;
    words.retain(|word| {
        at += others[at..].iter().take_while(|other| identity(**other) < identity(*word)).count();
        others.get(at).map(|other| identity(*other)) != Some(identity(*word))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::sketch::{Sketch, sketch};

    const RULES: ShingleRules =
        ShingleRules { length: 2, unit: crate::config::Unit::Words, replicas: Replicas::Ignore };

    fn split_of(text: &str, main: &[&str], rules: &ShingleRules) -> (Vec<u64>, Vec<u64>) {
        let part = |part: &&str| text.find(part).map(|at| at..at + part.len()).unwrap();
        let main: Vec<Range<usize>> = main.iter().map(part).collect();
        let mut out = Split::default();
        let parts = Parts { text, main: &main, title: "" };
        split(parts, SplitRules { canonical: &CanonicalRules::default(), shingles: rules }, &mut out);
        let known = |words: &[u64]| words.iter().map(|word| identity(*word)).collect();
        (known(&out.main), known(&out.rest))
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
        let long = |words: std::ops::Range<usize>| -> String {
            words.map(|n| format!("w{n}{}", if n % 9 == 0 { "\n" } else { " " })).collect()
        };
        let text = long(0..40_000);
        assert!(some_lines(&text) < text.len());
        assert_eq!(split_of(&text, &[&text], &RULES), (sketch_of(&text, &RULES), vec![]));
        // More tokens than are in memory at once, and few behind the last of them.
        for words in [LARGE_TOKENS + 1, LARGE_TOKENS + 40_000, 2 * LARGE_TOKENS + 9] {
            for length in [1, 2, 5] {
                let rules = ShingleRules { length, ..RULES };
                let (main, rest) = (long(0..words), long(words..words + 3));
                let text = [main.as_str(), &rest].concat();
                let found = split_of(&text, &[&main], &rules);
                assert_eq!(found.0, sketch_of(&main, &rules), "{words} {length}");
                assert_eq!(found.1.len(), 3, "{words} {length}");
                assert_eq!(split_of(&text, &[&text], &rules), (sketch_of(&text, &rules), vec![]));
            }
        }
    }

    #[test]
    fn the_subject_is_found_in_any_piece_of_main_content() {
        let text: String = (0..2 * LARGE_TOKENS).map(|n| format!("w{n} ")).collect();
        let (main, mut out) = ([6..text.len() - 20], Split::default());
        let rules = SplitRules { canonical: &CanonicalRules::default(), shingles: &RULES };
        for (title, tag) in [("W7", SUBJECT), ("W200000", SUBJECT), ("W0", TITLE), ("absent", TITLE)] {
            split(Parts { text: &text, main: &main, title }, rules, &mut out);
            assert_eq!(out.title.iter().map(|word| word & TAG).collect::<Vec<_>>(), [tag], "{title}");
            let (mut whole, shingles) = (Vec::new(), out.main.len() + out.rest.len());
            out.append_to(&mut whole);
            assert_eq!(
                (whole.len(), out.main.len()),
                (shingles + 1, 0),
                "the memory of a large page is freed"
            );
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
