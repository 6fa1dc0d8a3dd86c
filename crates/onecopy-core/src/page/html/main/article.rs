//! Finds the box that most likely holds the article, by the paragraphs in it, and where other boxes stand to it.
//!
//! A paragraph gives points for its length and its commas to the boxes around it, fewer to the outer ones. A box
//! loses the share of its points that is links (after Readability, Lopez 2010). A box called a menu, a comment or
//! the like gives none.

use super::sums::{Amount, share};
use crate::page::html::block::Block;
use crate::page::html::hint::Hint;
use crate::page::html::markup::tag::Tag;
use crate::page::html::tree::Tree;

/// How many of the boxes around a paragraph get points from it.
const REACH: usize = 5;

/// Where the article is, and where the other boxes of the page stand to it.
pub struct Article {
    /// The points of each box.
    pub points: Vec<u32>,
    /// The box with the most points.
    pub best: u32,
    /// For each box, the outermost box around it, or itself, that does not hold the best box. Inside the best box,
    /// it is the child of the best box.
    pub limb: Vec<u32>,
    /// For each box, how many levels above the best box their innermost common box is.
    pub above: Vec<u16>,
    /// Whether the name of the box, or of one between it and the path to the best box, says that it is not content.
    pub rejected: Vec<bool>,
    /// The most points of a box that neither holds the best box nor is inside it.
    pub second: u32,
}

const REJECTING: [Hint; 8] = [
    Hint::Navigation,
    Hint::Foot,
    Hint::Side,
    Hint::Advertisement,
    Hint::Social,
    Hint::Related,
    Hint::Comment,
    Hint::Popup,
];
const ACCEPTING: [Hint; 3] = [Hint::Article, Hint::Text, Hint::Primary];

impl Article {
    pub fn new(tree: &Tree, amount: &[Amount]) -> Article {
        let nodes = &tree.nodes;
        let has =
            |node: usize, hints: &[Hint]| hints.iter().any(|hint| nodes[node].distance[*hint as usize] == 0);
        let is_rejecting = |node: usize| has(node, &REJECTING) && !has(node, &ACCEPTING);
        let mut rejected = vec![false; nodes.len()];
        for node in 1..nodes.len() {
            rejected[node] = rejected[nodes[node].parent as usize] || is_rejecting(node);
        }
        let mut points = vec![0u32; nodes.len()];
        for block in &tree.blocks {
            if !rejected[block.node as usize] {
                give(tree, block, &mut points);
            }
        }
        for (node, points) in points.iter_mut().enumerate() {
            let plain = 1000 - share(amount[node].linked, amount[node].words);
            *points = (u64::from(*points) * plain as u64 / 1000) as u32;
        }
        let best = (0..nodes.len()).max_by_key(|&node| (points[node], nodes[node].depth, usize::MAX - node));
        let best = best.unwrap_or(0) as u32;
        Article::around(tree, points, best, is_rejecting)
    }

    fn around(tree: &Tree, points: Vec<u32>, best: u32, is_rejecting: impl Fn(usize) -> bool) -> Article {
        let nodes = &tree.nodes;
        let mut on_path = vec![false; nodes.len()];
        let mut node = best as usize;
        while node != 0 {
            on_path[node] = true;
            node = nodes[node].parent as usize;
        }
        on_path[0] = true;
        let depth = nodes[best as usize].depth;
        let mut limb: Vec<u32> = (0..nodes.len() as u32).collect();
        let mut above = vec![depth; nodes.len()];
        let mut rejected = vec![false; nodes.len()];
        let mut second = 0;
        for index in 1..nodes.len() {
            let parent = nodes[index].parent as usize;
            if on_path[index] {
                above[index] = depth - nodes[index].depth;
                continue;
            }
            above[index] = above[parent];
            rejected[index] = rejected[parent] || is_rejecting(index);
            if !on_path[parent] {
                limb[index] = limb[parent];
            }
            if above[index] > 0 {
                second = second.max(points[index]);
            }
        }
        Article { points, best, limb, above, rejected, second }
    }
}

/// Gives the points of `block` to the boxes around it.
fn give(tree: &Tree, block: &Block, points: &mut [u32]) {
    let count = &block.count;
    if count.letters < 25 || count.words == 0 {
        return;
    }
    let gross = 20 + 20 * count.commas.min(1000) + (count.letters / 5).min(60);
    let plain = count.words - count.linked;
    let net = (u64::from(gross) * u64::from(plain) / u64::from(count.words)) as u32;
    let mut node = block.node as usize;
    let is_leaf = |node: usize| tree.nodes.get(node + 1).is_none_or(|next| next.parent as usize != node);
    if is_leaf(node) && !matches!(tree.nodes[node].tag, Tag::Td | Tag::Body | Tag::Html) {
        node = tree.nodes[node].parent as usize;
    }
    for level in 0..REACH as u32 {
        let part = if level == 0 {
            1
        } else if level == 1 {
            2
        } else {
            3 * level
        };
        points[node] = points[node].saturating_add(net / part);
        if node == 0 {
            break;
        }
        node = tree.nodes[node].parent as usize;
    }
}
