//! What is held in memory of all contents, and how they are compared: the graph, where sketches are, who holds a key.
//!
//! Winners and groups are decided by `onecopy_core::graph`, which is pure. This module answers its questions: which
//! contents share a key, and how alike two of them are.

mod generation;
mod open;
mod search;
mod sketches;
mod totals;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use onecopy_core::graph::{Edit, Effect, Graph, Slot};
use onecopy_core::{Method, Scratch};
use onecopy_store::{ContentRow, Folder, Merged, Place, Posting, Postings};

use super::tuning::Tuning;
use crate::error::{Error, Result};
use generation::{Generations, may_be_of};
use search::{Among, GraphLookup, KeySearch, Known, SearchBuffers};
use sketches::Sketches;
use totals::Visits;

pub(super) use search::{Findings, Query};
pub(super) use sketches::{is_damage, read_sketch, read_version, unless_damaged};
pub(super) use totals::Totals;

/// A content, as far as it is held in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContentEntry {
    pub at: Place,
    pub size: u32,
    pub generation: u32,
    /// When its keys were entered.
    born: u64,
    pages: u32,
    pub partition: u16,
}

impl ContentEntry {
    fn of(row: &ContentRow) -> ContentEntry {
        ContentEntry {
            at: row.at,
            size: row.size,
            generation: row.generation,
            born: row.born,
            pages: row.pages,
            partition: row.partition,
        }
    }
}

/// All contents.
#[derive(Debug)]
pub(super) struct Contents {
    pub graph: Graph,
    entries: Vec<ContentEntry>,
    free: Vec<Slot>,
    postings: Postings,
    generations: Generations,
    /// The first generation that has contents.
    oldest: u32,
    /// Contents below this one are of the newest generation.
    rekeyed: Slot,
    sketches: Sketches,
    /// What was found ahead of time, by the place of a content.
    ahead: HashMap<Place, Vec<Slot>>,
    merging: Option<JoinHandle<onecopy_store::Result<Merged>>>,
    /// Parts that were written since the start.
    seals: u64,
    /// Pairs that were compared since the start.
    pub compared: u64,
    visits: Visits,
    tuning: Tuning,
}

/// Contents that are looked for by several threads, before any is settled.
const AT_ONCE: usize = 1 << 12;
/// Parts that are written between two times that the counters of shingles are saved.
const SEALS_A_SAVE: u64 = 16;
/// Postings on disk are cleaned when they are of this many contents for each that is there. Higher: more disk and slower
/// searches, less to write.
const USUAL_WASTE: f64 = 2.0;
/// The same while there is nothing else to do.
const IDLE_WASTE: f64 = 1.2;
/// Fewer contents that are gone are not worth a merge.
const LEAST_WASTE: u64 = 16;

impl Contents {
    /// A number for a content that comes.
    pub(super) fn take_slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(ContentEntry::default());
            self.entries.len() as Slot - 1
        })
    }

    /// Gives the number of a content back that is gone.
    pub(super) fn free_slot(&mut self, slot: Slot) {
        self.sketches.forget(slot);
        self.postings.supersede(slot);
        self.free.push(slot);
    }

    /// The generation of contents that come now.
    pub(super) fn generation(&self) -> u32 {
        self.generations.len() - 1
    }

    /// The home partition of a content that comes now.
    pub(super) fn home(&self, sketch: &[u64], method: &dyn Method) -> u16 {
        self.generations.home(sketch, method)
    }

    /// Some contents of earlier generations, at most so many. All of them must be given keys of the newest.
    pub(super) fn outdated(&mut self, most: usize) -> Vec<Slot> {
        let (newest, mut found) = (self.generation(), Vec::new());
        while self.oldest < newest && found.len() < most {
            let Some(entry) = self.entries.get(self.rekeyed as usize) else {
                self.oldest = newest;
                break;
            };
            let is_old = entry.generation < newest && self.graph.get(self.rekeyed).is_some();
            found.extend(is_old.then_some(self.rekeyed));
            self.rekeyed += 1;
        }
        found
    }

    /// Gives a content keys of the newest generation.
    pub(super) fn rekey(&mut self, slot: Slot, row: &ContentRow, sketch: &[u64], method: &dyn Method) {
        self.entries[slot as usize] = ContentEntry::of(row);
        self.enter(slot, sketch, method);
    }

    /// The number of generations.
    pub(super) fn generations(&self) -> u32 {
        self.generations.len()
    }

    /// Says where the sketch of a content is. `sketch` is given if it is another than before.
    pub(super) fn place(
        &mut self,
        slot: Slot,
        row: &ContentRow,
        sketch: Option<Arc<[u64]>>,
        method: &dyn Method,
    ) {
        self.entries[slot as usize] = ContentEntry::of(row);
        if let Some(sketch) = sketch {
            self.generations.count(&sketch, method);
            self.sketches.put(slot, sketch.clone());
            self.enter(slot, &sketch, method);
        }
    }

    /// Enters the keys of a content.
    fn enter(&mut self, slot: Slot, sketch: &[u64], method: &dyn Method) {
        let mut keys = Vec::new();
        let generation = self.entries[slot as usize].generation;
        self.generations.order(generation).keys(sketch, method, &mut Scratch::default(), &mut keys);
        let postings: Vec<Posting> =
            keys.into_iter().map(|(key, rest)| Posting { key, content: slot, rest }).collect();
        self.postings.supersede(slot);
        self.postings.add(&postings);
    }

    /// Changes the graph, by `method`. What comes is looked for by `threads` threads.
    pub(super) fn apply(&mut self, edit: Edit, method: &dyn Method, threads: usize) -> Result<Effect> {
        let mut sketches = Vec::new();
        // The others are looked for one by one: of all contents, as a check has them, the sketches do not fit in memory.
        for (slot, _) in edit.inserted.iter().take(AT_ONCE) {
            let entry = self.entries[*slot as usize];
            sketches.extend(self.sketches.get(*slot, entry.at)?.map(|sketch| (*slot, sketch, entry)));
        }
        let query = |(slot, sketch, entry): &(Slot, Arc<[u64]>, ContentEntry)| {
            let ahead = self.ahead.get(&entry.at).map(Vec::as_slice);
            Query { name: *slot, sketch: sketch.clone(), ahead }
        };
        let queries: Vec<Query<Slot>> = sketches.iter().map(query).collect();
        let Findings { candidates, read } =
            self.key_search(method).find_all(&queries, &self.known(), threads)?;
        read.into_iter().for_each(|(slot, sketch)| self.sketches.put(slot, sketch));
        self.ahead.clear();
        let Contents { graph, entries, postings, generations, oldest, sketches, compared, visits, .. } = self;
        let key_search = KeySearch { entries, postings, generations, oldest: *oldest, method, visits };
        graph.apply(edit, &mut GraphLookup { key_search, sketches, compared, candidates })
    }

    /// Looks ahead of time for contents that versions may become, while what is here is being made durable. Only `apply`
    /// uses what is found, after more may have come, but before any of that is written to disk as postings.
    pub(super) fn look_ahead(
        &self,
        versions: &[Query<Place>],
        method: &dyn Method,
        threads: usize,
    ) -> Result<Findings<Place>> {
        self.key_search(method).find_all(versions, &self.known(), threads)
    }

    /// Takes what was found ahead of time for the next `apply`.
    pub(super) fn take_ahead(&mut self, findings: Findings<Place>) {
        self.ahead = findings.candidates;
        findings.read.into_iter().for_each(|(slot, sketch)| self.sketches.put(slot, sketch));
    }

    fn known(&self) -> Known<'_> {
        Known { graph: &self.graph, sketches: &self.sketches }
    }

    fn key_search<'a>(&'a self, method: &'a dyn Method) -> KeySearch<'a> {
        let Contents { entries, postings, generations, oldest, visits, .. } = self;
        KeySearch { entries, postings, generations, oldest: *oldest, method, visits }
    }

    /// Says where the version of a content is that was moved.
    pub(super) fn relocate(&mut self, slot: Slot, at: Place) {
        self.entries[slot as usize].at = at;
    }

    /// Sketches, to be read.
    pub(super) fn sketches(&mut self) -> &mut Sketches {
        &mut self.sketches
    }

    /// Reads all postings on disk and gives what is damaged.
    pub(super) fn check_postings(&self, each: &mut dyn FnMut(onecopy_store::Error)) -> Result<()> {
        Ok(self.postings.check(each)?)
    }

    /// The contents that may be alike to a sketch, of whatever content.
    pub(super) fn candidates(&self, sketch: &[u64], method: &dyn Method) -> Result<Vec<Slot>> {
        let mut buffers = SearchBuffers::default();
        let known = self.known();
        let mut found = self.key_search(method).candidates(sketch, Among::All, Some(&known), &mut buffers)?;
        found.retain(|&slot| self.graph.get(slot).is_some());
        Ok(found)
    }

    /// Writes postings to disk if there are many, and merges those on disk; begins a generation if one is due. All that
    /// is here must be committed: `born` is the number of the last content that is.
    pub(super) fn tend(&mut self, folder: &dyn Folder, method: &dyn Method, born: u64) -> Result<()> {
        if self.postings.memory_postings() >= self.tuning.postings_in_memory {
            self.postings.seal(born)?;
            self.seals += 1;
            if self.seals.is_multiple_of(SEALS_A_SAVE) {
                self.generations.save(folder)?;
            }
        }
        self.merge(USUAL_WASTE)?;
        if self.generations.renew(folder, method)? {
            self.rekeyed = 0;
        }
        Ok(())
    }

    /// The same while there is nothing else to do. Says whether a merge is under way.
    pub(super) fn tend_idle(&mut self) -> Result<bool> {
        self.merge(IDLE_WASTE)?;
        Ok(self.merging.is_some())
    }

    /// Merges parts of postings on a thread of its own, one merge at a time: all of them, if they have the postings of
    /// so many contents for each that is there.
    fn merge(&mut self, waste: f64) -> Result<()> {
        if let Some(merging) = self.merging.take_if(|merging| merging.is_finished()) {
            let merged = merging.join().map_err(|_| stopped())?;
            self.postings.install(merged?)?;
        }
        if self.merging.is_some() {
            return Ok(());
        }
        let live = (self.entries.len() - self.free.len()) as f64;
        let cleaning = self.postings.plan_cleaning((live * waste) as u64 + LEAST_WASTE);
        if let Some(plan) = cleaning.or_else(|| self.postings.plan_merge()) {
            let is_alive = self.is_alive();
            let run = move || plan.run(&is_alive);
            self.merging = std::thread::Builder::new().name("merge".into()).spawn(run).ok();
        }
        Ok(())
    }

    /// Tells postings of contents that are there now from others. What is dead now stays dead: who comes under the same
    /// number is born later, and entered in a later part.
    fn is_alive(&self) -> impl Fn(Posting, u64) -> bool + Send + 'static {
        let live = |(slot, entry): (usize, &ContentEntry)| {
            self.graph.get(slot as Slot).map_or((0, u64::MAX), |_| (entry.generation, entry.born))
        };
        let live: Vec<(u32, u64)> = self.entries.iter().enumerate().map(live).collect();
        move |posting, covered| {
            let found = live.get(posting.content as usize);
            found.is_some_and(|(generation, born)| *born <= covered && may_be_of(posting.key, *generation))
        }
    }

    /// Waits until nobody else writes postings.
    pub(super) fn halt(&mut self) {
        if let Some(merging) = self.merging.take() {
            // What it made is not needed: the next time begins it again.
            merging.join().ok();
        }
    }

    /// Writes what would have to be found again.
    pub(super) fn close(&mut self, folder: &dyn Folder, born: u64) -> Result<()> {
        self.halt();
        self.postings.seal(born)?;
        Ok(self.generations.save(folder)?)
    }
}

fn stopped() -> Error {
    Error::Broken { reason: "the merge of postings panicked: restart the service".into() }
}
