//! The contents in memory and their comparison: the graph, the positions of sketches, and the holders of keys.
//!
//! `onecopy_core::graph` decides winners and groups, and does no I/O. This module answers its questions: which contents
//! share a key, and how similar are two contents?

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
use onecopy_store::{ContentRow, Folder, Merged, Place, Posting, PostingParts, Postings};

use super::tuning::Tuning;
use crate::error::{Error, Result};
pub(super) use generation::order_files;
use generation::{Generations, may_be_of};
use search::{Among, GraphLookup, KeySearch, LiveContents, SearchBuffers};
use sketches::Sketches;
use totals::Visits;

pub(super) use search::{Findings, Query};
pub(super) use sketches::{is_damage, read_sketch, read_version, unless_damaged};
pub(super) use totals::Totals;

/// The part of a content that stays in memory.
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

/// All contents of a collection.
#[derive(Debug)]
pub(super) struct ContentIndex {
    pub graph: Graph,
    entries: Vec<ContentEntry>,
    free: Vec<Slot>,
    postings: Postings,
    generations: Generations,
    /// The oldest generation that has contents.
    oldest: u32,
    /// All contents below this one have keys of the newest generation.
    rekeyed: Slot,
    sketches: Sketches,
    /// Candidates that `look_ahead` found, by the position of a content.
    ahead: HashMap<Place, Vec<Slot>>,
    merging: Option<JoinHandle<onecopy_store::Result<Merged>>>,
    /// The number of parts written since the start.
    seals: u64,
    /// The number of pairs compared since the start.
    pub compared: u64,
    visits: Visits,
    tuning: Tuning,
}

/// The most contents whose candidates are searched in parallel, before any is settled.
const AT_ONCE: usize = 1 << 12;
/// Shingle counters are saved after this many parts.
const SEALS_A_SAVE: u64 = 16;
/// Postings on disk are cleaned when they are of this many contents for each that is there. Higher: more disk and slower
/// searches, less to write.
const USUAL_WASTE: f64 = 2.0;
/// The same while there is nothing else to do.
const IDLE_WASTE: f64 = 1.2;
/// Fewer contents that are gone are not worth a merge.
const LEAST_WASTE: u64 = 16;

impl ContentIndex {
    /// The number for a new content.
    pub(super) fn take_slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            self.entries.push(ContentEntry::default());
            self.entries.len() as Slot - 1
        })
    }

    /// Returns the number of a removed content.
    pub(super) fn free_slot(&mut self, slot: Slot) {
        self.sketches.forget(slot);
        self.postings.supersede(slot);
        self.free.push(slot);
    }

    /// The generation of new contents.
    pub(super) fn generation(&self) -> u32 {
        self.generations.len() - 1
    }

    /// The home partition of a new content.
    pub(super) fn home(&self, sketch: &[u64], method: &dyn Method) -> u16 {
        self.generations.home(sketch, method)
    }

    /// At most this many contents of earlier generations. The caller must give all of them keys of the newest.
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

    /// Records the position of a content's sketch. `sketch` is given if it changed.
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

    /// Adds the keys of a content to the postings.
    fn enter(&mut self, slot: Slot, sketch: &[u64], method: &dyn Method) {
        let mut keys = Vec::new();
        let generation = self.entries[slot as usize].generation;
        self.generations.order(generation).keys(sketch, method, &mut Scratch::default(), &mut keys);
        let postings: Vec<Posting> =
            keys.into_iter().map(|(key, rest)| Posting { key, content: slot, rest }).collect();
        self.postings.supersede(slot);
        self.postings.add(&postings);
    }

    /// Applies an edit to the graph. `threads` threads search for the candidates of new contents.
    pub(super) fn apply(&mut self, edit: Edit, method: &dyn Method, threads: usize) -> Result<Effect> {
        let mut sketches = Vec::new();
        // The others are searched one by one: a check inserts all contents, whose sketches do not fit in memory.
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
            self.key_search(method).find_all(&queries, &self.living(), threads)?;
        read.into_iter().for_each(|(slot, sketch)| self.sketches.put(slot, sketch));
        self.ahead.clear();
        let ContentIndex {
            graph, entries, postings, generations, oldest, sketches, compared, visits, ..
        } = self;
        let key_search = KeySearch { entries, postings, generations, oldest: *oldest, method, visits };
        graph.apply(edit, &mut GraphLookup { key_search, sketches, compared, candidates })
    }

    /// Searches candidates for the next batch while the current one is made durable. Only `apply` uses the result. New
    /// contents may come before that, but their postings are still in memory.
    pub(super) fn look_ahead(
        &self,
        versions: &[Query<Place>],
        method: &dyn Method,
        threads: usize,
    ) -> Result<Findings<Place>> {
        self.key_search(method).find_all(versions, &self.living(), threads)
    }

    /// Keeps the result of `look_ahead` for the next `apply`.
    pub(super) fn take_ahead(&mut self, findings: Findings<Place>) {
        self.ahead = findings.candidates;
        findings.read.into_iter().for_each(|(slot, sketch)| self.sketches.put(slot, sketch));
    }

    fn living(&self) -> LiveContents<'_> {
        LiveContents { graph: &self.graph, sketches: &self.sketches }
    }

    fn key_search<'a>(&'a self, method: &'a dyn Method) -> KeySearch<'a> {
        let ContentIndex { entries, postings, generations, oldest, visits, .. } = self;
        KeySearch { entries, postings, generations, oldest: *oldest, method, visits }
    }

    /// Updates the position of a content whose version was moved.
    pub(super) fn relocate(&mut self, slot: Slot, at: Place) {
        self.entries[slot as usize].at = at;
    }

    /// The sketches, for reading.
    pub(super) fn sketches(&mut self) -> &mut Sketches {
        &mut self.sketches
    }

    /// The parts of the postings on disk, to be verified without a lock.
    pub(super) fn posting_parts(&self) -> PostingParts {
        self.postings.parts_to_check()
    }

    /// Reads all postings on disk, and reports each damage to `each`.
    pub(super) fn check_postings(&self, each: &mut dyn FnMut(onecopy_store::Error)) -> Result<()> {
        Ok(self.postings.check(each)?)
    }

    /// The contents that may be alike to a sketch.
    pub(super) fn candidates(&self, sketch: &[u64], method: &dyn Method) -> Result<Vec<Slot>> {
        let mut buffers = SearchBuffers::default();
        let living = self.living();
        let mut found =
            self.key_search(method).candidates(sketch, Among::All, Some(&living), &mut buffers)?;
        found.retain(|&slot| self.graph.get(slot).is_some());
        Ok(found)
    }

    /// Spills postings if there are many, merges those on disk, and begins a generation if one is due. All contents
    /// must be committed; `born` is the number of the last one.
    pub(super) fn tend(&mut self, folder: &dyn Folder, method: &dyn Method, born: u64) -> Result<()> {
        if self.postings.memory_postings() >= self.tuning.postings_in_memory {
            self.postings.seal(born)?;
            self.seals += 1;
            if self.seals.is_multiple_of(SEALS_A_SAVE) {
                self.generations.save(folder)?;
            }
        }
        self.merge(USUAL_WASTE)?;
        if self.generations.renew(folder, method, self.live())? {
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
        let most = (self.live() as f64 * waste) as u64 + LEAST_WASTE;
        let cleaning = self.postings.plan_cleaning(most);
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

    /// How many contents there are.
    fn live(&self) -> u64 {
        (self.entries.len() - self.free.len()) as u64
    }

    /// Waits until no thread writes postings.
    pub(super) fn halt(&mut self) {
        if let Some(merging) = self.merging.take() {
            // The result is discarded. The next merge starts again.
            merging.join().ok();
        }
    }

    /// Writes files that the next start would otherwise rebuild.
    pub(super) fn close(&mut self, folder: &dyn Folder, born: u64) -> Result<()> {
        self.halt();
        self.postings.seal(born)?;
        Ok(self.generations.save(folder)?)
    }
}

fn stopped() -> Error {
    Error::Broken { reason: "the merge of postings panicked: restart the service".into() }
}
