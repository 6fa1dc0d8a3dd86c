//! Sets of contents that may be similar, over all parts of keys, and the bins that sets are settled in.

use std::collections::HashMap;

use onecopy_core::Groups;
use pyo3::prelude::*;

use super::columns::{Table, integers, longs};
use crate::arrow::ArrowTable;

/// The set of each node of the edges `node`, `root`, named by its smallest node.
#[pyfunction]
pub fn connect_nodes(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
    let table = Table::of(data)?;
    let (from, to) = (table.numbers("node")?, table.numbers("root")?);
    let (nodes, sets) = py.detach(|| connected(&from, &to));
    ArrowTable::new(vec![("node", longs(nodes)), ("component", longs(sets))])
}

/// As [`connect_nodes`], with a `bin` for each set that has at most `most` words. Edges also have the `words` of the
/// node's sketch and the number of its `pages`. There are at least `least` bins.
#[pyfunction]
pub fn set_bins(py: Python<'_>, data: &Bound<'_, PyAny>, most: u64, least: u64) -> PyResult<ArrowTable> {
    let table = Table::of(data)?;
    let (from, to) = (table.numbers("node")?, table.numbers("root")?);
    let (words, pages) = (table.numbers("words")?, table.numbers("pages")?);
    let (nodes, sets, bins) = py.detach(|| {
        let (nodes, sets) = connected(&from, &to);
        let mut weights: HashMap<i64, (i64, i64)> = HashMap::new();
        for (row, &node) in from.iter().enumerate() {
            let (most_words, most_pages) = weights.entry(node).or_insert((1, 1));
            *most_words = words[row].max(*most_words);
            *most_pages = pages[row].max(*most_pages);
        }
        let mut totals: HashMap<i64, u64> = HashMap::new();
        for (node, set) in nodes.iter().zip(&sets) {
            let &(words, pages) = weights.get(node).unwrap_or(&(1, 1));
            *totals.entry(*set).or_default() += words as u64 * pages as u64;
        }
        let count = least.max(1 + 2 * totals.values().sum::<u64>() / most.max(1));
        // Nodes are hashes.
        let bin = |set: &i64| (totals[set] <= most).then(|| (*set as u64 % count) as i32);
        let bins: Vec<Option<i32>> = sets.iter().map(bin).collect();
        (nodes, sets, bins)
    });
    ArrowTable::new(vec![("node", longs(nodes)), ("component", longs(sets)), ("bin", integers(bins))])
}

/// All nodes, ascending, and the set of each.
fn connected(from: &[i64], to: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let mut nodes: Vec<i64> = from.iter().chain(to).copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |node: &i64| nodes.binary_search(node).unwrap_or_default() as u32;
    let mut groups = Groups::new(nodes.len());
    from.iter().zip(to).for_each(|(a, b)| groups.join(place(a), place(b)));
    let sets = (0..nodes.len() as u32).map(|node| nodes[groups.of(node) as usize]).collect();
    (nodes, sets)
}
