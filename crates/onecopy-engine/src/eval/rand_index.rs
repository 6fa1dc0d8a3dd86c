//! Measures how well two groupings of the same pages agree.

use std::collections::HashMap;

/// The adjusted Rand index of two groupings (Hubert and Arabie 1985): 1 if they agree, about 0 if they agree only by
/// chance. Each item holds a page's group in both groupings.
pub(super) fn adjusted_rand_index(groups: impl Iterator<Item = (u32, u32)>) -> f64 {
    let (mut cells, mut ones, mut others) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut pages = 0u64;
    for (one, other) in groups {
        *cells.entry((one, other)).or_insert(0u64) += 1;
        *ones.entry(one).or_insert(0u64) += 1;
        *others.entry(other).or_insert(0u64) += 1;
        pages += 1;
    }
    let together = pairs(cells.into_values());
    let (one, other) = (pairs(ones.into_values()), pairs(others.into_values()));
    let expected = if pages < 2 { 0.0 } else { one * other / pairs([pages].into_iter()) };
    let most = (one + other) / 2.0;
    // All pages are single in both, or all are in one group in both: the groupings agree.
    if most == expected { 1.0 } else { (together - expected) / (most - expected) }
}

/// The number of pairs within groups of these sizes.
fn pairs(sizes: impl Iterator<Item = u64>) -> f64 {
    sizes.map(|size| (size * size.saturating_sub(1) / 2) as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(one: &[u32], other: &[u32]) -> f64 {
        adjusted_rand_index(one.iter().copied().zip(other.iter().copied()))
    }

    #[test]
    fn known_values() {
        assert_eq!(index(&[0, 0, 1, 1], &[5, 5, 3, 3]), 1.0);
        assert!((index(&[0, 0, 1, 2], &[0, 0, 1, 1]) - 4.0 / 7.0).abs() < 1e-12);
        assert!((index(&[0, 0, 1, 1], &[0, 1, 0, 1]) + 0.5).abs() < 1e-12);
        assert_eq!(index(&[0, 0, 0, 0], &[0, 1, 2, 3]), 0.0);
        // Hubert and Arabie's formula computed by hand: cells 2,1 / 0,3; 4 pairs in both, 6 and 7 pairs of 15.
        let value = index(&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 1, 1]);
        assert!((value - (4.0 - 42.0 / 15.0) / (6.5 - 42.0 / 15.0)).abs() < 1e-12);
    }

    #[test]
    fn trivial_groups_agree() {
        assert_eq!(index(&[], &[]), 1.0);
        assert_eq!(index(&[1], &[2]), 1.0);
        assert_eq!(index(&[0, 1, 2], &[3, 4, 5]), 1.0);
        assert_eq!(index(&[7, 7, 7], &[1, 1, 1]), 1.0);
    }
}
