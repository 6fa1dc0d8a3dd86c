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
//! A site may show a few lines as main content and the rest as links, on its first pages above all. Such pages share a part
//! of their templates and little of all their text. Their few lines may be a notice, so a difference counts in full too.
//! And the model may take a part of a template for main content. Then all pages of the site have the same, whatever their
//! titles say. So suppose that two pages of one template have titles with hardly a word in common, and that the main
//! contents have hardly a word of their titles. Then all text must be alike.
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
/// The weight of shingles if titles name two subjects, such as two functions that are described in the same words. With a
/// least weight of 0.6, stubs of one manual that share a list of its pages are copies.
const OTHER_SUBJECT: Weight = Weight { least: 1.0, ..SHINGLES };
/// The same between two templates: titles of two sites differ in more than the subject.
const OTHER_SUBJECT_ELSEWHERE: Weight = Weight { least: 0.6, ..SHINGLES };
/// The weight of words, if titles name the same subject. The lists of members of two classes differ in the name alone
/// and have one title. They share 25 shingles, and agree by too little at this weight.
const WORDS: Weight = Weight { least: 0.6, doubt: 8.0, spared: 4 };
/// The least weight of a difference between pages of one template, and how much more if little is shared. With a doubt of 8,
/// eleven of the 8,600 removals from whole manuals join indexes of different letters (docs/QUALITY.md).
const ONE_TEMPLATE: (f64, f64) = (1.0, 12.0);
/// The same between pages that share a part of their templates, but less than [`HARDLY_ANYTHING`] of all text. With a doubt of
/// 20, two more first pages of guides are copies that share a notice. With 40, recall on short pages of a manual is 0.003 less.
const PART_OF_A_TEMPLATE: (f64, f64) = (1.0, 30.0);
/// Below this resemblance of all text, a part of a template makes a notice doubtful. First pages of guides have 0.26 or less.
/// Higher: fewer pages are alike. With 0.36, references under two releases of a template are lost.
const HARDLY_ANYTHING: f64 = 0.3;
/// How much a difference of all text counts between pages of one template with unrelated titles. Higher: fewer pages are
/// alike. With 1.5, one pair in seven of a template that was taken for main content is found in error.
const ALL_TEXT: Weight = Weight { least: 2.0, doubt: 0.0, spared: 0 };
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
    /// They share a part of their templates, and hardly anything else.
    Part,
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
    /// Whether both pages have titles, at most a third of the words of each is in the other, and at most a quarter of all
    /// these words is in main content.
    pub unrelated: bool,
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
            _ if self.whole() < HARDLY_ANYTHING => Templates::Part,
            _ => Templates::Unclear,
        }
    }

    /// The resemblance of all text.
    fn whole(&self) -> f64 {
        let SharedShingles { both, first, second, rest } = self.shared;
        resemblance(both + first + second + rest, self.sizes[0].all, self.sizes[1].all)
    }
}

/// The similarity of two pages. Up to `evidence` shared shingles prove nothing. `words` looks at the words of their main
/// contents; it returns `None` if a page is long.
pub(crate) fn similarity(
    common: &Common,
    evidence: usize,
    words: impl FnOnce() -> Option<[CoveredWords; 2]>,
) -> f64 {
    let (templates, whole) = (common.templates(evidence), common.whole());
    let value = by_content(common, evidence, templates, words);
    let is_doubtful = templates == Templates::One && common.unrelated;
    if is_doubtful { value.min(ALL_TEXT.weigh(whole, usize::MAX)) } else { value }
}

/// The similarity of two pages if neither main content is a part of a template.
fn by_content(
    common: &Common,
    evidence: usize,
    templates: Templates,
    words: impl FnOnce() -> Option<[CoveredWords; 2]>,
) -> f64 {
    let Common { shared, sizes: [a, b], subjects, .. } = *common;
    let SharedShingles { both, first, second, .. } = shared;
    let agreement = agreement(shared, a.main, b.main);
    let whole = common.whole();
    let proof = (both + first.min(second)).saturating_sub(evidence);
    let main = resemblance(both, a.main, b.main);
    let by = |weight: Weight, agreement: f64| {
        weight.between(templates).weigh(agreement, proof).max(agreement.min(whole))
    };
    let value = by(of_shingles(subjects, templates), agreement);
    let counts = subjects == Subjects::Same || templates == Templates::Two;
    let Some(words) = counts.then(words).flatten() else { return value };
    let by_words = if subjects == Subjects::Same { by(WORDS, word_agreement(words, main)) } else { 0.0 };
    let by_stretch = if templates == Templates::Two { by_stretch(words, common, proof) } else { 0.0 };
    value.max(by_words).max(by_stretch)
}

/// The weight of shingles.
fn of_shingles(subjects: Subjects, templates: Templates) -> Weight {
    match (subjects, templates) {
        (Subjects::Other, Templates::Two) => OTHER_SUBJECT_ELSEWHERE,
        (Subjects::Other, _) => OTHER_SUBJECT,
        _ => SHINGLES,
    }
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
        let (least, doubt) = match templates {
            Templates::One => ONE_TEMPLATE,
            Templates::Part => PART_OF_A_TEMPLATE,
            Templates::Two | Templates::Unclear => (0.0, 0.0),
        };
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
mod tests;
