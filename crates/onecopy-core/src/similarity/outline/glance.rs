//! Glances: outlines in a few words, which tell most pages of a template apart.
//!
//! A value that varies in a template changes all shingles around it. Pages have these shingles together or not at all:
//! they are a *phrase*. One bit for a phrase tells as much as a bit for each of its shingles.
//!
//! Any division of shingles into phrases of w shingles is correct. Let k(A, p) be how many shingles of phrase p a page
//! A has. Two pages differ in at least the sum of |k(A, p) - k(B, p)| shingles. A glance rounds each k to 0 or w, and
//! the sum of these changes is how many shingles of the page are *torn*. By the triangle inequality, w times the number
//! of phrases that only one of two glances has is at most the number of shingles that only one page has, plus the torn
//! ones of both. If several phrases flip one bit, two glances differ in no more bits than in phrases.
//!
//! Phrases are learnt from some of the pages. Nothing relies on the others having them: they have more torn shingles.

use super::Probe;
use crate::hash;

/// How many places shingles have. So many that two of a page rarely share one, and then they count as one shingle twice.
const PLACES: usize = 1 << 16;
/// The words of the widest glance.
pub(super) const MOST_WORDS: usize = 16;
/// How many shingles a phrase may have. One means that each place is a phrase.
const WEIGHTS: [u32; 10] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16];
/// Quotas are counted in fractions of a bit, so that rounding costs little.
const FRACTIONS: u32 = 6;

/// Makes glances.
#[derive(Clone, Debug)]
pub(super) struct Glancer {
    /// A power of two.
    words: usize,
    weight: u32,
    /// The phrase of the shingles at each place, or `phrases` if they are in none. Empty if each place is a phrase.
    phrase_of: Vec<u16>,
    phrases: usize,
}

/// The first look at a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glance {
    /// Only the first ones are used.
    pub words: [u64; MOST_WORDS],
    /// As slacks, for the bits of glances: see [`most_differing`].
    pub quotas: [u64; 2],
}

/// In how many bits glances of alike pages with these quotas may differ.
#[inline(always)]
pub(super) fn most_differing(a: [u64; 2], b: [u64; 2]) -> u64 {
    (a[0] + b[0]).min(a[1] + b[1]) >> FRACTIONS
}

impl Default for Glancer {
    fn default() -> Glancer {
        Glancer { words: 4, weight: 1, phrase_of: Vec::new(), phrases: 0 }
    }
}

impl Glancer {
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// The glancer that tells these pages apart with the least work, in at most `most` words.
    pub(super) fn learn(pages: &[Probe], most: usize) -> Glancer {
        let groups = together(pages);
        let (mut best, mut least) = (Glancer::default(), f64::INFINITY);
        for weight in WEIGHTS {
            let mut glancer = Glancer::new(&groups, weight, most);
            let mut glances: Vec<Glance> = pages.iter().map(|page| glancer.glance(page)).collect();
            while glancer.words > 0 {
                let cost = cost(&glances, glancer.words);
                if cost < least {
                    (best, least) = (glancer.clone(), cost);
                }
                glancer.words /= 2;
                glances.iter_mut().for_each(|glance| halve(&mut glance.words, glancer.words));
            }
        }
        best
    }

    fn new(groups: &[Vec<u16>], weight: u32, words: usize) -> Glancer {
        let mut glancer = Glancer { words, weight, ..Glancer::default() };
        if weight > 1 {
            let phrases = || groups.iter().flat_map(|group| group.chunks_exact(weight as usize));
            glancer.phrases = phrases().count();
            glancer.phrase_of = vec![glancer.phrases as u16; PLACES];
            for (number, phrase) in (0..).zip(phrases()) {
                phrase.iter().for_each(|&place| glancer.phrase_of[usize::from(place)] = number);
            }
        }
        glancer
    }

    pub(super) fn glance(&self, page: &Probe) -> Glance {
        let mut words = [0; MOST_WORDS];
        let torn = match self.weight {
            1 => {
                page.places.iter().for_each(|&place| self.flip(place, 1, &mut words));
                0
            }
            _ => self.phrases(&page.places, &mut words),
        };
        let quota = |slack: u32| ((u64::from(slack) + torn) << FRACTIONS).div_ceil(u64::from(self.weight));
        Glance { words, quotas: page.slacks.map(quota) }
    }

    /// Flips the bits of the phrases that a page has. Returns how many of its shingles are torn. There is no branch on
    /// the data, because nothing could predict it.
    fn phrases(&self, places: &[u16], words: &mut [u64; MOST_WORDS]) -> u64 {
        let mut counts = vec![0u32; self.phrases + 1];
        places.iter().for_each(|&place| counts[usize::from(self.phrase_of[usize::from(place)])] += 1);
        counts[self.phrases] = 0;
        let mut torn = 0;
        for &place in places {
            let phrase = self.phrase_of[usize::from(place)];
            // The other shingles of the phrase find nothing left.
            let count = std::mem::take(&mut counts[usize::from(phrase)]);
            let has = 2 * count > self.weight;
            self.flip(phrase, u64::from(has), words);
            torn += u64::from(count.abs_diff(self.weight * u32::from(has)));
        }
        torn
    }

    #[inline(always)]
    fn flip(&self, number: u16, bit: u64, words: &mut [u64; MOST_WORDS]) {
        words[usize::from(number >> 6) & (self.words - 1)] ^= bit << (number & 63);
    }
}

/// The place of a shingle.
pub(crate) fn place(shingle: u64) -> u16 {
    (shingle >> 16) as u16
}

/// Folds glances into half as many words.
fn halve(words: &mut [u64; MOST_WORDS], half: usize) {
    (0..half).for_each(|at| words[at] ^= words[at + half]);
}

/// The places of shingles that the same pages have, in groups.
fn together(pages: &[Probe]) -> Vec<Vec<u16>> {
    let mut holders = vec![(0u64, 0usize); PLACES];
    for (number, page) in (0..).zip(pages) {
        for &place in &page.places {
            let (sum, count) = &mut holders[usize::from(place)];
            *sum = sum.wrapping_add(hash::repeated(number, 1));
            *count += 1;
        }
    }
    // A place that one page has, or all have, tells no two others apart.
    let varying = (0..=u16::MAX).zip(&holders).filter(|(_, (_, count))| (2..pages.len()).contains(count));
    let mut varying: Vec<(u64, u16)> = varying.map(|(place, (sum, _))| (*sum, place)).collect();
    varying.sort_unstable();
    let groups = varying.chunk_by(|a, b| a.0 == b.0);
    groups.map(|group| group.iter().map(|(_, place)| *place).collect()).collect()
}

/// The effort to compare two pages by glances of so many words, in words that are compared.
fn cost(glances: &[Glance], words: usize) -> f64 {
    /// Eight pages are looked at again if one of them may be alike.
    const AGAIN: f64 = 8.0 * 80.0;
    /// Enough pairs of each page to see one in a thousand.
    const PAIRS: usize = 16;
    let (mut near, mut pairs) = (0usize, 0usize);
    for (at, a) in glances.iter().enumerate() {
        for b in glances[at + 1..].iter().step_by(glances.len() / PAIRS + 1) {
            let differing: u32 = (0..words).map(|word| (a.words[word] ^ b.words[word]).count_ones()).sum();
            near += usize::from(u64::from(differing) <= most_differing(a.quotas, b.quotas));
            pairs += 1;
        }
    }
    words as f64 + AGAIN * near as f64 / pairs.max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A page of a template: some values, each with shingles of its own, and shingles that belong to none.
    fn page(values: &[u16], more: &BTreeSet<u16>, without: u16) -> BTreeSet<u16> {
        let shingles = values
            .iter()
            .zip(0u16..)
            .flat_map(|(value, slot)| (0..slot % 7).map(move |shingle| 1_000 * slot + 50 * shingle + value));
        let shingles: BTreeSet<u16> = shingles.filter(|shingle| shingle % 11 != without).collect();
        &shingles ^ more
    }

    fn probe(page: &BTreeSet<u16>, slack: usize) -> Probe<'static> {
        Probe { bits: &[], slacks: [slack as u32, slack as u32 + 1], places: page.iter().copied().collect() }
    }

    proptest! {
        #[test]
        fn glances_never_differ_by_more_than_the_pages(
            values in prop::collection::vec((prop::collection::vec(0u16..4, 20), 0u16..40), 2..40),
            more in prop::collection::btree_set(any::<u16>(), 0..30),
            most in prop::sample::select(vec![1usize, 4, 16]),
        ) {
            let none = BTreeSet::new();
            let more = |n: usize| if n.is_multiple_of(3) { &more } else { &none };
            let pages: Vec<BTreeSet<u16>> =
                values.iter().enumerate().map(|(n, (values, without))| page(values, more(n), *without)).collect();
            let probes: Vec<Probe> = pages.iter().map(|page| probe(page, 5)).collect();
            // Learnt from half of the pages.
            let (some, groups) = (&probes[..probes.len().div_ceil(2)], together(&probes[..probes.len() / 2]));
            let glancers = WEIGHTS.map(|weight| Glancer::new(&groups, weight, most));
            for glancer in glancers.into_iter().chain([Glancer::learn(some, most), Glancer::default()]) {
                for (a, b) in pages.iter().zip(pages.iter().skip(1)) {
                    let differing = a.symmetric_difference(b).count();
                    let (a, b) = (probe(a, differing / 2), probe(b, differing.div_ceil(2)));
                    let (a, b) = (glancer.glance(&a), glancer.glance(&b));
                    let bits: u32 =
                        (0..glancer.words()).map(|at| (a.words[at] ^ b.words[at]).count_ones()).sum();
                    prop_assert!(u64::from(bits) <= most_differing(a.quotas, b.quotas));
                }
            }
        }
    }

    #[test]
    fn values_of_a_template_are_told_apart_in_a_word() {
        let forms: Vec<BTreeSet<u16>> = (0..256u64)
            .map(|n| {
                let answers = (0..30).map(|item| 10 * item + 5 * (hash::repeated(n, item as u64) % 2) as u16);
                answers.flat_map(|answer| answer..answer + 5).chain(5_000..5_150).collect()
            })
            .collect();
        // Alike forms may differ in five answers.
        let probes: Vec<Probe> = forms.iter().map(|form| probe(form, 25)).collect();
        let glancer = Glancer::learn(&probes, MOST_WORDS);
        assert_eq!(glancer.words, 1);
        assert!((3..=5).contains(&glancer.weight), "{}", glancer.weight);
        let near = (1..256).filter(|&n| {
            let (a, b) = (glancer.glance(&probes[0]), glancer.glance(&probes[n]));
            u64::from((a.words[0] ^ b.words[0]).count_ones()) <= most_differing(a.quotas, b.quotas)
        });
        assert!(near.count() < 3);
    }
}
