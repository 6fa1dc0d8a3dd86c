//! The true scores of pages without copies, and how well two orders agree.

use std::collections::{BTreeMap, BTreeSet};

const RESET: f64 = 0.125;
/// (1 - RESET)^200 is below 1e-11.
const ITERATIONS: usize = 200;

/// The score of each page that has a link: the sum over its voters, again and again.
pub fn true_scores(page_of: &[u32], links: &[(u32, u32)]) -> BTreeMap<u32, f64> {
    let page = |copy: u32| page_of[copy as usize];
    let links: BTreeSet<(u32, u32)> =
        links.iter().map(|&(from, to)| (page(from), page(to))).filter(|(from, to)| from != to).collect();
    let mut out: BTreeMap<u32, usize> = BTreeMap::new();
    for &(from, to) in &links {
        *out.entry(from).or_default() += 1;
        out.entry(to).or_default();
    }
    let even = 1.0 / out.len() as f64;
    let mut scores: BTreeMap<u32, f64> = out.keys().map(|&page| (page, even)).collect();
    for _ in 0..ITERATIONS {
        let idle: f64 = out.iter().filter(|(_, links)| **links == 0).map(|(page, _)| scores[page]).sum();
        let base = (RESET + (1.0 - RESET) * idle) * even;
        let mut new: BTreeMap<u32, f64> = out.keys().map(|&page| (page, base)).collect();
        for (from, to) in &links {
            let vote = (1.0 - RESET) * scores[from] / out[from] as f64;
            new.entry(*to).and_modify(|score| *score += vote);
        }
        scores = new;
    }
    scores
}

/// Spearman's rank correlation; equal values share their mean rank.
pub fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// Scores that differ by less than this share are equal: the programs round differently.
const EQUAL: f64 = 1e-9;

fn ranks(values: &[f64]) -> Vec<f64> {
    let order = best_first(values);
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|&a, &b| values[a] - values[b] <= EQUAL * values[a]) {
        let first = order.iter().position(|&at| at == equal[0]).unwrap_or_default();
        let rank = first as f64 + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|&at| ranks[at] = rank);
    }
    ranks
}

/// How many of the best are the best in both orders.
pub fn common_best(a: &[f64], b: &[f64], best: usize) -> usize {
    let (a, b) = (best_first(a), best_first(b));
    a[..best].iter().filter(|at| b[..best].contains(at)).count()
}

fn best_first(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_agree_as_much_as_they_do() {
        let (up, down) = ([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]);
        assert_eq!((spearman(&up, &up), spearman(&up, &down)), (1.0, -1.0));
        assert_eq!(ranks(&[2.0, 1.0, 2.0]), [0.5, 2.0, 0.5]);
        assert_eq!((common_best(&up, &up, 2), common_best(&up, &down, 2)), (2, 0));
    }

    #[test]
    fn copies_are_one_page_in_the_truth() {
        // 0 and 1 are copies; 2 and 3 link to one of them each.
        let scores = true_scores(&[0, 0, 2, 3], &[(2, 0), (3, 1), (2, 0)]);
        assert_eq!(scores.len(), 3);
        assert!((scores.values().sum::<f64>() - 1.0).abs() < 1e-9);
        let votes = (1.0 - RESET) * (scores[&2] + scores[&3]);
        let base = (RESET + (1.0 - RESET) * scores[&0]) / 3.0;
        assert!((scores[&0] - base - votes).abs() < 1e-9 && (scores[&2] - base).abs() < 1e-9);
    }
}
