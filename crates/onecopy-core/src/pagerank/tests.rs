//! Scores against a solver that shares nothing with the iteration: Gaussian elimination of the defining equations.

use proptest::prelude::*;

use super::*;

/// Solves `score = d · reset + (1 − d) · (links + dangling pages)` as linear equations.
fn solved(pages: usize, links: &[(u32, u32)], resets: &[f64], d: f64) -> Vec<f64> {
    let has = |from: usize, to: usize| from != to && links.contains(&(from as u32, to as u32));
    let mut rows: Vec<Vec<f64>> = vec![vec![0.0; pages + 1]; pages];
    for from in 0..pages {
        let targets: Vec<usize> = (0..pages).filter(|&to| has(from, to)).collect();
        for to in 0..pages {
            let follows = match targets.len() {
                0 => resets[to],
                n => f64::from(u8::from(targets.contains(&to))) / n as f64,
            };
            rows[to][from] = f64::from(u8::from(from == to)) - (1.0 - d) * follows;
        }
    }
    (0..pages).for_each(|page| rows[page][pages] = d * resets[page]);
    for column in 0..pages {
        let pivot = (column..pages).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        rows.swap(column, pivot.unwrap());
        for row in (0..pages).filter(|&row| row != column) {
            let factor = rows[row][column] / rows[column][column];
            let pivot_row = rows[column].clone();
            rows[row].iter_mut().zip(pivot_row).for_each(|(cell, pivot)| *cell -= factor * pivot);
        }
    }
    (0..pages).map(|page| rows[page][pages] / rows[page][page]).collect()
}

proptest! {
    #[test]
    fn scores_solve_the_equations(
        pages in 1usize..12,
        links in prop::collection::vec((0u32..12, 0u32..12), 0..60),
        weights in prop::collection::vec(0u32..4, 12),
        d in prop_oneof![Just(0.125), 0.05f64..0.95],
    ) {
        let links: Vec<(u32, u32)> = links.iter().map(|&(a, b)| (a % pages as u32, b % pages as u32)).collect();
        let rules = PageRankRules { reset: d, tolerance: 1e-12, iterations: 2_000 };
        let total: u32 = weights[..pages].iter().sum();
        let own: Vec<f64> = weights[..pages].iter().map(|&w| f64::from(w) / f64::from(total.max(1))).collect();
        let uniform = vec![1.0 / pages as f64; pages];
        let resets = if total == 0 { Resets::Uniform { pages } } else { Resets::Own(&own) };
        let expected = solved(pages, &links, if total == 0 { &uniform } else { &own }, d);
        let found = pagerank(pages, &links, resets, &rules);
        prop_assert!(found.convergence.is_reached());
        for (found, expected) in found.scores.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        }
        prop_assert!((found.scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn packed_links_are_the_same_links(
        pages in 1u32..40,
        links in prop::collection::btree_set((0u32..40, prop_oneof![0u32..300, 0..u32::MAX]), 0..200),
    ) {
        let links: Vec<u64> = links.iter().filter(|link| link.0 < pages).map(|&(to, from)| key(to, from)).collect();
        let mut packed = Vec::new();
        pack_links(pages, &links, |page| page % 3 == 0, &mut packed);
        let found = InLinks::new(pages as usize, &packed);
        let counts: Vec<u32> = found.counts().collect();
        let expected = (0..pages).map(|page| links.iter().filter(|&&link| (link >> 32) as u32 == page).count() as u32);
        prop_assert_eq!(counts, expected.collect::<Vec<_>>());
        let again = (0..pages).zip(found.pages()).flat_map(|(page, (voters, votes))| {
            assert_eq!(votes, page % 3 == 0);
            voters.iter().map(move |&voter| key(page, voter)).collect::<Vec<_>>()
        });
        prop_assert_eq!(again.collect::<Vec<_>>(), links);
    }
}

#[test]
fn a_link_counts_once_and_no_page_votes_for_itself() {
    let rules = PageRankRules::default();
    let resets = Resets::Uniform { pages: 3 };
    let plain = pagerank(3, &[(0, 1), (0, 2), (1, 2)], resets, &rules);
    let noisy = pagerank(3, &[(0, 1), (0, 2), (1, 2), (0, 1), (2, 2), (0, 0), (1, 1)], resets, &rules);
    assert_eq!(plain, noisy);
}

#[test]
fn iterations_have_a_limit() {
    let rules = PageRankRules { iterations: 3, ..PageRankRules::default() };
    let found = pagerank(2, &[(0, 1)], Resets::Uniform { pages: 2 }, &rules);
    assert_eq!((found.convergence.changes.len(), found.convergence.is_reached()), (3, false));
}
