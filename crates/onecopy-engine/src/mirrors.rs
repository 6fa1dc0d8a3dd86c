//! Finds mirrors: two prefixes, each a host and a path, with the same pages at the same relative paths.
//!
//! Host1/α and Host2/β are mirrors if, for most paths p, both have p with the same or nearly the same content. The only
//! input is `pages.jsonl` of a finished run, whose groups define nearly the same content.
//!
//! 1. `tree` builds one tree of hosts and path segments from all pages.
//! 2. `candidates` proposes two prefixes for pages of one group whose addresses have the same ending.
//! 3. `compare` walks the subtrees of two prefixes in parallel and counts exactly.
//! 4. `evidence` reads the list again to name the results, so that no address stays in memory.

mod address;
mod candidates;
mod compare;
mod evidence;
mod listing;
mod tree;

use std::path::Path;

use onecopy_core::MirrorRules;
use serde::Serialize;

use crate::error::Result;
use candidates::candidates;
use compare::{MirrorPair, PrefixComparison};
use tree::Tree;

/// Two prefixes with the same pages below them, and the evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mirror {
    /// The prefix that sorts first.
    pub left: Prefix,
    /// The other prefix.
    pub right: Prefix,
    /// The confidence that both have the same content for most paths, from 0 to 1; see `docs/FORMAT.md`.
    pub score: f64,
    /// The number of its set, from 1. Mirrors that share a prefix are in one set.
    pub set: usize,
    /// Paths that both have, in one group.
    pub matched: u32,
    /// Paths that both have, with different content.
    pub mismatched: u32,
    /// Paths that only the left has.
    pub only_left: u32,
    /// Paths that only the right has.
    pub only_right: u32,
    /// A few example paths of each kind.
    pub examples: Vec<Example>,
}

/// A host, and the beginning of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Prefix {
    /// The host in lower case, with its port unless it is the default one.
    pub host: String,
    /// Whole segments, such as `/docs/en`; empty for the whole host.
    pub path: String,
}

/// A path below one or both prefixes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Example {
    /// The kind of evidence.
    pub kind: ExampleKind,
    /// The part after the prefix, such as `/guide/intro.html?page=2`.
    pub path: String,
}

/// The evidence that a path gives about two prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExampleKind {
    /// Both have it, in one group.
    Matched,
    /// Both have it, with different content.
    Mismatched,
    /// Only the left has it.
    OnlyLeft,
    /// Only the right has it.
    OnlyRight,
}

/// Finds the mirrors among the pages of the finished run in `dir`, highest score first.
pub fn mirrors(dir: &Path, rules: &MirrorRules) -> Result<Vec<Mirror>> {
    rules.check()?;
    let tree = listing::tree(dir)?;
    let found = find(&tree, rules);
    let mut mirrors = evidence::named(dir, &tree, &found, rules)?;
    mirrors.sort_by(|a, b| {
        let names = |mirror: &Mirror| (mirror.left.clone(), mirror.right.clone());
        b.score.total_cmp(&a.score).then(b.matched.cmp(&a.matched)).then_with(|| names(a).cmp(&names(b)))
    });
    number_sets(&mut mirrors);
    Ok(mirrors)
}

/// The mirrors of a tree, in arbitrary order.
fn find(tree: &Tree, rules: &MirrorRules) -> Vec<MirrorPair> {
    let mut found = Vec::new();
    for (left, right) in candidates(tree, rules) {
        found.append(&mut PrefixComparison::new(tree, rules, left, right).run());
    }
    found
}

/// Numbers the sets of connected mirrors in order of first occurrence.
fn number_sets(mirrors: &mut [Mirror]) {
    let mut prefixes: Vec<Prefix> = mirrors.iter().flat_map(|m| [m.left.clone(), m.right.clone()]).collect();
    prefixes.sort();
    prefixes.dedup();
    let place = |prefix: &Prefix| prefixes.binary_search(prefix).unwrap_or_default();
    let mut leader: Vec<usize> = (0..prefixes.len()).collect();
    let find = |leader: &mut Vec<usize>, mut at: usize| {
        while leader[at] != at {
            leader[at] = leader[leader[at]];
            at = leader[at];
        }
        at
    };
    for mirror in mirrors.iter() {
        let (left, right) = (find(&mut leader, place(&mirror.left)), find(&mut leader, place(&mirror.right)));
        leader[left.max(right)] = left.min(right);
    }
    let (mut numbers, mut last) = (vec![0; prefixes.len()], 0);
    for mirror in mirrors.iter_mut() {
        let set = &mut numbers[find(&mut leader, place(&mirror.left))];
        if *set == 0 {
            last += 1;
            *set = last;
        }
        mirror.set = *set;
    }
}

#[cfg(test)]
mod tests;
