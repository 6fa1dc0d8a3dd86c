//! Stage 4: which contents stay.
//!
//! Contents are visited best first. One goes if it is alike to one that stays, and the best of those is its winner; else
//! it stays. Each is compared only with those that stay and share a key with it, so that a group of n near-duplicates
//! costs n comparisons, not n². When the keys do not fit in memory, contents are settled in blocks of ranks: a block
//! among itself, then everything behind it against what stayed of it. The answer is the same for any blocks.

use std::ops::Range;

use onecopy_core::Method;

use super::index::Index;
use super::judge::{Desk, Judge};
use super::runs::Runs;
use super::sections::Section;
use crate::error::{Error, Result};

/// What became of each content.
pub(crate) struct Settled {
    /// A content that stays is its own winner.
    pub winner: Vec<u32>,
    /// Its score with its winner; nothing if it stays.
    pub score: Vec<u32>,
}

impl Settled {
    /// All stay.
    pub(crate) fn new(contents: usize) -> Settled {
        Settled { winner: (0..contents as u32).collect(), score: vec![0; contents] }
    }

    pub(crate) fn stays(&self, content: u32) -> bool {
        self.winner[content as usize] == content
    }

    /// How far a content is from its winner, where that is a metric.
    pub(crate) fn distance(&self, content: u32, sizes: &[u32], method: &dyn Method) -> Option<f64> {
        if self.stays(content) {
            return Some(0.0);
        }
        let winner = self.winner[content as usize];
        let sizes = (sizes[content as usize] as usize, sizes[winner as usize] as usize);
        method.distance(self.score[content as usize], sizes)
    }

    /// The similarity of a content and its winner.
    pub(crate) fn similarity(&self, content: u32, sizes: &[u32], method: &dyn Method) -> f64 {
        if self.stays(content) {
            return 1.0;
        }
        let winner = self.winner[content as usize];
        let (own, other) = (sizes[content as usize] as usize, sizes[winner as usize] as usize);
        method.similarity(self.score[content as usize], (own, other))
    }

    fn remove(&mut self, content: u32, (winner, score): (u32, u32)) {
        self.winner[content as usize] = winner;
        self.score[content as usize] = score;
    }
}

/// Settles the contents of a section, with so many `entries` of runs in memory at once.
pub(crate) fn settle(judge: &Judge, section: &Section, entries: usize, settled: &mut Settled) -> Result<()> {
    let (contents, runs) = (judge.contents.len(), &section.runs);
    for block in blocks(runs, contents, entries)? {
        let index = Index::new(runs, block.clone(), settled)?;
        let within = section.members.iter().copied().filter(|content| block.contains(content));
        let all: Vec<u32> = within.filter(|&content| settled.stays(content)).collect();
        Block { judge, index }.settle(&all, settled)?;
        if (block.end as usize) < contents {
            sweep(judge, runs, block, settled)?;
        }
    }
    Ok(())
}

/// Ranges of contents whose keys fit in memory together.
fn blocks(runs: &Runs, contents: usize, entries: usize) -> Result<Vec<Range<u32>>> {
    if runs.entries() <= entries {
        return Ok(std::iter::once(0..contents as u32).collect());
    }
    let mut keys = vec![0u32; contents];
    runs.for_each(|run| {
        run.iter().for_each(|&[content, _]| keys[content as usize] += 1);
        Ok(())
    })?;
    let mut blocks = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (content, &own) in keys.iter().enumerate() {
        if sum + own as usize > entries && content > start {
            blocks.push(start as u32..content as u32);
            (start, sum) = (content, 0);
        }
        sum += own as usize;
    }
    blocks.push(start as u32..contents as u32);
    Ok(blocks)
}

/// Contents that threads look up against what stayed before them, before they are settled one by one.
const BATCH: usize = 8_192;

/// A block of contents that is being settled.
struct Block<'a> {
    judge: &'a Judge<'a>,
    index: Index,
}

impl Block<'_> {
    /// Settles `contents` among themselves. Those that something better removed before must not be among them.
    fn settle(mut self, contents: &[u32], settled: &mut Settled) -> Result<()> {
        let mut desk = Desk::default();
        for batch in contents.chunks(BATCH) {
            let found = self.judge.map(batch, |&content, desk| {
                self.index.kept_beside(content, 0, self.judge, &mut desk.candidates);
                first_alike(self.judge, content, desk)
            })?;
            for (&content, found) in batch.iter().zip(found) {
                if self.judge.progress.stopped() {
                    return Err(Error::Stopped);
                }
                let winner = match found {
                    Some(winner) => Some(winner),
                    None => {
                        self.index.kept_beside(content, batch[0], self.judge, &mut desk.candidates);
                        first_alike(self.judge, content, &mut desk)?
                    }
                };
                match winner {
                    Some(winner) => settled.remove(content, winner),
                    None => self.index.keep(content),
                }
            }
            self.judge.progress.advance(batch.len() as u64);
        }
        Ok(())
    }
}

/// The first of the desk's candidates that is alike, and their score.
fn first_alike(judge: &Judge, content: u32, desk: &mut Desk) -> Result<Option<(u32, u32)>> {
    for i in 0..desk.candidates.len() {
        let candidate = desk.candidates[i];
        if let Some(score) = judge.compare(candidate, content, desk)? {
            return Ok(Some((candidate, score)));
        }
    }
    Ok(None)
}

/// Removes what is behind a block and alike to something that stayed of it.
fn sweep(judge: &Judge, runs: &Runs, block: Range<u32>, settled: &mut Settled) -> Result<()> {
    /// Pairs that are held before they are compared.
    const PAIRS: usize = 1 << 20;
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    runs.for_each(|run| {
        let from = run.partition_point(|holder| holder[0] < block.start);
        let behind = run.partition_point(|holder| holder[0] < block.end);
        for &kept in &run[from..behind] {
            if !settled.stays(kept[0]) {
                continue;
            }
            let open = |content: u32| settled.winner[content as usize] > kept[0];
            let near = run[behind..].iter().filter(|&&holder| open(holder[0]) && judge.may(kept, holder));
            pairs.extend(near.map(|holder| (holder[0], kept[0])));
            if pairs.len() >= PAIRS {
                sweep_pairs(judge, &mut pairs, settled)?;
            }
        }
        Ok(())
    })?;
    sweep_pairs(judge, &mut pairs, settled)
}

fn sweep_pairs(judge: &Judge, pairs: &mut Vec<(u32, u32)>, settled: &mut Settled) -> Result<()> {
    pairs.sort_unstable();
    pairs.dedup();
    let found = judge.compare_all(pairs)?;
    for (&(content, kept), score) in pairs.iter().zip(found) {
        if let Some(score) = score.filter(|_| kept < settled.winner[content as usize]) {
            settled.remove(content, (kept, score));
        }
    }
    pairs.clear();
    Ok(())
}
