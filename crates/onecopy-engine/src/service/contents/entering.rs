//! Which keys of a content are posted.
//!
//! A content that stays has postings for all of its keys. A loser has postings only for the keys that its winner lacks:
//! a search that finds the winner by a key knows that losers may have it, too. So the postings of a key do not grow
//! with the copies of a page. A key that several losers have, or may have, is posted once, under the winner's name.
//! If the winner of a content changes, its keys are posted again.

use std::collections::BTreeSet;
use std::sync::Arc;

use onecopy_core::graph::Slot;
use onecopy_core::{Method, Scratch};
use onecopy_store::{Posting, Postings};

use super::ContentEntry;
use super::centre::{Centre, Centres};
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
    pub buffers: &'a mut EnteringBuffers,
}

/// What is kept between contents.
#[derive(Default)]
pub(in crate::service) struct EnteringBuffers {
    /// The contents that have keys of the newest generation now.
    pub(super) entered: BTreeSet<Slot>,
    scratch: Scratch,
    keys: Vec<(u64, u32)>,
    centres: Centres,
}

impl Entering<'_> {
    /// The sketch of a content; `None` if it is damaged.
    pub(super) fn sketch(&mut self, slot: Slot) -> Result<Option<Arc<[u64]>>> {
        self.sketches.get(slot, self.entries[slot as usize].at)
    }

    /// The keys of a sketch in a generation, ascending. Ends when the next keys are asked for.
    pub(super) fn keys(&mut self, sketch: &[u64], generation: u32) -> &[(u64, u32)] {
        let EnteringBuffers { scratch, keys, .. } = &mut *self.buffers;
        keys.clear();
        self.orders.order(generation).keys(sketch, self.method, scratch, keys);
        keys
    }

    /// Posts a content whose winner is new, with keys of the newest generation.
    pub(super) fn settle(&mut self, slot: Slot, winner: Slot) -> Result<()> {
        let newest = self.orders.newest();
        // No loser relies on its earlier postings: those that did are open, and are settled later.
        self.postings.supersede(slot);
        self.entries[slot as usize].winner = winner;
        if winner == slot {
            self.buffers.centres.forget(slot, newest);
        } else if self.entries[winner as usize].generation != newest {
            let since = self.entries[winner as usize].since;
            self.renew(winner, winner)?;
            // Losers of an earlier generation still rely on its keys there.
            self.entries[winner as usize].since = since;
        }
        self.renew(slot, winner)
    }

    /// Posts the keys of a content again that gets its first loser. The loser relies on them, and others that this edit
    /// inserts look only for postings of this edit: a search before it left out contents that cannot be alike and had no
    /// losers.
    pub(super) fn crown(&mut self, winner: Slot) -> Result<()> {
        let newest = self.orders.newest();
        // If it is of an earlier generation, `settle` posts it.
        let is_posted = self.buffers.entered.contains(&winner);
        if is_posted || self.entries[winner as usize].generation != newest {
            return Ok(());
        }
        match self.sketch(winner)? {
            Some(sketch) => self.post(winner, &sketch, newest, winner),
            None => Ok(()),
        }
    }

    /// Posts a content with keys of the newest generation.
    fn renew(&mut self, slot: Slot, winner: Slot) -> Result<()> {
        let newest = self.orders.newest();
        let Some(sketch) = self.sketch(slot)? else { return Ok(()) };
        let entry = &mut self.entries[slot as usize];
        (entry.generation, entry.since) = (newest, newest);
        self.buffers.entered.insert(slot);
        self.post(slot, &sketch, newest, winner)
    }

    /// Posts the keys of a content in a generation, without those that its winner has.
    pub(super) fn post(&mut self, slot: Slot, sketch: &[u64], generation: u32, winner: Slot) -> Result<()> {
        let is_covered = winner != slot && self.entries[winner as usize].generation == generation;
        let centre = if is_covered { self.take_centre(winner, generation)? } else { None };
        let mut postings: Vec<Posting> = self.keys(sketch, generation).iter().map(posting_of(slot)).collect();
        if let Some(mut centre) = centre {
            postings.retain(|posting| !centre.has(posting.key));
            let held = self.held_by_losers(slot, winner, &centre, &postings)?;
            for posting in &mut postings {
                let is_held = held.binary_search(&posting.key).is_ok();
                posting.content = centre.name_for(posting.key, slot, is_held);
                posting.rest = if posting.content == slot { posting.rest } else { 0 };
            }
            self.buffers.centres.put(centre, generation);
        }
        self.postings.add(&postings);
        Ok(())
    }

    /// The keys among `postings` that another loser of the winner has, ascending. Some may be missing, and some may be
    /// of a loser that is gone: that only costs time.
    fn held_by_losers(
        &self,
        slot: Slot,
        winner: Slot,
        centre: &Centre,
        postings: &[Posting],
    ) -> Result<Vec<u64>> {
        let keys = postings.iter().map(|posting| posting.key).filter(|key| !centre.is_shared(*key));
        let keys: Vec<u64> = keys.collect();
        let mut held = Vec::new();
        let mut found = |at: usize, other: u32, _: u32| {
            let is_loser = |entry: &ContentEntry| entry.winner == winner;
            if other != slot && self.entries.get(other as usize).is_some_and(is_loser) {
                held.push(keys[at]);
            }
        };
        self.postings.find(&keys, &mut found)?;
        held.sort_unstable();
        Ok(held)
    }

    /// A winner and its keys; `None` if its sketch is damaged.
    fn take_centre(&mut self, winner: Slot, generation: u32) -> Result<Option<Centre>> {
        if let Some(known) = self.buffers.centres.take(winner, generation) {
            return Ok(Some(known));
        }
        let Some(sketch) = self.sketch(winner)? else { return Ok(None) };
        let words = sketch.iter().map(|&word| mixed(word, generation)).collect();
        Ok(Some(Centre::new(winner, self.keys(&sketch, generation), words)))
    }
}

fn posting_of(content: Slot) -> impl Fn(&(u64, u32)) -> Posting {
    move |&(key, rest)| Posting { key, content, rest }
}
