//! Finds prefixes worth comparing: those that pages of one group propose.
//!
//! If the addresses of two pages of one group end in the same segments, cutting off the longest common ending leaves
//! two prefixes. This is the most general pair they support. The comparison finds narrower pairs.

use std::collections::HashMap;

use onecopy_core::MirrorRules;

use super::tree::{NONE, Node, Tree};

/// The most pages of one group and one last segment for which all pairs are proposed. In larger sets, each page is
/// paired only with its neighbours.
const ALL_PAIRS: usize = 24;
/// The number of neighbours on one side. The order is the same in every group. So if many hosts mirror each other, the
/// same neighbours meet repeatedly and connect the set.
const NEIGHBOURS: usize = 8;
/// Every prefix is compared with at least this many others, those with the most shared pages. This keeps the cost
/// linear.
const PARTNERS: u32 = 64;

/// The pairs of prefixes to compare.
pub(super) fn candidates(tree: &Tree, rules: &MirrorRules) -> Vec<(Node, Node)> {
    let mut proposed = Vec::new();
    for group in 0..tree.members.len() {
        propose(tree, tree.members.of(group), &mut proposed);
    }
    proposed.sort_unstable();
    // Half of the required paths suffice here, because a large group does not propose all pairs.
    let least = rules.least_paths.div_ceil(2);
    let supported = proposed.chunk_by(|a, b| a == b).filter(|equal| equal.len() >= least as usize);
    let supported = supported.map(|equal| (equal.len() as u32, equal[0])).collect();
    best(tree, supported)
}

/// Adds the pairs of prefixes that the pages of one group propose.
fn propose(tree: &Tree, members: &[Node], proposed: &mut Vec<(Node, Node)>) {
    if members.len() < 2 {
        return;
    }
    let segment = |node: Node| tree.segments[node as usize];
    let mut sorted: Vec<(u64, u64, u64, Node)> = members
        .iter()
        .map(|&node| (segment(node), tree.keys[tree.host(node) as usize], tree.keys[node as usize], node))
        .collect();
    sorted.sort_unstable();
    for alike in sorted.chunk_by(|a, b| a.0 == b.0) {
        let reach = if alike.len() <= ALL_PAIRS { ALL_PAIRS } else { NEIGHBOURS };
        for (i, a) in alike.iter().enumerate() {
            let others = alike[i + 1..].iter().take(reach);
            proposed.extend(others.map(|b| prefixes(tree, a.3, b.3)));
        }
    }
}

/// The prefixes left after cutting off the longest common ending. The smaller number comes first, or the prefix that
/// contains the other.
fn prefixes(tree: &Tree, a: Node, b: Node) -> (Node, Node) {
    let (mut a, mut b) = (a, b);
    loop {
        let (above_a, above_b) = (tree.parents[a as usize], tree.parents[b as usize]);
        let differ = tree.segments[a as usize] != tree.segments[b as usize];
        if differ || above_a == NONE || above_b == NONE {
            return (a.min(b), a.max(b));
        }
        (a, b) = (above_a, above_b);
    }
}

/// Keeps the pairs that are among the best of either prefix.
fn best(tree: &Tree, mut supported: Vec<(u32, (Node, Node))>) -> Vec<(Node, Node)> {
    let key = |node: Node| tree.keys[node as usize];
    supported.sort_unstable_by_key(|&(support, (a, b))| {
        (std::cmp::Reverse(support), key(a).min(key(b)), key(a).max(key(b)))
    });
    let mut partners: HashMap<Node, u32> = HashMap::new();
    supported.retain(|&(_, (a, b))| {
        let mut is_among_best = false;
        for node in [a, b] {
            let partners = partners.entry(node).or_default();
            *partners += 1;
            is_among_best |= *partners <= PARTNERS;
        }
        is_among_best
    });
    supported.into_iter().map(|(_, pair)| pair).collect()
}
