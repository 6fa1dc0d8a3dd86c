//! The bound against all vectors one by one, and against sets that are barely alike.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::hash::repeated;
use crate::similarity::measure::resemblance;

/// Stored pages are placed by these classes, so the classes must never change.
#[test]
fn golden_classes() {
    let classes: Vec<usize> = (0..24).map(|n| class(repeated(n, 0))).collect();
    assert_eq!(classes, GOLDEN);
}

const GOLDEN: [usize; 24] = [0, 1, 1, 1, 2, 0, 1, 0, 0, 1, 2, 0, 0, 1, 1, 2, 1, 1, 0, 1, 0, 2, 2, 1];

#[test]
fn classes_are_even_whatever_the_first_and_last_bits() {
    for (mask, value) in [(0, 0), (1, 1), (1, 0), (0xffff << 48, 0x1234 << 48)] {
        let vector = LengthVector::of((0..30_000).map(|n| repeated(n, 1) & !mask | value));
        assert!(vector.0.iter().all(|count| count.abs_diff(10_000) < 300), "{vector:?}");
    }
    assert!((0..1_000).all(|n| class(repeated(n, 2) | 1) == class(repeated(n, 2) & !1)));
}

#[test]
fn partitions_are_numbered_and_read_back() {
    let sample: Vec<LengthVector> = (0..100).map(|n| LengthVector([n, 2 * n, n % 7])).collect();
    for slices in [&[0, 1, 1_000][..], &[], &[2], &[4, 4], &[100; 9]] {
        let partitions = Partitions::new(&sample, 0.8, slices);
        let limits = slices.iter().take(DIMENSIONS).map(|slices| slices.clamp(&1, &SLICES_LIMIT));
        assert!(partitions.count() <= limits.product::<usize>());
        assert!(sample.iter().all(|vector| usize::from(partitions.home(vector)) < partitions.count()));
        assert_eq!(Partitions::from_numbers(&partitions.to_numbers()), Some(partitions));
    }
    assert_eq!(Partitions::new(&sample, 0.8, &[3; 3]).count(), 27);
    assert_eq!((Partitions::whole().to_numbers(), Partitions::whole().count()), (vec![1, 0], 1));
    for wrong in [
        &[][..],
        &[0],
        &[1],
        &[1, 0, 0],
        &[1, 1, 0],
        &[1, 2, 5, 5],
        &[1, 9, 1, 0],
        &[4, 0, 0, 0, 0],
        &[u32::MAX],
    ] {
        assert_eq!(Partitions::from_numbers(wrong), None, "{wrong:?}");
    }
}

fn any_partitions() -> impl Strategy<Value = Partitions> {
    let cuts = prop::collection::btree_set(1..30u32, 0..5).prop_map(|cuts| cuts.into_iter().collect());
    prop::collection::vec(cuts, 1..=DIMENSIONS).prop_map(|cuts| Partitions { cuts })
}

/// The homes of all vectors that can be alike by their counts.
fn reached_slowly(partitions: &Partitions, page: &Lengths) -> Vec<u16> {
    let dimensions = partitions.cuts.len();
    let a = folded(&page.vector, dimensions).map(f64::from);
    let mut reached = BTreeSet::new();
    for number in 0..90_u32.pow(dimensions as u32).min(30_u32.pow(3)) {
        // A single dimension holds the whole page. The last of several holds the remaining classes.
        let vector = LengthVector(match dimensions {
            1 => [number, 0, 0],
            2 => [number % 90, number / 90, 0],
            _ => [number / 900, number / 30 % 30, number % 30],
        });
        let b = vector.0.map(f64::from);
        let shared: f64 = a.iter().zip(b).map(|(a, b)| a.min(b)).sum();
        let all = a.iter().chain(&b).sum::<f64>() - shared;
        if shared >= page.least * all - 1e-9 {
            reached.insert(partitions.home(&vector));
        }
    }
    reached.into_iter().collect()
}

proptest! {
    /// The bound is right, and as narrow as counts allow.
    #[test]
    fn reach_is_where_vectors_can_be(
        partitions in any_partitions(),
        vector in [0..30u32, 0..30u32, 0..30u32],
        percent in 1..=100u32,
    ) {
        let page = Lengths { vector: LengthVector(vector), least: f64::from(percent) / 100.0 };
        let mut reached = Vec::new();
        partitions.reached(&page, &mut reached);
        prop_assert!(reached.contains(&partitions.home(&page.vector)));
        prop_assert_eq!(reached, reached_slowly(&partitions, &page));
    }

    #[test]
    fn alike_sets_reach_each_other(
        common in 0..300u64,
        own in (0..150u64, 0..150u64),
        sample in prop::collection::vec(0..200u64, 0..12),
        slices in prop::collection::vec(1..6usize, 1..=DIMENSIONS),
        seed in any::<u64>(),
    ) {
        let hashes = |kind: u64, count| (0..count).map(move |n| repeated(seed ^ n, kind));
        let vector = |kind, count| LengthVector::of(hashes(0, common).chain(hashes(kind, count)));
        let (a, b) = (vector(1, own.0), vector(2, own.1));
        // Barely alike: the sets share exactly as much as needed.
        let sizes = [own.0, own.1].map(|own| (common + own) as usize);
        let least = resemblance(common as usize, sizes[0], sizes[1]).max(f64::MIN_POSITIVE);
        let others = sample.iter().enumerate().map(|(n, &count)| LengthVector::of(hashes(n as u64 + 3, count)));
        let partitions = Partitions::new(&others.chain([a, b]).collect::<Vec<_>>(), least, &slices);
        let reached = |vector| {
            let mut out = Vec::new();
            partitions.reached(&Lengths { vector, least }, &mut out);
            out
        };
        prop_assert!(reached(a).contains(&partitions.home(&b)) && reached(b).contains(&partitions.home(&a)));
    }
}
