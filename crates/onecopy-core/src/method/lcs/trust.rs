//! The trustable portion of a longest common subsequence: coherent, and in the middle of both pages.
//!
//! Pages of one site share a template, and the LCS of two of them holds it: at the head and the tail, cut off from the
//! main text by sentences that differ. And one text on two sites stands between templates that differ. So:
//!
//! - The LCS is cut into stretches wherever more than `gap` sentences of *both* pages stand between two common ones. What
//!   only one page has was added to it, and cuts nothing.
//! - A page may begin and end with template: of the sentences before and behind a stretch, up to `edge` of the page at
//!   either end do not count, common or not. With |A'| and |B'| what is left of the lengths and L the sentences of the
//!   stretch, r = L / (|A'| + |B'| − L).
//! - The stretch with the highest r is the trustable portion, and its r the similarity.
//!
//! A stretch at the head is thus no better than it was: the middle of the page counts against it. Without trust, all
//! of the LCS and all of both pages count.

use super::super::billionths;
use super::super::parameters::Parameters;
use crate::myers::Run;

/// What of a longest common subsequence counts.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    /// Sentences of both pages that may stand between two common ones of a stretch.
    gap: usize,
    /// The part of a page at either end that may be template.
    edge: f64,
}

impl Trust {
    pub(super) fn make(parameters: &mut Parameters) -> Result<Trust, String> {
        let gap = parameters.count("gap", 5, 0..=1_000_000)?;
        let edge = parameters.number("edge", 0.25, 0.0..=0.45)?;
        Ok(match parameters.word("trust", &["on", "off"])? {
            "off" => Trust { gap: usize::MAX, edge: 0.0 },
            _ => Trust { gap, edge },
        })
    }

    /// The similarity of pages of these lengths whose LCS is made of `runs`.
    pub(super) fn score(&self, runs: &[Run], lengths: (usize, usize)) -> u32 {
        let stretches = runs.chunk_by(|before, next| {
            let between = (next.a - before.a - before.length, next.b - before.b - before.length);
            between.0.min(between.1) <= self.gap
        });
        stretches.map(|stretch| self.of_stretch(stretch, lengths)).max().unwrap_or(0)
    }

    /// The most that the score can be if the LCS has `common` sentences.
    pub(super) fn most(&self, common: usize, lengths: (usize, usize)) -> u32 {
        let least = |length: usize| (length - 2 * self.edge_of(length)).max(common);
        billionths::ratio(common, least(lengths.0) + least(lengths.1) - common)
    }

    fn of_stretch(&self, stretch: &[Run], lengths: (usize, usize)) -> u32 {
        let (Some(first), Some(last)) = (stretch.first(), stretch.last()) else { return 0 };
        let common: usize = stretch.iter().map(|run| run.length).sum();
        let counted = |length: usize, start: usize, end: usize| {
            let edge = self.edge_of(length);
            length - start.min(edge) - (length - end).min(edge)
        };
        let a = counted(lengths.0, first.a, last.a + last.length);
        let b = counted(lengths.1, first.b, last.b + last.length);
        billionths::ratio(common, a + b - common)
    }

    /// Sentences at either end of a page that may be template.
    fn edge_of(&self, length: usize) -> usize {
        (self.edge * length as f64) as usize
    }
}
