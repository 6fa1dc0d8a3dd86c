//! Winners whose losers are posted: which keys of a loser need a posting, and under whose name.
//!
//! Pages of one template share most keys. One posting of the winner is enough for all of its losers, so the list of a key
//! stays short however many pages the template has.

use std::collections::{HashMap, HashSet};

use onecopy_core::graph::Slot;

/// A winner in a generation.
#[derive(Debug)]
pub(super) struct Centre {
    slot: Slot,
    /// Its keys, and those that were posted under its name.
    posted: HashSet<u64>,
    /// All words of its sketch as they would be keys, ascending.
    words: Vec<u64>,
    /// Other keys of losers that were posted.
    met: HashSet<u64>,
}

impl Centre {
    /// A winner with these keys. `words` are all words of its sketch as they would be keys, in any order.
    pub(super) fn new(slot: Slot, keys: &[(u64, u32)], mut words: Vec<u64>) -> Centre {
        words.sort_unstable();
        Centre { slot, posted: keys.iter().map(|(key, _)| *key).collect(), words, met: HashSet::new() }
    }

    /// Whether a loser's key is posted already.
    pub(super) fn has(&self, key: u64) -> bool {
        self.posted.contains(&key)
    }

    /// Under whose name a key of a loser is posted. `is_held` says that another loser has it.
    pub(super) fn name_for(&mut self, key: u64, loser: Slot, is_held: bool) -> Slot {
        // Other losers have it as a key, too, or may have: one posting of the winner is for all of them.
        let is_shared = self.is_shared(key) || is_held;
        if is_shared {
            self.posted.insert(key);
        } else {
            self.met.insert(key);
        }
        if is_shared { self.slot } else { loser }
    }

    /// Whether other losers are known to have a key, or may have it.
    pub(super) fn is_shared(&self, key: u64) -> bool {
        self.met.contains(&key) || self.words.binary_search(&key).is_ok()
    }
}

/// The winners of the losers that were posted last.
#[derive(Debug, Default)]
pub(super) struct Centres {
    held: HashMap<(Slot, u32), Centre>,
    words: usize,
}

/// The most words of all winners together.
const MOST_WORDS: usize = 1 << 18;

impl Centres {
    /// Takes a winner out, in a generation.
    pub(super) fn take(&mut self, winner: Slot, generation: u32) -> Option<Centre> {
        let taken = self.held.remove(&(winner, generation))?;
        self.words -= taken.words.len();
        Some(taken)
    }

    /// Puts a winner back. If there are too many, the others are forgotten.
    pub(super) fn put(&mut self, centre: Centre, generation: u32) {
        if self.words + centre.words.len() > MOST_WORDS {
            *self = Centres::default();
        }
        self.words += centre.words.len();
        self.held.insert((centre.slot, generation), centre);
    }

    /// Forgets a content in a generation: another one may have had its slot.
    pub(super) fn forget(&mut self, slot: Slot, generation: u32) {
        self.take(slot, generation);
    }
}
