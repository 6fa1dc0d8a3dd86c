//! Aligns two texts: finds blocks of words that occur in both, in the same order.
//!
//! Anchors are windows of words that occur exactly once in each text. The algorithm keeps the longest sequence of
//! anchors in the same order on both sides. It repeats the search in the gaps with shorter windows, down to single
//! words. Each step sorts the remaining words. So pages that share nothing are cheap, and so is one sentence repeated a
//! million times.

use super::shortest::shortest;

/// A shared block: `length` words, from word `a` of one text and word `b` of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub a: usize,
    pub b: usize,
    pub length: usize,
}

impl Block {
    pub(super) fn ends(self) -> (usize, usize) {
        (self.a + self.length, self.b + self.length)
    }
}

/// The window lengths of each step, in words.
const WINDOWS: [usize; 3] = [8, 4, 2];

/// The shared blocks of two texts, ascending on both sides. Adjacent blocks are merged.
pub(super) fn align(a: &[u64], b: &[u64]) -> Vec<Block> {
    let mut blocks = Vec::new();
    between(a, b, (0, 0), &WINDOWS, &mut blocks);
    let mut joined: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match joined.last_mut() {
            Some(last) if last.ends() == (block.a, block.b) => last.length += block.length,
            _ => joined.push(block),
        }
    }
    joined
}

/// Appends the blocks of two ranges that start at `at` in their texts.
fn between(a: &[u64], b: &[u64], at: (usize, usize), windows: &[usize], out: &mut Vec<Block>) {
    let push = |a: usize, b: usize, length: usize, out: &mut Vec<Block>| {
        if length > 0 {
            out.push(Block { a: at.0 + a, b: at.1 + b, length });
        }
    };
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    push(0, 0, front, out);
    let (rest_a, rest_b) = (&a[front..], &b[front..]);
    let back = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&rest_a[..rest_a.len() - back], &rest_b[..rest_b.len() - back]);
    if !rest_a.is_empty() && !rest_b.is_empty() {
        let at = (at.0 + front, at.1 + front);
        match windows.split_first() {
            Some((&window, shorter)) => by_anchors(rest_a, rest_b, at, window, shorter, out),
            None => shortest(rest_a, rest_b, at, out),
        }
    }
    push(a.len() - back, b.len() - back, back, out);
}

/// Appends the blocks of two ranges, split at their anchors.
fn by_anchors(
    a: &[u64],
    b: &[u64],
    at: (usize, usize),
    window: usize,
    shorter: &[usize],
    out: &mut Vec<Block>,
) {
    let anchors = longest_rise(&anchors(&windows(a, window), &windows(b, window)));
    let (mut x, mut y) = (0, 0);
    for (anchor_a, anchor_b) in anchors {
        // Skips anchors inside an earlier block, and the few that match only by a hash collision.
        if anchor_a < x || anchor_b < y || a[anchor_a..][..window] != b[anchor_b..][..window] {
            continue;
        }
        between(&a[x..anchor_a], &b[y..anchor_b], (at.0 + x, at.1 + y), shorter, out);
        let rest = a[anchor_a..].iter().zip(&b[anchor_b..]);
        let length = rest.take_while(|(a, b)| a == b).count();
        out.push(Block { a: at.0 + anchor_a, b: at.1 + anchor_b, length });
        (x, y) = (anchor_a + length, anchor_b + length);
    }
    between(&a[x..], &b[y..], (at.0 + x, at.1 + y), shorter, out);
}

/// The hash and the start of each window of `length` words.
pub(super) fn windows(words: &[u64], length: usize) -> Vec<(u64, usize)> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash =
        |window: &[u64]| window.iter().fold(0u64, |sum, &word| sum.wrapping_mul(BASE).wrapping_add(word));
    words.windows(length).map(hash).enumerate().map(|(at, hash)| (hash, at)).collect()
}

/// The positions of windows that occur exactly once on each side, ascending on the first side.
pub(super) fn anchors(a: &[(u64, usize)], b: &[(u64, usize)]) -> Vec<(usize, usize)> {
    let once = |windows: &[(u64, usize)]| {
        let mut sorted = windows.to_vec();
        sorted.sort_unstable();
        let alone = sorted.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0]);
        alone.collect::<Vec<_>>()
    };
    let (a, b) = (once(a), once(b));
    let mut found = Vec::new();
    let mut rest = b.as_slice();
    for (hash, at) in a {
        rest = &rest[rest.partition_point(|other| other.0 < hash).min(rest.len())..];
        if let Some(&(_, other)) = rest.first().filter(|other| other.0 == hash) {
            found.push((at, other));
        }
    }
    found.sort_unstable();
    found
}

/// The longest subsequence of `pairs` that also ascends on the second side; `pairs` ascend on the first.
fn longest_rise(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the pair with the smallest second value that ends a subsequence of n + 1 pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![None; pairs.len()];
    for (i, &(_, b)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < b);
        before[i] = length.checked_sub(1).map(|shorter| ends[shorter]);
        match ends.get_mut(length) {
            Some(end) => *end = i,
            None => ends.push(i),
        }
    }
    let mut rise: Vec<_> =
        std::iter::successors(ends.last().copied(), |&i| before[i]).map(|i| pairs[i]).collect();
    rise.reverse();
    rise
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn shared(blocks: &[Block]) -> usize {
        blocks.iter().map(|block| block.length).sum()
    }

    proptest! {
        #[test]
        fn blocks_are_equal_words_in_order(
            a in prop::collection::vec(0u64..9, 0..120),
            b in prop::collection::vec(0u64..9, 0..120),
        ) {
            let (mut x, mut y) = (0, 0);
            for block in align(&a, &b) {
                prop_assert!(block.a >= x && block.b >= y && block.length > 0);
                prop_assert!(x == 0 && y == 0 || (block.a, block.b) != (x, y), "blocks side by side are one");
                prop_assert_eq!(&a[block.a..][..block.length], &b[block.b..][..block.length]);
                (x, y) = block.ends();
            }
        }
    }

    #[test]
    fn edits_leave_the_rest_shared() {
        let a: Vec<u64> = (0..1_000).collect();
        let mut b = a.clone();
        b.splice(500..510, [7_000, 7_001]);
        b.insert(100, 8_000);
        let blocks = align(&a, &b);
        assert_eq!((blocks.len(), shared(&blocks)), (3, 990));
        assert_eq!(align(&a, &a), [Block { a: 0, b: 0, length: 1_000 }]);
        assert!(align(&a, &[]).is_empty() && align(&[], &[]).is_empty());
    }

    #[test]
    fn large_and_hostile_pages_take_little_time() {
        let begun = Instant::now();
        let words = 100_000u64;
        let a: Vec<u64> = (0..words).collect();
        let b: Vec<u64> = (words..2 * words).collect();
        assert!(align(&a, &b).is_empty());
        let one_word = |length: usize| vec![1u64; length];
        assert_eq!(shared(&align(&one_word(100_000), &one_word(99_000))), 99_000);
        let sentence: Vec<u64> = (0..words).map(|n| n % 9).collect();
        let other: Vec<u64> = (0..words).map(|n| if n % 11 == 0 { 77 } else { n % 9 }).collect();
        align(&sentence, &other);
        let backwards: Vec<u64> = a.iter().rev().copied().collect();
        align(&a, &backwards);
        let twos: Vec<u64> = (0..words).map(|n| n * n % 2).collect();
        let threes: Vec<u64> = (0..words).map(|n| n * n % 3 % 2).collect();
        align(&twos, &threes);
        // Five comparisons of an unoptimised build on a busy machine. A quadratic algorithm would take minutes.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}
