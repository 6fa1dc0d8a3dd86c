//! Values → columns of a table: shared out by their leading bits, about three a column.
//!
//! Slots are level by level, the first of each column, then the second of each: so that the columns beside one another
//! are sorted all at once (`wide`). A column is short, and the few values that find theirs full are left for the end.

use super::sort::{MOST, Table};
use super::wide::LANES;

/// Slots of a column. With three values a column on average, one column in 260 gets more.
pub(super) const DEEP: usize = 8;
const VALUES_A_COLUMN: usize = 3;

/// Puts `values` into columns of the table, in any order, and those that find no slot into `left`. Says the number of
/// columns in a level as a power of two; not all are in use. None where comparing is better: for few values, for too
/// many, and for those that are not uniform.
pub(super) fn fill(values: &[u64], table: &mut Table) -> Option<u32> {
    /// Fewer are sorted as quickly by comparison.
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
            // A copy needs no place of its own: a page may have many of one value.
            table.left.push(value);
            if table.left.len() > limit {
                return None;
            }
        }
    }
    Some(level.ilog2())
}

/// Puts the values that were `left` between the first `length` of `values`, which are in order and have room behind
/// them for those; says how many that makes.
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
