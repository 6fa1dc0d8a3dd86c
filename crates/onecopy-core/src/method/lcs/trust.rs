//! The trustable portion of a longest common subsequence: the one stretch of it that is coherent.
//!
//! Pages of one site share a template, and the LCS of two of them holds it: at the head and the tail, cut off from the
//! main text by sentences that differ. So:
//!
//! - The LCS is cut into stretches wherever more than `gap` sentences of *both* pages stand between two common ones. What
//!   only one page has was added to it, and cuts nothing.
//! - With L the sentences of a stretch, r = L / (|A'| + |B'| − L), where the sentences of the LCS outside the stretch
//!   count for neither page: a template says neither that pages are alike nor that they are not. What is not common
//!   counts against them.
//! - The stretch with the highest r is the trustable portion, and its r the similarity. It is never above that of the
//!   whole LCS, which counts if there is no trust.
//!
//! Templates that differ count against two copies of a text. `edge` is for those who compare pages with their templates:
//! up to that part of a page before the stretch, and as much behind it, then does not count though it is not common.
//! Not by default: pages begin with what tells them apart, and main content has no templates. With 0.1, precision on the
//! pairs of ota-pages-dev falls from 1.00 to 0.96, or to 0.98 on their main content, for 0.02 more recall at best.

use super::super::billionths;
use super::super::parameters::Parameters;
use crate::config::ConfigError;
use crate::myers::Run;

/// What of a longest common subsequence counts.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    /// Sentences of both pages that may stand between two common ones of a stretch. Higher: more of the LCS counts.
    gap: usize,
    /// The part of a page at either end that need not be common. Higher: more pages are alike.
    edge: f64,
}

impl Trust {
    pub(super) fn make(parameters: &mut Parameters) -> Result<Trust, ConfigError> {
        let gap = parameters.count("gap", 3, 0..=1_000_000)?;
        let edge = parameters.number("edge", 0.0, 0.0..=0.45)?;
        Ok(match parameters.word("trust", &["on", "off"])? {
            "off" => Trust { gap: usize::MAX, edge: 0.0 },
            _ => Trust { gap, edge },
        })
    }

    /// The similarity of pages of these lengths whose LCS is made of `runs`.
    pub(super) fn score(&self, runs: &[Run], lengths: (usize, usize)) -> u32 {
        let common = |runs: &[Run]| runs.iter().map(|run| run.length).sum::<usize>();
        let (mut before, mut behind, mut best) = (0, common(runs), 0);
        let stretches = runs.chunk_by(|before, next| {
            let between = (next.a - before.a - before.length, next.b - before.b - before.length);
            between.0.min(between.1) <= self.gap
        });
        for stretch in stretches {
            let inside = common(stretch);
            behind -= inside;
            best = best.max(self.of_stretch(stretch, (before, inside, behind), lengths));
            before += inside;
        }
        best
    }

    /// The most that the score can be if the LCS has `common` sentences.
    pub(super) fn most(&self, common: usize, lengths: (usize, usize)) -> u32 {
        let least = |length: usize| (length - 2 * self.edge_of(length)).max(common);
        billionths::ratio(common, least(lengths.0) + least(lengths.1) - common)
    }

    /// The score of a stretch, given how many sentences of the LCS stand before, in and behind it.
    fn of_stretch(&self, stretch: &[Run], common: (usize, usize, usize), lengths: (usize, usize)) -> u32 {
        let (Some(first), Some(last)) = (stretch.first(), stretch.last()) else { return 0 };
        let (before, inside, behind) = common;
        let counted = |length: usize, start: usize, end: usize| {
            let edge = self.edge_of(length);
            let uncommon = (start - before, length - end - behind);
            length - before - behind - uncommon.0.min(edge) - uncommon.1.min(edge)
        };
        let a = counted(lengths.0, first.a, last.a + last.length);
        let b = counted(lengths.1, first.b, last.b + last.length);
        billionths::ratio(inside, a + b - inside)
    }

    /// Sentences at either end of a page that need not be common.
    fn edge_of(&self, length: usize) -> usize {
        (self.edge * length as f64) as usize
    }
}
