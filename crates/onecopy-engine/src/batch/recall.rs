//! The expected recall of an approximate method, before the run, and the measured recall, after it.
//!
//! The measurement picks some pages by their fingerprints. It reads all pages again, sketches them by the exact method
//! behind the approximate one, and compares each with the picked pages. A pair that is really alike counts as found if
//! both pages are in one group.

use std::collections::BTreeSet;
use std::sync::Mutex;

use onecopy_core::Method;

use crate::batch::candidates::contents::NO_CONTENT;
use crate::batch::read::read;
use crate::batch::read::segments::{Collector, Segments};
use crate::batch::settle::decisions::Decisions;
use crate::batch::work::Work;
use crate::error::{At, Result};
use crate::io::Aligned;
use crate::job::Job;
use crate::parallel::for_each;
use crate::progress::{Note, Progress};
use crate::report::{Expected, Measured, Recall};

/// The assumed size of a page before any was read.
const PAGE_BYTES: u64 = 8_000;

/// The expected recall of the method. `None` if it is exact.
pub(crate) fn expect(work: &Work) -> Option<Recall> {
    let truth = work.method.stands_for()?;
    let bytes: u64 = work.run.inputs.sources.iter().map(|source| source.bytes).sum();
    let pages = (bytes / PAGE_BYTES).max(2);
    let least = truth.threshold();
    let similarities = [0.0, 0.25, 0.5, 0.75, 0.9].map(|share| least + share * (1.0 - least));
    let expected =
        similarities.map(|similarity| Expected { similarity, chance: work.method.chance(similarity, pages) });
    let (of, threshold) = (truth.measures(), least);
    Some(Recall { of, threshold, expected: expected.into(), measured: None })
}

/// The expectation as a note for the user.
pub(crate) fn note(recall: &Recall) -> Note {
    let chances: Vec<String> = recall
        .expected
        .iter()
        .map(|expected| format!("{:.1} % at {:.3}", 100.0 * expected.chance, expected.similarity))
        .collect();
    Note::Approximate { of: recall.of.clone(), share: chances.join(", ") }
}

/// Measures the recall on the pairs of `job.recall_pages` picked pages. `None` if it is not wanted, or if the pages of the
/// base are there as sketches only.
pub(crate) fn measure(
    job: &Job,
    work: &Work,
    segments: &Segments,
    decisions: &Decisions,
    progress: &dyn Progress,
) -> Result<Option<Measured>> {
    let is_wanted = job.recall_pages > 0 && work.run.inputs.sketched.is_empty();
    let Some(truth) = work.method.stands_for().filter(|_| is_wanted) else { return Ok(None) };
    let folder = work.folder().join("recall");
    std::fs::create_dir_all(&folder).at("create", &folder)?;
    let collector = Collector::open(&folder, work.budget.segments / 2)?;
    let (again, _) = read(job, work, &*truth, collector, progress)?;
    let picked = pick(segments, decisions, job.recall_pages)?;
    let pairs = RealPairs { truth: &*truth, again: &again, decisions };
    let found = pairs.of(&picked, job.threads)?;
    drop(again);
    std::fs::remove_dir_all(&folder).at("delete", &folder)?;
    let joined = found.iter().filter(|&&(a, b)| decisions.group_of(a) == decisions.group_of(b)).count();
    Ok(Some(Measured::new(picked.len() as u64, found.len() as u64, joined as u64)))
}

/// The contents with the smallest fingerprints, ascending. This sample does not depend on the order of the input.
fn pick(segments: &Segments, decisions: &Decisions, count: usize) -> Result<Vec<u32>> {
    let mut smallest: BTreeSet<(u128, u32)> = BTreeSet::new();
    for i in 0..segments.len() {
        let (segment, first) = (segments.load(i)?, segments.first_page(i));
        for (row, page) in segment.rows.iter().zip(first..) {
            let content = decisions.content_of(page);
            if content != NO_CONTENT {
                smallest.insert((row.fingerprint, content));
                if smallest.len() > count {
                    smallest.pop_last();
                }
            }
        }
    }
    let mut picked: Vec<u32> = smallest.into_iter().map(|(_, content)| content).collect();
    picked.sort_unstable();
    Ok(picked)
}

/// Finds the pairs that are really alike.
struct RealPairs<'a> {
    truth: &'a dyn Method,
    /// All pages again, sketched by `truth`.
    again: &'a Segments,
    decisions: &'a Decisions,
}

impl RealPairs<'_> {
    /// All pairs of which one content is `picked`, each once.
    fn of(&self, picked: &[u32], threads: usize) -> Result<BTreeSet<(u32, u32)>> {
        let samples = Mutex::new(Vec::new());
        self.each(threads, |content, sketch| {
            if picked.binary_search(&content).is_ok() {
                samples.lock().expect("no thread panics with this lock").push((content, sketch.to_vec()));
            }
        })?;
        let mut samples = samples.into_inner().expect("no thread panics with this lock");
        // A content may have two sketches.
        samples.sort_unstable();
        samples.dedup_by_key(|sample| sample.0);
        let found = Mutex::new(BTreeSet::new());
        self.each(threads, |content, sketch| {
            for (other, sample) in samples.iter().filter(|(other, _)| *other != content) {
                if self.truth.verify(sample, sketch).is_some() {
                    let pair = (content.min(*other), content.max(*other));
                    found.lock().expect("no thread panics with this lock").insert(pair);
                }
            }
        })?;
        Ok(found.into_inner().expect("no thread panics with this lock"))
    }

    fn each(&self, threads: usize, each: impl Fn(u32, &[u64]) + Sync) -> Result<()> {
        for_each(threads, self.again.len(), Aligned::default, |buffer, i| {
            let (segment, first) = (self.again.load(i)?, self.again.first_page(i));
            let sketches = self.again.sketches(i, false, buffer)?;
            for (row, page) in segment.rows.iter().zip(first..) {
                let content = self.decisions.content_of(page);
                if row.sketch_size > 0 && content != NO_CONTENT {
                    let start = row.sketch_start as usize;
                    each(content, &sketches[start..start + row.sketch_size as usize]);
                }
            }
            Ok(())
        })
    }
}
