//! Counts the words that two separated pages share: shingles, words of their titles, and words of main content.

use crate::similarity::measure::{CoveredWords, PageSize, SharedShingles};
use crate::similarity::sketch::tag::{PLACES, SUBJECT, TAG, identity, is_elsewhere, is_main, place};

/// The words of a page, by kind.
#[derive(Clone, Copy, Default)]
struct Census {
    main: usize,
    rest: usize,
    subject: usize,
}

fn census(sketch: &[u64]) -> Census {
    let mut census = Census::default();
    for &word in sketch {
        census.main += usize::from(is_main(word));
        census.rest += usize::from(is_elsewhere(word));
        census.subject += usize::from(word & TAG == SUBJECT);
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

/// The words of two pages, and those that they share.
pub(super) struct Common {
    /// The shared shingles, by the page on which they are main content.
    pub shared: SharedShingles,
    /// The numbers of shingles of both.
    pub sizes: [PageSize; 2],
    pub titles: Titles,
}

/// The relation of two titles. The subject of a page are the words of its title that its main content has too, so most names
/// of sites do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Titles {
    /// Each title has a word of the other's subject, and one has all of them.
    SameSubject,
    /// Each title has at most a third of the other's subject.
    OtherSubject,
    Unclear,
}

/// Counts the words of two pages.
pub(super) fn common(a: &[u64], b: &[u64]) -> Common {
    let (mut counts, mut subjects) = ([0; 4], [0; 2]);
    each_shared(a, b, |x, y| {
        if is_main(x) || is_elsewhere(x) {
            counts[usize::from(!is_main(x)) + 2 * usize::from(!is_main(y))] += 1;
        } else {
            subjects[0] += usize::from(x & TAG == SUBJECT);
            subjects[1] += usize::from(y & TAG == SUBJECT);
        }
    });
    // Both sketches end with `TOLD` if both pages are separated, and that is no shingle.
    let rest = counts[3] - usize::from(super::is_told(a) && super::is_told(b));
    let shared = SharedShingles { both: counts[0], second: counts[1], first: counts[2], rest };
    let pages = [a, b].map(census);
    let sizes = pages.map(|page| PageSize { main: page.main, all: page.main + page.rest });
    Common { shared, sizes, titles: titles(subjects, pages.map(|page| page.subject)) }
}

/// Compares two titles. `shared` counts the words of the subject of each page that are in the title of the other.
fn titles(shared: [usize; 2], all: [usize; 2]) -> Titles {
    if all.contains(&0) {
        Titles::Unclear
    } else if !shared.contains(&0) && (shared[0] == all[0] || shared[1] == all[1]) {
        Titles::SameSubject
    } else if 3 * shared[0] <= all[0] && 3 * shared[1] <= all[1] {
        Titles::OtherSubject
    } else {
        Titles::Unclear
    }
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
    let covered =
        |page: usize| CoveredWords { shared: shared[page].words(length), all: all[page].words(length) };
    Some([0, 1].map(covered))
}

/// Whether the words of a page may count beside another page, by its title and its length.
pub(super) fn words_may_count(sketch: &[u64]) -> bool {
    let is_behind_places = |word: &u64| is_main(*word) && place(*word) == PLACES;
    census(sketch).subject > 0 && !sketch.iter().any(is_behind_places)
}

/// Tells how much two pages share. `evidence` shared shingles prove nothing.
pub(super) fn told(a: &[u64], b: &[u64], length: usize, evidence: usize) -> String {
    let Common { shared: SharedShingles { both, first, second, .. }, sizes, titles } = common(a, b);
    let found = [(both + first, sizes[0].main), (both + second, sizes[1].main)];
    let [in_b, in_a] = found.map(|(shared, all)| format!("{shared} of {all} shingles"));
    let start = format!(
        "{in_b} of the main content of A are on B, {in_a} of B on A; up to {evidence} prove nothing."
    );
    let titles = match (titles, covered(a, b, length)) {
        (Titles::SameSubject, Some([a, b])) => format!(
            "The titles name one subject, so words count too: {} of {} of A, {} of {} of B.",
            a.shared, a.all, b.shared, b.all
        ),
        (Titles::SameSubject, None) => {
            "The titles name one subject, but words of long pages do not count.".into()
        }
        (Titles::OtherSubject, _) => "The titles name two subjects, so a difference counts more.".into(),
        (Titles::Unclear, _) => "The titles prove nothing.".into(),
    };
    format!("{start} {titles}")
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

    /// How many words are in a shingle of `length` words that begins at one of these places.
    fn words(&self, length: usize) -> usize {
        let (mut words, mut behind) = (0, 0);
        for (at, bits) in self.0.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let place = at * 64 + bits.trailing_zeros() as usize;
                words += place + length - behind.max(place);
                behind = place + length;
                bits &= bits - 1;
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::sketch::tag::{TITLE, placed};

    #[test]
    fn words_in_several_shingles_count_once() {
        let words = |places: &[usize], length| {
            let mut marked = Places::default();
            places.iter().for_each(|place| marked.mark(placed(!0, *place)));
            marked.words(length)
        };
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
            assert_eq!(there.titles, back.titles);
            there.titles
        };
        let [s, t] = [SUBJECT, TITLE];
        assert_eq!(
            say(&[(1, s), (8, t)], &[(1, s), (9, t)]),
            Titles::SameSubject,
            "names of sites do not count"
        );
        assert_eq!(say(&[(1, s)], &[(1, s), (2, s)]), Titles::SameSubject);
        assert_eq!(
            say(&[(1, s), (3, s)], &[(1, s), (2, s)]),
            Titles::Unclear,
            "each has a word that the other lacks"
        );
        assert_eq!(say(&[(1, s), (3, s), (4, s)], &[(1, s), (2, s), (5, s)]), Titles::OtherSubject);
        assert_eq!(say(&[(1, s)], &[(2, s)]), Titles::OtherSubject);
        assert_eq!(
            say(&[(1, t)], &[(1, t)]),
            Titles::Unclear,
            "a title without a word of main content says nothing"
        );
        assert_eq!(say(&[(1, s)], &[]), Titles::Unclear);
    }
}
