//! Finds contents that share a key.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use onecopy_core::graph::{Graph, Hit, Slot};
use onecopy_core::{Held, Method, Scratch};
use onecopy_store::{PostingsView, Seeker};

use super::ContentEntry;
use super::generation::Orders;
use super::hits::Hits;
use super::sketches::Sketches;
use crate::error::Result;
use crate::lock::Lock;
use crate::parallel::for_each;

/// The parts of contents that a search looks at.
pub(super) trait Entries: Sync {
    fn entry(&self, slot: Slot) -> Option<ContentEntry>;
}

impl Entries for Vec<ContentEntry> {
    fn entry(&self, slot: Slot) -> Option<ContentEntry> {
        self.get(slot as usize).copied()
    }
}

/// Searches for contents by their keys.
pub(super) struct KeySearch<'a> {
    pub entries: &'a dyn Entries,
    pub postings: &'a PostingsView,
    pub orders: &'a Orders,
    /// The oldest generation that has contents.
    pub oldest: u32,
    pub method: &'a dyn Method,
}

/// The living contents.
pub(super) struct LiveContents<'a> {
    pub graph: &'a Graph,
    pub sketches: &'a Sketches,
    /// Contents whose postings may be those of another sketch.
    pub changing: &'a HashSet<Slot>,
}

/// Buffers that a thread reuses between searches.
#[derive(Default)]
pub(super) struct SearchBuffers {
    scratch: Scratch,
    own: Vec<(u64, u32)>,
    keys: Vec<u64>,
    theirs: Vec<(u64, u32)>,
    buffer: Vec<u8>,
    /// What the search under way found.
    pub hits: Hits,
    /// Sketches that were read.
    pub read: Vec<(Slot, Arc<[u64]>)>,
}

/// A sketch to search for, with a name.
pub(in crate::service) struct Query<N> {
    pub name: N,
    pub sketch: Arc<[u64]>,
}

/// The results of many queries.
pub(in crate::service) struct Findings<N> {
    /// The contents that share a key, by the name of the query.
    pub hits: HashMap<N, Vec<Hit>>,
    /// Some of the sketches that were read for the search.
    pub read: HashMap<Slot, Arc<[u64]>>,
}

impl<N> Default for Findings<N> {
    fn default() -> Findings<N> {
        Findings { hits: HashMap::new(), read: HashMap::new() }
    }
}

/// The most sketches that are kept from a search of many queries.
const READ: usize = 1_024;

impl KeySearch<'_> {
    /// Answers many queries in parallel.
    pub(super) fn find_all<N: Copy + Eq + Hash + Send + Sync>(
        &self,
        queries: &[Query<N>],
        living: &LiveContents,
        threads: usize,
    ) -> Result<Findings<N>> {
        let all = Lock::new(Findings::default());
        for_each(threads, queries.len(), SearchBuffers::default, |buffers, i| {
            let Query { name, sketch } = &queries[i];
            let hits = self.hits(sketch, Some(living), buffers)?;
            let mut all = all.lock();
            all.hits.insert(*name, hits);
            let room = READ.saturating_sub(all.read.len());
            all.read.extend(buffers.read.drain(..).take(room));
            Ok(())
        })?;
        Ok(all.into_inner())
    }

    /// The contents that share a key with a sketch, each once. With `living`, only those are found that live, and that
    /// may be alike or have losers; and the search computes the keys of some from their sketches, which saves reads.
    pub(super) fn hits(
        &self,
        sketch: &[u64],
        living: Option<&LiveContents>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Hit>> {
        // A search that failed leaves something.
        buffers.hits.take();
        let (mut own, mut keys) = (std::mem::take(&mut buffers.own), std::mem::take(&mut buffers.keys));
        for generation in self.oldest..self.orders.len() {
            own.clear();
            self.orders.order(generation).keys(sketch, self.method, &mut buffers.scratch, &mut own);
            keys.clear();
            keys.extend(own.iter().map(|(key, _)| *key));
            let size = sketch.len() as u32;
            let (key_search, own) = (self, &own[..]);
            let mut sought = Sought { key_search, generation, own, size, living, buffers };
            self.postings.find(&keys, &mut sought)?;
        }
        (buffers.own, buffers.keys) = (own, keys);
        Ok(buffers.hits.take())
    }
}

/// A search in one generation.
struct Sought<'a> {
    key_search: &'a KeySearch<'a>,
    generation: u32,
    own: &'a [(u64, u32)],
    size: u32,
    living: Option<&'a LiveContents<'a>>,
    buffers: &'a mut SearchBuffers,
}

impl Sought<'_> {
    /// Whether a content is worth a hit, even if it cannot be alike itself.
    fn is_wanted(&self, hit: Hit) -> bool {
        let Some(LiveContents { graph, .. }) = self.living else { return true };
        graph.get(hit.slot).is_some() && (hit.may || !graph.losers_of(hit.slot).is_empty())
    }
}

impl Seeker for Sought<'_> {
    fn found(&mut self, at: usize, slot: u32, rest: u32) {
        if !self.buffers.hits.is_open(slot) {
            return;
        }
        let Some(entry) = self.key_search.entries.entry(slot) else { return };
        let own = Held { size: self.size, rest: self.own[at].1 };
        let other = Held { size: entry.size, rest };
        // A posting of an earlier generation may still stand for the losers of its content.
        let is_there = entry.generation == self.generation;
        let hit = Hit { slot, may: is_there && self.key_search.method.may(own, other) };
        if self.is_wanted(hit) {
            self.buffers.hits.add(hit);
        }
    }

    fn holds(&mut self, slot: u32, held: &mut Vec<usize>) {
        let Some(living) = self.living.filter(|living| !living.changing.contains(&slot)) else { return };
        // Only a content that stays has postings for all of its keys.
        if living.graph.get(slot).is_none_or(|node| node.winner != slot) {
            return;
        }
        let Some(entry) = self.key_search.entries.entry(slot) else { return };
        if entry.generation != self.generation {
            return;
        }
        let Some(sketch) = living.sketches.look(slot, entry.at, &mut self.buffers.buffer) else { return };
        let mut theirs = std::mem::take(&mut self.buffers.theirs);
        theirs.clear();
        let order = self.key_search.orders.order(self.generation);
        order.keys(&sketch, self.key_search.method, &mut self.buffers.scratch, &mut theirs);
        let mut at = 0;
        for &(key, rest) in &theirs {
            at += self.own[at..].iter().take_while(|(own, _)| *own < key).count();
            if self.own.get(at).is_some_and(|(own, _)| *own == key) {
                self.found(at, slot, rest);
                held.push(at);
                at += 1;
            }
        }
        self.buffers.theirs = theirs;
        self.buffers.read.push((slot, sketch));
    }
}
