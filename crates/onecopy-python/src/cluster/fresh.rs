//! Fresh keys beside those of a collection. Only keys of the collection that are also fresh take memory.

use std::collections::{BTreeMap, HashSet};

use pyo3::prelude::*;

use super::columns::Table;
use super::edges::{Edges, append_edges, edges};
use super::entries::head;
use super::part::{Part, Wanted};
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
    fresh: Fresh,
}

impl Meeting {
    /// The fresh keys; `None` if they are damaged.
    fn new<'a>(fresh: impl IntoIterator<Item = &'a [u8]>) -> Option<Meeting> {
        let mut part = Part::default();
        fresh.into_iter().try_for_each(|mut blob| part.decode(&mut blob))?;
        let fresh = Fresh::of(&part);
        Some(Meeting { part, fresh })
    }

    /// Adds keys of the collection; `None` if they are damaged.
    fn meet(&mut self, mut blob: &[u8]) -> Option<()> {
        self.part.decode_wanted(&mut blob, &self.fresh)
    }
}

/// Fresh keys and nodes. Most keys of a collection are not among them, and a table of bits denies nearly all of these.
struct Fresh {
    bits: Vec<u64>,
    keys: HashSet<u64>,
    nodes: HashSet<u64>,
}

impl Fresh {
    fn of(part: &Part) -> Fresh {
        let keys: HashSet<u64> = part.entries.iter().map(|(key, ..)| *key).collect();
        let mut bits = vec![0; (keys.len() / 4 + 1).next_power_of_two()];
        let mask = bits.len() - 1;
        for head in keys.iter().map(|&key| head(key, part.bits)) {
            // Keys are hashes, so the low bits of their heads are random.
            bits[(head >> 6) as usize & mask] |= 1 << (head & 63);
        }
        Fresh { bits, keys, nodes: part.nodes.iter().copied().collect() }
    }
}

impl Wanted for Fresh {
    fn may(&self, head: u32) -> bool {
        self.bits[(head >> 6) as usize & (self.bits.len() - 1)] >> (head & 63) & 1 == 1
    }

    fn has(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    fn has_node(&self, node: u64) -> bool {
        self.nodes.contains(&node)
    }
}
