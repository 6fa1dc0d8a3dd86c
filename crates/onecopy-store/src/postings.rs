//! Postings from keys to contents, in memory and in immutable sorted parts on disk.
//!
//! New postings are only in memory until a seal writes them as a part. [`Postings::covered`] tells the caller which
//! ones to add again after a restart. Parts of similar size are merged. A search may return a posting twice, or after
//! its content was removed, but never misses one.
//!
//! Contents are numbered by slots that are used again, so a posting does not say of which content it is. But each part
//! knows what it covers: a content that was born later has no postings in it. Seals and merges leave out what that rules
//! out. All parts are merged as soon as half of their contents are gone.

mod block;
mod cursor;
mod filter;
mod manifest;
mod memory;
mod merge;
mod part;
mod search;
mod tail;
#[cfg(test)]
mod tests;
mod writer;

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub use merge::{MergePlan, Merged};
pub use search::{PostingsView, Seeker};

use crate::disk::{File, Folder, Open, cannot, damaged, open_to_read};
use crate::{Error, Result};
use manifest::{Entry, Manifest};
use memory::Memory;
use part::{Part, part_name, part_number};
use writer::{Draft, PartWriter};

/// States that a content has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Posting {
    /// A uniformly distributed hash. Other distributions are slower, but correct.
    pub key: u64,
    /// The content.
    pub content: u32,
    /// Extra data of the caller.
    pub rest: u32,
}

impl Posting {
    /// The derived order as one integer comparison.
    fn order(&self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.content) << 32 | u128::from(self.rest)
    }
}

/// All postings of a collection.
#[derive(Debug)]
pub struct Postings {
    folder: Arc<dyn Folder>,
    /// Postings added since the last seal began.
    memory: Memory,
    /// Postings being sealed, or whose seal failed.
    frozen: Vec<Arc<Memory>>,
    parts: Vec<Arc<Part>>,
    covered: u64,
    next_number: AtomicU32,
    /// Parts of a manifest that may or may not be in place.
    unsure: Vec<u32>,
}

/// Whether a posting of a part that covers contents up to a number is still of use. A posting that is of no use must never be of use again.
pub type Alive<'a> = dyn Fn(Posting, u64) -> bool + 'a;

/// Postings to write as a part.
#[derive(Debug)]
pub struct SealPlan {
    folder: Arc<dyn Folder>,
    number: u32,
    covered: u64,
    frozen: Vec<Arc<Memory>>,
}

/// A written part that will replace the postings in memory. Dropping it removes its file.
#[derive(Debug)]
pub struct Sealed {
    covered: u64,
    frozen: Vec<Arc<Memory>>,
    output: Option<(Part, Draft)>,
}

impl Postings {
    /// Opens the postings in the folder, or starts empty. Removes parts that the manifest does not name.
    pub fn open(folder: Arc<dyn Folder>) -> Result<Postings> {
        // The manifest must be durable before files that it does not name are removed.
        folder.sync().map_err(cannot("sync", "the folder"))?;
        let manifest = Manifest::read(&*folder)?;
        let parts =
            manifest.entries.iter().map(|entry| open_part(&*folder, entry)).collect::<Result<Vec<_>>>()?;
        let found = folder.names().map_err(cannot("list", "the folder"))?;
        let numbers: Vec<u32> = found.iter().filter_map(|name| part_number(name)).collect();
        let postings = Postings {
            memory: Memory::default(),
            frozen: Vec::new(),
            parts,
            covered: manifest.covered,
            next_number: AtomicU32::new(numbers.iter().max().map_or(1, |number| number + 1)),
            unsure: Vec::new(),
            folder,
        };
        for number in
            numbers.into_iter().filter(|number| postings.parts.iter().all(|part| part.number != *number))
        {
            let name = part_name(number);
            postings.folder.remove(&name).map_err(cannot("remove", &name))?;
        }
        Ok(postings)
    }

    /// Removes all postings in the folder, even damaged ones. They must not be open.
    pub fn remove_all(folder: &dyn Folder) -> Result<()> {
        let names = folder.names().map_err(cannot("list", "the folder"))?;
        let is_ours = |name: &str| matches!(name, manifest::NAME | manifest::ASIDE_NAME);
        for name in names.iter().filter(|name| is_ours(name) || part_number(name).is_some()) {
            folder.remove(name).map_err(cannot("remove", name))?;
        }
        folder.sync().map_err(cannot("sync", "the folder"))
    }

    /// The files of all postings at one moment, the manifest first. Open files stay as they are, whatever a writer
    /// replaces later. Empty if there are none.
    pub fn files(folder: &dyn Folder) -> Result<Vec<(String, Arc<dyn File>)>> {
        let manifest = match folder.open(manifest::NAME, Open::Read) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.map_err(cannot("open", manifest::NAME))?,
        };
        let numbers = Manifest::of(&*manifest)?.entries.into_iter().map(|entry| entry.number);
        let mut files = vec![(manifest::NAME.to_owned(), manifest)];
        for name in numbers.map(part_name) {
            let part = open_to_read(folder, &name)?;
            files.push((name, part));
        }
        Ok(files)
    }

    /// The number passed to the last durable seal; initially zero.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Adds postings in memory.
    pub fn add(&mut self, postings: &[Posting]) {
        self.memory.add(postings);
    }

    /// Notes that the postings of a content that are in memory so far are of no use: its slot is empty, or gets others.
    pub fn supersede(&mut self, content: u32) {
        self.memory.supersede(content);
    }

    /// Freezes the postings added so far, so that views from now on have them. A few layers of frozen postings become
    /// one, so that their number stays small.
    pub fn freeze(&mut self) {
        if self.memory.len() == 0 {
            return;
        }
        let mut layer = std::mem::take(&mut self.memory);
        while self.frozen.last().is_some_and(|below| below.len() <= 2 * layer.len())
            && let Some(below) = self.frozen.pop()
        {
            layer = below.with(&layer);
        }
        self.frozen.push(Arc::new(layer));
    }

    /// All postings up to the last freeze, for readers that must not wait for a writer.
    pub fn view(&self) -> PostingsView {
        PostingsView::new(self.parts.clone(), self.frozen.clone())
    }

    /// The number of postings in memory, including those being sealed.
    pub fn memory_postings(&self) -> usize {
        self.memories().map(Memory::len).sum()
    }

    /// Writes the postings in memory as a part. Everything up to `covered` is then durable. After an error nothing has
    /// changed, and the caller may retry.
    pub fn seal(&mut self, covered: u64) -> Result<()> {
        let sealed = self.plan_seal(covered).run()?;
        self.install_seal(sealed)
    }

    /// Plans a seal. `seal` has three steps, and the second is the expensive one, which may run on another thread.
    /// Postings added from now on belong to the next seal.
    pub fn plan_seal(&mut self, covered: u64) -> SealPlan {
        if self.memory.len() > 0 {
            self.frozen.push(Arc::new(std::mem::take(&mut self.memory)));
        }
        SealPlan { folder: self.folder.clone(), number: self.number(), covered, frozen: self.frozen.clone() }
    }

    /// Durably replaces the postings in memory by the new part.
    pub fn install_seal(&mut self, sealed: Sealed) -> Result<()> {
        let covered = sealed.covered.max(self.covered);
        self.install_part(sealed.output, &[], covered)?;
        self.frozen.retain(|memory| !sealed.frozen.iter().any(|written| Arc::ptr_eq(memory, written)));
        Ok(())
    }

    /// Runs one merge step. Returns whether there was one to run.
    #[cfg(test)]
    fn merge(&mut self, alive: &Alive) -> Result<bool> {
        let Some(plan) = self.plan_merge() else { return Ok(false) };
        let merged = plan.run(alive)?;
        self.install(merged)?;
        Ok(true)
    }

    /// Plans a merge of parts of similar size. The second of three steps, `run`, is the expensive one, and may run on
    /// another thread. `install` is the third. Only one merge may run at a time: a second plan could select the same parts.
    pub fn plan_merge(&self) -> Option<MergePlan> {
        let sizes: Vec<u64> = self.parts.iter().map(|part| part.postings).collect();
        Some(self.plan(merge::choose(&sizes)?.into_iter().map(|at| self.parts[at].clone()).collect()))
    }

    /// Plans a merge of all parts, if they have the postings of more than `most` contents: some must be gone.
    pub fn plan_cleaning(&self, most: u64) -> Option<MergePlan> {
        let entered: u64 = self.parts.iter().map(|part| part.contents).sum();
        (entered > most).then(|| self.plan(self.parts.clone()))
    }

    fn plan(&self, inputs: Vec<Arc<Part>>) -> MergePlan {
        MergePlan { folder: self.folder.clone(), number: self.number(), inputs }
    }

    /// Durably replaces parts by the part merged from them.
    pub fn install(&mut self, merged: Merged) -> Result<()> {
        let there = |number: &u32| self.parts.iter().any(|part| part.number == *number);
        if !merged.inputs.iter().all(there) {
            return Err(Error::Refused("the parts were merged before".to_owned()));
        }
        self.install_part(merged.output, &merged.inputs, self.covered)?;
        // Open readers can continue. If a file cannot be removed now, the next open removes it.
        merged.inputs.iter().for_each(|number| drop(self.folder.remove(&part_name(*number))));
        Ok(())
    }

    /// The bytes of all parts on disk.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// The number of parts. A search asks each part for every key.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The number of postings in all parts.
    pub fn part_postings(&self) -> u64 {
        self.parts.iter().map(|part| part.postings).sum()
    }

    /// Reads all parts and reports the first damage of each.
    pub fn check(&self, each: &mut dyn FnMut(Error)) -> Result<()> {
        self.parts_to_check().check(each)
    }

    /// The parts as they are now, to be checked on any thread.
    pub fn parts_to_check(&self) -> PostingParts {
        PostingParts(self.parts.clone())
    }

    fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.frozen.iter().map(|memory| &**memory).chain([&self.memory])
    }

    /// A new part number. Numbers are never reused: a file that a manifest may name must not be overwritten.
    fn number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    fn install_part(&mut self, new: Option<(Part, Draft)>, without: &[u32], covered: u64) -> Result<()> {
        let (part, draft) = new.unzip();
        let kept = self.parts.iter().filter(|part| !without.contains(&part.number)).cloned();
        let parts: Vec<Arc<Part>> = kept.chain(part.map(Arc::new)).collect();
        let entries = parts.iter().map(|part| Entry::of(part)).collect();
        let written = Manifest { covered, entries }.write(&*self.folder);
        match written {
            Err(failure) => {
                if let (true, Some(draft), Some(part)) = (failure.unsure, draft, parts.last()) {
                    self.unsure.push(part.number);
                    draft.keep();
                }
                Err(failure.error)
            }
            Ok(()) => {
                draft.into_iter().for_each(Draft::keep);
                (self.parts, self.covered) = (parts, covered);
                self.unsure.drain(..).for_each(|number| drop(self.folder.remove(&part_name(number))));
                Ok(())
            }
        }
    }
}

/// Parts that can be checked while others take their place.
#[derive(Debug)]
pub struct PostingParts(Vec<Arc<Part>>);

impl PostingParts {
    /// Reads all parts and reports the first damage of each.
    pub fn check(&self, each: &mut dyn FnMut(Error)) -> Result<()> {
        for part in &self.0 {
            match part.check() {
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => each(error),
                Ok(()) => {}
            }
        }
        Ok(())
    }
}

impl SealPlan {
    /// Writes the part.
    pub fn run(self) -> Result<Sealed> {
        let mut postings = Vec::new();
        for (at, memory) in self.frozen.iter().enumerate() {
            let is_replaced = |content| self.frozen[at + 1..].iter().any(|later| later.supersedes(content));
            postings.extend(memory.current().filter(|posting| !is_replaced(posting.content)));
        }
        postings.sort_unstable();
        postings.dedup();
        let mut output = None;
        if !postings.is_empty() {
            let mut writer = PartWriter::new(self.folder, self.number, postings.len() as u64, self.covered)?;
            postings.into_iter().try_for_each(|posting| writer.push(posting))?;
            output = writer.finish()?;
        }
        Ok(Sealed { covered: self.covered, frozen: self.frozen, output })
    }
}

fn open_part(folder: &dyn Folder, entry: &Entry) -> Result<Arc<Part>> {
    let mut part = Part::open(folder, entry.number)?;
    (part.covered, part.contents) = (entry.covered, entry.contents);
    if Entry::of(&part) != *entry {
        return Err(damaged(&part_name(entry.number), 0, "it is not the part that the manifest names"));
    }
    Ok(Arc::new(part))
}
