//! Counts the results over all pairs of a set. Its size does not depend on the number of pairs.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use onecopy_core::Groups;

use super::labels::{BANDS, Label, band};

/// The number of similarity bins below 1. One more bin holds similarity 1.
pub(super) const BINS: usize = 1_000;

/// The pairs to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    All,
    SameSite,
    CrossSite,
}

impl Scope {
    pub(super) const ALL: [Scope; 3] = [Scope::All, Scope::SameSite, Scope::CrossSite];

    /// Whether a pair is counted, given whether its pages are from one site.
    pub(super) fn has(self, same_site: Option<bool>) -> bool {
        match self {
            Scope::All => true,
            Scope::SameSite => same_site == Some(true),
            Scope::CrossSite => same_site == Some(false),
        }
    }
}

/// A pair as a method judges it.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedPair {
    pub a: u32,
    pub b: u32,
    pub label: Label,
    pub same_site: Option<bool>,
    /// The similarity of the whole visible texts. Known only for duplicates.
    pub whole: f32,
    pub similarity: f64,
    /// Whether the method's search finds the pair as a candidate.
    pub candidate: bool,
}

/// The counts of a scope.
pub(super) struct Scoped {
    /// Non-duplicates and duplicates by similarity. Pairs that the search misses are in the lowest bin.
    pub bins: [Vec<u64>; 2],
    /// Non-duplicates and duplicates that reach the method's threshold.
    pub found: [u64; 2],
    /// The groups that the found pairs form. Unscored pairs join nothing.
    pub groups: Groups,
}

/// The counts of all scopes, and the worst mistakes.
pub(super) struct Tally {
    pages: u32,
    pub scopes: [Scoped; Scope::ALL.len()],
    /// For each band: the duplicates, and the found ones among them.
    pub bands: [[u64; 2]; BANDS.len()],
    pub unscored: u64,
    pub wrong: Worst,
    pub missed: Worst,
}

impl Tally {
    pub(super) fn new(pages: usize, mistakes: usize) -> Tally {
        let scope = |_| Scoped {
            bins: [vec![0; BINS + 1], vec![0; BINS + 1]],
            found: [0; 2],
            groups: Groups::new(pages),
        };
        Tally {
            pages: pages as u32,
            scopes: Scope::ALL.map(scope),
            bands: Default::default(),
            unscored: 0,
            wrong: Worst::new(mistakes),
            missed: Worst::new(mistakes),
        }
    }

    /// Counts a pair.
    pub(super) fn count(&mut self, pair: &JudgedPair, threshold: f64) {
        let found = pair.candidate && pair.similarity >= threshold;
        let class = match pair.label {
            Label::Other => 0,
            Label::Same => 1,
            Label::Unscored => {
                self.unscored += 1;
                return;
            }
        };
        let bin = if pair.candidate { bin(pair.similarity) } else { 0 };
        for (scope, counts) in Scope::ALL.into_iter().zip(&mut self.scopes) {
            if scope.has(pair.same_site) {
                counts.bins[class][bin] += 1;
                counts.found[class] += u64::from(found);
                if found {
                    counts.groups.join(pair.a, pair.b);
                }
            }
        }
        if pair.label == Label::Same {
            let counts = &mut self.bands[band(pair.whole)];
            counts[0] += 1;
            counts[1] += u64::from(found);
        }
        match (pair.label, found) {
            (Label::Other, true) => self.wrong.push(pair.similarity.to_bits(), pair),
            // The bits of a non-negative float are ordered like its value. Inverting them ranks the smallest similarity
            // as the worst.
            (Label::Same, false) => self.missed.push(!pair.similarity.to_bits(), pair),
            _ => {}
        }
    }

    /// Adds the counts of another thread.
    pub(super) fn add(&mut self, other: Tally) {
        for (counts, other) in self.scopes.iter_mut().zip(other.scopes) {
            for class in 0..2 {
                counts.found[class] += other.found[class];
                for (to, from) in counts.bins[class].iter_mut().zip(&other.bins[class]) {
                    *to += from;
                }
            }
            for member in 0..self.pages {
                counts.groups.join(member, other.groups.of(member));
            }
        }
        for (to, from) in self.bands.iter_mut().flatten().zip(other.bands.iter().flatten()) {
            *to += from;
        }
        self.unscored += other.unscored;
        self.wrong.add(other.wrong);
        self.missed.add(other.missed);
    }
}

/// The bin of a similarity. Bin `n` begins exactly at `n / BINS`, so that thresholds fall between bins.
fn bin(similarity: f64) -> usize {
    // Rounding may lift a product to the next integer but never lowers it: the test checks all of them.
    let at = (similarity * BINS as f64) as usize;
    if at as f64 / BINS as f64 <= similarity { at.min(BINS) } else { at - 1 }
}

/// A ranked mistake: its severity, its pages (smaller numbers first), its similarity, and whether it was a candidate.
type Ranked = (u64, Reverse<(u32, u32)>, u64, bool);

/// How many times more mistakes are kept than reported, to choose from.
const SPARE: usize = 50;

/// The worst mistakes of a kind, independent of their order of arrival.
pub(super) struct Worst {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

/// A mistake.
pub(super) struct Wrong {
    pub a: u32,
    pub b: u32,
    pub similarity: f64,
    pub candidate: bool,
}

impl Worst {
    fn new(limit: usize) -> Worst {
        Worst { limit, heap: BinaryHeap::new() }
    }

    fn push(&mut self, badness: u64, pair: &JudgedPair) {
        self.insert((badness, Reverse((pair.a, pair.b)), pair.similarity.to_bits(), pair.candidate));
    }

    fn insert(&mut self, ranked: Ranked) {
        self.heap.push(Reverse(ranked));
        if self.heap.len() > self.limit * SPARE {
            self.heap.pop();
        }
    }

    fn add(&mut self, other: Worst) {
        for Reverse(ranked) in other.heap {
            self.insert(ranked);
        }
    }

    /// The mistakes to report, worst first. A mistake that shares a page with a worse one is listed after all others.
    pub(super) fn varied(self) -> Vec<Wrong> {
        let mut told = HashSet::new();
        let (mut chosen, mut others) = (Vec::new(), Vec::new());
        for Reverse((_, Reverse((a, b)), similarity, candidate)) in self.heap.into_sorted_vec() {
            let wrong = Wrong { a, b, similarity: f64::from_bits(similarity), candidate };
            let fresh = !told.contains(&a) && !told.contains(&b);
            told.extend([a, b]);
            if fresh { &mut chosen } else { &mut others }.push(wrong);
        }
        chosen.append(&mut others);
        chosen.truncate(self.limit);
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_begin_exactly_where_thresholds_are() {
        for n in 0..=BINS {
            let begin = n as f64 / BINS as f64;
            assert_eq!(bin(begin), n);
            assert!(n == 0 || bin(begin.next_down()) == n - 1, "{n}");
        }
        assert_eq!(bin(0.999_999_999), BINS - 1);
    }

    #[test]
    fn the_worst_come_first_in_any_order() {
        let pair = |a: u32, similarity: f64| JudgedPair {
            a: a.min(5),
            b: a + 10,
            label: Label::Other,
            same_site: None,
            whole: f32::NAN,
            similarity,
            candidate: true,
        };
        let pairs = [pair(1, 0.9), pair(2, 1.0), pair(3, 0.95), pair(4, 0.95), pair(5, 0.91), pair(6, 0.92)];
        let worst = |order: &[usize], told: usize| {
            let (mut one, mut two) = (Tally::new(20, told), Tally::new(20, told));
            for (turn, &at) in order.iter().enumerate() {
                if turn % 2 == 0 { &mut one } else { &mut two }.count(&pairs[at], 0.4);
            }
            one.add(two);
            assert_eq!((one.scopes[0].found, one.scopes[1].found), ([6, 0], [0, 0]));
            one.wrong.varied().into_iter().map(|wrong| wrong.b).collect::<Vec<_>>()
        };
        assert_eq!(worst(&[0, 1, 2, 3, 4, 5], 3), [12, 13, 14]);
        assert_eq!(worst(&[5, 3, 4, 2, 1, 0], 3), [12, 13, 14]);
        assert_eq!(worst(&[5, 3, 4, 2, 1, 0], 9), [12, 13, 14, 16, 11, 15], "15 has a page of 16");
        assert_eq!(worst(&[0, 1, 2, 3, 4, 5], 0), [0; 0]);
    }
}
