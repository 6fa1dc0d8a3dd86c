//! Hashes → the same ascending, each once.
//!
//! They are uniform, so a hash's leading bits say about where it goes, and a table of such places sorts in linear time:
//! twice as fast as a comparison sort, four times with wide instructions. Whatever is not uniform is compared.

use super::wide;

/// Where hashes are sorted. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub slots: Vec<u64>,
    /// For each column, the slot that its next value goes to.
    pub next: Vec<u32>,
    /// Values that found their column full.
    pub left: Vec<u64>,
}

/// A table for more values would take too much memory.
pub(super) const MOST: usize = 1 << 16;

/// Sorts the hashes from number `start` on, and leaves each of them once.
pub(super) fn sort_unique(values: &mut Vec<u64>, start: usize, table: &mut Table) {
    if !(wide::sort_unique(values, start, table) || sort_unique_plain(values, start, &mut table.slots)) {
        let mut these = values.split_off(start);
        these.sort_unstable();
        these.dedup();
        values.append(&mut these);
    }
}

/// As [`sort_unique`], on any machine: each value is put into the table behind the smaller ones, which finds copies on
/// the way, and the table is read off. False, and `values` as they were, where comparing is better.
fn sort_unique_plain(values: &mut Vec<u64>, start: usize, table: &mut Vec<u64>) -> bool {
    /// Fewer are sorted as quickly by comparison.
    const FEWEST: usize = 33;
    if !(FEWEST..=MOST).contains(&(values.len() - start)) {
        return false;
    }
    let Some(used) = fill(&values[start..], table) else { return false };
    let length = read_off(&table[..used], &mut values[start..]);
    values.truncate(start + length);
    true
}

/// A slot of the table that holds no value.
const EMPTY: u64 = u64::MAX;

/// Puts `values` into the table in order; says how many slots are in use or before one that is. Gives up on values that
/// are not uniform, which would take quadratic time, and on one that looks like an empty slot.
fn fill(values: &[u64], table: &mut Vec<u64>) -> Option<usize> {
    let bits = values.len().ilog2() + 2;
    let slots = (1usize << bits) + values.len();
    table.clear();
    table.resize(slots, EMPTY);
    let (mut moves, mut used, limit) = (0, 0, 32 * values.len());
    for &value in values {
        let mut slot = (value >> (64 - bits)) as usize;
        let first = slot;
        while table[slot] < value {
            slot += 1;
        }
        if table[slot] == value {
            if value == EMPTY {
                return None;
            }
            continue;
        }
        let mut held = std::mem::replace(&mut table[slot], value);
        while held != EMPTY {
            slot += 1;
            held = std::mem::replace(&mut table[slot], held);
        }
        used = used.max(slot + 1);
        moves += slot - first;
        if moves > limit {
            return None;
        }
    }
    Some(used)
}

/// Writes the values of `table` that are not empty to the front of `out`, in order; says how many there are.
fn read_off(table: &[u64], out: &mut [u64]) -> usize {
    let mut length = 0;
    for &value in table {
        if length == out.len() {
            break;
        }
        out[length] = value;
        length += usize::from(value != EMPTY);
    }
    length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each way of sorting equals the standard one, or leaves the values alone.
    fn check(values: &[u64]) {
        let mut expected = values.to_vec();
        expected.sort_unstable();
        expected.dedup();
        // Behind those of other pages.
        let behind = |values: &[u64]| [&[9, 3, 3][..], values].concat();
        let (mut table, mut sorted) = (Table::default(), behind(values));
        sort_unique(&mut sorted, 3, &mut table);
        assert_eq!(sorted, behind(&expected));
        // The buffers are full of another page's values now.
        let mut plain = behind(values);
        let done = sort_unique_plain(&mut plain, 3, &mut table.slots);
        assert_eq!(plain, behind(if done { &expected } else { values }));
        let mut wide = behind(values);
        let done = wide::sort_unique(&mut wide, 3, &mut table);
        assert_eq!(wide, behind(if done { &expected } else { values }));
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
            }
        }
    }

    #[test]
    fn uniform_values_and_copies_need_no_comparing() {
        let copies = || hashes(40).cycle().take(2000);
        for values in
            [hashes(600).collect::<Vec<_>>(), copies().collect(), copies().chain(hashes(600)).collect()]
        {
            assert!(sort_unique_plain(&mut values.clone(), 0, &mut Vec::new()));
            if wide::supported() {
                assert!(wide::sort_unique(&mut values.clone(), 0, &mut Table::default()));
            }
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
