//! Counts the words that two separated pages share: shingles, words of their titles, and words of main content.

use crate::similarity::measure::{Common, CoveredWords, PageSize, SharedShingles, Subjects, Templates};
use crate::similarity::sketch::tag::{PLACES, SUBJECT, TAG, identity, is_elsewhere, is_main, place};

/// The words of a page, by kind.
#[derive(Clone, Copy, Default)]
struct Census {
    main: usize,
    rest: usize,
    subject: usize,
    /// All words of the title.
    title: usize,
}

fn census(sketch: &[u64]) -> Census {
    let mut census = Census::default();
    for &word in sketch {
        census.main += usize::from(is_main(word));
        census.rest += usize::from(is_elsewhere(word));
        census.subject += usize::from(word & TAG == SUBJECT);
        census.title += usize::from(!is_main(word) && !is_elsewhere(word));
    }
    // The last word of a separated page is no shingle.
    census.rest -= usize::from(super::is_told(sketch));
    census
}

/// Calls `visit` for each two words that are the same.
fn each_shared(a: &[u64], b: &[u64], mut visit: impl FnMut(u64, u64)) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (identity(a[i]), identity(b[j]));
        if x == y {
            visit(a[i], b[j]);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

/// Counts the words of two pages.
pub(super) fn common(a: &[u64], b: &[u64]) -> Common {
    let (mut counts, mut named, mut titled) = ([0; 4], [0; 2], 0);
    each_shared(a, b, |x, y| {
        if is_main(x) || is_elsewhere(x) {
            counts[usize::from(!is_main(x)) + 2 * usize::from(!is_main(y))] += 1;
        } else {
            named[0] += usize::from(x & TAG == SUBJECT);
            named[1] += usize::from(y & TAG == SUBJECT);
            titled += 1;
        }
    });
    // Both sketches end with `TOLD` if both pages are separated, and that is no shingle.
    let rest = counts[3] - usize::from(super::is_told(a) && super::is_told(b));
    let shared = SharedShingles { both: counts[0], second: counts[1], first: counts[2], rest };
    let pages = [a, b].map(census);
    let sizes = pages.map(|page| PageSize { main: page.main, all: page.main + page.rest });
    let [one, other] = [a, b].map(least_outside);
    let kindred = one.is_some() && one == other;
    let is_missing = |page: usize| named[page] < pages[page].subject && titled < pages[1 - page].title;
    let renamed = is_missing(0) || is_missing(1);
    let unrelated = are_unrelated(titled, pages);
    let subjects = subjects_of(named, pages.map(|page| page.subject));
    Common { shared, sizes, kindred, renamed, unrelated, subjects }
}

/// The least shingle outside main content.
pub(super) fn least_outside(sketch: &[u64]) -> Option<u64> {
    let rest = |word: &u64| is_elsewhere(*word) && *word != super::TOLD;
    sketch.iter().copied().find(rest)
}

/// Whether the text outside main content differs from that of `model` in at most half of its shingles, and has more than
/// `evidence` of them. Two such pages have one template: with a and b shingles, they differ in at most a/2 + b/2, so they
/// share at least (a + b) / 4.
pub(super) fn has_template(sketch: &[u64], model: &[u64], evidence: usize) -> bool {
    let mut shared = 0;
    each_shared(sketch, model, |x, y| shared += usize::from(is_elsewhere(x) && is_elsewhere(y)));
    let [own, other] = [sketch, model].map(|sketch| census(sketch).rest);
    // Both sketches end with `TOLD`, which is no shingle.
    let differing = own + other - 2 * (shared - 1);
    own > evidence && 2 * differing <= own
}

/// Compares two titles. The subject of a page are the words of its title that its main content has too, so most names of
/// sites do not count. The subjects are the same if each title has a word of the other's, and one has all of them. They
/// are two if each title has at most a third of the other's. `shared` counts the words of the subject of each page that
/// are in the title of the other.
fn subjects_of(shared: [usize; 2], all: [usize; 2]) -> Subjects {
    if all.contains(&0) {
        Subjects::Unclear
    } else if !shared.contains(&0) && (shared[0] == all[0] || shared[1] == all[1]) {
        Subjects::Same
    } else if 3 * shared[0] <= all[0] && 3 * shared[1] <= all[1] {
        Subjects::Other
    } else {
        Subjects::Unclear
    }
}

/// Whether titles that share `shared` words are about two things, and neither is in the main content of its page. Each has
/// at most a third of the other's words, and the main contents have at most a quarter of both.
fn are_unrelated(shared: usize, pages: [Census; 2]) -> bool {
    let [a, b] = pages;
    let title = a.title.min(b.title);
    title > 0 && 3 * shared <= title && 4 * (a.subject + b.subject) <= a.title + b.title
}

/// How many words of the main contents are in shared shingles of `length` words. `None` if a page is longer than
/// places are known.
pub(super) fn covered(a: &[u64], b: &[u64], length: usize) -> Option<[CoveredWords; 2]> {
    let (mut all, mut shared) = ([Places::default(); 2], [Places::default(); 2]);
    for (sketch, places) in [a, b].into_iter().zip(&mut all) {
        sketch.iter().filter(|word| is_main(**word)).for_each(|word| places.mark(*word));
    }
    if all.iter().any(Places::is_too_long) {
        return None;
    }
    each_shared(a, b, |x, y| {
        for (word, places) in [x, y].into_iter().zip(&mut shared).filter(|(word, _)| is_main(*word)) {
            places.mark(word);
        }
    });
    Some([0, 1].map(|page| all[page].covered_by(&shared[page], length)))
}

/// Whether the words of a page may count beside another page, and how.
pub(super) struct MayCount {
    /// Words in shared shingles, by its title.
    pub words: bool,
    /// Its stretch, by the amount of text outside main content.
    pub stretch: bool,
}

/// Whether the words of a page may count. Nothing if it is long.
pub(super) fn may_count(sketch: &[u64], evidence: usize) -> MayCount {
    let is_behind_places = |word: &u64| is_main(*word) && place(*word) == PLACES;
    let (census, is_long) = (census(sketch), sketch.iter().any(is_behind_places));
    MayCount { words: !is_long && census.subject > 0, stretch: !is_long && census.rest > evidence }
}

/// Tells how much two pages share. `evidence` shared shingles prove nothing.
pub(super) fn told(a: &[u64], b: &[u64], length: usize, evidence: usize) -> String {
    let common = common(a, b);
    let Common { shared, sizes, subjects, .. } = common;
    let SharedShingles { both, first, second, rest } = shared;
    let found = [(both + first, sizes[0].main), (both + second, sizes[1].main)];
    let [in_b, in_a] = found.map(|(shared, all)| format!("{shared} of {all} shingles"));
    let start = format!(
        "{in_b} of the main content of A are on B, {in_a} of B on A; up to {evidence} prove nothing."
    );
    let words = covered(a, b, length);
    let titles = match (subjects, words) {
        (Subjects::Same, Some([a, b])) => format!(
            "The titles name one subject, so words count too: {} of {} of A, {} of {} of B.",
            a.shared, a.all, b.shared, b.all
        ),
        (Subjects::Same, None) => "The titles name one subject, but words of long pages do not count.".into(),
        (Subjects::Other, _) => "The titles name two subjects, so a difference counts more.".into(),
        (Subjects::Unclear, _) => "The titles prove nothing.".into(),
    };
    let [rest_a, rest_b] = sizes.map(|size| size.all - size.main);
    let outside = format!("Outside main content they share {rest} shingles of {rest_a} and {rest_b}");
    let templates = match (common.templates(evidence), words) {
        (Templates::One, _) if common.unrelated => {
            "which is one template, and the titles say nothing of main content, so all text must be alike.".into()
        }
        (Templates::One, _) => "which is one template, so a difference counts in full.".into(),
        (Templates::Part, _) => {
            "which is a part of a template, and hardly anything else is shared, so a difference counts in full."
                .into()
        }
        (Templates::Two, Some([a, b])) => format!(
            "which is two templates, so a stretch may count: {} of {} words of A, {} of {} of B.",
            a.inside, a.stretch, b.inside, b.stretch
        ),
        (Templates::Two, None) => "which is two templates, but stretches of long pages do not count.".into(),
        (Templates::Unclear, _) => "which proves nothing.".to_string(),
    };
    format!("{start} {titles} {outside}, {templates}")
}

/// The places of shingles in the main content of a page.
#[derive(Clone, Copy, Default)]
struct Places([u64; PLACES.div_ceil(64)]);

impl Places {
    fn mark(&mut self, word: u64) {
        let place = place(word);
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn is_too_long(&self) -> bool {
        self.0[PLACES / 64] >> (PLACES % 64) & 1 == 1
    }

    /// Counts the words in shingles of `length` words that begin at these places, and those of them in shingles that
    /// begin at the `shared` ones. The stretch has the largest sum if a shared word counts 1 and another one -1 (Kadane
    /// 1977).
    fn covered_by(&self, shared: &Places, length: usize) -> CoveredWords {
        let mut words = CoveredWords::default();
        // The stretch that ends here, as words and shared words, and where the shingles so far end.
        let (mut here, mut best, mut ends) = ((0, 0), 0, [0; 2]);
        for at in 0..self.behind() + length {
            let is_in = [self, shared].map(|places| places.has(at));
            is_in.iter().zip(&mut ends).filter(|(is_in, _)| **is_in).for_each(|(_, end)| *end = at + length);
            if at >= ends[0] {
                continue;
            }
            let is_shared = usize::from(at < ends[1]);
            (words.all, words.shared) = (words.all + 1, words.shared + is_shared);
            here = (here.0 + 1, here.1 + is_shared);
            if 2 * here.1 <= here.0 {
                here = (0, 0);
            } else if 2 * here.1 - here.0 > best {
                best = 2 * here.1 - here.0;
                (words.stretch, words.inside) = here;
            }
        }
        words
    }

    fn has(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    /// The number after the last place.
    fn behind(&self) -> usize {
        let last = self.0.iter().rposition(|bits| *bits != 0);
        last.map_or(0, |at| 64 * at + self.0[at].ilog2() as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::similarity::method::auto::TOLD;
    use crate::similarity::sketch::tag::{TITLE, elsewhere, placed};

    proptest! {
        #[test]
        fn pages_that_have_the_template_of_a_model_have_one_template(
            model in prop::collection::btree_set(0u64..40, 10..40),
            changed in prop::collection::vec(prop::collection::btree_set(0u64..60, 0..20), 2),
            evidence in 0usize..30,
        ) {
            let sketch = |rest: &BTreeSet<u64>| -> Vec<u64> {
                let main = (100..120u64).map(|n| placed(n << 12, n as usize));
                rest.iter().map(|n| elsewhere(n << 12)).chain(main).chain([TOLD]).collect()
            };
            let pages: Vec<Vec<u64>> = changed.iter().map(|changed| sketch(&(&model ^ changed))).collect();
            if pages.iter().all(|page| has_template(page, &sketch(&model), evidence)) {
                prop_assert_eq!(common(&pages[0], &pages[1]).templates(evidence), Templates::One);
            }
        }
    }

    fn places_at(places: &[usize]) -> Places {
        let mut marked = Places::default();
        places.iter().for_each(|place| marked.mark(placed(!0, *place)));
        marked
    }

    #[test]
    fn a_stretch_leaves_out_what_is_before_and_behind() {
        let all: Vec<usize> = (0..100).collect();
        let stretch = |shared: &[usize]| {
            let CoveredWords { shared, all, stretch, inside } =
                places_at(&all).covered_by(&places_at(shared), 5);
            assert_eq!(all, 104);
            (shared, stretch, inside)
        };
        assert_eq!(stretch(&[]), (0, 0, 0));
        assert_eq!(stretch(&all), (104, 104, 104));
        assert_eq!(stretch(&(20..60).collect::<Vec<_>>()), (44, 44, 44));
        let gap: Vec<usize> = (20..40).chain(50..60).collect();
        assert_eq!(stretch(&gap), (38, 44, 38), "a gap of six words");
        let apart: Vec<usize> = (0..4).chain(40..60).collect();
        assert_eq!(stretch(&apart), (32, 24, 24), "a phrase far away");
    }

    #[test]
    fn words_in_several_shingles_count_once() {
        let words = |places: &[usize], length| places_at(places).covered_by(&Places::default(), length).all;
        assert_eq!(words(&[], 5), 0);
        assert_eq!(words(&[0, 1, 2], 5), 7);
        assert_eq!(words(&[0, 4, 9], 5), 14);
        assert_eq!(words(&[63, 64, 200], 3), 7);
        assert_eq!(words(&[7, 8, 9], 1), 3);
    }

    #[test]
    fn titles_say_whether_pages_have_one_subject() {
        let title =
            |words: &[(u64, u64)]| -> Vec<u64> { words.iter().map(|(hash, tag)| hash << 12 | tag).collect() };
        let say = |a: &[(u64, u64)], b: &[(u64, u64)]| {
            let (there, back) = (common(&title(a), &title(b)), common(&title(b), &title(a)));
            assert_eq!(there.subjects, back.subjects);
            there.subjects
        };
        let [s, t] = [SUBJECT, TITLE];
        assert_eq!(say(&[(1, s), (8, t)], &[(1, s), (9, t)]), Subjects::Same, "names of sites do not count");
        assert_eq!(say(&[(1, s)], &[(1, s), (2, s)]), Subjects::Same);
        assert_eq!(
            say(&[(1, s), (3, s)], &[(1, s), (2, s)]),
            Subjects::Unclear,
            "each has a word that the other lacks"
        );
        assert_eq!(say(&[(1, s), (3, s), (4, s)], &[(1, s), (2, s), (5, s)]), Subjects::Other);
        assert_eq!(say(&[(1, s)], &[(2, s)]), Subjects::Other);
        assert_eq!(
            say(&[(1, t)], &[(1, t)]),
            Subjects::Unclear,
            "a title without a word of main content says nothing"
        );
        assert_eq!(say(&[(1, s)], &[]), Subjects::Unclear);
    }

    #[test]
    fn unrelated_titles_share_hardly_a_word_with_each_other_and_main_content() {
        let are_unrelated = |a: &[(u64, u64)], b: &[(u64, u64)]| {
            let [a, b]: [Vec<u64>; 2] =
                [a, b].map(|words| words.iter().map(|(hash, tag)| hash << 12 | tag).collect());
            assert_eq!(common(&a, &b).unrelated, common(&b, &a).unrelated);
            common(&a, &b).unrelated
        };
        let [s, t] = [SUBJECT, TITLE];
        assert!(are_unrelated(&[(1, t), (2, t)], &[(3, t)]));
        assert!(are_unrelated(&[(1, t), (2, t), (3, t)], &[(3, t), (4, t), (5, t)]), "the name of a site");
        assert!(!are_unrelated(&[(2, t), (3, t)], &[(3, t), (4, t), (5, t)]));
        assert!(are_unrelated(&[(1, s), (2, t)], &[(3, t), (4, t)]), "a usual word");
        assert!(!are_unrelated(&[(1, s), (2, t)], &[(3, t)]), "the main content has its title");
        assert!(!are_unrelated(&[], &[(3, t)]), "no title says nothing");
    }
}
