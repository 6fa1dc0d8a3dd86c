//! Fresh keys beside those of a collection. Only keys of the collection that are also fresh take memory.

use std::collections::{BTreeMap, HashSet};

use pyo3::prelude::*;

use super::columns::Table;
use super::edges::{Edges, append_edges, edges};
use super::part::Part;
use super::plan::Plan;
use crate::arrow::ArrowTable;
use crate::error::refused;

/// As `key_edges`, for keys of which some are `fresh`. Only edges from fresh nodes count, and from nodes beside them.
#[pyfunction]
pub fn fresh_edges(py: Python<'_>, data: &Bound<'_, PyAny>, plan: &str) -> PyResult<ArrowTable> {
    let method = Plan::read(plan)?.method()?;
    let table = Table::of(data)?;
    let (blobs, fresh) = (table.bytes("keys")?, table.numbers("fresh")?);
    let found = py.detach(|| {
        let of = |wanted: bool| {
            let rows = blobs.iter().zip(&fresh);
            rows.filter(move |(_, fresh)| (**fresh != 0) == wanted).map(|(blob, _)| *blob)
        };
        let mut met = Meeting::new(of(true))?;
        of(false).try_for_each(|blob| met.meet(blob))?;
        Some(edges(met.part, &*method))
    });
    found.ok_or_else(damaged)?.table()
}

/// The keys of fresh pages by part, and the keys of the collection that met them.
#[pyclass(module = "onecopy._onecopy")]
pub struct FreshKeys {
    parts: BTreeMap<i64, Meeting>,
}

#[pymethods]
impl FreshKeys {
    /// The fresh keys: `part`, `keys`.
    #[new]
    fn new(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<FreshKeys> {
        let table = Table::of(data)?;
        let (numbers, blobs) = (table.numbers("part")?, table.bytes("keys")?);
        let parts: Option<BTreeMap<i64, Meeting>> = py.detach(|| {
            let mut of_parts: BTreeMap<i64, Vec<&[u8]>> = BTreeMap::new();
            numbers.iter().zip(blobs).for_each(|(&part, blob)| of_parts.entry(part).or_default().push(blob));
            of_parts.into_iter().map(|(part, blobs)| Some((part, Meeting::new(blobs)?))).collect()
        });
        Ok(FreshKeys { parts: parts.ok_or_else(damaged)? })
    }

    /// Adds keys of the collection: `part`, `keys`.
    fn meet(&mut self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let table = Table::of(data)?;
        let (numbers, blobs) = (table.numbers("part")?, table.bytes("keys")?);
        let met = py.detach(|| {
            numbers.iter().zip(blobs).try_for_each(|(part, blob)| {
                self.parts.get_mut(part).map_or(Some(()), |meeting| meeting.meet(blob))
            })
        });
        met.ok_or_else(damaged)
    }

    /// The edges from fresh nodes, and from nodes beside them. Leaves nothing behind.
    fn edges(&mut self, py: Python<'_>, plan: &str) -> PyResult<ArrowTable> {
        let method = Plan::read(plan)?.method()?;
        let parts = std::mem::take(&mut self.parts);
        let found = py.detach(|| {
            let mut out = Edges::default();
            parts.into_values().for_each(|meeting| append_edges(meeting.part, &*method, &mut out));
            out
        });
        found.table()
    }
}

fn damaged() -> PyErr {
    refused("the keys of the collection are damaged: begin a new collection")
}

/// The keys of a part: all fresh ones, and those of the collection that meet them.
struct Meeting {
    part: Part,
    keys: Wanted,
    nodes: HashSet<u64>,
}

impl Meeting {
    /// The fresh keys; `None` if they are damaged.
    fn new<'a>(fresh: impl IntoIterator<Item = &'a [u8]>) -> Option<Meeting> {
        let mut part = Part::default();
        fresh.into_iter().try_for_each(|mut blob| part.decode(&mut blob))?;
        let keys = Wanted::new(part.entries.iter().map(|(key, ..)| *key).collect());
        let nodes = part.nodes.iter().copied().collect();
        Some(Meeting { part, keys, nodes })
    }

    /// Adds keys of the collection; `None` if they are damaged.
    fn meet(&mut self, mut blob: &[u8]) -> Option<()> {
        let Meeting { part, keys, nodes } = self;
        part.decode_wanted(&mut blob, |key| keys.has(key), |node| nodes.contains(&node))
    }
}

/// A set of keys. Most keys of a collection are not in it, and a table of bits denies nearly all of these.
struct Wanted {
    bits: Vec<u64>,
    keys: HashSet<u64>,
}

impl Wanted {
    fn new(keys: HashSet<u64>) -> Wanted {
        let mut bits = vec![0; (keys.len() / 4 + 1).next_power_of_two()];
        let mask = bits.len() - 1;
        // Keys are hashes, so their low bits are random.
        keys.iter().for_each(|&key| bits[(key >> 6) as usize & mask] |= 1 << (key & 63));
        Wanted { bits, keys }
    }

    fn has(&self, key: u64) -> bool {
        let word = self.bits[(key >> 6) as usize & (self.bits.len() - 1)];
        word >> (key & 63) & 1 == 1 && self.keys.contains(&key)
    }
}
