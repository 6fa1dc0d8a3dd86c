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
//! The text outside main content tells whether two pages have one template. If they do, the rest of it in both main
//! contents is the same, and any difference is one of content: it counts in full. If they have two templates, text that
//! both share is no template. Their main contents may then begin and end with such a rest, and only the *stretch* that
//! holds what they share is compared. Between the two ends little may differ.
//!
//! Pages that each quote the other's main content in their template are not copies, and no index could find them.
//! The main contents themselves must therefore resemble each other by [`MAIN_PART`] of s, by [`WORDS_PART`] of the
//! agreement of words, and by [`STRETCH_PART`] of the similarity by stretches. Candidates are found by that.

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
/// The share of the similarity by stretches that the main contents must reach. Lower: more of a main content may be
/// template, and more candidates. Measured on short texts in real pages (docs/QUALITY.md): 0.494 finds 0.01 to 0.03 less of the
/// copies. 0.375 finds 0.01 more, but takes sections of one manual for copies.
const STRETCH_PART: f64 = 0.44;

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
/// The least weight of a difference between pages of one template, and how much more if little is shared. With a doubt of 8,
/// eleven of the 8,600 removals from whole manuals join indexes of different letters (docs/QUALITY.md).
const ONE_TEMPLATE: (f64, f64) = (1.0, 12.0);
/// The weight of words in a stretch, if titles name the same subject. Two notices about installation share 45 words and
/// nothing else, so a stretch needs more than other evidence.
const STRETCH: Weight = Weight { least: 3.0, doubt: 8.0, spared: 30 };
/// The same for other titles. One of the pages must then have hardly anything else.
const UNNAMED_STRETCH: Weight = Weight { spared: 45, ..STRETCH };
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
    /// The words from one place to another, chosen so that the shared ones outnumber the others by the most.
    pub stretch: usize,
    /// The shared words among those of the stretch.
    pub inside: usize,
}

/// How the titles of two pages relate their subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subjects {
    Same,
    Other,
    Unclear,
}

/// How the text outside main content relates the templates of two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Templates {
    One,
    Two,
    Unclear,
}

/// The words of two pages, and those that they share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    /// The shared shingles, by the page on which they are main content.
    pub shared: SharedShingles,
    /// The numbers of shingles of both.
    pub sizes: [PageSize; 2],
    pub subjects: Subjects,
    /// Whether a word of one subject is missing in the other title, which has a word of its own in its place.
    pub renamed: bool,
    /// Whether the least of all shingles outside main content is the same on both.
    pub kindred: bool,
}

impl Common {
    /// Compares all text outside main content. Up to `evidence` shingles of it prove nothing. Kindred pages never have two
    /// templates, so that pages of one template can be grouped, and few of them compared.
    pub(crate) fn templates(&self, evidence: usize) -> Templates {
        let [a, b] = self.sizes.map(|size| size.all - size.main);
        match self.shared.rest {
            _ if a.min(b) <= evidence => Templates::Unclear,
            shared if 10 * shared <= a.min(b) && !self.kindred => Templates::Two,
            shared if 2 * shared >= a.min(b) => Templates::One,
            _ => Templates::Unclear,
        }
    }
}

/// The similarity of two pages. Up to `evidence` shared shingles prove nothing. `words` looks at the words of their main
/// contents; it returns `None` if a page is long.
pub(crate) fn similarity(
    common: &Common,
    evidence: usize,
    words: impl FnOnce() -> Option<[CoveredWords; 2]>,
) -> f64 {
    let Common { shared, sizes: [a, b], subjects, .. } = *common;
    let SharedShingles { both, first, second, rest } = shared;
    let agreement = agreement(shared, a.main, b.main);
    let whole = resemblance(both + first + second + rest, a.all, b.all);
    let proof = (both + first.min(second)).saturating_sub(evidence);
    let main = resemblance(both, a.main, b.main);
    let templates = common.templates(evidence);
    let by = |weight: Weight, agreement: f64| {
        weight.between(templates).weigh(agreement, proof).max(agreement.min(whole))
    };
    let value = by(if subjects == Subjects::Other { OTHER_SUBJECT } else { SHINGLES }, agreement);
    let counts = subjects == Subjects::Same || templates == Templates::Two;
    let Some(words) = counts.then(words).flatten() else { return value };
    let by_words = if subjects == Subjects::Same { by(WORDS, word_agreement(words, main)) } else { 0.0 };
    let by_stretch = if templates == Templates::Two { by_stretch(words, common, proof) } else { 0.0 };
    value.max(by_words).max(by_stretch)
}

/// How much the main contents resemble each other at least if the similarity of two pages reaches `threshold`. Rounding
/// can make it a little too large.
pub(crate) fn least_main(threshold: f64) -> f64 {
    let by_words_or_stretch = least_main_by_words(threshold).min(least_main_by_stretch(threshold));
    (least_agreement(threshold) * MAIN_PART).min(by_words_or_stretch)
}

/// How much two pages agree at least if their similarity reaches `threshold` without words.
pub(crate) fn least_agreement(threshold: f64) -> f64 {
    SHINGLES.least_agreement(threshold)
}

/// As [`least_main`], if the similarity reaches `threshold` by words.
pub(crate) fn least_main_by_words(threshold: f64) -> f64 {
    WORDS.least_agreement(threshold) * WORDS_PART
}

/// As [`least_agreement`], for pages of one template.
pub(crate) fn least_agreement_of_kin(threshold: f64) -> f64 {
    SHINGLES.between(Templates::One).least_agreement(threshold)
}

/// As [`least_main_by_words`], for pages of one template.
pub(crate) fn least_main_by_words_of_kin(threshold: f64) -> f64 {
    WORDS.between(Templates::One).least_agreement(threshold) * WORDS_PART
}

/// As [`least_main`], if the similarity reaches `threshold` by stretches.
pub(crate) fn least_main_by_stretch(threshold: f64) -> f64 {
    threshold * STRETCH_PART
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

/// The similarity of two pages by their stretches, if they have two templates. If each title has a word of its own, the names
/// of two sites differ, or those of two files with one licence: then one of the pages must have hardly anything else.
fn by_stretch(words: [CoveredWords; 2], common: &Common, proof: usize) -> f64 {
    let Common { shared, sizes, subjects, renamed, .. } = *common;
    let has_hardly_more = words.into_iter().any(|page| 10 * page.shared >= 9 * page.all);
    let weight = match subjects == Subjects::Same {
        true if has_hardly_more || !renamed => STRETCH,
        false if has_hardly_more => UNNAMED_STRETCH,
        _ => return 0.0,
    };
    let main = resemblance(shared.both, sizes[0].main, sizes[1].main);
    let [a, b] = words;
    let agreement = mutual(a.inside as f64, b.inside as f64, a.stretch as f64, b.stretch as f64);
    weight.weigh(agreement, proof).min(main / STRETCH_PART)
}

impl Weight {
    /// This weight for pages with such templates.
    fn between(self, templates: Templates) -> Weight {
        let (least, doubt) = if templates == Templates::One { ONE_TEMPLATE } else { (0.0, 0.0) };
        Weight { least: self.least.max(least), doubt: self.doubt.max(doubt), ..self }
    }

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

    /// The similarity of pages whose words are not known.
    fn similar(shared: SharedShingles, sizes: [PageSize; 2], subjects: Subjects, evidence: usize) -> f64 {
        similarity(&Common { shared, sizes, subjects, renamed: false, kindred: false }, evidence, || None)
    }

    /// Words in shared shingles, of which all are in the stretch.
    fn covered(shared: usize, all: usize) -> CoveredWords {
        CoveredWords { shared, all, stretch: all, inside: shared }
    }

    #[test]
    fn where_all_is_main_content_pages_agree_by_resemblance() {
        for (both, a, b) in [(4, 4, 5), (0, 3, 4), (0, 0, 0), (7, 11, 13), (1, 1, 1_000_003)] {
            let shared = SharedShingles { both, ..SharedShingles::default() };
            assert_eq!(agreement(shared, a, b), resemblance(both, a, b));
            assert_eq!(
                similar(shared, pages((a, a), (b, b)), Subjects::Unclear, usize::MAX),
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
                let (words, none) = ([covered(a, a), covered(b - 1, b)], None);
                for subjects in [Subjects::Unclear, Subjects::Other, Subjects::Same] {
                    for [x, y] in [[none; 2], [Some(words), Some([words[1], words[0]])]] {
                        let value = similarity(
                            &Common { shared: there, sizes: one, subjects, renamed: false, kindred: false },
                            2,
                            || x,
                        );
                        let again = similarity(
                            &Common { shared: back, sizes: other, subjects, renamed: false, kindred: false },
                            2,
                            || y,
                        );
                        assert_eq!(value, again);
                        assert!((0.0..=1.0).contains(&value));
                        let main = resemblance(both, a, b) + 1e-12;
                        assert!(main >= least_main(value));
                        let by_words = main >= least_main_by_words(value).min(least_main_by_stretch(value));
                        let may_be_by_words = x.is_some() && by_words;
                        assert!(may_be_by_words || agreement(there, a, b) >= least_agreement(value) - 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn the_more_is_shared_the_less_a_difference_counts() {
        let seven_tenths = |both: usize| {
            let all = both * 10 / 7;
            let shared = SharedShingles { both, ..SharedShingles::default() };
            similar(shared, pages((all, 10 * all), (both, 10 * all)), Subjects::Unclear, EVIDENCE)
        };
        let values = [14, 28, 56, 112, 700].map(seven_tenths);
        assert!(values.is_sorted() && values[0] < 0.1 && values[4] > 0.8, "{values:?}");
    }

    #[test]
    fn little_is_proof_only_if_whole_pages_are_alike() {
        let shared = SharedShingles { both: 9, rest: 100, ..SharedShingles::default() };
        assert_eq!(similar(shared, pages((9, 109), (9, 109)), Subjects::Unclear, EVIDENCE), 1.0);
        assert_eq!(similar(shared, pages((9, 109), (9, 1_090)), Subjects::Unclear, EVIDENCE), 0.1);
        assert_eq!(similar(shared, pages((90, 109), (9, 109)), Subjects::Unclear, EVIDENCE), 0.1);
    }

    #[test]
    fn words_count_for_little_text_too_if_whole_pages_are_alike() {
        let shared = SharedShingles { both: 19, rest: 36, ..SharedShingles::default() };
        let similar = |subjects| {
            let common =
                Common { shared, sizes: pages((24, 60), (23, 59)), subjects, renamed: false, kindred: false };
            similarity(&common, EVIDENCE, || Some([covered(27, 28), covered(27, 27)]))
        };
        assert_eq!(similar(Subjects::Same), 55.0 / 64.0);
        assert_eq!(similar(Subjects::Unclear), 19.0 / 28.0);
    }

    #[test]
    fn words_do_not_help_if_half_of_the_phrases_changed() {
        let similar = |both: usize| {
            let shared = SharedShingles { both, rest: 200, ..SharedShingles::default() };
            let common = Common {
                shared,
                sizes: pages((200, 1_000), (200, 1_000)),
                subjects: Subjects::Same,
                renamed: false,
                kindred: false,
            };
            similarity(&common, EVIDENCE, || Some([covered(180, 200); 2]))
        };
        assert!(similar(130) < 0.8, "{}", similar(130));
        assert!(similar(145) > 0.8, "{}", similar(145));
    }

    #[test]
    fn of_two_templates_only_the_stretch_counts() {
        let words = |shared, all, gap| CoveredWords { shared, all, stretch: shared + gap, inside: shared };
        let similar = |shared: usize, gap: usize, rest: usize, subjects: Subjects| {
            let shingles = SharedShingles { both: shared - 4, rest, ..SharedShingles::default() };
            let sizes = pages((shared + 40, 400), (shared + 40, 400));
            let common = Common { shared: shingles, sizes, subjects, renamed: false, kindred: false };
            similarity(&common, EVIDENCE, || Some([words(shared, shared + 44, gap); 2]))
        };
        assert_eq!(similar(120, 0, 0, Subjects::Same), 1.0);
        assert!(
            similar(70, 0, 0, Subjects::Same) > 0.8 && similar(44, 0, 0, Subjects::Same) < 0.8,
            "evidence"
        );
        assert!(similar(120, 2, 0, Subjects::Same) > 0.8 && similar(120, 9, 0, Subjects::Same) < 0.8, "gaps");
        assert!(similar(120, 0, 100, Subjects::Same) < 0.8, "templates that are not two");
        assert!(similar(120, 0, 0, Subjects::Other) < 0.8, "two subjects, and both pages have more");
        let common = Common {
            shared: SharedShingles { both: 116, ..SharedShingles::default() },
            sizes: pages((160, 400), (160, 400)),
            subjects: Subjects::Same,
            renamed: true,
            kindred: false,
        };
        assert!(
            similarity(&common, EVIDENCE, || Some([words(120, 164, 0); 2])) < 0.8,
            "two files, one licence"
        );
        let clean = || Some([words(120, 164, 0), words(120, 124, 0)]);
        let shared = SharedShingles { both: 116, ..SharedShingles::default() };
        let common = Common {
            shared,
            sizes: pages((160, 400), (120, 400)),
            subjects: Subjects::Other,
            renamed: false,
            kindred: false,
        };
        assert_eq!(similarity(&common, EVIDENCE, clean), 1.0, "one page has hardly more");
        assert!(similarity(&Common { kindred: true, ..common }, EVIDENCE, clean) < 0.9, "not two templates");
        let sizes = pages((330, 600), (120, 400));
        assert!(similarity(&Common { sizes, ..common }, EVIDENCE, clean) < 0.8, "too much else");
    }

    #[test]
    fn of_one_template_a_difference_counts_in_full() {
        let shared = |rest| SharedShingles { both: 800, rest, ..SharedShingles::default() };
        let similar =
            |rest| similar(shared(rest), pages((1_000, 1_400), (900, 1_300)), Subjects::Unclear, 16);
        assert!(similar(100) > 0.85, "{}", similar(100));
        assert!(similar(200) < agreement(shared(200), 1_000, 900), "{}", similar(200));
    }
}
