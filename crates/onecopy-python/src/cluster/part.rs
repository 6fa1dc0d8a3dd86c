//! Keys on their way: the keys of many pages that fall into one part of all keys, packed into bytes.
//!
//! Only 48 bits of a key travel. Two keys that agree in them cost a look at two pages, and change no answer.

use arrow_array::ArrayRef;
use onecopy_core::{Method, Rarity as Counts, Scratch};
use pyo3::prelude::*;

use super::columns::{Table, binary, integers};
use super::plan::Plan;
use crate::arrow::ArrowTable;
use crate::stages::Rarity;

/// The bits of a key that do not travel.
const DROPPED: u32 = 16;

/// The keys of pages that fall into one part, and the names and texts whose hashes do.
#[derive(Default)]
pub struct Part {
    /// The node of each holder, and the words of its sketch.
    pub holders: Vec<(u64, u32)>,
    /// A key, the place of its holder, and the number beside the key.
    pub entries: Vec<(u64, u32, u32)>,
    /// The nodes of pages: a node that occurs twice has copies.
    pub nodes: Vec<u64>,
    /// The hashes of names: one that occurs twice is an id of two pages.
    pub names: Vec<u64>,
}

impl Part {
    /// Adds a key of the page that was added last, or of a new page.
    fn add(&mut self, (node, size): (u64, u32), key: u64, rest: u32) {
        if self.holders.last() != Some(&(node, size)) {
            self.holders.push((node, size));
        }
        self.entries.push((key >> DROPPED, self.holders.len() as u32 - 1, rest));
    }

    fn encode(mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.entries.sort_unstable();
        number(self.holders.len() as u64, &mut out);
        for (node, size) in self.holders {
            out.extend(node.to_le_bytes());
            number(size.into(), &mut out);
        }
        number(self.entries.len() as u64, &mut out);
        let mut before = 0;
        for (key, holder, rest) in self.entries {
            number(key - before, &mut out);
            number(holder.into(), &mut out);
            number(rest.into(), &mut out);
            before = key;
        }
        rising(self.nodes, &mut out);
        rising(self.names, &mut out);
        out
    }

    /// Adds what [`Part::encode`] wrote; `None` if it is damaged.
    pub fn decode(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let first = self.holders.len() as u32;
        for _ in 0..read(bytes)? {
            let (node, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            self.holders.push((u64::from_le_bytes(*node), read(bytes)? as u32));
        }
        let mut key = 0;
        for _ in 0..read(bytes)? {
            key += read(bytes)?;
            self.entries.push((key, first + read(bytes)? as u32, read(bytes)? as u32));
        }
        unrising(bytes, &mut self.nodes)?;
        unrising(bytes, &mut self.names)
    }
}

impl Part {
    /// Adds the keys of other pages.
    pub fn append(&mut self, other: Part) {
        let first = self.holders.len() as u32;
        self.holders.extend(other.holders);
        self.entries.extend(other.entries.iter().map(|&(key, holder, rest)| (key, first + holder, rest)));
        self.nodes.extend(other.nodes);
        self.names.extend(other.names);
    }
}

/// Appends a number, seven bits per byte.
fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

fn rising(mut values: Vec<u64>, out: &mut Vec<u8>) {
    values.sort_unstable();
    number(values.len() as u64, out);
    let mut before = 0;
    for value in values {
        number(value - before, out);
        before = value;
    }
}

fn unrising(bytes: &mut &[u8], out: &mut Vec<u64>) -> Option<()> {
    let mut value = 0;
    for _ in 0..read(bytes)? {
        value += read(bytes)?;
        out.push(value);
    }
    Some(())
}

/// The part of a hash, out of `parts`.
fn part_of(hash: u64, parts: usize) -> usize {
    ((u128::from(hash) * parts as u128) >> 64) as usize
}

/// Adds the sketches of `data` to counts.
#[pyfunction]
pub fn count_sketches(py: Python<'_>, rarity: &mut Rarity, data: &Bound<'_, PyAny>) -> PyResult<()> {
    let sketches = Table::of(data)?.sketches()?;
    let counts = &mut rarity.counts;
    py.detach(|| sketches.iter().for_each(|sketch| counts.count(sketch)));
    Ok(())
}

/// Counts that call nothing a page's own. Keys by them stay right when pages are added.
#[pyfunction]
pub fn open_rarity(rarity: &Rarity) -> Rarity {
    Rarity { counts: rarity.counts.open() }
}

/// The keys of the pages of `data`, packed: a row for each of `parts` parts that has any.
#[pyfunction]
pub fn key_parts(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    plan: &str,
    rarity: &Rarity,
    parts: usize,
) -> PyResult<ArrowTable> {
    let method = Plan::read(plan)?.method()?;
    let table = Table::of(data)?;
    let (sketches, nodes, names) = (table.bytes("sketch")?, table.numbers("node")?, table.numbers("name")?);
    let packed = py.detach(|| {
        let mut finder = KeyFinder { method: &*method, rarity: &rarity.counts, parts: Vec::new() };
        finder.parts.resize_with(parts, Part::default);
        let mut scratch = Scratch::default();
        for (row, sketch) in sketches.iter().enumerate() {
            finder.page(&super::columns::words(sketch), nodes[row] as u64, names[row] as u64, &mut scratch);
        }
        finder.packed()
    });
    let (numbers, blobs): (Vec<Option<i32>>, Vec<Vec<u8>>) = packed.into_iter().unzip();
    ArrowTable::new(vec![("part", integers(numbers)), ("keys", binary(&blobs) as ArrayRef)])
}

struct KeyFinder<'a> {
    method: &'a dyn Method,
    rarity: &'a Counts,
    parts: Vec<Part>,
}

impl KeyFinder<'_> {
    fn page(&mut self, sketch: &[u64], node: u64, name: u64, scratch: &mut Scratch) {
        let count = self.parts.len();
        self.parts[part_of(name, count)].names.push(name);
        if sketch.is_empty() {
            return;
        }
        self.parts[part_of(node, count)].nodes.push(node);
        let mut keys = Vec::new();
        self.method.keys(sketch, self.rarity, scratch, &mut keys);
        for (key, rest) in keys {
            self.parts[part_of(key, count)].add((node, sketch.len() as u32), key, rest);
        }
    }

    fn packed(self) -> Vec<(Option<i32>, Vec<u8>)> {
        let used =
            self.parts.into_iter().enumerate().filter(|(_, part)| {
                !part.names.is_empty() || !part.nodes.is_empty() || !part.entries.is_empty()
            });
        used.map(|(number, part)| (Some(number as i32), part.encode())).collect()
    }
}
