//! Values → columns of a table, by their leading bits: about three values per column.
//!
//! Slots are stored level by level: the first of each column, then the second of each. Adjacent columns can
//! therefore be sorted at once (`wide`). A column is short, and the few values whose column is full are left for the
//! end.

use super::sort::{MOST, SortTable};
use super::wide::LANES;

/// The slots of a column. With three values per column on average, one column in 260 gets more.
pub(super) const DEEP: usize = 8;
const VALUES_A_COLUMN: usize = 3;

/// Puts `values` into columns of the table, in any order, and those without a free slot into `left`. Returns the
/// number of columns in a level as a power of two; not all are used. `None` if comparing is better: for few values,
/// for too many, and for values that are not uniform.
pub(super) fn fill(values: &[u64], table: &mut SortTable) -> Option<u32> {
    /// Comparison sorts fewer values as quickly.
    const FEWEST: usize = 9;
    if !(FEWEST..=MOST).contains(&values.len()) {
        return None;
    }
    let columns = (values.len() / VALUES_A_COLUMN + 1).next_multiple_of(LANES);
    let level = columns.next_power_of_two();
    let size = DEEP * level;
    if table.slots.len() < size {
        table.slots.resize(size, 0);
    }
    table.next.clear();
    table.next.extend(0..columns as u32);
    table.left.clear();
    let (slots, limit) = (&mut table.slots[..size], values.len() / 16 + DEEP);
    for &value in values {
        let column = ((u128::from(value) * columns as u128) >> 64) as usize;
        let next = &mut table.next[column];
        if let Some(slot) = slots.get_mut(*next as usize) {
            *slot = value;
            *next += level as u32;
        } else if !slots[column..].iter().step_by(level).any(|&held| held == value) {
            // A copy needs no slot of its own: a page may have many of one value.
            table.left.push(value);
            if table.left.len() > limit {
                return None;
            }
        }
    }
    Some(level.ilog2())
}

/// Merges the values that were `left` into the first `length` of `values`, which are in order and have room after
/// them. Returns how many values there are now.
pub(super) fn merge(left: &mut [u64], values: &mut [u64], length: usize) -> usize {
    left.sort_unstable();
    let mut end = length;
    for (before, &value) in left.iter().enumerate().rev() {
        let at = values[..end].partition_point(|&smaller| smaller < value);
        values.copy_within(at..end, at + before + 1);
        values[at + before] = value;
        end = at;
    }
    length + left.len()
}
