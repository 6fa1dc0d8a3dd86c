//! Who holds a key: postings from a key to contents, in memory and in immutable sorted parts on disk.
//!
//! What is added is in memory only until a seal writes it as a part; the caller knows by [`Postings::covered`]
//! what to add again after a restart. Parts of a size are merged into one. A posting may be found twice, or after
//! its content is gone; none is missed.

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

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub use merge::{MergePlan, Merged};
pub use search::Seeker;

use crate::disk::{Folder, cannot, damaged};
use crate::{Error, Result};
use manifest::{Entry, Manifest};
use memory::Memory;
use part::{Part, part_name, part_number};
use writer::{Draft, PartWriter};

/// A content holds a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Posting {
    /// A hash, any value of which is as likely as another: else it is slower, not wrong.
    pub key: u64,
    /// Who holds it.
    pub content: u32,
    /// What the caller wants to know besides.
    pub rest: u32,
}

impl Posting {
    /// The same order as the derived one, in one comparison.
    fn order(&self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.content) << 32 | u128::from(self.rest)
    }
}

/// All postings of a collection.
#[derive(Debug)]
pub struct Postings {
    folder: Arc<dyn Folder>,
    /// What was added last.
    memory: Memory,
    /// What is being written, or could not be.
    frozen: Vec<Arc<Memory>>,
    parts: Vec<Arc<Part>>,
    covered: u64,
    next_number: AtomicU32,
    /// Parts that a manifest may name of which we do not know whether it is in place.
    unsure: Vec<u32>,
}

/// Postings to write as a part.
#[derive(Debug)]
pub struct SealPlan {
    folder: Arc<dyn Folder>,
    number: u32,
    covered: u64,
    frozen: Vec<Arc<Memory>>,
}

/// Postings written as a part, to be taken for those in memory. If it is dropped instead, its file goes.
#[derive(Debug)]
pub struct Sealed {
    covered: u64,
    frozen: Vec<Arc<Memory>>,
    output: Option<(Part, Draft)>,
}

impl Postings {
    /// Opens the postings in the folder, or begins with none. Removes parts that the manifest does not name.
    pub fn open(folder: Arc<dyn Folder>) -> Result<Postings> {
        // The manifest that is found must be the durable one before what it does not name is removed.
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

    /// Removes all postings in the folder, damaged or not. Nobody may have them open.
    pub fn remove_all(folder: &dyn Folder) -> Result<()> {
        let names = folder.names().map_err(cannot("list", "the folder"))?;
        let is_ours = |name: &str| matches!(name, manifest::NAME | manifest::ASIDE_NAME);
        for name in names.iter().filter(|name| is_ours(name) || part_number(name).is_some()) {
            folder.remove(name).map_err(cannot("remove", name))?;
        }
        folder.sync().map_err(cannot("sync", "the folder"))
    }

    /// The number given with the last seal that is durable; zero at first.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Adds postings, in memory.
    pub fn add(&mut self, postings: &[Posting]) {
        self.memory.add(postings);
    }

    /// How many postings are in memory, with those that are being sealed.
    pub fn memory_postings(&self) -> usize {
        self.memories().map(Memory::len).sum()
    }

    /// Writes what is in memory as a part; all up to `covered` is durable then. After an error nothing has
    /// changed, and it can be tried again.
    pub fn seal(&mut self, covered: u64) -> Result<()> {
        let sealed = self.plan_seal(covered).run()?;
        self.install_seal(sealed)
    }

    /// The same in three steps, of which the second is the heavy one and can run on another thread. What is added
    /// from now on is for the next seal.
    pub fn plan_seal(&mut self, covered: u64) -> SealPlan {
        if self.memory.len() > 0 {
            self.frozen.push(Arc::new(std::mem::take(&mut self.memory)));
        }
        SealPlan { folder: self.folder.clone(), number: self.number(), covered, frozen: self.frozen.clone() }
    }

    /// Takes the new part for what was in memory, durably.
    pub fn install_seal(&mut self, sealed: Sealed) -> Result<()> {
        let covered = sealed.covered.max(self.covered);
        self.install_part(sealed.output, &[], covered)?;
        self.frozen.retain(|memory| !sealed.frozen.iter().any(|written| Arc::ptr_eq(memory, written)));
        Ok(())
    }

    /// One step of merging, and whether there was one to do.
    pub fn merge(&mut self, alive: &dyn Fn(Posting) -> bool) -> Result<bool> {
        let Some(plan) = self.plan_merge() else { return Ok(false) };
        let merged = plan.run(alive)?;
        self.install(merged)?;
        Ok(true)
    }

    /// The same in three steps, of which the second is the heavy one and can run on another thread. Only one
    /// merge at a time: a second plan may be about the same parts.
    pub fn plan_merge(&self) -> Option<MergePlan> {
        let sizes: Vec<u64> = self.parts.iter().map(|part| part.postings).collect();
        let inputs = merge::choose(&sizes)?.into_iter().map(|at| self.parts[at].clone()).collect();
        Some(MergePlan { folder: self.folder.clone(), number: self.number(), inputs })
    }

    /// Puts a merged part in the place of those it was made of, durably.
    pub fn install(&mut self, merged: Merged) -> Result<()> {
        let there = |number: &u32| self.parts.iter().any(|part| part.number == *number);
        if !merged.inputs.iter().all(there) {
            return Err(Error::Refused("parts were merged that are merged already".to_owned()));
        }
        self.install_part(merged.output, &merged.inputs, self.covered)?;
        // Who still reads them can go on; what cannot be removed now, the next opening removes.
        merged.inputs.iter().for_each(|number| drop(self.folder.remove(&part_name(*number))));
        Ok(())
    }

    /// How many bytes the parts have on disk.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// How many parts there are. Each is asked for every key.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// How many postings the parts have.
    pub fn part_postings(&self) -> u64 {
        self.parts.iter().map(|part| part.postings).sum()
    }

    /// Reads all parts and gives the first damage of each.
    pub fn check(&self, each: &mut dyn FnMut(Error)) -> Result<()> {
        for part in &self.parts {
            match part.check() {
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => each(error),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.frozen.iter().map(|memory| &**memory).chain([&self.memory])
    }

    /// For a part. Never given twice: a file that a manifest may name is not written again.
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

impl SealPlan {
    /// Writes the part.
    pub fn run(self) -> Result<Sealed> {
        let mut postings: Vec<Posting> =
            self.frozen.iter().flat_map(|memory| memory.postings()).copied().collect();
        postings.sort_unstable();
        postings.dedup();
        let mut output = None;
        if !postings.is_empty() {
            let mut writer = PartWriter::new(self.folder, self.number, postings.len() as u64)?;
            postings.into_iter().try_for_each(|posting| writer.push(posting))?;
            output = writer.finish()?;
        }
        Ok(Sealed { covered: self.covered, frozen: self.frozen, output })
    }
}

fn open_part(folder: &dyn Folder, entry: &Entry) -> Result<Arc<Part>> {
    let part = Part::open(folder, entry.number)?;
    if Entry::of(&part) != *entry {
        return Err(damaged(&part_name(entry.number), 0, "it is not the part that the manifest names"));
    }
    Ok(Arc::new(part))
}
