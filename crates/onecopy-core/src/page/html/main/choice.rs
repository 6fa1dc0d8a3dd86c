//! Decides which blocks to keep, given the chance of each to be main content.
//!
//! It does not keep every block above even odds, but the blocks with the best expected F1. On a page that is nearly
//! all content it keeps doubtful blocks; on a page with sure content it drops them. The kept blocks are the surest
//! ones. With chances p and words w, the expected F1 is about 2 Σ p·w (kept) / (Σ w (kept) + Σ p·w (all)).

use super::model::chance;

/// Subtracted from every sum before its chance is taken. Higher: less is kept. The model learnt from single blocks,
/// but doubtful blocks are wrong together, such as all comments of a page, which costs more than one error.
const DOUBT: i32 = 200;

/// The least sum of a block to keep. Each block is given as its words and its sum.
pub fn sum_min(blocks: &[(u32, i32)]) -> i32 {
    let likely = |&(words, sum): &(u32, i32)| u64::from(words) * u64::from(chance(sum - DOUBT));
    let all: u64 = blocks.iter().map(likely).sum();
    let mut order: Vec<&(u32, i32)> = blocks.iter().collect();
    order.sort_unstable_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    let (mut hit, mut kept) = (0, 0);
    // The best fraction so far, and its sum.
    let mut best = (0, 1, i32::MAX);
    for block in order {
        hit += likely(block);
        kept += u64::from(block.0) * 1000;
        if u128::from(hit) * u128::from(best.1) > u128::from(best.0) * u128::from(kept + all) {
            best = (hit, kept + all, block.1);
        }
    }
    best.2
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
}
