//! The contents in memory and their comparison: the graph, the positions of sketches, and the holders of keys.
//!
//! `onecopy_core::graph` decides winners and groups, and does no I/O. This module answers its questions: which contents
//! share a key, and how similar are two contents?

mod centre;
mod entering;
mod generation;
mod hits;
mod lookup;
mod open;
mod search;
mod sketches;
mod totals;
mod view;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::thread::JoinHandle;

use onecopy_core::Method;
use onecopy_core::graph::{Edit, Effect, Fault, Graph, Hit, Slot};
use onecopy_store::{ContentRow, Folder, Merged, Place, Posting, PostingParts, Postings, PostingsView};

use super::tuning::Tuning;
use crate::error::{Error, Result};
use entering::Entering;
pub(super) use entering::EnteringBuffers;
pub(super) use generation::order_files;
use generation::{Generations, may_be_of};
use lookup::GraphLookup;
use search::{KeySearch, LiveContents, SearchBuffers};
use sketches::Sketches;

pub(super) use search::{Findings, Query};
pub(super) use sketches::{is_damage, read_sketch, read_version, unless_damaged};
pub(super) use totals::Totals;
pub(super) use view::SearchView;

/// The part of a content that stays in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContentEntry {
    pub at: Place,
    pub size: u32,
    pub generation: u32,
    /// The earliest generation in which losers rely on its keys.
    pub since: u32,
    /// When its keys were entered.
    born: u64,
    pages: u32,
    winner: Slot,
}

impl ContentEntry {
    fn of(row: &ContentRow) -> ContentEntry {
        ContentEntry {
            at: row.at,
            size: row.size,
            generation: row.generation,
            since: row.generation,
            born: row.born,
            pages: row.pages,
            winner: row.winner,
        }
    }
}

/// Which postings of a content are of use. A merge has a copy for each content, so it is small.
#[derive(Clone, Copy)]
struct Entered {
    born: u64,
    since: u32,
    generation: u32,
}

impl Entered {
    /// That of a content that is gone.
    const NEVER: Entered = Entered { born: u64::MAX, since: 0, generation: 0 };

    fn of(entry: &ContentEntry) -> Entered {
        Entered { born: entry.born, since: entry.since, generation: entry.generation }
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
    /// The hits that `look_ahead` found, by the position of a content.
    ahead: HashMap<Place, Vec<Hit>>,
    merging: Option<JoinHandle<onecopy_store::Result<Merged>>>,
    /// The number of parts written since the start.
    seals: u64,
    /// The number of pairs compared since the start.
    pub compared: u64,
    /// Whether a batch changes them, or failed to.
    pub is_torn: bool,
    tuning: Tuning,
}

/// A change of the graph.
#[derive(Default)]
pub(super) struct Applied {
    pub effect: Effect,
    /// Contents whose keys were posted again, of the newest generation.
    pub entered: BTreeSet<Slot>,
}

/// The most contents that are searched for in parallel.
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
        self.generations.orders().newest()
    }

    /// About this many contents of earlier generations, a winner before its losers. The caller must give all of them
    /// keys of the newest.
    pub(super) fn outdated(&mut self, most: usize) -> Vec<Slot> {
        let newest = self.generation();
        let (mut found, mut met) = (Vec::new(), HashSet::new());
        while self.oldest < newest && found.len() < most {
            let slot = self.rekeyed;
            if slot as usize >= self.entries.len() {
                self.oldest = newest;
                self.generations.release_before(newest);
                break;
            }
            let winner = self.graph.get(slot).map(|node| node.winner);
            let is_old = |slot: &Slot| self.entries[*slot as usize].generation < newest;
            let old = winner.into_iter().flat_map(|winner| [winner, slot]).filter(is_old);
            found.extend(old.filter(|slot| met.insert(*slot)));
            self.rekeyed += 1;
        }
        found
    }

    /// Gives a content keys of the newest generation.
    pub(super) fn rekey(
        &mut self,
        slot: Slot,
        row: &ContentRow,
        sketch: &[u64],
        (method, buffers): (&dyn Method, &mut EnteringBuffers),
    ) -> Result<()> {
        let since = self.entries[slot as usize].since;
        self.entries[slot as usize] = ContentEntry { since, ..ContentEntry::of(row) };
        let winner = self.graph.get(slot).map_or(slot, |node| node.winner);
        if self.graph.losers_of(slot).is_empty() {
            self.postings.supersede(slot);
        }
        self.entering(method, buffers).post(slot, sketch, row.generation, winner)
    }

    /// The number of generations.
    pub(super) fn generations(&self) -> u32 {
        self.generations.orders().len()
    }

    /// Notes that the keys of a content are entered.
    pub(super) fn set_born(&mut self, slot: Slot, born: u64) {
        self.entries[slot as usize].born = born;
    }

    /// The part of a content that stays in memory.
    pub(super) fn entry(&self, slot: Slot) -> ContentEntry {
        self.entries[slot as usize]
    }

    /// Records the position of a content's sketch. `sketch` is given if it changed.
    pub(super) fn place(&mut self, slot: Slot, row: &ContentRow, sketch: Option<Arc<[u64]>>) {
        let since = self.entries[slot as usize].since.min(row.generation);
        self.entries[slot as usize] = ContentEntry { since, ..ContentEntry::of(row) };
        if let Some(sketch) = sketch {
            self.generations.count(&sketch);
            self.sketches.put(slot, sketch);
        }
    }

    fn entering<'a>(&'a mut self, method: &'a dyn Method, buffers: &'a mut EnteringBuffers) -> Entering<'a> {
        let ContentIndex { entries, postings, generations, sketches, .. } = self;
        let orders = generations.orders();
        Entering { entries, postings, orders, sketches, method, buffers }
    }

    /// Applies an edit to the graph. `threads` threads search for the new contents.
    pub(super) fn apply(&mut self, edit: Edit, method: &dyn Method, threads: usize) -> Result<Applied> {
        self.postings.freeze();
        let known = self.search_inserted(&edit, method, threads)?;
        let mut buffers = EnteringBuffers::default();
        let (graph, mut lookup) = self.lookup(method, known, &mut buffers);
        let effect = graph.apply(edit, &mut lookup)?;
        Ok(Applied { effect, entered: buffers.entered })
    }

    /// Compares all contents again, and reports those that are wrong.
    pub(super) fn audit(&mut self, method: &dyn Method, report: &mut dyn FnMut(Slot, Fault)) -> Result<()> {
        self.postings.freeze();
        let mut buffers = EnteringBuffers::default();
        let (graph, mut lookup) = self.lookup(method, HashMap::new(), &mut buffers);
        graph.audit(&mut lookup, report)
    }

    fn lookup<'a>(
        &'a mut self,
        method: &'a dyn Method,
        known: HashMap<Slot, Vec<Hit>>,
        buffers: &'a mut EnteringBuffers,
    ) -> (&'a mut Graph, GraphLookup<'a>) {
        let ContentIndex { graph, entries, postings, generations, oldest, sketches, compared, .. } = self;
        let (view, orders) = (postings.view(), generations.orders());
        let entering = Entering { entries, postings, orders, sketches, method, buffers };
        let (oldest, buffers) = (*oldest, SearchBuffers::default());
        (graph, GraphLookup { entering, view, oldest, compared, known, buffers })
    }

    /// Searches for the contents of an edit before it is applied, as many at once as their sketches fit in memory.
    fn search_inserted(
        &mut self,
        edit: &Edit,
        method: &dyn Method,
        threads: usize,
    ) -> Result<HashMap<Slot, Vec<Hit>>> {
        let (mut known, mut queries, mut words) = (HashMap::new(), Vec::new(), 0);
        let ahead = std::mem::take(&mut self.ahead);
        let changing: HashSet<Slot> = edit.inserted.iter().map(|(slot, _)| *slot).collect();
        let view = self.postings.view();
        for (number, (slot, _)) in edit.inserted.iter().enumerate() {
            let at = self.entries[*slot as usize].at;
            if let Some(hits) = ahead.get(&at) {
                known.insert(*slot, hits.clone());
            } else if let Some(sketch) = self.sketches.get(*slot, at)? {
                words += sketch.len();
                queries.push(Query { name: *slot, sketch });
            }
            let is_last = number + 1 == edit.inserted.len();
            if is_last || queries.len() >= AT_ONCE || words >= self.tuning.sketch_words {
                let living = self.living(&changing);
                let found = self.key_search(&view, method).find_all(&queries, &living, threads)?;
                known.extend(found.hits);
                found.read.into_iter().for_each(|(slot, sketch)| self.sketches.put(slot, sketch));
                (queries, words) = (Vec::new(), 0);
            }
        }
        Ok(known)
    }

    /// Searches for the next batch while the current one is made durable. Only the next `apply` uses the result, and no
    /// content changes before that.
    pub(super) fn look_ahead(
        &self,
        versions: &[Query<Place>],
        method: &dyn Method,
        threads: usize,
    ) -> Result<Findings<Place>> {
        let (view, changing) = (self.postings.view(), HashSet::new());
        self.key_search(&view, method).find_all(versions, &self.living(&changing), threads)
    }

    /// Keeps the result of `look_ahead` for the next `apply`.
    pub(super) fn take_ahead(&mut self, findings: Findings<Place>) {
        self.ahead = findings.hits;
        findings.read.into_iter().for_each(|(slot, sketch)| self.sketches.put(slot, sketch));
    }

    fn living<'a>(&'a self, changing: &'a HashSet<Slot>) -> LiveContents<'a> {
        LiveContents { graph: &self.graph, sketches: &self.sketches, changing }
    }

    fn key_search<'a>(&'a self, postings: &'a PostingsView, method: &'a dyn Method) -> KeySearch<'a> {
        let ContentIndex { entries, generations, oldest, .. } = self;
        let (orders, oldest) = (generations.orders(), *oldest);
        KeySearch { entries, postings, orders, oldest, method }
    }

    /// A view for readers, who must not wait for Tier 2. It has all postings so far.
    pub(super) fn view(&mut self) -> SearchView {
        self.postings.freeze();
        SearchView {
            postings: self.postings.view(),
            orders: self.generations.orders().clone(),
            oldest: self.oldest,
        }
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

    /// Spills postings if there are many, merges those on disk, and begins a generation if one is due. All contents
    /// must be committed; `born` is the number of the last one.
    pub(super) fn tend(&mut self, folder: &dyn Folder, born: u64) -> Result<()> {
        if self.postings.memory_postings() >= self.tuning.postings_in_memory {
            self.postings.seal(born)?;
            self.seals += 1;
            if self.seals.is_multiple_of(SEALS_A_SAVE) {
                self.generations.save(folder)?;
            }
        }
        self.merge(USUAL_WASTE)?;
        if self.generations.renew(folder, self.live())? {
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

    /// Tells postings of contents that are there now from others. A dead content stays dead: a content that gets the same
    /// number is born later, and entered in a later part. A winner may have postings of earlier generations, on which
    /// losers rely.
    fn is_alive(&self) -> impl Fn(Posting, u64) -> bool + Send + 'static {
        let entered = |(slot, entry): (usize, &ContentEntry)| {
            self.graph.get(slot as Slot).map_or(Entered::NEVER, |_| Entered::of(entry))
        };
        let entered: Vec<Entered> = self.entries.iter().enumerate().map(entered).collect();
        move |posting, covered| {
            let Entered { born, since, generation } =
                entered.get(posting.content as usize).copied().unwrap_or(Entered::NEVER);
            let is_earlier = || (since..generation).any(|earlier| may_be_of(posting.key, earlier));
            born <= covered && may_be_of(posting.key, generation) || is_earlier()
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
