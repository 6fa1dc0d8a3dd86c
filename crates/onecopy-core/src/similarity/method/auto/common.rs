//! What two separated pages share: shingles, words of their titles, and words of main content.

use crate::similarity::measure::{CoveredWords, PageSize, SharedShingles};
use crate::similarity::sketch::tag::{PLACES, SUBJECT, TAG, identity, is_elsewhere, is_main, place};

/// The numbers of shingles of a page.
pub(super) fn size(sketch: &[u64]) -> PageSize {
    let (mut main, mut rest) = (0, 0);
    for &word in sketch {
        main += usize::from(is_main(word));
        rest += usize::from(is_elsewhere(word));
    }
    PageSize { main, all: main + rest - usize::from(super::is_told(sketch)) }
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

/// The shared words of two pages.
pub(super) struct Common {
    /// The shingles, by the page on which they are main content.
    pub shingles: SharedShingles,
    /// Whether the titles name the same subject.
    pub same_subject: bool,
}

/// Counts the shared words of two pages.
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
    let shingles = SharedShingles { both: counts[0], second: counts[1], first: counts[2], rest };
    let same_subject = subjects.iter().all(|shared| *shared > 0) && same_subject(subjects, a, b);
    Common { shingles, same_subject }
}

fn subject_words(sketch: &[u64]) -> usize {
    sketch.iter().filter(|word| **word & TAG == SUBJECT).count()
}

/// Whether the titles of two pages name the same subject. Its words are those of the title that the main content has
/// too, so most names of sites do not count. Of each page, some of these words must be in the title of the other, and
/// of one page all. `shared` counts them.
fn same_subject(shared: [usize; 2], a: &[u64], b: &[u64]) -> bool {
    shared[0] == subject_words(a) || shared[1] == subject_words(b)
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
    fn titles_name_one_subject_if_one_title_has_all_words_of_the_other() {
        let title =
            |words: &[(u64, u64)]| -> Vec<u64> { words.iter().map(|(hash, tag)| hash << 12 | tag).collect() };
        let same = |a: &[(u64, u64)], b: &[(u64, u64)]| {
            let (there, back) = (common(&title(a), &title(b)), common(&title(b), &title(a)));
            assert_eq!(there.same_subject, back.same_subject);
            there.same_subject
        };
        let [s, t] = [SUBJECT, TITLE];
        assert!(same(&[(1, s), (8, t)], &[(1, s), (9, t)]), "names of sites do not count");
        assert!(same(&[(1, s)], &[(1, s), (2, s)]));
        assert!(!same(&[(1, s), (3, s)], &[(1, s), (2, s)]), "each has a word that the other lacks");
        assert!(!same(&[(1, s)], &[(2, s)]));
        assert!(!same(&[(1, t)], &[(1, t)]), "a title without a word of main content says nothing");
        assert!(!same(&[], &[]));
    }
}
