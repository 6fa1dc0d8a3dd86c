//! Sketches on their way to the task that settles their set. Similar pages share most words of their sketches, so a
//! sketch is written as its difference from one before.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryBuilder;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::columns::{Table, append_words, words};
use super::part::{number, read};
use crate::arrow::ArrowTable;
use crate::error::refused;

/// A sketch is compared with at most this many before it.
const LOOKS: usize = 8;

/// Packs the sketches of `data` by `bin`, without rows whose bin is negative. Each bin has its number, the rows in the
/// order of its sketches, and the sketches.
#[pyfunction]
pub fn pack_sketches<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
) -> PyResult<Vec<(i64, Vec<u32>, Bound<'py, PyBytes>)>> {
    let table = Table::of(data)?;
    let (bins, sets, sketches) = (table.numbers("bin")?, table.numbers("component")?, table.bytes("sketch")?);
    let packed = py.detach(|| {
        let mut order: Vec<u32> = (0..sketches.len() as u32).filter(|&row| bins[row as usize] >= 0).collect();
        // Pages of about one length are the likeliest to be similar.
        let place = |&row: &u32| (bins[row as usize], sets[row as usize], sketches[row as usize].len(), row);
        order.sort_unstable_by_key(place);
        let mut packed: BTreeMap<i64, (Vec<u32>, Packer)> = BTreeMap::new();
        for row in order {
            let (rows, packer) = packed.entry(bins[row as usize]).or_default();
            rows.push(row);
            packer.add(sets[row as usize], &words(sketches[row as usize]));
        }
        packed
    });
    let bin = |(bin, (rows, packer)): (i64, (Vec<u32>, Packer))| (bin, rows, PyBytes::new(py, &packer.out));
    Ok(packed.into_iter().map(bin).collect())
}

/// The sketches that [`pack_sketches`] packed, for all rows of `data` in order.
#[pyfunction]
pub fn unpack_sketches(data: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
    let (mut column, mut bytes) = (BinaryBuilder::new(), Vec::new());
    for sketch in unpacked(&Table::of(data)?)? {
        bytes.clear();
        append_words(&sketch, &mut bytes);
        column.append_value(&bytes);
    }
    ArrowTable::new(vec![("sketch", Arc::new(column.finish()) as ArrayRef)])
}

/// As [`unpack_sketches`], as words.
pub fn unpacked(table: &Table) -> PyResult<Vec<Vec<u64>>> {
    let mut all = Vec::new();
    let found = table.bytes("sketches")?.into_iter().try_for_each(|mut blob| unpack(&mut blob, &mut all));
    found.map(|()| all).ok_or_else(|| refused("sketches were damaged on their way: run it again"))
}

/// Sketches in sequence: how far back the similar one is (0 for none), then the words or the difference.
#[derive(Default)]
struct Packer {
    out: Vec<u8>,
    count: usize,
    /// The sketches of the current set that were written whole, with their places.
    whole: Vec<(usize, Vec<u64>)>,
    set: Option<i64>,
}

impl Packer {
    fn add(&mut self, set: i64, sketch: &[u64]) {
        if self.set.replace(set) != Some(set) {
            self.whole.clear();
        }
        let is_set = sketch.is_sorted_by(|a, b| a < b);
        let near =
            self.whole.iter().rev().take(LOOKS).map(|(place, other)| (shared(other, sketch), *place, other));
        let best = near.max_by_key(|(shared, place, _)| (*shared, *place)).filter(|_| is_set);
        match best {
            Some((shared, place, other)) if 2 * shared > sketch.len() && 2 * shared > other.len() => {
                number((self.count - place) as u64, &mut self.out);
                difference(other, sketch, &mut self.out);
            }
            _ => {
                number(0, &mut self.out);
                number(sketch.len() as u64, &mut self.out);
                append_words(sketch, &mut self.out);
                if is_set {
                    self.whole.push((self.count, sketch.to_vec()));
                }
            }
        }
        self.count += 1;
    }
}

/// How many words both have. Both are strictly ascending.
fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut found) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        found += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    found
}

/// Appends which words of `base` are in `sketch`, a bit each, and its other words.
fn difference(base: &[u64], sketch: &[u64], out: &mut Vec<u8>) {
    let (start, mut own, mut j) = (out.len(), Vec::new(), 0);
    out.resize(start + base.len().div_ceil(8), 0);
    for (i, &word) in base.iter().enumerate() {
        while j < sketch.len() && sketch[j] < word {
            own.push(sketch[j]);
            j += 1;
        }
        if sketch.get(j) == Some(&word) {
            out[start + i / 8] |= 1 << (i % 8);
            j += 1;
        }
    }
    own.extend_from_slice(&sketch[j..]);
    number(own.len() as u64, out);
    append_words(&own, out);
}

/// Appends the sketches of a packed bin to `all`; `None` if it is damaged.
fn unpack(bytes: &mut &[u8], all: &mut Vec<Vec<u64>>) -> Option<()> {
    while !bytes.is_empty() {
        let back = read(bytes)? as usize;
        let mut sketch = Vec::new();
        if back > 0 {
            let base = all.get(all.len().checked_sub(back)?)?;
            let (bits, rest) = bytes.split_at_checked(base.len().div_ceil(8))?;
            *bytes = rest;
            sketch.extend(
                base.iter().enumerate().filter(|(i, _)| bits[i / 8] >> (i % 8) & 1 == 1).map(|(_, w)| *w),
            );
        }
        let count = read(bytes)? as usize;
        let (own, rest) = bytes.split_at_checked(count.checked_mul(8)?)?;
        *bytes = rest;
        sketch.extend(words(own));
        if back > 0 {
            sketch.sort_unstable();
        }
        all.push(sketch);
    }
    Some(())
}
