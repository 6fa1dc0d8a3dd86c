//! All pages as one tree: hosts at the top, path segments below.
//!
//! It is compact: a node is a few numbers, segments are 64-bit hashes, and no text is kept. With ten million nodes, the
//! probability that any two share a key is 1 in 300,000.

use std::collections::HashMap;

use super::address::PageAddress;
use crate::error::{Error, Result};

/// A node of the tree, by number. A parent has a smaller number than its children.
pub(super) type Node = u32;

/// Marks a missing node or group.
pub(super) const NONE: u32 = u32::MAX;
/// Smaller folders and file lists may be missing from a crawl by chance. Larger ones count as absent.
pub(super) const BULK: u32 = 6;
/// A group on more hosts than this is worth less as evidence.
const FEW_HOSTS: f64 = 4.0;

/// Lists of numbers, indexed from 0, stored contiguously.
#[derive(Default)]
pub(super) struct NumberLists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl NumberLists {
    /// Builds lists from pairs sorted by their first number, which is below `count`.
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> NumberLists {
        let mut ends = vec![0; count];
        pairs.clone().for_each(|(list, _)| ends[list as usize] += 1);
        let mut end = 0;
        for count in &mut ends {
            end += *count;
            *count = end;
        }
        NumberLists { ends, items: pairs.map(|(_, item)| item).collect() }
    }

    /// The list of `number`.
    pub(super) fn of(&self, number: u32) -> &[u32] {
        let start = if number == 0 { 0 } else { self.ends[number as usize - 1] };
        &self.items[start as usize..self.ends[number as usize] as usize]
    }

    /// How many lists there are.
    pub(super) fn len(&self) -> u32 {
        self.ends.len() as u32
    }
}

/// Collects pages.
#[derive(Default)]
pub(super) struct Planter {
    /// Nodes by key. The standard hasher is seeded, so that no input can make it slow.
    nodes: HashMap<u64, Node>,
    keys: Vec<u64>,
    segments: Vec<u64>,
    parents: Vec<Node>,
    pages: Vec<(Node, u32)>,
}

impl Planter {
    /// Adds a page. Always returns true, to continue.
    pub(super) fn add(&mut self, address: &PageAddress, group: Option<u32>) -> Result<bool> {
        let mut node = self.node(address.host_key(), 0, NONE)?;
        for step in address.steps() {
            node = self.node(step.key, step.segment, node)?;
        }
        self.pages.push((node, group.unwrap_or(NONE)));
        Ok(true)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn node(&mut self, key: u64, segment: u64, parent: Node) -> Result<Node> {
        let next = self.keys.len();
        let node = *self.nodes.entry(key).or_insert(next as Node);
        if node as usize == next {
            if next >= NONE as usize {
                let reason =
                    format!("more than {NONE} hosts, folders and pages; look at fewer pages at a time");
                return Err(Error::Input { input: "pages.jsonl".into(), reason });
            }
            self.keys.push(key);
            self.segments.push(segment);
            self.parents.push(parent);
        }
        Ok(node)
    }

    /// Builds the tree of all pages.
    pub(super) fn grow(self) -> Tree {
        let Planter { nodes, keys, segments, parents, mut pages } = self;
        drop(nodes);
        let group_count = number_groups(&mut pages);
        let members =
            NumberLists::new(group_count, pages.iter().filter(|page| page.1 != NONE).map(|&(n, g)| (g, n)));
        pages.sort_unstable();
        let groups = NumberLists::new(keys.len(), pages.iter().copied());
        drop(pages);
        let children = children(&segments, &parents);
        let mut tree = Tree { keys, segments, parents, children, groups, members, ..Tree::default() };
        tree.count();
        tree.weigh();
        tree
    }
}

/// Renumbers groups without gaps and sorts the pages by group. Returns the number of groups.
fn number_groups(pages: &mut Vec<(Node, u32)>) -> usize {
    pages.sort_unstable_by_key(|&(node, group)| (group, node));
    pages.dedup();
    let (mut count, mut last) = (0, NONE);
    for (_, group) in pages.iter_mut().filter(|page| page.1 != NONE) {
        count += u32::from(*group != last);
        last = std::mem::replace(group, count - 1);
    }
    count as usize
}

fn children(segments: &[u64], parents: &[Node]) -> NumberLists {
    let mut order: Vec<Node> =
        (0..parents.len() as u32).filter(|&node| parents[node as usize] != NONE).collect();
    order.sort_unstable_by_key(|&node| (parents[node as usize], segments[node as usize]));
    NumberLists::new(parents.len(), order.iter().map(|&node| (parents[node as usize], node)))
}

/// The tree of all pages.
#[derive(Default)]
pub(super) struct Tree {
    /// The hash of the host and all segments down to the node.
    pub keys: Vec<u64>,
    /// The hash of the node's segment.
    pub segments: Vec<u64>,
    /// The parent node; [`NONE`] for a host.
    pub parents: Vec<Node>,
    /// The child nodes, in segment order.
    pub children: NumberLists,
    /// The groups of the pages at a node, with [`NONE`] for a page in no group. Empty if there is no page.
    pub groups: NumberLists,
    /// The nodes of a group.
    pub members: NumberLists,
    /// How many nodes at or below a node have pages.
    pub pages: Vec<u32>,
    /// How many of those are below children with at least [`BULK`].
    pub bulky: Vec<u32>,
    /// How many children have a page and nothing below them.
    pub files: Vec<u32>,
    /// The weight of a group as evidence, from 0 to 1.
    pub weights: Vec<f32>,
}

impl Tree {
    /// How many nodes below this one have pages.
    pub(super) fn below(&self, node: Node) -> u32 {
        self.pages[node as usize] - u32::from(self.has_page(node))
    }

    pub(super) fn has_page(&self, node: Node) -> bool {
        !self.groups.of(node).is_empty()
    }

    /// The host of a node.
    pub(super) fn host(&self, mut node: Node) -> Node {
        while self.parents[node as usize] != NONE {
            node = self.parents[node as usize];
        }
        node
    }

    /// The weight of the heaviest group in which both nodes have a page.
    pub(super) fn shared(&self, left: Node, right: Node) -> Option<f32> {
        let (left, right) = (self.groups.of(left), self.groups.of(right));
        let (few, many) = if left.len() <= right.len() { (left, right) } else { (right, left) };
        let shared = few.iter().filter(|&&group| group != NONE && many.binary_search(&group).is_ok());
        shared.map(|&group| self.weights[group as usize]).max_by(f32::total_cmp)
    }

    fn count(&mut self) {
        let count = self.keys.len();
        self.pages = vec![0; count];
        self.bulky = vec![0; count];
        self.files = vec![0; count];
        for node in (0..count).rev() {
            let own = u32::from(self.has_page(node as Node));
            self.pages[node] += own;
            let (pages, parent) = (self.pages[node], self.parents[node]);
            if parent != NONE {
                self.pages[parent as usize] += pages;
                self.bulky[parent as usize] += if pages >= BULK { pages } else { 0 };
                self.files[parent as usize] += u32::from(pages == own);
            }
        }
    }

    /// Sets the weights of groups. Text on many hosts, such as a licence or the terms of a shop system, is weak
    /// evidence that two of them are mirrors. Many paths of one host with the same content, such as an error page,
    /// count once.
    fn weigh(&mut self) {
        let mut hosts = Vec::new();
        let weight = |group: u32| {
            let members = self.members.of(group);
            hosts.clear();
            hosts.extend(members.iter().map(|&node| self.host(node)));
            hosts.sort_unstable();
            hosts.dedup();
            let (pages, hosts) = (members.len() as f64, hosts.len() as f64);
            ((FEW_HOSTS / hosts).sqrt().min(1.0) * hosts / pages) as f32
        };
        self.weights = (0..self.members.len()).map(weight).collect();
    }
}
