//! Runs for methods that find candidates as neighbours in a sorted order. Takes 32 bytes of memory a content.

use onecopy_core::neighbours as visit;

use super::budget::Budget;
use super::keys::KeyFinder;
use super::runs::{Known, Runs};
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};

/// Pairs of neighbours that are alike, each a run.
pub(crate) fn neighbours(
    finder: &KeyFinder,
    (step, window): (u32, u32),
    budget: &Budget,
    progress: &dyn Progress,
) -> Result<Runs> {
    progress.begin(Stage::Keys, finder.segments.pages() as u64);
    let (mut words, mut buffer) = (Vec::with_capacity(finder.contents.len()), Vec::new());
    for i in 0..finder.segments.len() {
        if progress.stopped() {
            return Err(Error::Stopped);
        }
        let pages = finder.each_sketch(i, &mut buffer, |content, sketch| words.push((sketch[0], content)))?;
        progress.advance(pages);
    }
    let mut pairs = Vec::new();
    visit(&words, step, window, |a, b| {
        if finder.method.verify(&[a.0], &[b.0]).is_some() {
            pairs.push([a.1.min(b.1), a.1.max(b.1)]);
        }
    });
    pairs.sort_unstable();
    pairs.dedup();
    let runs = Runs::new(1, budget.entries, finder.folder);
    let mut known = Known::new(1);
    let mut writer = runs.writer(0, &mut known);
    for [a, b] in pairs {
        writer.push(&[[a, 0], [b, 0]])?;
    }
    writer.finish()?;
    runs.finish()
}
