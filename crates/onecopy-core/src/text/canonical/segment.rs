//! Words in scripts that put no spaces between them: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
//!
//! By the rule of `letters`, a word in such a script would be a whole clause, or in Thai the letters between two
//! vowel signs. This file counts such letters while a page is folded, and decides which runs to cut into words. It
//! cuts by dictionary. The neural model of ICU takes about three hundred times as long, and its answer
//! depends on how a machine rounds.

use std::borrow::Cow;
use std::sync::OnceLock;

use icu_segmenter::WordSegmenter;
use icu_segmenter::WordSegmenterBorrowed;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::config::Words;

/// Under [`Words::Auto`], a run with more Chinese characters or kana than this is cut. Among 7,361 real pages with
/// such runs, none is longer than 94. With punctuation, clauses serve as words, and the rule stays the same as in
/// other tools. Text without punctuation has runs of hundreds of characters.
const RUN_CHARS: usize = 96;
/// The same for letters of Thai, Lao, Khmer and Burmese. The name of a language in a menu is shorter.
const COMPLEX_CHARS: usize = 12;
/// Under [`Words::Auto`], a page with such letters and fewer runs than this is cut throughout. It would be a single shingle,
/// so a page that differs in one character would share nothing with it.
const FEW_RUNS: usize = 5;

/// Counts of the letters of scripts without spaces on a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    /// Chinese characters and kana.
    dense: Runs,
    /// Letters of Thai, Lao, Khmer and Burmese.
    complex: Runs,
    /// Marks such as vowel signs, in any script.
    marks: usize,
}

/// The letters of some scripts, by run.
#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    /// How many the last run with some has, and the run with most.
    last: usize,
    most: usize,
    /// The number of the token that continues the last run, plus one.
    token: usize,
}

impl Runs {
    /// Counts a letter in the token with this number.
    fn letter(&mut self, token: usize) {
        self.last = if self.token == token + 1 { self.last + 1 } else { 1 };
        self.token = token + 1;
        self.most = self.most.max(self.last);
    }
}

impl Census {
    /// Counts a Chinese character or kana in the token with this number.
    pub(super) fn dense(&mut self, token: usize) {
        self.dense.letter(token);
    }

    /// Counts a letter of Thai, Lao, Khmer or Burmese in the token with this number.
    pub(super) fn complex(&mut self, token: usize) {
        self.complex.letter(token);
    }

    /// Counts a mark between two tokens with these numbers. Before any letter of the second they are the same. A mark does
    /// not end a run. A space behind it does, but may go unnoticed: then a run seems longer than it is, which costs time only.
    pub(super) fn mark(&mut self, before: usize, behind: usize) {
        self.marks += 1;
        if self.complex.token == before + 1 {
            self.complex.token = behind + 1;
        }
    }

    /// How to cut the runs of a page with this many runs into words, if any must be cut.
    pub(super) fn cut(&self, words: Words, runs: usize) -> Option<Words> {
        let is_cut = match words {
            Words::Runs => false,
            Words::Segmented => self.dense.most + self.complex.most + self.marks > 0,
            Words::Auto if self.dense.most + self.complex.most > 0 && runs < FEW_RUNS => {
                return Some(Words::Segmented);
            }
            Words::Auto => self.dense.most > RUN_CHARS || self.complex.most > COMPLEX_CHARS,
        };
        is_cut.then_some(words)
    }
}

/// Whether [`Words::Auto`] cuts this run of a page with many. It decides run by run, so that a page and its near copy are
/// never cut in two ways.
pub(super) fn needs_cut(run: &str) -> bool {
    let count = |of: fn(char) -> bool| run.chars().filter(|c| of(*c)).count();
    count(is_dense) > RUN_CHARS || count(|c| is_complex(c) && !is_mark(c)) > COMPLEX_CHARS
}

/// Whether `c` is a Chinese character or kana.
pub(super) fn is_dense(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether `c` is of Thai, Lao, Khmer or Burmese script.
pub(super) fn is_complex(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}')
}

/// Whether `c` belongs to the letter before it: a vowel sign, a tone mark, an accent.
pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark
}

/// `line` without the spaces between Chinese characters or kana that stand alone. groff writes such a space after each
/// character in HTML, and the words of such a page would be single characters.
pub(super) fn closed_up(line: &str) -> Cow<'_, str> {
    let stands_alone = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(is_dense) && letters.next().is_none()
    };
    let parts: Vec<(&str, bool)> = line.split(' ').map(|part| (part, stands_alone(part))).collect();
    if !parts.windows(2).any(|pair| pair[0].1 && pair[1].1) {
        return line.into();
    }
    let mut closed = String::with_capacity(line.len());
    for (at, (part, alone)) in parts.iter().enumerate() {
        if at > 0 && !(*alone && parts[at - 1].1) {
            closed.push(' ');
        }
        closed.push_str(part);
    }
    closed.into()
}

/// The words of a run of letters. A run without letters of these scripts is one word.
pub(super) fn words(run: &str) -> impl Iterator<Item = &str> {
    let cuts = run.chars().any(|c| is_dense(c) || is_complex(c));
    let breaks = cuts.then(|| segmenter().segment_str(run)).into_iter().flatten();
    let ends = breaks.skip(1).chain((!cuts).then_some(run.len()));
    ends.scan(0, move |start, end| Some(&run[std::mem::replace(start, end)..end]))
        .filter(|word| !word.is_empty())
}

fn segmenter() -> WordSegmenterBorrowed<'static> {
    static SEGMENTER: OnceLock<WordSegmenterBorrowed<'static>> = OnceLock::new();
    *SEGMENTER.get_or_init(|| WordSegmenter::new_dictionary(Default::default()))
}

#[cfg(test)]
mod tests;
