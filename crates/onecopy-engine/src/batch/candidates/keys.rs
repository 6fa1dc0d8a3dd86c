//! Stage 3: the keys that contents share, as runs.
//!
//! A run is the contents that hold one key, best first. Keys that one content holds alone are dropped, and so is a
//! run that equals another: two near-duplicates share most of their keys, and one shared key says as much as fifty.

use std::path::Path;
use std::sync::{Arc, Mutex};

use onecopy_core::{Method, Rarity, Scratch, Search};

use crate::batch::budget::Budget;
use crate::batch::candidates::contents::Contents;
use crate::batch::candidates::key::{Key, holder, is_strong, key};
use crate::batch::candidates::key_lists::{ListWriter, StoredLists};
use crate::batch::candidates::outlines::Outlines;
use crate::batch::candidates::pile::Pile;
use crate::batch::candidates::sorter::{Sortable, Sorter};
use crate::batch::read::segments::Segments;
use crate::error::{Error, Result};
use crate::io::{Aligned, Pace};
use crate::parallel::for_each;
use crate::progress::{Leg, Progress};
use onecopy_core::settle::Holder;

/// Keys are shared out by so many of their leading bits, so that each part is sorted by itself.
const PART_BITS: std::ops::RangeInclusive<u32> = 4..=8;
/// Keys of a part, about: what is noted of them while those that are alone are dropped stays in the processor's cache.
const PART_KEYS: u64 = 1 << 17;

/// Among shingles that are equally rare the smallest are keys, so leading bits are not what divides keys evenly. Those in
/// the middle do: they are turned to the front.
const TURN: u32 = 31;

/// What finding keys needs to know.
pub(crate) struct KeyFinder<'a> {
    pub segments: &'a Segments,
    pub contents: &'a Contents,
    pub rarity: &'a Rarity,
    pub method: &'a dyn Method,
    /// Are drawn on the way, while a sketch is at hand.
    pub outlines: Mutex<Outlines>,
    pub threads: usize,
    /// Threads that read segments.
    pub readers: usize,
    pub folder: &'a Path,
}

impl KeyFinder<'_> {
    /// The runs of all keys that two contents or more share. Progress counts pages, each once.
    pub(crate) fn runs(&self, budget: &Budget, progress: &dyn Progress) -> Result<StoredLists> {
        let pages = self.segments.pages() as u64;
        // Sorting takes about as long as finding.
        let (finding, sorting) = (Leg::new(progress, pages / 2, pages), pages - pages / 2);
        let bits = self.part_bits(budget);
        let (share, pace) = (budget.sort >> bits, Arc::new(Pace::default()));
        let pile = |part| Pile::new(self.folder.join(format!("keys-{part}")), share, pace.clone());
        let piles: Vec<Mutex<Pile<Key>>> = (0..1 << bits).map(|part| Mutex::new(pile(part))).collect();
        let width = self.outlines.lock().expect("no thread panics with this lock").width();
        let buffers = || KeyBuffers { parts: vec![Vec::new(); 1 << bits], width, ..KeyBuffers::default() };
        for_each(self.readers, self.segments.len(), buffers, |buffers, i| {
            if progress.stopped() {
                return Err(Error::Stopped);
            }
            finding.advance(self.segment(i, buffers, &piles)?);
            Ok(())
        })?;
        drop(finding);
        let sorting = Leg::new(progress, sorting, piles.len() as u64);
        self.sorted(piles, budget, &sorting)
    }

    /// By how many bits keys are shared out: enough for each part to be sorted in a thread's share of the memory.
    fn part_bits(&self, budget: &Budget) -> u32 {
        // A fifth of a page's shingles are its keys, by default.
        let keys = self.segments.all_words() / 4;
        let room = budget.sort / self.threads as u64 / 2 / size_of::<Key>() as u64;
        let parts = (keys / PART_KEYS.min(room).max(1)).max(1);
        (parts.ilog2() + 1).clamp(*PART_BITS.start(), *PART_BITS.end())
    }

    /// Sorts the piles and makes runs of them.
    fn sorted(
        &self,
        piles: Vec<Mutex<Pile<Key>>>,
        budget: &Budget,
        progress: &dyn Progress,
    ) -> Result<StoredLists> {
        let unlocked = |pile: Mutex<Pile<Key>>| pile.into_inner().expect("no thread panics with this lock");
        let mut piles: Vec<Pile<Key>> = piles.into_iter().map(unlocked).collect();
        if piles.iter().any(Pile::is_spilled) {
            // Sorting has the memory for itself.
            let mut buffer = Aligned::default();
            piles.iter_mut().try_for_each(|pile| pile.spill_all(&mut buffer))?;
        }
        let room = budget.sort / self.threads as u64;
        let runs = StoredLists::new(piles.len(), budget.runs, &self.folder.join("runs"));
        // Sets grow in the order of the runs, so which of them is left out must not depend on threads.
        let runs = match self.method.search() {
            Search::Keys => runs.knowing((2 * self.contents.len()).min(budget.runs / 4)),
            _ => runs,
        };
        let piles: Vec<_> = piles.into_iter().map(|pile| Mutex::new(Some(pile))).collect();
        for_each(self.threads, piles.len(), SortBuffers::default, |scratch, part| {
            if progress.stopped() {
                return Err(Error::Stopped);
            }
            let pile = piles[part].lock().expect("no thread panics with this lock").take();
            let (pile, used) = (pile.expect("each part is taken once"), std::mem::take(&mut scratch.used));
            let mut sorter = pile.into_sorter(room, used, &mut scratch.aligned)?;
            // Pages that both have too little behind a key are not alike, so one of those that share it must have more.
            sorter.drop_alone(&mut scratch.notes, is_strong);
            scratch.used = self.collect(sorter, &mut scratch.sorted, runs.writer(part))?;
            progress.advance(1);
            Ok(())
        })?;
        runs.finish()
    }

    /// Finds the keys of a segment's contents; says how many pages it has.
    fn segment(&self, i: usize, buffers: &mut KeyBuffers, piles: &[Mutex<Pile<Key>>]) -> Result<u64> {
        let KeyBuffers { sketches, scratch, keys, parts, aligned, width, drawn, outlines } = buffers;
        drawn.clear();
        outlines.clear();
        let shift = 64 - piles.len().ilog2();
        // Sets grow in the order of keys, which is that of the reference.
        let turn = if self.method.search() == Search::Keys { TURN } else { 0 };
        // Of segments that are on disk all together, sketches are gathered later, rather than looked at where they are.
        let again = !self.segments.on_disk();
        let pages = self.contents.each_sketch(self.segments, i, again, sketches, |content, sketch| {
            keys.clear();
            self.method.keys(sketch, self.rarity, scratch, keys);
            let least = self.method.least_rest(sketch.len() as u32);
            for &(shingle, rest) in &*keys {
                let turned = shingle.rotate_left(turn);
                parts[(turned >> shift) as usize].push(key(turned, [content, rest], rest >= least));
            }
            drawn.push(content);
            outlines.resize(drawn.len() * *width, 0);
            self.method.outline(sketch, scratch, &mut outlines[(drawn.len() - 1) * *width..]);
        })?;
        self.outlines.lock().expect("no thread panics with this lock").take(drawn, outlines);
        for (part, pile) in parts.iter_mut().zip(piles) {
            pile.lock().expect("no thread panics with this lock").extend(part, aligned)?;
            part.clear();
        }
        Ok(pages)
    }

    /// Turns sorted keys into runs; gives the memory of the keys back.
    fn collect(
        &self,
        sorter: Sorter<Key>,
        buffer: &mut Vec<Key>,
        mut writer: ListWriter,
    ) -> Result<Vec<Key>> {
        let (mut run, mut all): (Vec<Holder>, Vec<Holder>) = (Vec::new(), Vec::new());
        let mut current = 0;
        let used = sorter.drain(buffer, |key| {
            if key.lead() != current {
                self.prune(&mut run, &mut all);
                writer.push(&run)?;
                run.clear();
                current = key.lead();
            }
            run.push(holder(key));
            Ok(())
        })?;
        self.prune(&mut run, &mut all);
        writer.push(&run)?;
        writer.finish()?;
        Ok(used)
    }

    /// Takes out the contents of a short run that can be alike to none of the others. `all` is a buffer.
    fn prune(&self, run: &mut Vec<Holder>, all: &mut Vec<Holder>) {
        /// In longer runs, hardly any content is alone.
        const SHORT: usize = 8;
        // Sets grow over all that share a key, alike or not.
        if !(2..=SHORT).contains(&run.len()) || self.method.search() != Search::Keys {
            return;
        }
        let may = |a: Holder, b: Holder| a[0] != b[0] && self.contents.may(a, b, self.method);
        if let [a, b] = run[..] {
            if !may(a, b) {
                run.clear();
            }
            return;
        }
        all.clone_from(run);
        run.retain(|&holder| all.iter().any(|&other| may(holder, other)));
    }
}

/// What a thread keeps between parts.
#[derive(Default)]
struct SortBuffers {
    aligned: Aligned,
    notes: Vec<u8>,
    /// The memory of the keys of the part before.
    used: Vec<Key>,
    sorted: Vec<Key>,
}

/// What a thread keeps between segments.
#[derive(Default)]
struct KeyBuffers {
    sketches: Aligned,
    scratch: Scratch,
    keys: Vec<(u64, u32)>,
    parts: Vec<Vec<Key>>,
    aligned: Aligned,
    /// Words of an outline.
    width: usize,
    /// The contents of which outlines were drawn, and these.
    drawn: Vec<u32>,
    outlines: Vec<u64>,
}
