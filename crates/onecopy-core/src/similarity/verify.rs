//! Candidate → Pair: is the similarity of two sketches really at least the threshold?
//!
//! The one definition in `measure` decides, on the whole sets and never on an estimate. The bounds below only end a
//! hopeless comparison early. They are computed from that definition, so that rounding cannot make them disagree.

use crate::similarity::measure::{containment, resemblance};
use crate::similarity::method::Held;

/// How many shingles two sketches share, if they are at least `threshold` alike.
pub fn verify(a: &[u64], b: &[u64], threshold: f64) -> Option<usize> {
    let needed = overlap_needed(a.len(), b.len(), threshold);
    if needed > a.len().min(b.len()) {
        return None;
    }
    overlap_at_least(a, b, needed)
}

/// How many shingles two sketches share.
pub fn overlap(a: &[u64], b: &[u64]) -> usize {
    overlap_at_least(a, b, 0).expect("every overlap is at least none")
}

/// The share of each sketch's shingles that the other has.
pub(crate) fn shares(a: &[u64], b: &[u64]) -> (f64, f64) {
    let shared = overlap(a, b);
    (containment(shared, a.len()), containment(shared, b.len()))
}

/// Whether sets of these sizes can be `threshold` alike at all.
#[inline]
pub fn sizes_allow(a: usize, b: usize, threshold: f64) -> bool {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    small as f64 / large.max(1) as f64 >= threshold
}

/// Whether sets of these sizes can be `threshold` alike if they share a key and nothing before it in the order.
/// `rests` are how many shingles of each come after the key (Xiao, Wang, Lin and Yu 2008). The first key that two
/// alike sets share always allows it; others need not.
#[inline]
pub fn rests_allow(a: Held, b: Held, threshold: f64) -> bool {
    let most = f64::from(1 + a.rest.min(b.rest));
    // overlap >= threshold / (1 + threshold) * (a + b), with room for rounding.
    (most + 1.0) * (1.0 + threshold) >= threshold * (f64::from(a.size) + f64::from(b.size))
}

/// How many shingles of a page of `size` must come after a key for it to be `threshold` alike to a page of its size.
/// If two pages both have fewer, [`rests_allow`] denies them: the smaller one would be denied even with a page like
/// itself.
pub(crate) fn least_rest(size: u32, threshold: f64) -> u32 {
    let allowed = |rest: u32| rests_allow(Held { size, rest }, Held { size, rest }, threshold);
    let mut rest = ((2.0 * threshold / (1.0 + threshold)) * f64::from(size)) as u32;
    while rest > 0 && allowed(rest - 1) {
        rest -= 1;
    }
    while !allowed(rest) {
        rest += 1;
    }
    rest
}

/// The smallest number of shared shingles that makes sets of `a` and `b` shingles `threshold` alike. It is more than
/// the smaller set holds if no number does.
pub(crate) fn overlap_needed(a: usize, b: usize, threshold: f64) -> usize {
    let reached = |shared: usize| resemblance(shared, a, b) >= threshold;
    let most = a.min(b);
    if !reached(most) {
        return most + 1;
    }
    let mut shared = ((threshold / (1.0 + threshold)) * (a + b) as f64) as usize;
    shared = shared.min(most);
    while shared > 0 && reached(shared - 1) {
        shared -= 1;
    }
    while !reached(shared) {
        shared += 1;
    }
    shared
}

/// The smallest number of its `n` shingles that a page shares with any page that is `threshold` alike. The extreme
/// is a page of only the shared shingles.
pub(crate) fn overlap_within(n: usize, threshold: f64) -> usize {
    let reached = |shared: usize| resemblance(shared, shared, n) >= threshold;
    let mut shared = ((threshold * n as f64) as usize).min(n);
    while shared > 0 && reached(shared - 1) {
        shared -= 1;
    }
    while !reached(shared) {
        shared += 1;
    }
    shared.max(1)
}

/// The smallest number of shingles that is at least `threshold` of `n`.
pub(crate) fn part_needed(n: usize, threshold: f64) -> usize {
    let reached = |part: usize| containment(part, n) >= threshold;
    let mut part = ((threshold * n as f64) as usize).min(n);
    while part > 0 && reached(part - 1) {
        part -= 1;
    }
    while !reached(part) {
        part += 1;
    }
    part
}

/// The number of shared shingles if it is at least `needed`. It stops once that is impossible.
///
/// Each step waits for the one before, so two merges run at once, from the front and from the back, until they meet.
pub(crate) fn overlap_at_least(a: &[u64], b: &[u64], needed: usize) -> Option<usize> {
    const STEPS: usize = 16;
    let (mut i, mut j, mut shared) = (0, 0, 0);
    let (mut end_a, mut end_b) = (a.len(), b.len());
    // Steps run in blocks without a branch on the data. The bound is checked between blocks.
    while i + 2 * STEPS <= end_a && j + 2 * STEPS <= end_b {
        for _ in 0..STEPS {
            let (x, y) = (a[i], b[j]);
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
            let (x, y) = (a[end_a - 1], b[end_b - 1]);
            shared += usize::from(x == y);
            end_a -= usize::from(x >= y);
            end_b -= usize::from(y >= x);
        }
        if shared + (end_a - i).min(end_b - j) < needed {
            return None;
        }
    }
    while i < end_a && j < end_b {
        let (x, y) = (a[i], b[j]);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    (shared >= needed).then_some(shared)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bounds_ask_the_definition() {
        assert_eq!(overlap_needed(5, 5, 1.0), 5);
        assert_eq!(overlap_needed(4, 5, 0.8), 4);
        assert_eq!(overlap_needed(3, 5, 0.8), 4);
        assert_eq!(overlap_within(10, 0.8), 8);
        assert_eq!(overlap_within(1, 0.1), 1);
    }

    proptest! {
        #[test]
        fn bounds_are_tight(a in 1usize..400, b in 1usize..400, threshold in 0.01f64..=1.0) {
            let needed = overlap_needed(a, b, threshold);
            prop_assert!(needed == 0 || resemblance(needed - 1, a, b) < threshold);
            prop_assert!(needed > a.min(b) || resemblance(needed, a, b) >= threshold);
            prop_assert_eq!(sizes_allow(a, b, threshold), needed <= a.min(b));
            let held = |size: usize, rest: u32| Held { size: size as u32, rest };
            let (first, second) = (held(a, needed as u32 - 1), held(b, b as u32));
            prop_assert!(needed > a.min(b) || rests_allow(first, second, threshold));
            let (few, fewer) = (least_rest(a as u32, threshold), least_rest(b as u32, threshold));
            if few > 0 && fewer > 0 {
                let (first, second) = (held(a, few - 1), held(b, fewer - 1));
                prop_assert!(!rests_allow(first, second, threshold), "two that are weak");
            }
            let part = part_needed(a, threshold);
            prop_assert!(containment(part, a) >= threshold && containment(part - 1, a) < threshold);
            let within = overlap_within(a, threshold);
            prop_assert!((1..=a).contains(&within));
            prop_assert!(needed > a.min(b) || needed >= within, "a similar page shares at least that");
        }

        #[test]
        fn verifying_equals_intersecting(
            a in prop::collection::btree_set(0u64..300, 1..200),
            b in prop::collection::btree_set(0u64..300, 1..200),
            threshold in 0.05f64..=1.0,
        ) {
            let shared = a.intersection(&b).count();
            let expected = (resemblance(shared, a.len(), b.len()) >= threshold).then_some(shared);
            let slice = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<_>>();
            prop_assert_eq!(verify(&slice(&a), &slice(&b), threshold), expected);
        }
    }
}
