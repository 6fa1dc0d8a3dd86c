//! Decides which blocks to keep, given the chance of each to be main content.
//!
//! It does not keep every block above even odds, but the blocks with the best expected F1. On a page that is nearly
//! all content it keeps doubtful blocks; on a page with sure content it drops them. The kept blocks are the surest
//! ones. With chances p and words w, the expected F1 is about 2 Σ p·w (kept) / (Σ w (kept) + Σ p·w (all)).
//!
//! Doubtful blocks of a page are right or wrong together, such as all its comments. So the F1 is a mean over three
//! cases: the model is right, too strict or too lenient about the whole page.

use super::model::chance;

/// Subtracted from every sum before its chance is taken. Higher: less is kept.
const DOUBT: i32 = 400;
/// How much the model may be too strict or too lenient about a page.
const SPREAD: i32 = 2000;
/// Added to every sum, case by case.
const CASES: [i32; 3] = [-DOUBT - SPREAD, -DOUBT, -DOUBT + SPREAD];

/// The least sum of a block to keep. Each block is given as its words and its sum.
pub fn sum_min(blocks: &[(u32, i32)]) -> i32 {
    let likely =
        |&(words, sum): &(u32, i32)| CASES.map(|case| u64::from(words) * u64::from(chance(sum + case)));
    let plus = |sums: [u64; 3], more: [u64; 3]| std::array::from_fn(|case| sums[case] + more[case]);
    let all: [u64; 3] = blocks.iter().map(likely).fold([0; 3], plus);
    let mut order: Vec<&(u32, i32)> = blocks.iter().collect();
    order.sort_unstable_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    let (mut hits, mut kept) = ([0; 3], 0);
    // The best F1 so far, and its sum.
    let mut best = (0, i32::MAX);
    for block in order {
        hits = plus(hits, likely(block));
        kept += u64::from(block.0) * 1000;
        let part = |case: usize| (u128::from(hits[case]) << 32) / u128::from((kept + all[case]).max(1));
        let f1 = part(0) + part(1) + part(2);
        if f1 > best.0 {
            best = (f1, block.1);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doubtful_is_kept_where_little_is_sure() {
        let sure = (100, 4000);
        assert_eq!(sum_min(&[sure, (10, -3000), sure]), 4000);
        assert_eq!(sum_min(&[(100, 300), (100, 100), (100, -3000)]), 100);
        assert_eq!(sum_min(&[(5, -6000)]), -6000, "something is better than nothing");
        assert_eq!(sum_min(&[]), i32::MAX);
    }

    #[test]
    fn the_model_may_be_too_strict_about_a_whole_page() {
        // By the middle case alone, only the first block would be kept.
        assert_eq!(sum_min(&[(100, 2000), (200, -500), (400, -3500)]), -500);
    }
}
