//! Which keys of a content are posted.
//!
//! A content that stays has postings for all of its keys. A loser has postings only for the keys that its winner lacks:
//! a search that finds the winner by a key knows that losers may have it, too. So the postings of a key do not grow
//! with the copies of a page. A key of a loser that is another word of its winner is posted under the winner's name.
//! If the winner of a content changes, its keys are posted again.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use onecopy_core::graph::Slot;
use onecopy_core::{Method, Scratch};
use onecopy_store::{Posting, Postings};

use super::ContentEntry;
use super::generation::{Orders, mixed};
use super::sketches::Sketches;
use crate::error::Result;

/// Posts keys.
pub(super) struct Entering<'a> {
    pub entries: &'a mut Vec<ContentEntry>,
    pub postings: &'a mut Postings,
    pub orders: &'a Orders,
    pub sketches: &'a mut Sketches,
    pub method: &'a dyn Method,
    pub buffers: EnteringBuffers,
}

/// What is kept between contents.
#[derive(Default)]
pub(super) struct EnteringBuffers {
    /// The contents that have keys of the newest generation now.
    pub entered: BTreeSet<Slot>,
    scratch: Scratch,
    keys: Vec<(u64, u32)>,
    /// The last winner: most losers in a row have the same one.
    centre: Option<Centre>,
}

/// A winner in a generation.
struct Centre {
    slot: Slot,
    generation: u32,
    /// Its keys, and those that were posted under its name.
    posted: HashSet<u64>,
    /// All words of its sketch as they would be keys, ascending.
    words: Vec<u64>,
    /// Other keys of losers that were posted in this edit.
    met: HashSet<u64>,
}

impl Centre {
    /// Under whose name a key of a loser is posted; `None` if it is posted already.
    fn name_for(&mut self, key: u64, loser: Slot) -> Option<Slot> {
        if self.posted.contains(&key) {
            return None;
        }
        // Other losers have it as a key, too, or may have: one posting of the winner is for all of them.
        let is_shared = self.words.binary_search(&key).is_ok() || !self.met.insert(key);
        is_shared.then(|| self.posted.insert(key));
        Some(if is_shared { self.slot } else { loser })
    }
}

impl Entering<'_> {
    /// The sketch of a content; `None` if it is damaged.
    pub(super) fn sketch(&mut self, slot: Slot) -> Result<Option<Arc<[u64]>>> {
        self.sketches.get(slot, self.entries[slot as usize].at)
    }

    /// The keys of a sketch in a generation, ascending. Ends when the next keys are asked for.
    pub(super) fn keys(&mut self, sketch: &[u64], generation: u32) -> &[(u64, u32)] {
        let EnteringBuffers { scratch, keys, .. } = &mut self.buffers;
        keys.clear();
        self.orders.order(generation).keys(sketch, self.method, scratch, keys);
        keys
    }

    /// Posts a content whose winner is new, with keys of the newest generation.
    pub(super) fn settle(&mut self, slot: Slot, winner: Slot) -> Result<()> {
        let newest = self.orders.newest();
        // No loser relies on its earlier postings: those that did are open, and are settled later.
        self.postings.supersede(slot);
        if winner == slot {
            self.forget_centre(slot);
        } else if self.entries[winner as usize].generation != newest {
            let since = self.entries[winner as usize].since;
            self.renew(winner, winner)?;
            // Losers of an earlier generation still rely on its keys there.
            self.entries[winner as usize].since = since;
        }
        self.renew(slot, winner)
    }

    /// Posts a content with keys of the newest generation.
    fn renew(&mut self, slot: Slot, winner: Slot) -> Result<()> {
        let newest = self.orders.newest();
        let Some(sketch) = self.sketch(slot)? else { return Ok(()) };
        let entry = &mut self.entries[slot as usize];
        (entry.generation, entry.since) = (newest, newest);
        entry.partition = self.orders.home(&sketch, self.method);
        self.buffers.entered.insert(slot);
        self.post(slot, &sketch, newest, winner)
    }

    /// Posts the keys of a content in a generation, without those that its winner has.
    pub(super) fn post(&mut self, slot: Slot, sketch: &[u64], generation: u32, winner: Slot) -> Result<()> {
        let is_covered = winner != slot && self.entries[winner as usize].generation == generation;
        let mut centre = if is_covered { self.take_centre(winner, generation)? } else { None };
        let mut postings = Vec::new();
        for &(key, rest) in self.keys(sketch, generation) {
            let under = centre.as_mut().map_or(Some(slot), |centre| centre.name_for(key, slot));
            let rest = if under == Some(slot) { rest } else { 0 };
            postings.extend(under.map(|content| Posting { key, content, rest }));
        }
        self.postings.add(&postings);
        self.buffers.centre = centre.or(self.buffers.centre.take());
        Ok(())
    }

    /// A winner and its keys; `None` if its sketch is damaged.
    fn take_centre(&mut self, winner: Slot, generation: u32) -> Result<Option<Centre>> {
        let known = self.buffers.centre.take();
        if let Some(known) = known.filter(|known| (known.slot, known.generation) == (winner, generation)) {
            return Ok(Some(known));
        }
        let Some(sketch) = self.sketch(winner)? else { return Ok(None) };
        let posted = self.keys(&sketch, generation).iter().map(|(key, _)| *key).collect();
        let mut words: Vec<u64> = sketch.iter().map(|&word| mixed(word, generation)).collect();
        words.sort_unstable();
        Ok(Some(Centre { slot: winner, generation, posted, words, met: HashSet::new() }))
    }

    /// Another content may have had this slot.
    fn forget_centre(&mut self, slot: Slot) {
        self.buffers.centre.take_if(|centre| centre.slot == slot);
    }
}
