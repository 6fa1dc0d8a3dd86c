//! Finds the common words of two short ranges, in order, with few edits and in bounded time.
//!
//! This is Myers' algorithm (1986): for each number of edits, it computes the furthest position on every diagonal.
//! After a fixed number of edits it accepts the furthest path and restarts at its end. So the time is at most that
//! bound times the length. Only ranges with very many edits get a longer edit script than needed.

use super::align::Block;

/// The number of edits after which a search restarts.
const CHANGES: usize = 96;
/// A diagonal that no path reaches.
const NONE: i64 = -1;

/// Appends the blocks that `a` and `b` share, ascending on both sides. `at` is their position in the texts.
pub(super) fn shortest(a: &[u64], b: &[u64], at: (usize, usize), out: &mut Vec<Block>) {
    let (mut x, mut y) = (0, 0);
    while x < a.len() && y < b.len() {
        let (gone_x, gone_y) = search(&a[x..], &b[y..], (at.0 + x, at.1 + y), out);
        if gone_x + gone_y == 0 {
            return;
        }
        x += gone_x;
        y += gone_y;
    }
}

/// Runs one search. Returns how far it came on both sides.
fn search(a: &[u64], b: &[u64], at: (usize, usize), out: &mut Vec<Block>) -> (usize, usize) {
    // The furthest position on each diagonal, by number of edits. Diagonal `k` is at index `k + changes`.
    let mut reached: Vec<Vec<i64>> = Vec::new();
    for changes in 0..=CHANGES {
        let row: Vec<i64> = diagonals(changes)
            .map(|k| match step(reached.last(), k, changes, (a.len(), b.len())) {
                Some((x, _)) => slide(a, b, x, k),
                None => NONE,
            })
            .collect();
        let ends = diagonals(changes).zip(&row).filter(|(_, x)| **x != NONE);
        let Some((k, x)) = ends.max_by_key(|(k, x)| 2 * **x - k).map(|(k, x)| (k, *x)) else { break };
        reached.push(row);
        let through = x as usize == a.len() && (x - k) as usize == b.len();
        if through || changes == CHANGES {
            trace(&reached, (a.len(), b.len()), (x, k), at, out);
            return (x as usize, (x - k) as usize);
        }
    }
    (0, 0)
}

/// The diagonals from lowest to highest. Every other one is reachable with this many edits.
fn diagonals(changes: usize) -> impl Iterator<Item = i64> {
    -(changes as i64)..=changes as i64
}

/// The position where diagonal `k` is entered with one more edit than in `before`, and the previous diagonal.
fn step(before: Option<&Vec<i64>>, k: i64, changes: usize, sizes: (usize, usize)) -> Option<(i64, i64)> {
    let Some(before) = before else { return Some((0, 0)) };
    let far = |k: i64| {
        let place = usize::try_from(k + changes as i64 - 1).ok();
        place.and_then(|place| before.get(place)).copied().filter(|x| *x != NONE)
    };
    let right = far(k - 1).map(|x| (x + 1, k - 1)).filter(|(x, _)| *x <= sizes.0 as i64);
    let down = far(k + 1).map(|x| (x, k + 1)).filter(|(x, _)| x - k <= sizes.1 as i64);
    match (right, down) {
        (Some(right), Some(down)) => Some(if right.0 > down.0 { right } else { down }),
        (right, down) => right.or(down),
    }
}

/// Advances from `x` on diagonal `k` while the words are equal.
fn slide(a: &[u64], b: &[u64], x: i64, k: i64) -> i64 {
    let rest = a[x as usize..].iter().zip(&b[(x - k) as usize..]);
    x + rest.take_while(|(a, b)| a == b).count() as i64
}

/// Traces the path back from its end and appends the shared blocks.
fn trace(
    reached: &[Vec<i64>],
    sizes: (usize, usize),
    end: (i64, i64),
    at: (usize, usize),
    out: &mut Vec<Block>,
) {
    let first = out.len();
    let (mut x, mut k) = end;
    for changes in (0..reached.len()).rev() {
        let before = changes.checked_sub(1).map(|before| &reached[before]);
        let Some((entered, from)) = step(before, k, changes, sizes) else { break };
        if x > entered {
            let (a, b) = (at.0 + entered as usize, at.1 + (entered - k) as usize);
            out.push(Block { a, b, length: (x - entered) as usize });
        }
        k = from;
        x = before.map_or(0, |row| row[(k + changes as i64 - 1) as usize]);
    }
    out[first..].reverse();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length of the longest common subsequence, by dynamic programming.
    fn longest(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { corner + 1 } else { above.max(row[j]) };
                corner = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn no_fewer_words_are_shared_than_can_be(
            a in prop::collection::vec(0u64..6, 0..40),
            b in prop::collection::vec(0u64..6, 0..40),
        ) {
            let mut blocks = Vec::new();
            shortest(&a, &b, (0, 0), &mut blocks);
            for block in &blocks {
                prop_assert_eq!(&a[block.a..block.a + block.length], &b[block.b..block.b + block.length]);
            }
            prop_assert_eq!(blocks.iter().map(|block| block.length).sum::<usize>(), longest(&a, &b));
        }
    }

    #[test]
    fn beyond_the_bound_it_goes_on() {
        let a: Vec<u64> = (0..5_000).collect();
        let b: Vec<u64> = (0..5_000).map(|n| if n % 7 == 0 { n + 100_000 } else { n }).collect();
        let mut blocks = Vec::new();
        shortest(&a, &b, (0, 0), &mut blocks);
        assert_eq!(blocks.iter().map(|block| block.length).sum::<usize>(), 5_000 - 5_000_usize.div_ceil(7));
    }
}
