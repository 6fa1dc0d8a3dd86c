//! How contents are found that share a key, and compared.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use onecopy_core::{Desk, Held, Method};
use onecopy_store::{Postings, Seeker};

use super::contents::Entry;
use super::generation::Generations;
use super::sketches::Sketches;
use crate::error::{Error, Result};
use crate::parallel::for_each;
use onecopy_core::graph::{Graph, Lookup, Slot};

/// Looks for contents.
pub(super) struct Search<'a> {
    pub entries: &'a [Entry],
    pub postings: &'a Postings,
    pub generations: &'a Generations,
    /// The first generation that has contents.
    pub oldest: u32,
    pub method: &'a dyn Method,
    /// Partitions that were visited in the last generation, and how often contents were looked for.
    pub visited: (&'a AtomicU64, &'a AtomicU64),
}

/// Contents that can be asked for all of their keys: those that are alive.
pub(super) struct Known<'a> {
    pub graph: &'a Graph,
    pub sketches: &'a Sketches,
}

/// Where contents are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    All,
    /// Those that came since postings were last written to disk.
    Latest,
}

/// What is used again for each search.
#[derive(Default)]
pub(super) struct Scratch {
    desk: Desk,
    own: Vec<(u64, u32)>,
    keys: Vec<u64>,
    theirs: Vec<(u64, u32)>,
    buffer: Vec<u8>,
    /// Sketches that were read.
    pub read: Vec<(Slot, Arc<[u64]>)>,
}

/// What is looked for, under a name.
pub(super) struct Wanted<'a, N> {
    pub name: N,
    pub sketch: Arc<[u64]>,
    /// What was found ahead of time. All that came since is in no part of the postings yet.
    pub ahead: Option<&'a [Slot]>,
}

/// The contents that were found under each name, and sketches that were read meanwhile.
pub(super) type Found<N> = (HashMap<N, Vec<Slot>>, HashMap<Slot, Arc<[u64]>>);

impl Search<'_> {
    /// Looks for many, by several threads.
    pub(super) fn look_for<N: Copy + Eq + Hash + Send + Sync>(
        &self,
        wanted: &[Wanted<N>],
        known: &Known,
        threads: usize,
    ) -> Result<Found<N>> {
        let all = Mutex::new((HashMap::new(), HashMap::new()));
        for_each(threads, wanted.len(), Scratch::default, |scratch, i| {
            let Wanted { name, sketch, ahead } = &wanted[i];
            let among = if ahead.is_some() { Among::Latest } else { Among::All };
            let mut found = self.candidates(sketch, among, Some(known), scratch)?;
            found.extend(ahead.iter().copied().flatten());
            found.sort_unstable();
            found.dedup();
            let mut all = all.lock().expect("no thread panics with this lock");
            all.0.insert(*name, found);
            all.1.extend(scratch.read.drain(..));
            Ok(())
        })?;
        Ok(all.into_inner().expect("no thread panics with this lock"))
    }

    /// The contents among all, or among the latest, that may be alike to a sketch, each once. Those that are `known` are
    /// asked for their keys, which spares reading.
    pub(super) fn candidates(
        &self,
        sketch: &[u64],
        among: Among,
        known: Option<&Known>,
        scratch: &mut Scratch,
    ) -> Result<Vec<Slot>> {
        let lengths = self.method.lengths(sketch);
        let mut found = Vec::new();
        let (mut own, mut keys) = (std::mem::take(&mut scratch.own), std::mem::take(&mut scratch.keys));
        for generation in self.oldest..self.generations.len() {
            let reached = self.generations.reached(generation, lengths.as_ref());
            if generation + 1 == self.generations.len() {
                self.visited.0.fetch_add(reached.as_ref().map_or(1, Vec::len) as u64, Ordering::Relaxed);
                self.visited.1.fetch_add(1, Ordering::Relaxed);
            }
            own.clear();
            self.generations.keys(generation, sketch, (self.method, &mut scratch.desk), &mut own);
            keys.clear();
            keys.extend(own.iter().map(|(key, _)| *key));
            let size = sketch.len() as u32;
            let (search, own) = (self, &own[..]);
            let mut sought = Sought { search, generation, reached, own, size, known, scratch, found };
            match among {
                Among::All => self.postings.find(&keys, &mut sought)?,
                Among::Latest => self.postings.find_latest(&keys, &mut sought),
            }
            found = sought.found;
        }
        (scratch.own, scratch.keys) = (own, keys);
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// A search in one generation.
struct Sought<'a> {
    search: &'a Search<'a>,
    generation: u32,
    reached: Option<Vec<u16>>,
    own: &'a [(u64, u32)],
    size: u32,
    known: Option<&'a Known<'a>>,
    scratch: &'a mut Scratch,
    found: Vec<Slot>,
}

impl Seeker for Sought<'_> {
    fn found(&mut self, at: usize, slot: u32, rest: u32) {
        let Search { entries, method, .. } = self.search;
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
        let Some(known) = self.known.filter(|known| known.graph.get(slot).is_some()) else { return };
        let entry = &self.search.entries[slot as usize];
        if entry.generation != self.generation {
            return;
        }
        let Some(sketch) = known.sketches.look(slot, entry.at, &mut self.scratch.buffer) else { return };
        let mut theirs = std::mem::take(&mut self.scratch.theirs);
        theirs.clear();
        let desk = (self.search.method, &mut self.scratch.desk);
        self.search.generations.keys(self.generation, &sketch, desk, &mut theirs);
        let mut at = 0;
        for &(key, rest) in &theirs {
            at += self.own[at..].iter().take_while(|(own, _)| *own < key).count();
            if self.own.get(at).is_some_and(|(own, _)| *own == key) {
                self.found(at, slot, rest);
                held.push(at);
                at += 1;
            }
        }
        self.scratch.theirs = theirs;
        self.scratch.read.push((slot, sketch));
    }
}

/// Compares contents for the graph.
pub(super) struct Comparing<'a> {
    pub search: Search<'a>,
    pub sketches: &'a mut Sketches,
    pub compared: &'a mut u64,
    /// What was looked for already.
    pub found: HashMap<Slot, Vec<Slot>>,
}

impl Comparing<'_> {
    fn sketch(&mut self, slot: Slot) -> Result<Option<Arc<[u64]>>> {
        self.sketches.get(slot, self.search.entries[slot as usize].at)
    }
}

impl Lookup for Comparing<'_> {
    type Error = Error;

    fn candidates(&mut self, slot: Slot) -> Result<Vec<Slot>> {
        if let Some(found) = self.found.get(&slot) {
            return Ok(found.clone());
        }
        let Some(sketch) = self.sketch(slot)? else { return Ok(Vec::new()) };
        // The graph is being changed, so nobody can be asked.
        let mut found = self.search.candidates(&sketch, Among::All, None, &mut Scratch::default())?;
        found.retain(|&other| other != slot);
        self.found.insert(slot, found.clone());
        Ok(found)
    }

    fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>> {
        *self.compared += 1;
        let both = self.sketch(a)?.zip(self.sketch(b)?);
        Ok(both.and_then(|(first, second)| self.search.method.verify(&first, &second)))
    }
}
