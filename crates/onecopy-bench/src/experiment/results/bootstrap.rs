//! How certain a difference of F1 is: the bootstrap (Efron 1979) over queries, because pairs of one query are alike.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use super::scores::f1;

/// A labelled pair: its query, its similarity, and whether it is a repeat.
pub struct Pair<'a> {
    pub query: &'a str,
    pub similarity: f64,
    pub is_repeat: bool,
}

const ROUNDS: u64 = 2_000;

/// F1 at `threshold` minus F1 at `usual`: the difference, and the interval that has 95 % of it.
pub fn difference(pairs: &[Pair], threshold: f64, usual: f64) -> (f64, [f64; 2]) {
    let mut by_query: BTreeMap<&str, Vec<(f64, bool)>> = BTreeMap::new();
    for pair in pairs {
        by_query.entry(pair.query).or_default().push((pair.similarity, pair.is_repeat));
    }
    let queries: Vec<&Vec<(f64, bool)>> = by_query.values().collect();
    let of = |drawn: &[(f64, bool)]| f1(drawn, threshold) - f1(drawn, usual);
    let all: Vec<(f64, bool)> = queries.iter().flat_map(|query| query.iter().copied()).collect();
    let mut differences: Vec<f64> = (0..ROUNDS).map(|round| of(&drawn(&queries, round))).collect();
    differences.sort_by(f64::total_cmp);
    let at = |share: f64| differences[(share * (ROUNDS - 1) as f64).round() as usize];
    (of(&all), [at(0.025), at(0.975)])
}

/// As many queries as there are, drawn with replacement. The same in every run.
fn drawn(queries: &[&Vec<(f64, bool)>], round: u64) -> Vec<(f64, bool)> {
    let pick = |draw: usize| {
        let random = xxh3_64(format!("{round} {draw}").as_bytes());
        queries[(random % queries.len() as u64) as usize].iter().copied()
    };
    (0..queries.len()).flat_map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(names: &[String]) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for (number, query) in names.iter().enumerate() {
            let is_repeat = number.is_multiple_of(3);
            pairs.push(Pair { query, similarity: if is_repeat { 0.9 } else { 0.6 }, is_repeat });
        }
        pairs
    }

    #[test]
    fn a_clear_difference_is_certain_and_none_is_none() {
        let names: Vec<String> = (0..60).map(|number| format!("query {number}")).collect();
        let pairs = pairs(&names);
        let (better, [low, high]) = difference(&pairs, 0.8, 0.5);
        assert!(better > 0.4 && low > 0.2 && high >= better, "{better} {low} {high}");
        assert_eq!(difference(&pairs, 0.7, 0.8), (0.0, [0.0, 0.0]));
    }
}
