//! Hashes → the same hashes, ascending and distinct.
//!
//! Hashes are uniform, so the leading bits of a hash say about where it goes. Sorting by those bits takes linear
//! time: it is two to three times as fast as a comparison sort, or four times with wide instructions. Other values
//! are compared.

use super::wide;
use crate::simd::{Level, level};

/// The buffers of sorting. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub(super) struct SortTable {
    /// Values on their way.
    pub slots: Vec<u64>,
    /// For each column, the slot that its next value goes to.
    #[cfg(target_arch = "x86_64")]
    pub next: Vec<u32>,
    /// Values that found their column full.
    #[cfg(target_arch = "x86_64")]
    pub left: Vec<u64>,
}

/// The most values: a table for more would take too much memory.
pub(super) const MOST: usize = 1 << 16;

/// Sorts the hashes from number `start` on and removes duplicates.
pub(super) fn sort_unique(values: &mut Vec<u64>, start: usize, table: &mut SortTable) {
    sort_unique_by(level(), values, start, table);
}

/// Like [`sort_unique`], with the instructions of `level`.
fn sort_unique_by(level: Level, values: &mut Vec<u64>, start: usize, table: &mut SortTable) {
    if !wide::sort_unique(level, values, start, table) {
        let these = &mut values[start..];
        let length = if by_digits(these, &mut table.slots) { unique(these) } else { compared(these) };
        values.truncate(start + length);
    }
}

/// Sorts by comparison and leaves the distinct values at the front; returns how many.
fn compared(values: &mut [u64]) -> usize {
    values.sort_unstable();
    let mut kept = 0;
    for at in 0..values.len() {
        values[kept] = values[at];
        kept += usize::from(values.get(at + 1) != Some(&values[at]));
    }
    kept
}

/// Sorts by the first sixteen bits, the lower eight first, so that hardly any value is out of place. Returns `false`
/// and leaves `values` as they were if comparing is better.
fn by_digits(values: &mut [u64], other: &mut Vec<u64>) -> bool {
    /// Comparison sorts fewer values as quickly.
    const FEWEST: usize = 65;
    if !(FEWEST..=MOST).contains(&values.len()) {
        return false;
    }
    if other.len() < values.len() {
        other.resize(values.len(), 0);
    }
    let other = &mut other[..values.len()];
    let digits = |value: u64| ((value >> 56) as usize, (value >> 48) as usize % 256);
    let (mut first, mut second) = ([0u32; 256], [0u32; 256]);
    for &value in &*values {
        let digits = digits(value);
        first[digits.0] += 1;
        second[digits.1] += 1;
    }
    let mut before = (0, 0);
    for (first, second) in first.iter_mut().zip(&mut second) {
        (before.0, *first) = (before.0 + *first, before.0);
        (before.1, *second) = (before.1 + *second, before.1);
    }
    let place = |next: &mut u32| {
        *next += 1;
        *next as usize - 1
    };
    for &value in &*values {
        other[place(&mut second[digits(value).1])] = value;
    }
    for &value in &*other {
        values[place(&mut first[digits(value).0])] = value;
    }
    true
}

/// Moves the few values that are out of place, and leaves the distinct values at the front; returns how many. Values
/// that are not uniform are compared, because moving them would take quadratic time.
fn unique(values: &mut [u64]) -> usize {
    let (mut kept, mut moves, limit) = (1, 0, 32 * values.len());
    let mut last = values[0];
    for next in 1..values.len() {
        let value = values[next];
        if value >= last {
            values[kept] = value;
            kept += usize::from(value != last);
            last = value;
            continue;
        }
        // Hardly ever more than a few places back.
        let at = values[..kept].iter().rposition(|&smaller| smaller < value).map_or(0, |before| before + 1);
        if values[at] != value {
            values.copy_within(at..kept, at + 1);
            values[at] = value;
            kept += 1;
        }
        moves += kept - at;
        if moves > limit {
            let rest = next + 1..values.len();
            let all = kept + rest.len();
            values.copy_within(rest, kept);
            return compared(&mut values[..all]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::{Instructions, each_level};

    /// Checks that each way of sorting equals the standard one, or leaves the values as they were.
    fn check(values: &[u64]) {
        let mut expected = values.to_vec();
        expected.sort_unstable();
        expected.dedup();
        // The values come after those of other pages.
        let behind = |values: &[u64]| [&[9, 3, 3][..], values].concat();
        let mut table = SortTable::default();
        // The second time the buffers are full of another page's values.
        for _ in 0..2 {
            each_level(|level| {
                let mut sorted = behind(values);
                sort_unique_by(level, &mut sorted, 3, &mut table);
                assert_eq!(sorted, behind(&expected), "{level:?}");
            });
        }
    }

    fn hashes(count: usize) -> impl Iterator<Item = u64> + Clone {
        (1..=count as u64).map(|n| {
            let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        })
    }

    #[test]
    fn any_number_of_values_is_sorted() {
        for count in (0..200).chain([599, 600, 1023, 1024, 5000, MOST - 1, MOST, MOST + 1]) {
            let mut values: Vec<u64> = hashes(count).collect();
            check(&values);
            values.extend(hashes(count / 9));
            values.extend([u64::MAX, 0]);
            check(&values);
        }
    }

    #[test]
    fn values_close_together_are_sorted() {
        for close in [1, 8, 9, 20, 60, 600] {
            for high in [0, 7 << 60, u64::MAX - 700] {
                check(&hashes(600).chain((0..close).map(|low| high | low)).collect::<Vec<_>>());
                check(&(0..close).map(|low| high + close - low).chain(hashes(600)).collect::<Vec<_>>());
                // Each twice, so that there are fewer in order than were looked at when comparing begins.
                check(&(0..2 * close).map(|low| high + close - low / 2).chain(hashes(9)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn uniform_values_and_copies_need_no_comparing() {
        let copies = || hashes(40).cycle().take(2000);
        for values in
            [hashes(600).collect::<Vec<_>>(), copies().collect(), copies().chain(hashes(600)).collect()]
        {
            assert!(by_digits(&mut values.clone(), &mut Vec::new()));
            each_level(|level| {
                let done = wide::sort_unique(level, &mut values.clone(), 0, &mut SortTable::default());
                assert_eq!(done, level.instructions() == Instructions::Avx512);
            });
        }
    }

    proptest! {
        #[test]
        fn sorting_equals_the_standard_sort(
            values in prop_oneof![
                prop::collection::vec(any::<u64>(), 0..600),
                prop::collection::vec(0u64..50, 0..600),
                prop::collection::vec(u64::MAX - 50..=u64::MAX, 0..600),
                prop::collection::vec((0u64..9, 0u64..3).prop_map(|(high, low)| high << 60 | low), 0..600),
                prop::collection::vec(prop_oneof![30 => any::<u64>(), 1 => Just(u64::MAX), 2 => 0u64..30], 0..600),
            ]
        ) {
            check(&values);
        }
    }
}
