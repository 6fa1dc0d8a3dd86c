//! The trustable portion of a longest common subsequence: its one coherent stretch.
//!
//! Pages of one site share a template, and the LCS of two of them contains it. The template is at the head and the
//! tail, separated from the main text by sentences that differ. Therefore:
//!
//! - The LCS is cut into stretches wherever more than `gap` sentences of *both* pages stand between two common ones.
//!   Sentences of only one page were added to it, and cut nothing.
//! - With L the sentences of a stretch, r = L / (|A'| + |B'| − L). The sentences of the LCS outside the stretch
//!   count for neither page: a template says neither that pages are alike nor that they differ. Sentences that are
//!   not common count against the pages.
//! - The stretch with the highest r is the trustable portion, and its r is the similarity. It is never above that of
//!   the whole LCS, which counts if trust is off.
//!
//! Templates that differ count against two copies of a text. `edge` is for comparing pages with their templates. It
//! exempts up to that share of a page before the stretch, and as much after it, from being common. It is off by
//! default: pages begin with text that distinguishes them, and main content has no templates. With 0.1, precision on
//! the pairs of ota-pages-dev falls from 1.00 to 0.96, or to 0.98 on their main content. Recall rises by at most
//! 0.02.

use super::super::billionths;
use super::super::parameters::Parameters;
use crate::config::ConfigError;
use crate::similarity::myers::CommonRun;

/// Which part of a longest common subsequence counts.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    /// How many sentences of both pages may stand between two common ones of a stretch. Higher: more of the LCS
    /// counts.
    gap: usize,
    /// The share of a page at either end that need not be common. Higher: more pages are alike.
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

    /// The score of pages of these lengths whose LCS consists of `runs`.
    pub(super) fn score(&self, runs: &[CommonRun], lengths: (usize, usize)) -> u32 {
        let common = |runs: &[CommonRun]| runs.iter().map(|run| run.length).sum::<usize>();
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

    /// The highest possible score if the LCS has `common` sentences.
    pub(super) fn most(&self, common: usize, lengths: (usize, usize)) -> u32 {
        let least = |length: usize| (length - 2 * self.edge_of(length)).max(common);
        billionths::ratio(common, least(lengths.0) + least(lengths.1) - common)
    }

    /// The score of a stretch, given how many sentences of the LCS are before, in and after it.
    fn of_stretch(
        &self,
        stretch: &[CommonRun],
        common: (usize, usize, usize),
        lengths: (usize, usize),
    ) -> u32 {
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

    /// How many sentences at either end of a page need not be common.
    fn edge_of(&self, length: usize) -> usize {
        (self.edge * length as f64) as usize
    }
}
