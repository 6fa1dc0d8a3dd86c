//! From a content to those that stay and share a key with it, for one block of contents.

use std::ops::Range;

use super::runs::Runs;
use super::settle::Settled;
use crate::error::Result;

/// The runs of a block, and the way back from each content to its runs.
pub(crate) struct Index {
    first: u32,
    /// Where each run's contents begin, and at the end where the last ends.
    starts: Vec<u32>,
    /// The contents of all runs. Those that stay are gathered at the front of their run as they are settled; what
    /// they overwrite has been settled before them.
    contents: Vec<u32>,
    /// How many contents at the front of each run stay.
    kept: Vec<u32>,
    /// Where the runs of each content begin in `runs_of`.
    own: Vec<u32>,
    runs_of: Vec<u32>,
}

impl Index {
    /// The index of the contents of `block` that are not removed yet.
    pub(crate) fn new(runs: &Runs, block: Range<u32>, settled: &Settled) -> Result<Index> {
        let mut index = Index {
            first: block.start,
            starts: vec![0],
            contents: Vec::new(),
            kept: Vec::new(),
            own: vec![0; block.len() + 1],
            runs_of: Vec::new(),
        };
        runs.for_each(|run| {
            let from = run.partition_point(|&content| content < block.start);
            let to = run.partition_point(|&content| content < block.end);
            let start = index.contents.len();
            index.contents.extend(run[from..to].iter().filter(|&&content| settled.stays(content)));
            if index.contents.len() < start + 2 {
                index.contents.truncate(start);
            } else {
                index.starts.push(index.contents.len() as u32);
            }
            Ok(())
        })?;
        index.kept = vec![0; index.starts.len() - 1];
        index.invert();
        Ok(index)
    }

    /// Fills the way back, by counting.
    fn invert(&mut self) {
        for &content in &self.contents {
            self.own[(content - self.first) as usize] += 1;
        }
        let mut sum = 0;
        for slot in &mut self.own {
            sum += std::mem::replace(slot, sum);
        }
        self.runs_of = vec![0; self.contents.len()];
        for (run, bounds) in self.starts.windows(2).enumerate() {
            for &content in &self.contents[bounds[0] as usize..bounds[1] as usize] {
                let slot = &mut self.own[(content - self.first) as usize];
                self.runs_of[*slot as usize] = run as u32;
                *slot += 1;
            }
        }
        // Each slot has moved on to where the next content's runs begin.
        self.own.rotate_right(1);
        self.own[0] = 0;
    }

    fn runs_of(&self, content: u32) -> &[u32] {
        let at = (content - self.first) as usize;
        &self.runs_of[self.own[at] as usize..self.own[at + 1] as usize]
    }

    /// Those that stay, have at least number `from`, and share a key with `content`: best first, each once.
    pub(crate) fn kept_beside(&self, content: u32, from: u32, out: &mut Vec<u32>) {
        out.clear();
        for &run in self.runs_of(content) {
            let start = self.starts[run as usize] as usize;
            let kept = &self.contents[start..start + self.kept[run as usize] as usize];
            let skipped = if from == 0 { 0 } else { kept.partition_point(|&other| other < from) };
            out.extend_from_slice(&kept[skipped..]);
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Notes that `content` stays. Contents must be settled in order.
    pub(crate) fn keep(&mut self, content: u32) {
        let at = (content - self.first) as usize;
        for &run in &self.runs_of[self.own[at] as usize..self.own[at + 1] as usize] {
            let (start, kept) = (self.starts[run as usize], &mut self.kept[run as usize]);
            self.contents[(start + *kept) as usize] = content;
            *kept += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::new(1, 100, folder.path());
        let mut writer = runs.writer(0);
        for run in [&[0, 2, 3][..], &[1, 2], &[2, 3, 4], &[0, 4]] {
            writer.push(run).unwrap();
        }
        writer.finish().unwrap();
        let runs = runs.finish().unwrap();
        let settled = Settled { winner: (0..5).collect(), shared: vec![1; 5] };
        let mut index = Index::new(&runs, 0..5, &settled).unwrap();
        let mut found = Vec::new();
        index.keep(0);
        index.keep(1);
        index.kept_beside(2, 0, &mut found);
        assert_eq!(found, [0, 1]);
        index.kept_beside(2, 1, &mut found);
        assert_eq!(found, [1]);
        index.keep(3);
        index.kept_beside(4, 0, &mut found);
        assert_eq!(found, [0, 3]);
        let later = Index::new(&runs, 2..5, &settled).unwrap();
        assert_eq!(later.contents, [2, 3, 2, 3, 4]);
    }
}
