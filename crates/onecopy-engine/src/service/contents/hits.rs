//! Collects the contents that a search finds, each once, however many keys it shares.
//!
//! Pages of one template share hundreds of keys with thousands of others, so most of what postings say is known.

use onecopy_core::graph::{Hit, Slot};

/// The contents that a search found so far.
#[derive(Debug, Default)]
pub(super) struct Hits {
    found: Vec<Hit>,
    /// How much is known of each content; empty between searches.
    known: Vec<Known>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    #[default]
    Nothing,
    /// It shares a key, and cannot be alike by what that key says.
    Shares,
    MayBeAlike,
}

impl Hits {
    /// Whether another key can tell more about a content.
    pub(super) fn is_open(&self, slot: Slot) -> bool {
        self.known.get(slot as usize) != Some(&Known::MayBeAlike)
    }

    /// Adds a content.
    pub(super) fn add(&mut self, hit: Hit) {
        let (slot, told) = (hit.slot as usize, if hit.may { Known::MayBeAlike } else { Known::Shares });
        if slot >= self.known.len() {
            self.known.resize(slot + 1, Known::Nothing);
        }
        if told > self.known[slot] {
            self.known[slot] = told;
            self.found.push(hit);
        }
    }

    /// Ends the search. Returns what it found, by slot.
    pub(super) fn take(&mut self) -> Vec<Hit> {
        let mut hits = std::mem::take(&mut self.found);
        hits.iter().for_each(|hit| self.known[hit.slot as usize] = Known::Nothing);
        each_once(&mut hits);
        hits.shrink_to_fit();
        hits
    }
}

/// Leaves each content once, by slot. It may be alike if one of its keys says so.
pub(super) fn each_once(hits: &mut Vec<Hit>) {
    hits.sort_unstable_by_key(|hit| (hit.slot, !hit.may));
    hits.dedup_by_key(|hit| hit.slot);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_found_once_and_may_be_alike_if_one_key_says_so() {
        let (mut hits, hit) = (Hits::default(), |slot, may| Hit { slot, may });
        for _ in 0..2 {
            for (slot, may) in
                [(7, false), (3, true), (7, true), (3, false), (9, false), (7, false), (9, false)]
            {
                hits.add(hit(slot, may));
            }
            assert!(!hits.is_open(7) && hits.is_open(9) && hits.is_open(1_000));
            assert_eq!(hits.take(), [hit(3, true), hit(7, true), hit(9, false)]);
        }
        assert!(hits.is_open(7) && hits.take().is_empty());
    }
}
