//! Which keys of a content are posted.
//!
//! A content that stays has postings for all of its keys. A loser has postings only for the keys that its winner lacks:
//! a search that finds the winner by a key knows that losers may have it, too. So the postings of a key do not grow
//! with the copies of a page. If the winner of a content changes, its keys are posted again.

use std::collections::BTreeSet;
use std::sync::Arc;

use onecopy_core::graph::Slot;
use onecopy_core::{Method, Scratch};
use onecopy_store::{Posting, Postings};

use super::ContentEntry;
use super::generation::Orders;
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
    /// A winner, a generation and its keys there: most losers in a row have the same winner.
    centre: Option<(Slot, u32, Vec<u64>)>,
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
        let covering = if is_covered { self.take_centre(winner, generation)? } else { None };
        let lacks = |key: &u64| covering.as_ref().is_none_or(|(.., keys)| keys.binary_search(key).is_err());
        let own = self.keys(sketch, generation).iter().filter(|(key, _)| lacks(key));
        let postings: Vec<Posting> = own.map(|&(key, rest)| Posting { key, content: slot, rest }).collect();
        self.postings.add(&postings);
        self.buffers.centre = covering.or(self.buffers.centre.take());
        Ok(())
    }

    /// The keys of a winner; `None` if its sketch is damaged.
    fn take_centre(&mut self, winner: Slot, generation: u32) -> Result<Option<(Slot, u32, Vec<u64>)>> {
        let known = self.buffers.centre.take();
        if let Some(known) = known.filter(|known| (known.0, known.1) == (winner, generation)) {
            return Ok(Some(known));
        }
        let Some(sketch) = self.sketch(winner)? else { return Ok(None) };
        let keys = self.keys(&sketch, generation).iter().map(|(key, _)| *key).collect();
        Ok(Some((winner, generation, keys)))
    }

    /// Another content may have had this slot.
    fn forget_centre(&mut self, slot: Slot) {
        self.buffers.centre.take_if(|centre| centre.0 == slot);
    }
}
