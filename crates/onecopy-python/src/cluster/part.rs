//! Keys on their way: the keys of many pages that fall into one part of all keys, packed into bytes.
//!
//! Only the leading bits of a key travel. Two keys that agree in them cost a look at two pages, and change no answer.
//! Beside each page is the outline of its sketch, if parts are few. It denies most pairs that are not alike, and a page
//! that it denies all candidates need not send its sketch anywhere.

use arrow_array::ArrayRef;
use onecopy_core::{Method, Rarity as Counts, Scratch};
use pyo3::prelude::*;

use super::columns::{Table, append_words, binary, integers, words};
use super::plan::Plan;
use crate::arrow::ArrowTable;
use crate::stages::Rarity;

/// The words of outlines that a page sends to all parts together.
const OUTLINE_WORDS: usize = 32;
/// More words hardly deny more pairs.
const WIDEST: usize = 16;

/// How keys are packed. All keys that meet must be packed in one way.
#[derive(Clone, Copy)]
pub struct Packing {
    /// Into how many parts.
    pub parts: usize,
    /// The leading bits of a key that travel.
    pub bits: u32,
    /// The words of an outline; none if there are many parts.
    pub width: usize,
}

impl Packing {
    fn new((parts, bits): (usize, u32), method: &dyn Method) -> Packing {
        let width = (OUTLINE_WORDS / parts.max(1)).min(WIDEST);
        // One word says nothing but the size.
        let width = if method.has_outlines() && width > 1 { width } else { 0 };
        Packing { parts: parts.max(1), bits: bits.clamp(1, 64), width }
    }
}

/// The keys of pages that fall into one part, and the names and texts whose hashes do.
#[derive(Default)]
pub struct Part {
    /// The node of each holder, and the words of its sketch. A page is one holder.
    pub holders: Vec<(u64, u32)>,
    /// The outlines of all holders in sequence, each of `width` words.
    pub outlines: Vec<u64>,
    /// The words of an outline.
    pub width: usize,
    /// A key, the place of its holder, and the number beside the key.
    pub entries: Vec<(u64, u32, u32)>,
    /// The nodes of pages: a node that occurs twice has copies.
    pub nodes: Vec<u64>,
    /// The hashes of names: one that occurs twice is an id of two pages.
    pub names: Vec<u64>,
}

impl Part {
    fn encode(mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.entries.sort_unstable();
        number(self.width as u64, &mut out);
        number(self.holders.len() as u64, &mut out);
        for (node, size) in self.holders {
            out.extend(node.to_le_bytes());
            number(size.into(), &mut out);
        }
        append_words(&self.outlines, &mut out);
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
        let (first, width) = (self.holders.len() as u32, read(bytes)? as usize);
        if first > 0 && width != self.width {
            return None;
        }
        self.width = width;
        let count = read(bytes)?;
        for _ in 0..count {
            let node = word(bytes)?;
            self.holders.push((node, read(bytes)? as u32));
        }
        for _ in 0..count.checked_mul(width as u64)? {
            self.outlines.push(word(bytes)?);
        }
        let mut key = 0;
        for _ in 0..read(bytes)? {
            key += read(bytes)?;
            self.entries.push((key, first + read(bytes)? as u32, read(bytes)? as u32));
        }
        unrising(bytes, &mut self.nodes)?;
        unrising(bytes, &mut self.names)
    }

    /// As [`Part::decode`], only for keys and nodes that are wanted. Others take no memory.
    pub fn decode_wanted(
        &mut self,
        bytes: &mut &[u8],
        keys: impl Fn(u64) -> bool,
        nodes: impl Fn(u64) -> bool,
    ) -> Option<()> {
        let width = read(bytes)? as usize;
        if !self.holders.is_empty() && width != self.width {
            return None;
        }
        self.width = width;
        let count = read(bytes)? as usize;
        let mut holders = Vec::new();
        for _ in 0..count {
            holders.push((word(bytes)?, read(bytes)? as u32));
        }
        let outlines;
        (outlines, *bytes) = bytes.split_at_checked(count.checked_mul(8 * width)?)?;
        let mut places = vec![None; count];
        let mut key = 0;
        for _ in 0..read(bytes)? {
            key += read(bytes)?;
            let (holder, rest) = (read(bytes)? as usize, read(bytes)? as u32);
            if keys(key) {
                let place = *places.get_mut(holder)?.get_or_insert_with(|| {
                    self.holders.push(holders[holder]);
                    self.outlines.extend(words(&outlines[8 * width * holder..][..8 * width]));
                    self.holders.len() as u32 - 1
                });
                self.entries.push((key, place, rest));
            }
        }
        let mut all = Vec::new();
        unrising(bytes, &mut all)?;
        self.nodes.extend(all.into_iter().filter(|&node| nodes(node)));
        Some(())
    }

    /// The outline of a holder.
    pub fn outline(&self, holder: u32) -> &[u64] {
        &self.outlines[holder as usize * self.width..][..self.width]
    }
}

/// Takes a word of eight bytes.
pub fn word(bytes: &mut &[u8]) -> Option<u64> {
    let (word, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*word))
}

/// Appends a number, seven bits per byte.
pub fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number that [`number`] appended.
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
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
    let table = Table::of(data)?;
    let (sketches, counts) = (table.bytes("sketch")?, &mut rarity.counts);
    py.detach(|| sketches.into_iter().for_each(|sketch| counts.count(&words(sketch))));
    Ok(())
}

/// Counts that call nothing a page's own. Keys by them stay right when pages are added.
#[pyfunction]
pub fn open_rarity(rarity: &Rarity) -> Rarity {
    Rarity { counts: rarity.counts.open() }
}

/// Counts of half as many counters, and so on, down to `1 << bits`.
#[pyfunction]
pub fn fold_rarity(rarity: &Rarity, bits: u32) -> Rarity {
    Rarity { counts: rarity.counts.folded(bits) }
}

/// The keys of the pages of `data`, packed: a row for each part that has any. `packing` has
/// how many parts there are, and how many bits of a key travel.
#[pyfunction]
pub fn key_parts(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    plan: &str,
    rarity: &Rarity,
    packing: (usize, u32),
) -> PyResult<ArrowTable> {
    let method = Plan::read(plan)?.method()?;
    let table = Table::of(data)?;
    let (sketches, nodes, names) = (table.bytes("sketch")?, table.numbers("node")?, table.numbers("name")?);
    let packed = py.detach(|| {
        let mut finder = KeyFinder::new(&*method, &rarity.counts, Packing::new(packing, &*method));
        for (row, sketch) in sketches.iter().enumerate() {
            finder.page(&words(sketch), nodes[row] as u64, names[row] as u64);
        }
        finder.packed()
    });
    let (numbers, blobs): (Vec<Option<i32>>, Vec<Vec<u8>>) = packed.into_iter().unzip();
    ArrowTable::new(vec![("part", integers(numbers)), ("keys", binary(&blobs) as ArrayRef)])
}

struct KeyFinder<'a> {
    method: &'a dyn Method,
    rarity: &'a Counts,
    packing: Packing,
    parts: Vec<Part>,
    scratch: Scratch,
    keys: Vec<(u64, u32)>,
    outline: Vec<u64>,
}

impl<'a> KeyFinder<'a> {
    fn new(method: &'a dyn Method, rarity: &'a Counts, packing: Packing) -> KeyFinder<'a> {
        let part = || Part { width: packing.width, ..Part::default() };
        let parts = std::iter::repeat_with(part).take(packing.parts).collect();
        let (scratch, keys, outline) = (Scratch::default(), Vec::new(), vec![0; packing.width]);
        KeyFinder { method, rarity, packing, parts, scratch, keys, outline }
    }

    fn page(&mut self, sketch: &[u64], node: u64, name: u64) {
        let Packing { parts: count, bits, width } = self.packing;
        self.parts[part_of(name, count)].names.push(name);
        if sketch.is_empty() {
            return;
        }
        self.parts[part_of(node, count)].nodes.push(node);
        self.keys.clear();
        self.method.keys(sketch, self.rarity, &mut self.scratch, &mut self.keys);
        if width > 0 && !self.keys.is_empty() {
            self.method.outline(sketch, &mut self.scratch, &mut self.outline);
        }
        // Keys of one part are in sequence then.
        self.keys.sort_unstable();
        let mut last = None;
        for &(key, rest) in &self.keys {
            let number = part_of(key, count);
            let part = &mut self.parts[number];
            if last.replace(number) != Some(number) {
                part.holders.push((node, sketch.len() as u32));
                part.outlines.extend_from_slice(&self.outline);
            }
            part.entries.push((key >> (64 - bits), part.holders.len() as u32 - 1, rest));
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
