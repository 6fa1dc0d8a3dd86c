//! Adds examples and names to the results. The tree holds no names, so the list of pages is read again.

use std::collections::HashMap;
use std::path::Path;

use onecopy_core::MirrorRules;

use super::compare::{MirrorPair, PrefixComparison};
use super::listing::each_address;
use super::tree::{Node, Tree};
use super::{Example, ExampleKind, Mirror, Prefix};
use crate::error::Result;

/// The mirrors with their names.
pub(super) fn named(
    dir: &Path,
    tree: &Tree,
    found: &[MirrorPair],
    rules: &MirrorRules,
) -> Result<Vec<Mirror>> {
    let examples: Vec<Examples> = found.iter().map(|found| Examples::of(tree, found, rules)).collect();
    let mut names = NodeNames::default();
    for (found, examples) in found.iter().zip(&examples) {
        let nodes = examples.picked.iter().map(|&(_, node)| node);
        for node in nodes.chain([found.left, found.right]) {
            names.want(tree, node);
        }
    }
    names.read(dir)?;
    Ok(found.iter().zip(&examples).map(|(found, examples)| names.mirror(tree, found, examples)).collect())
}

/// A few paths of each kind, the first in tree order, which is hash order.
struct Examples<'a> {
    comparison: PrefixComparison<'a>,
    tree: &'a Tree,
    limit: usize,
    picked: Vec<(ExampleKind, Node)>,
    counts: [usize; 4],
}

impl<'a> Examples<'a> {
    fn of(tree: &'a Tree, found: &MirrorPair, rules: &'a MirrorRules) -> Examples<'a> {
        let comparison = PrefixComparison::new(tree, rules, found.left, found.right);
        let mut examples =
            Examples { comparison, tree, limit: rules.examples, picked: Vec::new(), counts: [0; 4] };
        // Without this, a pair without mismatches would be searched to its end.
        examples.skip(ExampleKind::Matched, found.matched);
        examples.skip(ExampleKind::Mismatched, found.mismatched);
        let only = only(found);
        examples.skip(ExampleKind::OnlyLeft, only[0]);
        examples.skip(ExampleKind::OnlyRight, only[1]);
        examples.both(found.left, found.right);
        examples
    }

    /// Limits a kind to the number of paths that exist.
    fn skip(&mut self, kind: ExampleKind, available: u32) {
        self.counts[kind as usize] = self.limit.saturating_sub(available as usize);
    }

    fn is_full(&self) -> bool {
        self.counts.iter().all(|&count| count >= self.limit)
    }

    fn pick(&mut self, kind: ExampleKind, node: Node) {
        let count = &mut self.counts[kind as usize];
        if *count < self.limit {
            *count += 1;
            self.picked.push((kind, node));
        }
    }

    fn both(&mut self, left: Node, right: Node) {
        let common: Vec<(Node, Node)> = self.comparison.common(left, right).collect();
        for &(l, r) in &common {
            if self.is_full() {
                return;
            }
            match (self.tree.has_page(l), self.tree.has_page(r)) {
                (true, true) if self.tree.shared(l, r).is_some() => self.pick(ExampleKind::Matched, l),
                (true, true) => self.pick(ExampleKind::Mismatched, l),
                (true, false) => self.pick(ExampleKind::OnlyLeft, l),
                (false, true) => self.pick(ExampleKind::OnlyRight, r),
                (false, false) => {}
            }
            self.both(l, r);
        }
        let tree = self.tree;
        let is_common = |segment: u64| {
            common.binary_search_by_key(&segment, |pair| tree.segments[pair.0 as usize]).is_ok()
        };
        for (side, kind) in [(left, ExampleKind::OnlyLeft), (right, ExampleKind::OnlyRight)] {
            for &node in tree.children.of(side) {
                if !is_common(tree.segments[node as usize]) {
                    self.one(node, kind);
                }
            }
        }
    }

    fn one(&mut self, node: Node, kind: ExampleKind) {
        if self.counts[kind as usize] >= self.limit
            || (kind == ExampleKind::OnlyLeft && self.comparison.is_nested(node))
        {
            return;
        }
        if self.tree.has_page(node) {
            self.pick(kind, node);
        }
        for &child in self.tree.children.of(node) {
            self.one(child, kind);
        }
    }
}

fn only(found: &MirrorPair) -> [u32; 2] {
    found.below.map(|below| below - found.matched - found.mismatched)
}

/// The texts of the wanted nodes by key: the name of a host, or the path down to the node.
#[derive(Default)]
struct NodeNames {
    texts: HashMap<u64, String>,
    missing: usize,
}

impl NodeNames {
    fn want(&mut self, tree: &Tree, node: Node) {
        for node in [node, tree.host(node)] {
            self.texts.entry(tree.keys[node as usize]).or_default();
        }
    }

    fn read(&mut self, dir: &Path) -> Result<()> {
        self.missing = self.texts.len();
        if self.missing == 0 {
            return Ok(());
        }
        each_address(dir, |address, _| {
            self.fill(address.host_key(), || address.host.clone().into_owned());
            for step in address.steps() {
                self.fill(step.key, || format!("/{}", &address.path[..step.end]));
            }
            Ok(self.missing > 0)
        })
    }

    fn fill(&mut self, key: u64, text: impl Fn() -> String) {
        if let Some(name) = self.texts.get_mut(&key).filter(|name| name.is_empty()) {
            *name = text();
            self.missing -= 1;
        }
    }

    fn text(&self, tree: &Tree, node: Node) -> &str {
        self.texts.get(&tree.keys[node as usize]).map_or("", String::as_str)
    }

    fn prefix(&self, tree: &Tree, node: Node) -> Prefix {
        let host = tree.host(node);
        let path = if host == node { "" } else { self.text(tree, node) };
        Prefix { host: self.text(tree, host).to_owned(), path: path.to_owned() }
    }

    /// The mirror with its sides in alphabetical order, independent of the input order.
    fn mirror(&self, tree: &Tree, found: &MirrorPair, examples: &Examples) -> Mirror {
        let (left, right) = (self.prefix(tree, found.left), self.prefix(tree, found.right));
        let example = |&(kind, node): &(ExampleKind, Node)| {
            let cut = if kind == ExampleKind::OnlyRight { right.path.len() } else { left.path.len() };
            Example { kind, path: self.text(tree, node).get(cut..).unwrap_or_default().to_owned() }
        };
        let mut examples: Vec<Example> = examples.picked.iter().map(example).collect();
        let ([mut only_left, mut only_right], swapped) = (only(found), right < left);
        if swapped {
            std::mem::swap(&mut only_left, &mut only_right);
            examples.iter_mut().for_each(|example| example.kind = mirrored(example.kind));
        }
        examples.sort();
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        let (matched, mismatched) = (found.matched, found.mismatched);
        let score = (found.score * 1e4).round() / 1e4;
        Mirror { left, right, score, set: 0, matched, mismatched, only_left, only_right, examples }
    }
}

fn mirrored(kind: ExampleKind) -> ExampleKind {
    match kind {
        ExampleKind::OnlyLeft => ExampleKind::OnlyRight,
        ExampleKind::OnlyRight => ExampleKind::OnlyLeft,
        both => both,
    }
}
