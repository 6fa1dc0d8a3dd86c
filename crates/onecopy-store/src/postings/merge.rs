//! Merges parts of similar size, so that a search asks few parts. The expensive step needs no
//! [`Postings`](super::Postings) and may run on another thread.

use std::sync::Arc;

use super::cursor::Cursor;
use super::part::Part;
use super::writer::{Draft, PartWriter};
use super::{Alive, Posting};
use crate::Result;
use crate::disk::Folder;

/// This many parts within this factor in size are merged. A larger value rewrites each posting less often, but leaves
/// more parts to search.
const FANOUT: usize = 4;
/// Smaller parts count as this size, so that they do not form levels of their own.
const LEAST_POSTINGS: u64 = 16 * 1024;
/// The most inputs of a merge: each needs a buffer.
const MAX_INPUTS: usize = 16;

/// Parts to merge.
#[derive(Debug)]
pub struct MergePlan {
    pub(super) folder: Arc<dyn Folder>,
    pub(super) number: u32,
    pub(super) inputs: Vec<Arc<Part>>,
}

/// A merged part that will replace its inputs. Dropping it removes its file.
#[derive(Debug)]
pub struct Merged {
    pub(super) inputs: Vec<u32>,
    pub(super) output: Option<(Part, Draft)>,
}

impl MergePlan {
    /// The number of postings to read.
    pub fn postings(&self) -> u64 {
        self.inputs.iter().map(|part| part.postings).sum()
    }

    /// Writes the new part without dead postings. A dead posting must stay dead.
    pub fn run(self, alive: &Alive) -> Result<Merged> {
        let covered = self.inputs.iter().map(|part| part.covered).max().unwrap_or(0);
        let mut writer = PartWriter::new(self.folder.clone(), self.number, self.postings(), covered)?;
        let inputs = self.inputs.iter().map(|part| part.number).collect();
        let mut cursors: Vec<(Cursor, u64)> =
            self.inputs.into_iter().map(|part| (Cursor::new(part.clone()), part.covered)).collect();
        let mut heads = Vec::new();
        for (cursor, _) in &mut cursors {
            heads.push(cursor.next()?.expect("a part has postings"));
        }
        let mut last = None;
        while let Some(at) = least(&heads) {
            let posting = heads[at];
            if last != Some(posting) && alive(posting, cursors[at].1) {
                writer.push(posting)?;
                last = Some(posting);
            }
            match cursors[at].0.next()? {
                Some(next) => heads[at] = next,
                None => {
                    heads.swap_remove(at);
                    cursors.swap_remove(at);
                }
            }
        }
        Ok(Merged { inputs, output: writer.finish()? })
    }
}

/// The index of the least posting.
fn least(heads: &[Posting]) -> Option<usize> {
    (0..heads.len()).min_by_key(|at| heads[*at].order())
}

/// Chooses parts to merge by their sizes: the smallest `FANOUT` or more within a factor of `FANOUT`. Fewer than that
/// remain in each such range, so the number of parts is logarithmic in the number of postings.
pub(super) fn choose(sizes: &[u64]) -> Option<Vec<usize>> {
    let size = |at: &usize| sizes[*at].max(LEAST_POSTINGS);
    let mut sorted: Vec<usize> = (0..sizes.len()).collect();
    sorted.sort_by_key(size);
    (0..sorted.len()).find_map(|start| {
        let largest = size(&sorted[start]).saturating_mul(FANOUT as u64);
        let alike = sorted[start..].iter().take_while(|at| size(at) < largest).take(MAX_INPUTS);
        let chosen: Vec<usize> = alike.copied().collect();
        (chosen.len() >= FANOUT).then_some(chosen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_few_parts_and_each_posting_is_written_a_few_times() {
        let (mut parts, mut written, mut most) = (Vec::new(), 0, 0);
        for seal in 0..1000_u64 {
            parts.push(900_000 + seal * 7919 % 200_000);
            while let Some(chosen) = choose(&parts) {
                let sum: u64 = chosen.iter().map(|at| parts[*at]).sum();
                written += sum;
                let others = (0..parts.len()).filter(|at| !chosen.contains(at)).map(|at| parts[at]);
                parts = others.chain([sum]).collect();
            }
            most = most.max(parts.len());
        }
        assert!(most <= 18, "{most} parts");
        let times = written as f64 / parts.iter().sum::<u64>() as f64;
        assert!(times < 6.0, "written {times} times");
    }

    #[test]
    fn small_parts_are_one_size_and_others_wait_for_their_like() {
        assert_eq!(choose(&[1, 500, 9, 16_000]), Some(vec![0, 1, 2, 3]));
        assert_eq!(choose(&[1_000_000, 4_000_000, 900_000, 1_000_000]), None);
        assert_eq!(choose(&[1_000_000, 3_000_000, 900_000, 1_000_000, 1]), Some(vec![2, 0, 3, 1]));
    }
}
