//! Finds contents that share a key, and compares them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use onecopy_core::{Held, Method, Scratch};
use onecopy_store::{Postings, Seeker};

use super::ContentEntry;
use super::generation::Generations;
use super::sketches::Sketches;
use super::totals::Visits;
use crate::error::{Error, Result};
use crate::parallel::for_each;
use onecopy_core::graph::{Graph, Lookup, Slot};

/// Searches for contents by their keys.
pub(super) struct KeySearch<'a> {
    pub entries: &'a [ContentEntry],
    pub postings: &'a Postings,
    pub generations: &'a Generations,
    /// The oldest generation that has contents.
    pub oldest: u32,
    pub method: &'a dyn Method,
    pub visits: &'a Visits,
}

/// The living contents. Their keys follow from their sketches.
pub(super) struct LiveContents<'a> {
    pub graph: &'a Graph,
    pub sketches: &'a Sketches,
}

/// The postings to search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    All,
    /// Only postings that are not on disk yet.
    Latest,
}

/// Buffers that a thread reuses between searches.
#[derive(Default)]
pub(super) struct SearchBuffers {
    scratch: Scratch,
    own: Vec<(u64, u32)>,
    keys: Vec<u64>,
    theirs: Vec<(u64, u32)>,
    buffer: Vec<u8>,
    /// Sketches that were read.
    pub read: Vec<(Slot, Arc<[u64]>)>,
}

/// A sketch to search for, with a name.
pub(in crate::service) struct Query<'a, N> {
    pub name: N,
    pub sketch: Arc<[u64]>,
    /// Candidates found ahead of time. Everything since then is still in the latest postings.
    pub ahead: Option<&'a [Slot]>,
}

/// The results of many queries.
pub(in crate::service) struct Findings<N> {
    /// The contents that may be alike, by the name of the query.
    pub candidates: HashMap<N, Vec<Slot>>,
    /// The sketches that were read for the search.
    pub read: HashMap<Slot, Arc<[u64]>>,
}

impl KeySearch<'_> {
    /// Answers many queries in parallel.
    pub(super) fn find_all<N: Copy + Eq + Hash + Send + Sync>(
        &self,
        queries: &[Query<N>],
        living: &LiveContents,
        threads: usize,
    ) -> Result<Findings<N>> {
        let all = Mutex::new(Findings { candidates: HashMap::new(), read: HashMap::new() });
        for_each(threads, queries.len(), SearchBuffers::default, |buffers, i| {
            let Query { name, sketch, ahead } = &queries[i];
            let among = if ahead.is_some() { Among::Latest } else { Among::All };
            let mut found = self.candidates(sketch, among, Some(living), buffers)?;
            found.extend(ahead.iter().copied().flatten());
            found.sort_unstable();
            found.dedup();
            let mut all = all.lock().expect("no thread panics with this lock");
            all.candidates.insert(*name, found);
            all.read.extend(buffers.read.drain(..));
            Ok(())
        })?;
        Ok(all.into_inner().expect("no thread panics with this lock"))
    }

    /// The contents in the chosen postings that may be alike to a sketch, each once. With `living`, the search computes
    /// the keys of a content from its sketch, which saves reads of postings.
    pub(super) fn candidates(
        &self,
        sketch: &[u64],
        among: Among,
        living: Option<&LiveContents>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Slot>> {
        let lengths = self.method.lengths(sketch);
        let mut found = Vec::new();
        let (mut own, mut keys) = (std::mem::take(&mut buffers.own), std::mem::take(&mut buffers.keys));
        for generation in self.oldest..self.generations.len() {
            let reached = self.generations.reached(generation, lengths.as_ref());
            if generation + 1 == self.generations.len() {
                self.visits.count(reached.as_ref().map_or(1, Vec::len) as u64);
            }
            own.clear();
            self.generations.order(generation).keys(sketch, self.method, &mut buffers.scratch, &mut own);
            keys.clear();
            keys.extend(own.iter().map(|(key, _)| *key));
            let size = sketch.len() as u32;
            let (key_search, own) = (self, &own[..]);
            let mut sought = Sought { key_search, generation, reached, own, size, living, buffers, found };
            match among {
                Among::All => self.postings.find(&keys, &mut sought)?,
                Among::Latest => self.postings.find_latest(&keys, &mut sought),
            }
            found = sought.found;
        }
        (buffers.own, buffers.keys) = (own, keys);
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// A search in one generation.
struct Sought<'a> {
    key_search: &'a KeySearch<'a>,
    generation: u32,
    reached: Option<Vec<u16>>,
    own: &'a [(u64, u32)],
    size: u32,
    living: Option<&'a LiveContents<'a>>,
    buffers: &'a mut SearchBuffers,
    found: Vec<Slot>,
}

impl Seeker for Sought<'_> {
    fn found(&mut self, at: usize, slot: u32, rest: u32) {
        let KeySearch { entries, method, .. } = self.key_search;
        let Some(entry) = entries.get(slot as usize) else { return };
        let own = Held { size: self.size, rest: self.own[at].1 };
        let other = Held { size: entry.size, rest };
        let is_there = entry.generation == self.generation
            && self.reached.as_ref().is_none_or(|reached| reached.binary_search(&entry.partition).is_ok());
        if is_there && method.may(own, other) && self.found.last() != Some(&slot) {
            self.found.push(slot);
        }
    }

    fn holds(&mut self, slot: u32, held: &mut Vec<usize>) {
        let Some(living) = self.living.filter(|living| living.graph.get(slot).is_some()) else { return };
        let entry = &self.key_search.entries[slot as usize];
        if entry.generation != self.generation {
            return;
        }
        let Some(sketch) = living.sketches.look(slot, entry.at, &mut self.buffers.buffer) else { return };
        let mut theirs = std::mem::take(&mut self.buffers.theirs);
        theirs.clear();
        let order = self.key_search.generations.order(self.generation);
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

/// Compares contents for the graph.
pub(super) struct GraphLookup<'a> {
    pub key_search: KeySearch<'a>,
    pub sketches: &'a mut Sketches,
    pub compared: &'a mut u64,
    /// Candidates that are known already.
    pub candidates: HashMap<Slot, Vec<Slot>>,
}

impl GraphLookup<'_> {
    fn sketch(&mut self, slot: Slot) -> Result<Option<Arc<[u64]>>> {
        self.sketches.get(slot, self.key_search.entries[slot as usize].at)
    }
}

impl Lookup for GraphLookup<'_> {
    type Error = Error;

    fn candidates(&mut self, slot: Slot) -> Result<Vec<Slot>> {
        if let Some(found) = self.candidates.get(&slot) {
            return Ok(found.clone());
        }
        let Some(sketch) = self.sketch(slot)? else { return Ok(Vec::new()) };
        // The graph is being changed, so no content is known to be alive.
        let mut found =
            self.key_search.candidates(&sketch, Among::All, None, &mut SearchBuffers::default())?;
        found.retain(|&other| other != slot);
        self.candidates.insert(slot, found.clone());
        Ok(found)
    }

    fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>> {
        *self.compared += 1;
        let both = self.sketch(a)?.zip(self.sketch(b)?);
        Ok(both.and_then(|(first, second)| self.key_search.method.verify(&first, &second)))
    }
}
