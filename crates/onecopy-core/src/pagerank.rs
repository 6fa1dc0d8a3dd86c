//! PageRank: how often a reader who follows links at random is at each page (Brin and Page 1998).
//!
//! ```text
//! score(v) = d · reset(v) + (1 − d) · Σ score(u) / links(u)    over pages u that link to v
//! ```
//! A page is a *voter* if it links to others; its vote is its score divided by its links. Pages without links vote by
//! the reset values, so scores always add up to one. A link counts once, and no page votes for itself.
//!
//! Voters are numbered by their links, most first: the votes that are asked for most then share cache lines. Every sum
//! has a fixed order, so an engine may divide pages among threads.

mod in_links;

pub use in_links::{InLinks, pack_links};

use crate::config::PageRankRules;

/// The scores of pages, and how they converged.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRank {
    /// The score of each page. All scores add up to one.
    pub scores: Vec<f64>,
    /// How much all scores changed in each iteration, in total.
    pub convergence: Convergence,
}

/// Decides when scores are good enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// The change of each iteration: the sum of the differences of all scores.
    pub changes: Vec<f64>,
    tolerance: f64,
    iterations: u32,
}

impl Convergence {
    /// Before the first iteration.
    pub fn new(rules: &PageRankRules) -> Convergence {
        Convergence { changes: Vec::new(), tolerance: rules.tolerance, iterations: rules.iterations }
    }

    /// Whether the last change is below the tolerance.
    pub fn is_reached(&self) -> bool {
        self.changes.last().is_some_and(|&change| change < self.tolerance)
    }

    /// Records a change. Returns whether another iteration is needed and allowed.
    pub fn goes_on(&mut self, change: f64) -> bool {
        self.changes.push(change);
        !self.is_reached() && self.changes.len() < self.iterations as usize
    }
}

/// The share of the reset that each page gets.
#[derive(Clone, Copy, Debug)]
pub enum Resets<'a> {
    /// All pages get the same.
    Uniform {
        /// The number of all pages.
        pages: usize,
    },
    /// Each page has its own; all add up to one.
    Own(&'a [f64]),
}

impl<'a> Resets<'a> {
    /// The share of a page.
    #[inline]
    pub fn of(&self, page: usize) -> f64 {
        match self {
            Resets::Uniform { pages } => 1.0 / *pages as f64,
            Resets::Own(shares) => shares[page],
        }
    }

    /// The shares of the pages from `start` on.
    pub fn from(self, start: usize) -> Resets<'a> {
        match self {
            Resets::Own(shares) => Resets::Own(&shares[start..]),
            uniform => uniform,
        }
    }
}

/// Writes the votes of some voters: `score` is the score of a voter and `links` the number of pages that it links to.
/// Returns the scores of those without links, whose vote is shared by all pages.
pub fn cast_votes(votes: &mut [f64], links: &[u32], score: impl Fn(usize) -> f64) -> f64 {
    let mut shared = 0.0;
    for (voter, (vote, &links)) in votes.iter_mut().zip(links).enumerate() {
        let score = score(voter);
        if links == 0 {
            shared += score;
        }
        *vote = if links == 0 { 0.0 } else { score / f64::from(links) };
    }
    shared
}

/// The votes of an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Election<'a> {
    /// The vote of each voter.
    pub votes: &'a [f64],
    /// The scores of all pages that do not vote.
    pub shared: f64,
    /// The chance of a reset.
    pub reset: f64,
}

/// The result of counting votes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// The sum of the differences between old and new scores.
    pub change: f64,
    /// The new scores of pages that do not vote.
    pub shared: f64,
}

impl Counted {
    /// Adds the result of later pages.
    pub fn add(&mut self, later: Counted) {
        self.change += later.change;
        self.shared += later.shared;
    }
}

/// Replaces the scores of some pages by the votes of an iteration.
pub fn count_votes(links: InLinks, election: &Election, resets: Resets, scores: &mut [f64]) -> Counted {
    let mut counted = Counted::default();
    let from_resets = election.reset + (1.0 - election.reset) * election.shared;
    for ((page, score), (voters, votes)) in scores.iter_mut().enumerate().zip(links.pages()) {
        let sum: f64 = voters.iter().map(|&voter| election.votes[voter as usize]).sum();
        let new = from_resets * resets.of(page) + (1.0 - election.reset) * sum;
        counted.change += (new - *score).abs();
        counted.shared += if votes { 0.0 } else { new };
        *score = new;
    }
    counted
}

/// The scores of `pages` pages with these links, each from a page to another. `resets` adds up to one.
///
/// ```
/// use onecopy_core::{PageRankRules, Resets, pagerank};
///
/// let found = pagerank(3, &[(0, 2), (1, 2)], Resets::Uniform { pages: 3 }, &PageRankRules::default());
/// assert!(found.scores[2] > 2.0 * found.scores[0]);
/// ```
pub fn pagerank(pages: usize, links: &[(u32, u32)], resets: Resets, rules: &PageRankRules) -> PageRank {
    let mut links: Vec<(u32, u32)> = links.iter().copied().filter(|(from, to)| from != to).collect();
    links.sort_unstable();
    links.dedup();
    let mut out = vec![0u32; pages];
    links.iter().for_each(|&(from, _)| out[from as usize] += 1);
    let voters = voters(out.iter().copied().zip(0..).filter(|&(links, _)| links > 0).collect());
    let mut number = vec![0u32; pages];
    voters.iter().zip(0..).for_each(|(&(_, page), voter)| number[page as usize] = voter);
    let mut keys: Vec<u64> = links.iter().map(|&(from, to)| key(to, number[from as usize])).collect();
    keys.sort_unstable();
    let mut packed = Vec::new();
    pack_links(pages as u32, &keys, |page| out[page as usize] > 0, &mut packed);
    let links: Vec<u32> = voters.iter().map(|voter| voter.0).collect();
    let mut scores: Vec<f64> = (0..pages).map(|page| resets.of(page)).collect();
    let mut shared = (0..pages).filter(|&page| out[page] == 0).map(|page| scores[page]).sum();
    let (mut votes, mut convergence) = (vec![0.0; voters.len()], Convergence::new(rules));
    loop {
        shared += cast_votes(&mut votes, &links, |voter| scores[voters[voter].1 as usize]);
        let election = Election { votes: &votes, shared, reset: rules.reset };
        let counted = count_votes(InLinks::new(pages, &packed), &election, resets, &mut scores);
        shared = counted.shared;
        if !convergence.goes_on(counted.change) {
            return PageRank { scores, convergence };
        }
    }
}

/// The order of voters: most links first, then by page. Each is a number of links and a page.
pub fn voters(mut voters: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    voters.sort_unstable_by_key(|&(links, page)| (std::cmp::Reverse(links), page));
    voters
}

/// A link as [`pack_links`] takes it: to a page, from a voter.
pub fn key(page: u32, voter: u32) -> u64 {
    u64::from(page) << 32 | u64::from(voter)
}

#[cfg(test)]
mod tests;
