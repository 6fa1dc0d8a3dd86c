//! The classes of shingles.

use super::*;
use crate::hash::repeated;

/// Saved plans place pages by these classes, so the classes must never change.
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
