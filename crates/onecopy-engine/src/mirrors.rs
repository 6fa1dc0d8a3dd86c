//! Mirrors: two places of the web, a host and a path prefix each, that have the same pages at the same paths.
//!
//! Host1/α and Host2/β are mirrors when for most paths p both have p with the same or nearly the same content. Nothing
//! is read but `pages.jsonl` of a finished run: its groups say what is nearly the same. The pages become one tree of
//! hosts and path segments (`tree`); pages of one group whose addresses end alike propose two prefixes (`candidates`);
//! the subtrees below them are walked side by side and counted exactly (`compare`); what is found is named in a second
//! reading (`evidence`), so that no address stays in memory.

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
use compare::{Comparison, Found};
use tree::Tree;

/// Two prefixes with the same pages below them, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mirror {
    /// The prefix that comes first in the alphabet.
    pub left: Prefix,
    /// The other prefix.
    pub right: Prefix,
    /// How sure it is that for most paths both have the same content, from 0 to 1; see `docs/FORMAT.md`.
    pub score: f64,
    /// Mirrors of mirrors are in one set. Its number, from 1.
    pub set: usize,
    /// Paths that both have, in one group.
    pub matched: u32,
    /// Paths that both have, with different content.
    pub mismatched: u32,
    /// Paths that only the left has.
    pub only_left: u32,
    /// Paths that only the right has.
    pub only_right: u32,
    /// Some of the paths, a few of each kind.
    pub examples: Vec<Example>,
}

/// A host, and the beginning of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Prefix {
    /// The host in lower case, with its port unless that is the usual one.
    pub host: String,
    /// Whole segments, such as `/docs/en`; empty for the whole host.
    pub path: String,
}

/// A path below both prefixes, or one of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Example {
    /// What the path speaks for.
    pub kind: ExampleKind,
    /// What follows the prefix, such as `/guide/intro.html?page=2`.
    pub path: String,
}

/// What a path says about two prefixes.
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

/// Finds the mirrors among the pages of the finished run in `dir`, the surest first.
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

/// The mirrors of a tree, in no order that means anything.
fn find(tree: &Tree, rules: &MirrorRules) -> Vec<Found> {
    let mut found = Vec::new();
    for (left, right) in candidates(tree, rules) {
        found.append(&mut Comparison::new(tree, rules, left, right).run());
    }
    found
}

/// Numbers the sets of mirrors that are joined by pairs, in the order in which they are first met.
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
