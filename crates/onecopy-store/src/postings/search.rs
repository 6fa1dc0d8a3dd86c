//! Finds the contents that have given keys. Memory is searched first; on disk, each key that a part may have costs one
//! block.
//!
//! Most keys of an edited or copied page belong to the same few contents, and each would cost a block. So the search
//! asks a found content for all of its keys. If the known contents account for all postings of a key, no other content
//! has it, and nothing is read.

use std::sync::Arc;

use super::filter::MANY;
use super::memory::Memory;
use super::part::Block;
use super::{Part, Postings};
use crate::Result;

/// Asking a content costs about as much as reading this many blocks.
const WORTH: usize = 12;
/// The most contents to ask. If more contents are similar, asking does not pay.
const MOST: usize = 8;

/// Receives the results of a search.
pub trait Seeker {
    /// A posting: the index of its key, its content and rest.
    fn found(&mut self, at: usize, content: u32, rest: u32);

    /// Reports all postings of a found content, and adds the indexes of their keys to `held`. Does neither if they are
    /// unknown. All postings of the content must have been added.
    fn holds(&mut self, content: u32, held: &mut Vec<usize>) {
        let _ = (content, held);
    }
}

impl<F: FnMut(usize, u32, u32)> Seeker for F {
    fn found(&mut self, at: usize, content: u32, rest: u32) {
        self(at, content, rest)
    }
}

/// Postings as they were when the view was made. A writer may go on meanwhile.
#[derive(Debug, Clone)]
pub struct PostingsView {
    parts: Vec<Arc<Part>>,
    layers: Vec<Arc<Memory>>,
}

impl PostingsView {
    pub(super) fn new(parts: Vec<Arc<Part>>, layers: Vec<Arc<Memory>>) -> PostingsView {
        PostingsView { parts, layers }
    }

    /// Finds every posting of these keys, as [`Postings::find`] does.
    pub fn find(&self, keys: &[u64], seeker: &mut dyn Seeker) -> Result<()> {
        let memories = self.layers.iter().map(|layer| &**layer).collect();
        Sources { parts: &self.parts, memories }.find(keys, seeker)
    }
}

impl Postings {
    /// Finds the postings of these keys that were added since the last freeze.
    pub fn find_latest(&self, keys: &[u64], seeker: &mut dyn Seeker) {
        let sources = Sources { parts: &[], memories: vec![&self.memory] };
        sources.find_in_memory(keys, seeker);
    }

    /// Finds every posting of these keys, in any order; some may be reported twice. Keys must ascend.
    pub fn find(&self, keys: &[u64], seeker: &mut dyn Seeker) -> Result<()> {
        Sources { parts: &self.parts, memories: self.memories().collect() }.find(keys, seeker)
    }
}

/// Where postings are searched for.
struct Sources<'a> {
    parts: &'a [Arc<Part>],
    memories: Vec<&'a Memory>,
}

impl Sources<'_> {
    fn find(&self, keys: &[u64], seeker: &mut dyn Seeker) -> Result<()> {
        self.find_in_memory(keys, seeker);
        let (hits, owed) = self.hits(keys);
        Reading { sources: self, keys, owed, asked: Vec::new(), held: Vec::new() }.run(&hits, seeker)
    }

    fn find_in_memory(&self, keys: &[u64], seeker: &mut dyn Seeker) {
        for memory in &self.memories {
            for (at, key) in keys.iter().enumerate() {
                memory.find(*key, &mut |content, rest| seeker.found(at, content, rest));
            }
        }
    }

    /// The parts that may have each key, sorted by key, and an upper bound of each key's postings in all parts.
    fn hits(&self, keys: &[u64]) -> (Vec<(usize, usize)>, Vec<u8>) {
        let (mut hits, mut owed) = (Vec::new(), vec![0_u8; keys.len()]);
        for (part_at, part) in self.parts.iter().enumerate() {
            part.sift(keys, &mut |at, most| {
                hits.push((at, part_at));
                owed[at] = if most >= MANY { u8::MAX } else { owed[at].saturating_add(most) };
            });
        }
        hits.sort_unstable();
        (hits, owed)
    }
}

/// A search on disk in progress.
struct Reading<'a> {
    sources: &'a Sources<'a>,
    keys: &'a [u64],
    /// For each key, an upper bound of the postings not found yet.
    owed: Vec<u8>,
    /// Contents already asked.
    asked: Vec<u32>,
    held: Vec<usize>,
}

impl Reading<'_> {
    fn run(mut self, hits: &[(usize, usize)], seeker: &mut dyn Seeker) -> Result<()> {
        let (mut block, mut fresh) = (Block::default(), Vec::new());
        for of_key in hits.chunk_by(|a, b| a.0 == b.0) {
            let at = of_key[0].0;
            if self.owed[at] == 0 {
                continue;
            }
            for (_, part_at) in of_key {
                let part: &Part = &self.sources.parts[*part_at];
                part.find_key(self.keys[at], &mut block, &mut |content, rest| {
                    seeker.found(at, content, rest);
                    fresh.push(content);
                })?;
            }
            self.owed[at] = 0;
            fresh.drain(..).for_each(|content| self.ask(content, at, seeker));
        }
        Ok(())
    }

    /// Asks a content for its keys, if that saves enough blocks from key `at` on.
    fn ask(&mut self, content: u32, at: usize, seeker: &mut dyn Seeker) {
        if self.asked.len() >= MOST || self.asked.contains(&content) {
            return;
        }
        let open = self.owed[at..].iter().filter(|owed| (1..MANY).contains(*owed)).count();
        if open < WORTH {
            return;
        }
        self.asked.push(content);
        self.held.clear();
        seeker.holds(content, &mut self.held);
        for &at in &self.held {
            // A posting in memory may be in no part, so it does not account for one on disk.
            let in_memory = self.sources.memories.iter().any(|memory| has(memory, self.keys[at], content));
            let is_counted = self.owed[at] != u8::MAX && !in_memory;
            self.owed[at] -= u8::from(is_counted && self.owed[at] > 0);
        }
    }
}

fn has(memory: &Memory, key: u64, content: u32) -> bool {
    let mut has = false;
    memory.find(key, &mut |other, _| has |= other == content);
    has
}
