//! The postings that are in no part yet, indexed by key.
//!
//! Postings are stored in order of arrival. A hash table maps each key to its newest posting, and each posting links to
//! the previous one.

use std::collections::HashMap;

use super::Posting;

/// Postings in memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    postings: Vec<Posting>,
    /// For each posting, the index of the previous one with the same key, plus one.
    before: Vec<u32>,
    /// A power of two in number, at most half of them used.
    slots: Vec<HashSlot>,
    /// For each content that was superseded, the index of the first posting that came since.
    since: HashMap<u32, u32>,
}

/// `newest` is zero for an empty slot. Half of the key is stored here, so that other keys are rarely compared.
#[derive(Debug, Clone, Copy, Default)]
struct HashSlot {
    half: u32,
    newest: u32,
}

impl Memory {
    pub(super) fn len(&self) -> usize {
        self.postings.len()
    }

    /// The postings that are of use: those of a content since it was last superseded.
    pub(super) fn current(&self) -> impl Iterator<Item = Posting> + '_ {
        let is_current = |(at, posting): &(u32, &Posting)| {
            self.since.get(&posting.content).is_none_or(|since| at >= since)
        };
        (0..).zip(&self.postings).filter(is_current).map(|(_, posting)| *posting)
    }

    /// Postings of the content that came before are of no use any more, here or in earlier memories.
    pub(super) fn supersede(&mut self, content: u32) {
        self.since.insert(content, self.postings.len() as u32);
    }

    /// Whether earlier postings of the content are of no use.
    pub(super) fn supersedes(&self, content: u32) -> bool {
        self.since.contains_key(&content)
    }

    /// Adds postings, but none that is the newest of its key already.
    pub(super) fn add(&mut self, postings: &[Posting]) {
        for posting in postings {
            if self.is_newest(posting) {
                continue;
            }
            if self.slots.len() < 2 * (self.postings.len() + 1) {
                self.grow();
            }
            self.postings.push(*posting);
            self.before.push(0);
            self.link(self.postings.len() - 1);
        }
    }

    fn is_newest(&self, posting: &Posting) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        let newest = self.slots[self.slot_of(posting.key)].newest;
        let is_same = newest > 0 && self.postings[newest as usize - 1] == *posting;
        is_same && self.since.get(&posting.content).is_none_or(|since| newest > *since)
    }

    /// These postings and later ones, as far as they are of use.
    pub(super) fn with(&self, later: &Memory) -> Memory {
        let mut both = Memory::default();
        let earlier = self.current().filter(|posting| !later.supersedes(posting.content));
        both.add(&earlier.chain(later.current()).collect::<Vec<_>>());
        both.since = self.since.keys().chain(later.since.keys()).map(|&content| (content, 0)).collect();
        both
    }

    /// Calls `found` with the content and rest of each posting of the key.
    pub(super) fn find(&self, key: u64, found: &mut dyn FnMut(u32, u32)) {
        if self.slots.is_empty() {
            return;
        }
        let mut at = self.slots[self.slot_of(key)].newest;
        while at > 0 {
            let posting = self.postings[at as usize - 1];
            found(posting.content, posting.rest);
            at = self.before[at as usize - 1];
        }
    }

    fn grow(&mut self) {
        let count = (2 * self.slots.len()).max(1024);
        self.slots.clear();
        self.slots.resize(count, HashSlot::default());
        (0..self.postings.len()).for_each(|at| self.link(at));
    }

    fn link(&mut self, at: usize) {
        let key = self.postings[at].key;
        let slot = self.slot_of(key);
        self.before[at] = self.slots[slot].newest;
        self.slots[slot] = HashSlot { half: key as u32, newest: at as u32 + 1 };
    }

    /// The slot of the key, or the free slot where it belongs.
    fn slot_of(&self, key: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & last;
        loop {
            let slot = self.slots[at];
            let free = slot.newest == 0;
            if free || slot.half == key as u32 && self.postings[slot.newest as usize - 1].key == key {
                return at;
            }
            at = (at + 1) & last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_the_same_half_are_told_apart() {
        let key = |content: u32| xxhash_rust::xxh3::xxh3_64(&content.to_le_bytes()) << 32 | 5;
        let posting = |at: u32| Posting { key: key(at % 3000), content: at % 3000, rest: at };
        let mut memory = Memory::default();
        memory.add(&(0..9000).map(posting).collect::<Vec<_>>());
        for at in 0..3000 {
            let mut rests = Vec::new();
            memory.find(key(at), &mut |content, rest| {
                assert_eq!(content, at);
                rests.push(rest);
            });
            assert_eq!(rests, [at + 6000, at + 3000, at]);
        }
        memory.find(5 << 20, &mut |_, _| panic!("never added"));
    }

    #[test]
    fn a_posting_is_added_again_only_if_it_was_superseded() {
        let posting = Posting { key: 7, content: 1, rest: 0 };
        let mut memory = Memory::default();
        memory.add(&[posting, posting]);
        assert_eq!(memory.len(), 1);
        memory.supersede(1);
        assert_eq!(memory.current().count(), 0);
        memory.add(&[posting, posting]);
        assert_eq!((memory.len(), memory.current().count()), (2, 1));
    }
}
