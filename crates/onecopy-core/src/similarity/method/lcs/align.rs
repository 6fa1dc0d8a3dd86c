//! Finds the common sentences of two pages, in order. It matches identical ends first, then only sentences of both
//! pages.

use crate::similarity::myers::{CommonRun, common, push};

/// If the middles of two pages are more edits apart than this, they count as not common. Only pages with the same
/// sentences in another order reach it, because sentences of one page alone are dropped first. The time grows with
/// the square; this limit takes some hundredths of a second.
const EDITS_LIMIT: usize = 4096;

/// Runs of a longest common subsequence of `a` and `b`, in order. Swapping `a` and `b` only swaps the sides of the
/// runs. It may return fewer runs if the subsequence has fewer than `needed` elements, or if the middles are more
/// than [`EDITS_LIMIT`] apart.
pub(super) fn aligned(a: &[u64], b: &[u64], needed: usize) -> Vec<CommonRun> {
    // There can be several longest subsequences. The order of the pages must not decide which one is found.
    if (a.len(), a) <= (b.len(), b) {
        return aligned_in_order(a, b, needed);
    }
    let mut runs = aligned_in_order(b, a, needed);
    runs.iter_mut().for_each(|run| std::mem::swap(&mut run.a, &mut run.b));
    runs
}

fn aligned_in_order(a: &[u64], b: &[u64], needed: usize) -> Vec<CommonRun> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (mid_a, mid_b) = (&a[head..], &b[head..]);
    let tail = mid_a.iter().rev().zip(mid_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (mid_a, mid_b) = (&mid_a[..mid_a.len() - tail], &mid_b[..mid_b.len() - tail]);
    let mut runs = Vec::new();
    push(&mut runs, CommonRun { a: 0, b: 0, length: head });
    middle(mid_a, mid_b, needed.saturating_sub(head + tail), head, &mut runs);
    push(&mut runs, CommonRun { a: a.len() - tail, b: b.len() - tail, length: tail });
    runs
}

/// Appends the runs of the middle between identical ends. The middle begins at `head`.
fn middle(a: &[u64], b: &[u64], needed: usize, head: usize, runs: &mut Vec<CommonRun>) {
    if a.len().min(b.len()) < needed.max(1) {
        return;
    }
    let both = Both::of(a, b);
    if both.most < needed.max(1) {
        return;
    }
    let ((a, places_a), (b, places_b)) = (both.filter(a), both.filter(b));
    let most = (a.len() + b.len()).saturating_sub(2 * needed).min(EDITS_LIMIT);
    for run in common(&a, &b, most).unwrap_or_default() {
        for step in 0..run.length {
            let place = (head + places_a[run.a + step] as usize, head + places_b[run.b + step] as usize);
            push(runs, CommonRun { a: place.0, b: place.1, length: 1 });
        }
    }
}

/// The sentences that two pages both have.
struct Both {
    /// Their hashes, ascending and each once.
    hashes: Vec<u64>,
    /// How many there are if repetitions are matched. No common subsequence is longer.
    most: usize,
}

impl Both {
    fn of(a: &[u64], b: &[u64]) -> Both {
        let sorted = |page: &[u64]| {
            let mut hashes = page.to_vec();
            hashes.sort_unstable();
            hashes
        };
        let (a, b) = (sorted(a), sorted(b));
        let (mut i, mut j) = (0, 0);
        let mut both = Both { hashes: Vec::new(), most: 0 };
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            if x == y {
                both.most += 1;
                if both.hashes.last() != Some(&x) {
                    both.hashes.push(x);
                }
            }
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        both
    }

    /// The sentences of a page that both pages have, as small numbers, and their positions in the page.
    fn filter(&self, page: &[u64]) -> (Vec<u32>, Vec<u32>) {
        let number = |hash: &u64| self.hashes.binary_search(hash).ok();
        let left = page.iter().enumerate();
        left.filter_map(|(place, hash)| Some((number(hash)? as u32, place as u32))).unzip()
    }
}
