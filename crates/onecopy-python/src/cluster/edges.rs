//! Which contents may be similar: contents that share a key are joined, on each machine and then over all.

use onecopy_core::{Groups, Held, Method};
use pyo3::prelude::*;

use super::columns::{Table, longs};
use super::part::Part;
use super::plan::Plan;
use crate::arrow::ArrowTable;
use crate::error::refused;

/// In key lists up to this length all pairs are checked. All contents of a longer list are assumed alike.
const LONG: usize = 1_000;

/// The edges between nodes that share a key of this part, and the hashes of names that occur twice. An edge leads from a
/// node to the representative of its set, and has the words of its sketch and the number of its pages, if known.
#[pyfunction]
pub fn key_edges(py: Python<'_>, data: &Bound<'_, PyAny>, plan: &str) -> PyResult<(ArrowTable, Vec<i64>)> {
    let method = Plan::read(plan)?.method()?;
    let table = Table::of(data)?;
    let blobs = table.bytes("keys")?;
    let found = py.detach(|| {
        let mut part = Part::default();
        blobs.into_iter().try_for_each(|mut blob| part.decode(&mut blob))?;
        let repeated = repeated(&mut part.names).into_iter().map(|(name, _)| name as i64).collect();
        Some((edges(part, &*method), repeated))
    });
    let (edges, repeated) = found.ok_or_else(|| refused("keys were damaged on their way: run it again"))?;
    Ok((edges.table()?, repeated))
}

/// Edges in columns.
#[derive(Default)]
pub struct Edges {
    node: Vec<i64>,
    root: Vec<i64>,
    words: Vec<i64>,
    pages: Vec<i64>,
}

impl Edges {
    pub fn table(self) -> PyResult<ArrowTable> {
        ArrowTable::new(vec![
            ("node", longs(self.node)),
            ("root", longs(self.root)),
            ("words", longs(self.words)),
            ("pages", longs(self.pages)),
        ])
    }
}

/// The values that occur twice or more, and how often.
fn repeated(values: &mut [u64]) -> Vec<(u64, usize)> {
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
    runs.map(|run| (run[0], run.len())).collect()
}

/// The edges between nodes of a part.
pub fn edges(part: Part, method: &dyn Method) -> Edges {
    let mut out = Edges::default();
    append_edges(part, method, &mut out);
    out
}

/// Appends the edges between nodes of a part.
pub fn append_edges(mut part: Part, method: &dyn Method, out: &mut Edges) {
    for (node, pages) in repeated(&mut part.nodes) {
        out.node.push(node as i64);
        out.root.push(node as i64);
        out.words.push(0);
        out.pages.push(pages as i64);
    }
    // Each task sent its keys in order, and this sort merges what is in order.
    part.entries.sort();
    let mut nodes: Vec<u64> = part.holders.iter().map(|(node, _)| *node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |node: u64| nodes.binary_search(&node).unwrap_or_default() as u32;
    let holders: Vec<(u32, u32)> = part.holders.iter().map(|&(node, size)| (place(node), size)).collect();
    let (mut groups, mut joined) = (Groups::new(nodes.len()), vec![false; nodes.len()]);
    let may_join = Joining { part: &part, holders: &holders, method };
    for list in part.entries.chunk_by(|a, b| a.0 == b.0).filter(|list| list.len() > 1) {
        may_join.join(list, &mut groups);
    }
    for node in 0..nodes.len() as u32 {
        let root = groups.find(node);
        joined[node as usize] |= root != node;
        joined[root as usize] |= root != node;
    }
    let mut words = vec![0; nodes.len()];
    holders.iter().for_each(|&(node, size)| words[node as usize] = size.max(words[node as usize]));
    for node in (0..nodes.len()).filter(|&node| joined[node]) {
        out.node.push(nodes[node] as i64);
        out.root.push(nodes[groups.find(node as u32) as usize] as i64);
        out.words.push(words[node].into());
        out.pages.push(1);
    }
}

/// Joins the holders of keys.
struct Joining<'a> {
    part: &'a Part,
    /// The place of each holder's node, and the words of its sketch.
    holders: &'a [(u32, u32)],
    method: &'a dyn Method,
}

impl Joining<'_> {
    /// Joins the holders of a key that may be alike.
    fn join(&self, list: &[(u64, u32, u32)], groups: &mut Groups) {
        let node = |entry: &(u64, u32, u32)| self.holders[entry.1 as usize].0;
        let first = groups.find(node(&list[0]));
        if list.iter().all(|entry| groups.find(node(entry)) == first) {
            return;
        }
        if list.len() > LONG {
            return list.iter().for_each(|entry| groups.join(first, node(entry)));
        }
        for (place, one) in list.iter().enumerate() {
            for other in &list[..place] {
                if groups.find(node(one)) != groups.find(node(other)) && self.may(one, other) {
                    groups.join(node(one), node(other));
                }
            }
        }
    }

    fn may(&self, one: &(u64, u32, u32), other: &(u64, u32, u32)) -> bool {
        let held =
            |&(_, holder, rest): &(u64, u32, u32)| Held { size: self.holders[holder as usize].1, rest };
        let has_outlines = self.part.width > 0;
        self.method.may(held(one), held(other))
            && !(has_outlines && self.method.deny(self.part.outline(one.1), self.part.outline(other.1)))
    }
}
