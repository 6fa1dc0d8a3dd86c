//! From a content to those that stay and share a key with it, for one block of contents.

use std::ops::Range;

use super::judge::Judge;
use super::runs::{Holder, Runs};
use super::settle::Settled;
use crate::error::Result;

/// Contents that a look back goes over.
const FEW: usize = 8;

/// The runs of a block, and the way back from each content to its runs.
pub(crate) struct Index {
    first: u32,
    /// Where each run's holders begin, and at the end where the last ends.
    starts: Vec<u32>,
    /// The holders of all runs. Those that stay are gathered at the front of their run as they are settled; what they
    /// overwrite has been settled before them.
    holders: Vec<Holder>,
    /// How many holders at the front of each run stay.
    kept: Vec<u32>,
    /// Where the runs of each content begin in `runs_of`.
    own: Vec<u32>,
    /// The runs of all contents, each with how many shingles the content has behind the run's key.
    runs_of: Vec<[u32; 2]>,
}

impl Index {
    /// The index of the contents of `block` that are not removed yet.
    pub(crate) fn new(runs: &Runs, block: Range<u32>, settled: &Settled) -> Result<Index> {
        let mut index = Index {
            first: block.start,
            starts: vec![0],
            holders: Vec::new(),
            kept: Vec::new(),
            own: vec![0; block.len() + 1],
            runs_of: Vec::new(),
        };
        runs.for_each(|run| {
            let from = run.partition_point(|holder| holder[0] < block.start);
            let to = run.partition_point(|holder| holder[0] < block.end);
            let start = index.holders.len();
            index.holders.extend(run[from..to].iter().filter(|holder| settled.stays(holder[0])));
            if index.holders.len() < start + 2 {
                index.holders.truncate(start);
            } else {
                index.starts.push(index.holders.len() as u32);
            }
            Ok(())
        })?;
        index.kept = vec![0; index.starts.len() - 1];
        index.invert();
        Ok(index)
    }

    /// Fills the way back, by counting.
    fn invert(&mut self) {
        for &[content, _] in &self.holders {
            self.own[(content - self.first) as usize] += 1;
        }
        let mut sum = 0;
        for slot in &mut self.own {
            sum += std::mem::replace(slot, sum);
        }
        self.runs_of = vec![[0; 2]; self.holders.len()];
        for (run, bounds) in self.starts.windows(2).enumerate() {
            for &[content, rest] in &self.holders[bounds[0] as usize..bounds[1] as usize] {
                let slot = &mut self.own[(content - self.first) as usize];
                self.runs_of[*slot as usize] = [run as u32, rest];
                *slot += 1;
            }
        }
        // Each slot has moved on to where the next content's runs begin.
        self.own.rotate_right(1);
        self.own[0] = 0;
    }

    fn runs_of(&self, content: u32) -> Range<usize> {
        let at = (content - self.first) as usize;
        self.own[at] as usize..self.own[at + 1] as usize
    }

    /// Those that stay, have at least number `from`, share a key with `content`, and may be alike: best first, each
    /// once.
    pub(crate) fn kept_beside(&self, content: u32, from: u32, judge: &Judge, out: &mut Vec<u32>) {
        out.clear();
        for &[run, rest] in &self.runs_of[self.runs_of(content)] {
            let start = self.starts[run as usize] as usize;
            let kept = &self.holders[start..start + self.kept[run as usize] as usize];
            let skipped = if from == 0 { 0 } else { kept.partition_point(|holder| holder[0] < from) };
            for &holder in &kept[skipped..] {
                // Near-duplicates share many keys: most were met a few runs before.
                let met = out[out.len().saturating_sub(FEW)..].contains(&holder[0]);
                if !met && judge.may([content, rest], holder) {
                    out.push(holder[0]);
                }
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Notes that `content` stays. Contents must be settled in order.
    pub(crate) fn keep(&mut self, content: u32) {
        for &[run, rest] in &self.runs_of[self.runs_of(content)] {
            let (start, kept) = (self.starts[run as usize], &mut self.kept[run as usize]);
            self.holders[(start + *kept) as usize] = [content, rest];
            *kept += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::contents::Contents;
    use super::super::outlines::Outlines;
    use super::super::segments::Collector;
    use super::*;

    #[test]
    fn only_what_stays_and_may_be_alike_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::new(1, 100, &folder.path().join("runs"));
        let mut writer = runs.writer(0);
        for run in
            [&[[0, 9], [2, 9], [3, 9]][..], &[[1, 9], [2, 9]], &[[2, 9], [3, 9], [4, 9]], &[[0, 9], [4, 2]]]
        {
            writer.push(run).unwrap();
        }
        writer.finish().unwrap();
        let runs = runs.finish().unwrap();
        let settled = Settled { winner: (0..5).collect(), score: vec![0; 5] };
        let contents = Contents {
            of_page: vec![],
            best_page: vec![],
            sketch_at: vec![],
            sizes: vec![10, 10, 10, 10, 10],
        };
        let segments = Collector::open(folder.path(), 0).unwrap().finish().unwrap();
        let config = onecopy_core::Config { method: "jaccard".into(), ..Default::default() };
        let method = onecopy_core::method(&config).unwrap();
        let judge = Judge {
            segments: &segments,
            contents: &contents,
            outlines: &Outlines::default(),
            sketches: None,
            method: &*method,
            threads: 1,
            progress: &crate::progress::Silent,
        };
        let mut index = Index::new(&runs, 0..5, &settled).unwrap();
        let mut found = Vec::new();
        index.keep(0);
        index.keep(1);
        index.kept_beside(2, 0, &judge, &mut found);
        assert_eq!(found, [0, 1]);
        index.kept_beside(2, 1, &judge, &mut found);
        assert_eq!(found, [1]);
        index.keep(3);
        index.kept_beside(4, 0, &judge, &mut found);
        assert_eq!(found, [3], "what 0 and 4 share comes too late to be enough");
        let later = Index::new(&runs, 2..5, &settled).unwrap();
        assert_eq!(later.holders.iter().map(|holder| holder[0]).collect::<Vec<_>>(), [2, 3, 2, 3, 4]);
    }
}
