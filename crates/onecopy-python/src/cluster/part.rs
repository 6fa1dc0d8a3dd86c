//! Keys on their way: the keys of many pages that fall into one part of all keys, packed into bytes.
//!
//! Only the leading bits of a key travel. Two keys that agree in them cost a look at two pages, and change no answer.
//! Beside each page is the outline of its sketch, if parts are few. It denies most pairs that are not alike, and a page
//! that it denies all candidates need not send its sketch anywhere.

use arrow_array::ArrayRef;
use onecopy_core::{Method, Rarity as Counts, Scratch};
use pyo3::prelude::*;

use super::columns::{Table, append_words, binary, integers, words};
use super::entries::{Column, Entries, Entry, Form, append_column, append_entries, split};
use super::plan::Plan;
use crate::arrow::ArrowTable;
use crate::stages::Rarity;

/// The words of outlines that a page sends to all parts together.
const OUTLINE_WORDS: usize = 32;
/// More words hardly deny more pairs.
const WIDEST: usize = 16;

/// Outlines deny most pages that meet by chance, so that keys which travel beside them need fewer bits.
const SPARED_BITS: u32 = 6;

/// How keys are packed. All keys that meet must be packed in one way.
#[derive(Clone, Copy)]
pub struct Packing {
    /// Into how many parts.
    pub parts: usize,
    /// The leading bits of a key that travel.
    pub bits: u32,
    /// The words of an outline; none if there are many parts.
    pub width: usize,
    pub form: Form,
}

impl Packing {
    fn new((parts, bits, to_keep): (usize, u32, bool), method: &dyn Method) -> Packing {
        let width = (OUTLINE_WORDS / parts.max(1)).min(WIDEST);
        // One word says nothing but the size.
        let width = if method.has_outlines() && width > 1 { width } else { 0 };
        let spared = if to_keep || width == 0 { 0 } else { SPARED_BITS };
        let form = if to_keep { Form::Heads } else { Form::Differences };
        Packing { parts: parts.max(1), bits: bits.saturating_sub(spared).clamp(1, 64), width, form }
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
    pub entries: Vec<Entry>,
    /// The bits of a key at most.
    pub bits: u32,
    pub form: Form,
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
        number(self.bits.into(), &mut out);
        number(self.holders.len() as u64, &mut out);
        self.holders.iter().for_each(|(node, _)| out.extend(node.to_le_bytes()));
        append_column(self.holders.iter().map(|(_, size)| *size), &mut out);
        append_words(&self.outlines, &mut out);
        append_entries(&self.entries, self.bits, self.form, &mut out);
        rising(self.nodes, &mut out);
        rising(self.names, &mut out);
        out
    }

    /// Adds what [`Part::encode`] wrote; `None` if it is damaged.
    pub fn decode(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let (first, packed) = (self.holders.len() as u32, self.take(bytes)?);
        self.holders.extend((0..packed.nodes.len()).map(|place| packed.holder(place)));
        self.outlines.extend(words(packed.outlines));
        packed.entries.all(|(key, holder, rest)| {
            self.entries.push((key, first.checked_add(holder)?, rest));
            Some(())
        })?;
        unrising(bytes, |node| self.nodes.push(node))?;
        unrising(bytes, |name| self.names.push(name))
    }

    /// As [`Part::decode`], only for keys and nodes that are wanted. Others take no memory.
    pub fn decode_wanted(&mut self, bytes: &mut &[u8], wanted: &impl Wanted) -> Option<()> {
        let packed = self.take(bytes)?;
        let mut places = vec![None; packed.nodes.len()];
        let (may, is) = (|head| wanted.may(head), |key| wanted.has(key));
        packed.entries.wanted(may, is, |(key, holder, rest)| {
            let place = *places.get_mut(holder as usize)?.get_or_insert_with(|| {
                self.holders.push(packed.holder(holder as usize));
                self.outlines.extend(words(packed.outline(holder as usize)));
                self.holders.len() as u32 - 1
            });
            self.entries.push((key, place, rest));
            Some(())
        })?;
        unrising(bytes, |node| {
            if wanted.has_node(node) {
                self.nodes.push(node);
            }
        })
    }

    /// Takes holders and entries. They must be packed as those before.
    fn take<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Packed<'a>> {
        let (width, bits) = (read(bytes)? as usize, u32::try_from(read(bytes)?).ok()?);
        let is_first = self.holders.is_empty() && self.entries.is_empty();
        if bits > u64::BITS || !is_first && (width, bits) != (self.width, self.bits) {
            return None;
        }
        (self.width, self.bits) = (width, bits);
        let count = usize::try_from(read(bytes)?).ok()?;
        let nodes = split(bytes, count.checked_mul(8)?)?.as_chunks().0;
        let sizes = Column::take(bytes, count)?;
        let outlines = split(bytes, count.checked_mul(width.checked_mul(8)?)?)?;
        Some(Packed { nodes, sizes, width, outlines, entries: Entries::take(bytes, bits)? })
    }

    /// The outline of a holder.
    pub fn outline(&self, holder: u32) -> &[u64] {
        &self.outlines[holder as usize * self.width..][..self.width]
    }
}

/// The keys and nodes that are wanted. A key is wanted only if its head may be.
pub trait Wanted {
    fn may(&self, head: u32) -> bool;
    fn has(&self, key: u64) -> bool;
    fn has_node(&self, node: u64) -> bool;
}

/// Holders and entries where they were packed.
struct Packed<'a> {
    nodes: &'a [[u8; 8]],
    sizes: Column<'a>,
    width: usize,
    outlines: &'a [u8],
    entries: Entries<'a>,
}

impl Packed<'_> {
    fn holder(&self, place: usize) -> (u64, u32) {
        (u64::from_le_bytes(self.nodes[place]), self.sizes.get(place))
    }

    fn outline(&self, place: usize) -> &[u8] {
        &self.outlines[8 * self.width * place..][..8 * self.width]
    }
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

fn unrising(bytes: &mut &[u8], mut each: impl FnMut(u64)) -> Option<()> {
    let mut value = 0_u64;
    for _ in 0..read(bytes)? {
        value = value.checked_add(read(bytes)?)?;
        each(value);
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
/// how many parts there are, how many bits of a key travel, and whether the keys stay in a collection.
#[pyfunction]
pub fn key_parts(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    plan: &str,
    rarity: &Rarity,
    packing: (usize, u32, bool),
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
        let part =
            || Part { width: packing.width, bits: packing.bits, form: packing.form, ..Part::default() };
        let parts = std::iter::repeat_with(part).take(packing.parts).collect();
        let (scratch, keys, outline) = (Scratch::default(), Vec::new(), vec![0; packing.width]);
        KeyFinder { method, rarity, packing, parts, scratch, keys, outline }
    }

    fn page(&mut self, sketch: &[u64], node: u64, name: u64) {
        let Packing { parts: count, bits, width, .. } = self.packing;
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
