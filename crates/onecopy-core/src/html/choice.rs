//! Which blocks to keep, once each has its chance to be main content.
//!
//! Rather than all from even odds on: those that make the best text to expect. On a page where nearly all is content
//! the doubtful is kept, on one where the content is sure it is left out. With chances p, words w and the kept blocks
//! the surest ones, the F1 to expect is about 2 Σ p·w (kept) / (Σ w (kept) + Σ p·w (all)).

use super::model::chance;

/// Taken from every sum before its chance counts. Higher: less is kept. Main content was learnt from blocks by
/// themselves, but blocks in doubt are wrong together (all comments of a page), which costs more than one.
const DOUBT: i32 = 200;

/// The sum from which on blocks, given as words and sum, are kept.
pub fn sum_min(blocks: &[(u32, i32)]) -> i32 {
    let likely = |&(words, sum): &(u32, i32)| u64::from(words) * u64::from(chance(sum - DOUBT));
    let all: u64 = blocks.iter().map(likely).sum();
    let mut order: Vec<&(u32, i32)> = blocks.iter().collect();
    order.sort_unstable_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    let (mut hit, mut kept) = (0, 0);
    // The best so far, as a fraction, and its sum.
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
