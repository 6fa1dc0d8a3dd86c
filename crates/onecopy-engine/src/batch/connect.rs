//! Stage 5: groups, the contents that pairs join, transitively.
//!
//! A content and its winner are in one group. What is left is to find the pairs that join two such groups: one of the
//! two contents was removed, for two that stay are never alike. Pairs inside a group are not looked at, so that again
//! a group of n costs about n comparisons.

use onecopy_core::Groups;

use super::judge::Judge;
use super::runs::Runs;
use super::settle::Settled;
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};

/// Pairs that are held before they are compared.
const PAIRS: usize = 1 << 20;
/// Pairs that are compared before it is asked again who still needs to be.
const BATCH: usize = 1 << 12;

/// The group of each content, by its best content.
pub(crate) fn connect(judge: &Judge, runs: &Runs, settled: &Settled, progress: &dyn Progress) -> Result<Groups> {
    progress.begin(Stage::Connect, runs.len() as u64);
    let mut groups = Groups::new(settled.winner.len());
    for (content, &winner) in settled.winner.iter().enumerate() {
        groups.join(content as u32, winner);
    }
    let mut pairs = Vec::new();
    let mut done = 0;
    runs.for_each(|run| {
        open_pairs(judge, run, settled, &mut groups, &mut pairs);
        done += 1;
        if done % 65_536 == 0 {
            progress.advance(65_536);
            if progress.stopped() {
                return Err(Error::Stopped);
            }
        }
        if pairs.len() >= PAIRS { join_alike(judge, &mut pairs, &mut groups) } else { Ok(()) }
    })?;
    join_alike(judge, &mut pairs, &mut groups)?;
    Ok(groups)
}

/// Appends the pairs of a run that could join two groups.
fn open_pairs(judge: &Judge, run: &[u32], settled: &Settled, groups: &mut Groups, pairs: &mut Vec<(u32, u32)>) {
    let first = groups.find(run[0]);
    if run.iter().all(|&content| groups.find(content) == first) {
        return;
    }
    for &gone in run.iter().filter(|&&content| !settled.stays(content)) {
        let group = groups.find(gone);
        for &other in run {
            let counted_from_there = other < gone && !settled.stays(other);
            if !counted_from_there && groups.find(other) != group && judge.may(gone, other) {
                pairs.push((gone, other));
            }
        }
    }
}

/// Compares pairs and joins the groups of those that are alike.
fn join_alike(judge: &Judge, pairs: &mut Vec<(u32, u32)>, groups: &mut Groups) -> Result<()> {
    pairs.sort_unstable();
    pairs.dedup();
    let mut open = Vec::new();
    for batch in pairs.chunks(BATCH) {
        open.clear();
        open.extend(batch.iter().copied().filter(|&(a, b)| groups.find(a) != groups.find(b)));
        for (&(a, b), shared) in open.iter().zip(judge.compare_all(&open)?) {
            if shared.is_some() {
                groups.join(a, b);
            }
        }
    }
    pairs.clear();
    Ok(())
}
