//! Repeats the step of PageRank on all threads until the scores stand still.

use onecopy_core::{Convergence, Counted, Election, Resets, cast_votes, count_votes};

use super::PageRankJob;
use super::graph::Graph;
use crate::error::{Error, Result};
use crate::io::zeros;
use crate::lock::Lock;
use crate::parallel::on_each;
use crate::progress::{Progress, Stage};

/// The voters of a piece of work.
const PIECE: usize = 1 << 16;

/// The scores of all pages, and how they converged.
pub(super) fn iterate(
    graph: &Graph,
    resets: Option<&[f64]>,
    job: &PageRankJob,
    progress: &dyn Progress,
) -> Result<(Vec<f64>, Convergence)> {
    let resets = resets.map_or(Resets::Uniform { pages: graph.pages() }, Resets::Own);
    let (mut scores, mut votes) = (zeros(graph.pages()), zeros(graph.voters.len()));
    scores.iter_mut().enumerate().for_each(|(page, score)| *score = resets.of(page));
    let mut convergence = Convergence::new(&job.rules);
    // Each iteration removes at least this part of the error, which the tolerance bounds.
    let most = (job.rules.tolerance.ln() / (1.0 - job.rules.reset).ln()).ceil();
    progress.begin(Stage::Vote, (most as u64).clamp(1, u64::from(job.rules.iterations)));
    let mut shared = 1.0 - graph.voters.iter().map(|&page| scores[page as usize]).sum::<f64>();
    loop {
        shared += cast(graph, &scores, &mut votes, job.threads)?;
        let election = Election { votes: &votes, shared, reset: job.rules.reset };
        let counted = count(graph, &election, resets, &mut scores, job.threads)?;
        shared = counted.shared;
        progress.advance(1);
        if progress.stopped() {
            return Err(Error::Stopped);
        }
        if !convergence.goes_on(counted.change) {
            return Ok((scores, convergence));
        }
    }
}

/// Writes all votes. Returns the scores of voters without a link that counts.
fn cast(graph: &Graph, scores: &[f64], votes: &mut [f64], threads: usize) -> Result<f64> {
    let pieces = Lock::new(votes.chunks_mut(PIECE).enumerate());
    let sums = Lock::new(vec![0.0; graph.voters.len().div_ceil(PIECE)]);
    on_each(threads, |_| {
        loop {
            let Some((number, votes)) = pieces.lock().next() else { return Ok(()) };
            let range = number * PIECE..number * PIECE + votes.len();
            let voters = &graph.voters[range.clone()];
            let sum = cast_votes(votes, &graph.voter_links[range], |voter| scores[voters[voter] as usize]);
            sums.lock()[number] = sum;
        }
    })?;
    Ok(sums.into_inner().into_iter().sum())
}

/// Counts all votes, stripe by stripe.
fn count(
    graph: &Graph,
    election: &Election,
    resets: Resets,
    scores: &mut [f64],
    threads: usize,
) -> Result<Counted> {
    let mut rest = scores;
    let mut stripes = Vec::new();
    for (number, stripe) in graph.stripes().iter().enumerate() {
        let (own, others) = rest.split_at_mut(stripe.pages.len());
        stripes.push((number, own));
        rest = others;
    }
    let sums = Lock::new(vec![Counted::default(); stripes.len()]);
    let stripes = Lock::new(stripes.into_iter());
    on_each(threads, |_| {
        let mut buffer = Vec::new();
        loop {
            let Some((number, scores)) = stripes.lock().next() else { return Ok(()) };
            let stripe = &graph.stripes()[number];
            let links = stripe.links(&mut buffer)?;
            let counted = count_votes(links, election, resets.from(stripe.pages.start), scores);
            sums.lock()[number] = counted;
        }
    })?;
    // Always added in the same order.
    let mut all = Counted::default();
    sums.into_inner().into_iter().for_each(|counted| all.add(counted));
    Ok(all)
}
