//! The decision: is the main content of each page on the other page, and is there enough of it to tell?
//!
//! Main content is chosen page by page, and the choice errs: under one template a note or a table is dropped that is
//! kept under another. The main content of a page is therefore searched for in *all* text of the other page, where
//! no wrong choice can hide it. Content that a page lost by a wrong choice then costs nothing; content that it
//! wrongly kept does. Suppose x of the a shingles of one main content are on the other page, and y of b the other
//! way round. The pages agree by
//!
//! ```text
//! s = 1 / (a/x + b/y - 1)
//! ```
//!
//! If all of both pages is main content, x = y is the number that they share, and this is the resemblance of Broder
//! (1997).
//!
//! A rest of the template stays in most main contents, and costs more on short pages. Two pages of one template share
//! such a rest and a few phrases. So the amount that two pages share decides how much a difference counts:
//!
//! ```text
//! similarity = s / (s + w (1 - s))      w = LEAST_WEIGHT + DOUBT / (min(x, y) - evidence)
//! ```
//!
//! Up to `evidence` shared shingles prove nothing. Then only whole pages can show that two pages are alike: their
//! similarity is the smaller of their agreement and the resemblance of all their text.
//!
//! One changed word changes five shingles, so a page with many small changes agrees little by shingles. The words of main
//! content that are in shared shingles tell more: they agree by the same formula. But pages about two functions may
//! differ in little more than the name. So words count only if both titles name the same subject, and by weights of
//! their own. The larger of both similarities counts. If the titles name two subjects, a difference counts more.
//!
//! Pages that each quote the other's main content in their template are not copies, and no index could find them.
//! The main contents themselves must therefore resemble each other by [`MAIN_PART`] of s, and by [`WORDS_PART`] of the
//! agreement of words. Candidates are found by that.

use super::resemblance;

/// The share of the agreement of two pages that their main contents alone must reach. Higher: fewer pages are alike,
/// and fewer candidates. It was measured at a threshold of 0.8 on Javadoc, with a model that had not seen it
/// (docs/QUALITY.md). Precision and recall are 0.983 and 1 without it, and 0.989 and 0.990 with this value. They are
/// 0.991 and 0.987 with 0.69, and 0.995 and 0.933 with 1.
const MAIN_PART: f64 = 0.625;
/// As [`MAIN_PART`], for the agreement of words. If half of the phrases changed, a page says something else, however many
/// single words stayed. Measured on 30 releases of Javadoc: with 0.56 every fifteenth pair that is found joins releases
/// that share less than half of their shingles, with 0.75 hardly any does.
const WORDS_PART: f64 = 0.75;

/// How much a difference counts.
#[derive(Clone, Copy)]
struct Weight {
    /// At least so much. Higher: fewer pages are alike.
    least: f64,
    /// How much more if little is shared. Higher: fewer short pages are alike.
    doubt: f64,
    /// How many more shared shingles prove nothing.
    spared: usize,
}

/// The weight of shingles. Measured on labelled pages of eight kinds: from 0.40 to 0.45 no kind has a precision below
/// 0.989, and recall changes by less than 0.015.
const SHINGLES: Weight = Weight { least: 0.43, doubt: 8.0, spared: 0 };
/// The weight of shingles if titles name two subjects, such as two functions that are described in the same words.
const OTHER_SUBJECT: Weight = Weight { least: 0.6, ..SHINGLES };
/// The weight of words, if titles name the same subject. The lists of members of two classes differ in the name alone
/// and have one title. They share 25 shingles, and agree by too little at this weight.
const WORDS: Weight = Weight { least: 0.6, doubt: 8.0, spared: 4 };
/// The number of shared shingles that prove nothing, unless a configuration gives another. A licence notice or a
/// sentence of the template has as many. With 14, two short pages of one manual are found in error; with 16 none.
pub(crate) const EVIDENCE: usize = 16;

/// The shingles that two pages share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedShingles {
    /// Shingles that are main content on both.
    pub both: usize,
    /// Shingles that are main content on the first page and elsewhere on the second.
    pub first: usize,
    /// Shingles that are main content on the second page and elsewhere on the first.
    pub second: usize,
    /// Shingles that are main content on neither.
    pub rest: usize,
}

/// The numbers of shingles of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageSize {
    pub main: usize,
    /// Main content and the rest.
    pub all: usize,
}

/// The words of the main content of a page that are in any of its shingles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoveredWords {
    /// Words in shingles that the other page has.
    pub shared: usize,
    pub all: usize,
}

/// How the titles of two pages relate their subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// They are the same. Words are not known of long pages.
    Same(Option<[CoveredWords; 2]>),
    Other,
    Unclear,
}

/// The similarity of two pages that share `shared`, of which up to `evidence` prove nothing.
pub(crate) fn similarity(
    shared: SharedShingles,
    [a, b]: [PageSize; 2],
    subjects: Subjects,
    evidence: usize,
) -> f64 {
    let SharedShingles { both, first, second, rest } = shared;
    let agreement = agreement(shared, a.main, b.main);
    let whole = resemblance(both + first + second + rest, a.all, b.all);
    let proof = (both + first.min(second)).saturating_sub(evidence);
    let main = resemblance(both, a.main, b.main);
    let by = |weight: Weight, agreement: f64| weight.weigh(agreement, proof).max(agreement.min(whole));
    match subjects {
        Subjects::Same(Some(words)) => by(SHINGLES, agreement).max(by(WORDS, word_agreement(words, main))),
        Subjects::Other => by(OTHER_SUBJECT, agreement),
        Subjects::Same(None) | Subjects::Unclear => by(SHINGLES, agreement),
    }
}

/// How much the main contents resemble each other at least if the similarity of two pages reaches `threshold`. Rounding
/// can make it a little too large.
pub(crate) fn least_main(threshold: f64) -> f64 {
    (least_agreement(threshold) * MAIN_PART).min(least_main_by_words(threshold))
}

/// How much two pages agree at least if their similarity reaches `threshold` without words.
pub(crate) fn least_agreement(threshold: f64) -> f64 {
    SHINGLES.least_agreement(threshold)
}

/// As [`least_main`], if the similarity reaches `threshold` by words.
pub(crate) fn least_main_by_words(threshold: f64) -> f64 {
    WORDS.least_agreement(threshold) * WORDS_PART
}

/// How far each of two main contents, with `a` and `b` shingles, is on the other page.
fn agreement(SharedShingles { both, first, second, .. }: SharedShingles, a: usize, b: usize) -> f64 {
    let main = resemblance(both, a, b);
    if first == 0 && second == 0 {
        return main;
    }
    mutual((both + first) as f64, (both + second) as f64, a as f64, b as f64).min(main / MAIN_PART)
}

/// How far the words of each main content are in shared shingles. `main` is how much the main contents resemble each
/// other.
fn word_agreement([a, b]: [CoveredWords; 2], main: f64) -> f64 {
    mutual(a.shared as f64, b.shared as f64, a.all as f64, b.all as f64).min(main / WORDS_PART)
}

impl Weight {
    /// The similarity of pages with this agreement; `proof` is how much they share beyond what proves nothing.
    fn weigh(self, agreement: f64, proof: usize) -> f64 {
        if proof <= self.spared {
            return 0.0;
        }
        let weight = self.least + self.doubt / (proof - self.spared) as f64;
        agreement / (agreement + weight * (1.0 - agreement))
    }

    /// The least agreement of pages whose similarity reaches `threshold`.
    fn least_agreement(self, threshold: f64) -> f64 {
        let least = threshold * self.least;
        least / (1.0 - threshold + least)
    }
}

/// `1 / (a/x + b/y - 1)`, or 0 if a divisor is 0.
fn mutual(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y / (a * y + b * x - x * y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(a: (usize, usize), b: (usize, usize)) -> [PageSize; 2] {
        [a, b].map(|(main, all)| PageSize { main, all })
    }

    #[test]
    fn where_all_is_main_content_pages_agree_by_resemblance() {
        for (both, a, b) in [(4, 4, 5), (0, 3, 4), (0, 0, 0), (7, 11, 13), (1, 1, 1_000_003)] {
            let shared = SharedShingles { both, ..SharedShingles::default() };
            assert_eq!(agreement(shared, a, b), resemblance(both, a, b));
            assert_eq!(
                similarity(shared, pages((a, a), (b, b)), Subjects::Unclear, usize::MAX),
                resemblance(both, a, b)
            );
        }
    }

    #[test]
    fn it_is_symmetric_between_0_and_1_and_needs_main_content_alike() {
        let shares = [(0, 0, 0, 0), (3, 1, 0, 2), (2, 2, 3, 0), (5, 0, 0, 1), (1, 4, 4, 0)];
        for (both, first, second, rest) in shares {
            for (a, b) in [(5, 5), (6, 9), (40, 7)] {
                let there = SharedShingles { both, first, second, rest };
                let back = SharedShingles { first: second, second: first, ..there };
                let (one, other) = (pages((a, a + 9), (b, b + 8)), pages((b, b + 8), (a, a + 9)));
                let covered = |shared, all| CoveredWords { shared, all };
                let [x, y] = [covered(a, a), covered(b - 1, b)];
                let same = [(there, one, [x, y]), (back, other, [y, x])];
                let same = same.map(|(shared, pages, words)| (shared, pages, Subjects::Same(Some(words))));
                let others = [Subjects::Unclear, Subjects::Other, Subjects::Same(None)];
                let others = others.map(|subjects| [(there, one, subjects), (back, other, subjects)]);
                for [forth, back] in others.into_iter().chain([same]) {
                    let [value, again] =
                        [forth, back].map(|(shared, pages, subjects)| similarity(shared, pages, subjects, 2));
                    assert_eq!(value, again);
                    assert!((0.0..=1.0).contains(&value));
                    assert!(resemblance(both, a, b) >= least_main(value) - 1e-12);
                    let by_words = resemblance(both, a, b) >= least_main_by_words(value) - 1e-12;
                    let may_be_by_words = matches!(forth.2, Subjects::Same(Some(_))) && by_words;
                    assert!(may_be_by_words || agreement(there, a, b) >= least_agreement(value) - 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_more_is_shared_the_less_a_difference_counts() {
        let seven_tenths = |both: usize| {
            let all = both * 10 / 7;
            let shared = SharedShingles { both, ..SharedShingles::default() };
            similarity(shared, pages((all, 10 * all), (both, 10 * all)), Subjects::Unclear, EVIDENCE)
        };
        let values = [14, 28, 56, 112, 700].map(seven_tenths);
        assert!(values.is_sorted() && values[0] < 0.1 && values[4] > 0.8, "{values:?}");
    }

    #[test]
    fn little_is_proof_only_if_whole_pages_are_alike() {
        let shared = SharedShingles { both: 9, rest: 100, ..SharedShingles::default() };
        assert_eq!(similarity(shared, pages((9, 109), (9, 109)), Subjects::Unclear, EVIDENCE), 1.0);
        assert_eq!(similarity(shared, pages((9, 109), (9, 1_090)), Subjects::Unclear, EVIDENCE), 0.1);
        assert_eq!(similarity(shared, pages((90, 109), (9, 109)), Subjects::Unclear, EVIDENCE), 0.1);
    }

    #[test]
    fn words_count_for_little_text_too_if_whole_pages_are_alike() {
        let shared = SharedShingles { both: 19, rest: 36, ..SharedShingles::default() };
        let words = [(27, 28), (27, 27)].map(|(shared, all)| CoveredWords { shared, all });
        let similar = |subjects| similarity(shared, pages((24, 60), (23, 59)), subjects, EVIDENCE);
        assert_eq!(similar(Subjects::Same(Some(words))), 55.0 / 64.0);
        assert_eq!(similar(Subjects::Unclear), 19.0 / 28.0);
    }

    #[test]
    fn words_do_not_help_if_half_of_the_phrases_changed() {
        let words = [CoveredWords { shared: 180, all: 200 }; 2];
        let similar = |both: usize| {
            let shared = SharedShingles { both, ..SharedShingles::default() };
            similarity(shared, pages((200, 1_000), (200, 1_000)), Subjects::Same(Some(words)), EVIDENCE)
        };
        assert!(similar(130) < 0.8, "{}", similar(130));
        assert!(similar(145) > 0.8, "{}", similar(145));
    }
}
