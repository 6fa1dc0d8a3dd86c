//! Stage 3: finds the keys that contents share, as key lists.
//!
//! A key list holds the contents of one key, best first. Keys of a single content are dropped. So are lists that equal
//! another: near-duplicates share most of their keys, and one shared key is enough.

use std::path::Path;
use std::sync::{Arc, Mutex};

use onecopy_core::{Elsewhere, Method, Rarity, Scratch, Search};

use crate::batch::budget::Budget;
use crate::batch::candidates::contents::Contents;
use crate::batch::candidates::key::{Key, holder, is_strong, key};
use crate::batch::candidates::key_lists::{ListWriter, StoredLists};
use crate::batch::candidates::outlines::Outlines;
use crate::batch::candidates::pile::{Pile, filled};
use crate::batch::candidates::sorter::{Sortable, Sorter};
use crate::batch::read::segments::Segments;
use crate::error::{Error, Result};
use crate::io::{Aligned, Pace};
use crate::parallel::for_each;
use crate::progress::{Leg, Progress};
use onecopy_core::settle::Holder;

/// The number of leading bits that assign a key to a part. Each part is sorted separately.
const PART_BITS: std::ops::RangeInclusive<u32> = 4..=8;
/// The approximate number of keys per part. The notes that find single keys then fit in the processor's cache.
const PART_KEYS: u64 = 1 << 17;

/// Among equally rare shingles the smallest become keys, so the leading bits do not divide keys evenly. The middle bits
/// do, so keys are rotated to move them to the front.
const TURN: u32 = 31;

/// Finds the keys of all contents.
pub(crate) struct KeyFinder<'a> {
    pub segments: &'a Segments,
    pub contents: &'a Contents,
    pub rarity: &'a Rarity,
    pub method: &'a dyn Method,
    /// Outlines, which are drawn while the sketches are read for their keys.
    pub outlines: Mutex<Outlines>,
    /// The shingles that are not main content, which are collected at the same time.
    pub elsewhere: &'a Elsewhere,
    pub threads: usize,
    /// Threads that read segments.
    pub readers: usize,
    pub folder: &'a Path,
}

impl KeyFinder<'_> {
    /// The lists of all keys that two contents or more share. Progress counts pages, each once.
    pub(crate) fn lists(&self, budget: &Budget, progress: &dyn Progress) -> Result<StoredLists> {
        let pages = self.segments.pages() as u64;
        // Sorting takes about as long as finding.
        let (finding, sorting) = (Leg::new(progress, pages / 2, pages), pages - pages / 2);
        let bits = self.part_bits(budget);
        let (share, pace) = (budget.sort >> bits, Arc::new(Pace::default()));
        let pile = |part| Pile::new(self.folder.join(format!("keys-{part}")), share, pace.clone());
        let piles: Vec<Mutex<Pile<Key>>> = (0..1 << bits).map(|part| Mutex::new(pile(part))).collect();
        let width = self.outlines.lock().expect("no thread panics with this lock").width();
        let parted = || Parted { parts: vec![Vec::new(); 1 << bits], ..Parted::default() };
        let buffers = || KeyBuffers { parted: parted(), width, ..KeyBuffers::default() };
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

    /// The number of bits that select a part: enough for a thread to sort one part in its share of the memory.
    fn part_bits(&self, budget: &Budget) -> u32 {
        // A fifth of a page's shingles are its keys, by default.
        let keys = self.segments.all_words() / 4;
        let room = budget.sort / self.threads as u64 / 2 / size_of::<Key>() as u64;
        let parts = (keys / PART_KEYS.min(room).max(1)).max(1);
        (parts.ilog2() + 1).clamp(*PART_BITS.start(), *PART_BITS.end())
    }

    /// Sorts the piles and turns them into key lists.
    fn sorted(
        &self,
        piles: Vec<Mutex<Pile<Key>>>,
        budget: &Budget,
        progress: &dyn Progress,
    ) -> Result<StoredLists> {
        let piles = filled(piles)?;
        let room = budget.sort / self.threads as u64;
        let lists = StoredLists::new(piles.len(), budget.holders, &self.folder.join("lists"));
        // Sets grow in the order of the lists, so the choice of dropped lists must not depend on threads.
        let lists = match self.method.search() {
            Search::Keys => lists.remembering((2 * self.contents.len()).min(budget.holders / 4)),
            _ => lists,
        };
        let piles: Vec<_> = piles.into_iter().map(|pile| Mutex::new(Some(pile))).collect();
        for_each(self.threads, piles.len(), SortBuffers::default, |scratch, part| {
            if progress.stopped() {
                return Err(Error::Stopped);
            }
            let pile = piles[part].lock().expect("no thread panics with this lock").take();
            let (pile, used) = (pile.expect("each part is taken once"), std::mem::take(&mut scratch.used));
            let mut sorter = pile.into_sorter(room, used, &mut scratch.aligned)?;
            // Two pages with too little behind a key are not alike, so one holder of the key must be strong.
            sorter.drop_alone(&mut scratch.notes, is_strong);
            scratch.used = self.collect(sorter, &mut scratch.sorted, lists.writer(part))?;
            progress.advance(1);
            Ok(())
        })?;
        lists.finish()
    }

    /// Finds the keys of a segment's contents. Returns the number of pages in the segment.
    fn segment(&self, i: usize, buffers: &mut KeyBuffers, piles: &[Mutex<Pile<Key>>]) -> Result<u64> {
        let KeyBuffers { sketches, scratch, parted, width, drawn, outlines } = buffers;
        drawn.clear();
        outlines.clear();
        let shift = 64 - piles.len().ilog2();
        // Sets grow in the order of keys, as in the reference.
        let turn = if self.method.search() == Search::Keys { TURN } else { 0 };
        // If all segments are on disk, sketches are gathered later instead of being read at random.
        let again = !self.segments.on_disk();
        let pages = self.contents.each_sketch(self.segments, i, again, sketches, |content, sketch| {
            let least = self.method.least_rest(sketch.len() as u32);
            let mut outcome = Ok(());
            self.method.keys_in_pieces(sketch, self.rarity, scratch, &mut |keys| {
                for &(shingle, rest) in keys {
                    let turned = shingle.rotate_left(turn);
                    let key = key(turned, [content, rest], rest >= least);
                    parted.parts[(turned >> shift) as usize].push(key);
                }
                parted.held += keys.len();
                if parted.held > PARTED && outcome.is_ok() {
                    outcome = parted.hand_over(piles);
                }
            });
            outcome?;
            self.method.note_rest(sketch, self.elsewhere);
            drawn.push(content);
            outlines.resize(drawn.len() * *width, 0);
            self.method.outline(sketch, scratch, &mut outlines[(drawn.len() - 1) * *width..]);
            Ok(())
        })?;
        self.outlines.lock().expect("no thread panics with this lock").take(drawn, outlines);
        parted.hand_over(piles)?;
        Ok(pages)
    }

    /// Turns sorted keys into lists. Returns the memory of the keys.
    fn collect(
        &self,
        sorter: Sorter<Key>,
        buffer: &mut Vec<Key>,
        mut writer: ListWriter,
    ) -> Result<Vec<Key>> {
        let (mut list, mut all): (Vec<Holder>, Vec<Holder>) = (Vec::new(), Vec::new());
        let (mut current, mut strong) = (0, false);
        let used = sorter.drain(buffer, |key| {
            if key.lead() != current {
                self.prune(&mut list, strong, &mut all);
                writer.push(&list)?;
                list.clear();
                (current, strong) = (key.lead(), false);
            }
            list.push(holder(key));
            strong |= is_strong(&key);
            Ok(())
        })?;
        self.prune(&mut list, strong, &mut all);
        writer.push(&list)?;
        writer.finish()?;
        Ok(used)
    }

    /// Empties a list without a strong holder, because two weak ones are not alike. Removes contents from a short list
    /// that cannot be alike to any other in it. `all` is a buffer.
    fn prune(&self, list: &mut Vec<Holder>, strong: bool, all: &mut Vec<Holder>) {
        /// In longer lists, nearly every content may be alike to some other.
        const SHORT: usize = 8;
        // Sets grow over all contents that share a key, alike or not.
        if self.method.search() != Search::Keys {
            return;
        }
        if !strong {
            return list.clear();
        }
        if !(2..=SHORT).contains(&list.len()) {
            return;
        }
        let may = |a: Holder, b: Holder| a[0] != b[0] && self.contents.may(a, b, self.method);
        if let [a, b] = list[..] {
            if !may(a, b) {
                list.clear();
            }
            return;
        }
        all.clone_from(list);
        list.retain(|&holder| all.iter().any(|&other| may(holder, other)));
    }
}

/// Buffers that a thread reuses between parts.
#[derive(Default)]
struct SortBuffers {
    aligned: Aligned,
    notes: Vec<u8>,
    /// The memory of the keys of the previous part.
    used: Vec<Key>,
    sorted: Vec<Key>,
}

/// Buffers that a thread reuses between segments.
#[derive(Default)]
struct KeyBuffers {
    sketches: Aligned,
    scratch: Scratch,
    parted: Parted,
    /// The number of words in an outline.
    width: usize,
    /// Contents with new outlines, and the outlines themselves.
    drawn: Vec<u32>,
    outlines: Vec<u64>,
}

/// The most keys that a thread holds before it puts them on the piles. Only a large page has as many.
const PARTED: usize = 1 << 16;

/// Keys that a thread has found, by part.
#[derive(Default)]
struct Parted {
    parts: Vec<Vec<Key>>,
    held: usize,
    aligned: Aligned,
}

impl Parted {
    /// Puts all keys on the piles.
    fn hand_over(&mut self, piles: &[Mutex<Pile<Key>>]) -> Result<()> {
        self.held = 0;
        for (part, pile) in self.parts.iter_mut().zip(piles) {
            pile.lock().expect("no thread panics with this lock").extend(part, &mut self.aligned)?;
            part.clear();
        }
        Ok(())
    }
}
