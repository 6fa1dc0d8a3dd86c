//! Answers the questions of the graph: who shares a key, who may be alike, and who is.

use std::collections::HashMap;

use onecopy_core::graph::{Hit, Lookup, Slot};
use onecopy_core::{Held, Method};
use onecopy_store::PostingsView;

use super::entering::Entering;
use super::hits::each_once;
use super::search::{KeySearch, SearchBuffers};
use crate::error::{Error, Result};

/// More than the rounding errors of a few additions of numbers up to one.
const ROUNDING: f64 = 1e-9;

/// Searches and compares contents for the graph, and posts the keys of those that it settles.
pub(super) struct GraphLookup<'a> {
    pub entering: Entering<'a>,
    /// The postings before the edit.
    pub view: PostingsView,
    /// The oldest generation that has contents.
    pub oldest: u32,
    pub compared: &'a mut u64,
    /// The hits before the edit, of contents that were searched for already.
    pub known: HashMap<Slot, Vec<Hit>>,
    pub buffers: SearchBuffers,
}

impl GraphLookup<'_> {
    fn method(&self) -> &dyn Method {
        self.entering.method
    }

    /// The contents that share a key with a sketch, by the postings before the edit.
    fn earlier_hits(&mut self, slot: Slot, sketch: &[u64]) -> Result<Vec<Hit>> {
        if let Some(known) = self.known.get(&slot) {
            return Ok(known.clone());
        }
        let Entering { entries, orders, method, .. } = &self.entering;
        let (postings, oldest) = (&self.view, self.oldest);
        let search = KeySearch { entries: &**entries, postings, orders, oldest, method: *method };
        // The graph is being changed, so no content is known to be alive.
        search.hits(sketch, None, &mut self.buffers)
    }

    /// Adds the contents that share a key and were settled by this edit.
    fn add_latest(&mut self, sketch: &[u64], hits: &mut Vec<Hit>) {
        let newest = self.entering.orders.newest();
        let own = self.entering.keys(sketch, newest).to_vec();
        let keys: Vec<u64> = own.iter().map(|(key, _)| *key).collect();
        let (entries, method) = (&*self.entering.entries, self.entering.method);
        let latest = &mut self.buffers.hits;
        let mut found = |at: usize, slot: u32, rest: u32| {
            let size = sketch.len() as u32;
            if latest.is_open(slot) {
                let other = Held { size: entries[slot as usize].size, rest };
                latest.add(Hit { slot, may: method.may(Held { size, rest: own[at].1 }, other) });
            }
        };
        self.entering.postings.find_latest(&keys, &mut found);
        hits.append(&mut self.buffers.hits.take());
    }
}

impl Lookup for GraphLookup<'_> {
    type Error = Error;

    fn hits(&mut self, slot: Slot) -> Result<Vec<Hit>> {
        let Some(sketch) = self.entering.sketch(slot)? else { return Ok(Vec::new()) };
        let mut hits = self.earlier_hits(slot, &sketch)?;
        self.add_latest(&sketch, &mut hits);
        hits.retain(|hit| hit.slot != slot);
        each_once(&mut hits);
        Ok(hits)
    }

    fn sift(&mut self, slot: Slot, centre: Option<Slot>, losers: &mut Vec<(Slot, u32)>) -> Result<()> {
        if losers.is_empty() {
            return Ok(());
        }
        let Some(own) = self.entering.sketch(slot)? else {
            losers.clear();
            return Ok(());
        };
        let method = self.entering.method;
        let Some(centre) = centre else { return Ok(()) };
        let Some(other) = self.entering.sketch(centre)? else { return Ok(()) };
        *self.compared += 1;
        let apart = method.distance(method.score(&own, &other), (own.len(), other.len()));
        // An alike pair is at most so far apart, so the loser is about as far from its winner as this content is.
        let least = apart.unwrap_or(0.0) - (1.0 - method.threshold()) - ROUNDING;
        let entries = &*self.entering.entries;
        losers.retain(|(loser, score)| {
            let sizes = (entries[*loser as usize].size as usize, other.len());
            least <= 0.0 || method.distance(*score, sizes).is_none_or(|distance| distance >= least)
        });
        Ok(())
    }

    fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>> {
        *self.compared += 1;
        let both = self.entering.sketch(a)?.zip(self.entering.sketch(b)?);
        Ok(both.and_then(|(first, second)| self.method().verify(&first, &second)))
    }

    fn crowned(&mut self, winner: Slot) -> Result<()> {
        self.entering.crown(winner)
    }

    fn settled(&mut self, slot: Slot, winner: Slot) -> Result<()> {
        self.entering.settle(slot, winner)
    }
}
