//! Boxes that are made alike. The paragraphs of one article are in one box; comments and teasers are in many.

use super::sums::Amount;
use crate::page::html::tree::Tree;

/// The boxes of a page by kind. Boxes of one kind have the same name and depth, and their parents have the same
/// name.
pub struct Alike {
    /// The kind of each box.
    kind: Vec<u32>,
    /// The amount of text in the boxes of each kind.
    amount: Vec<Amount>,
}

impl Alike {
    pub fn new(tree: &Tree, own: &[Amount]) -> Alike {
        let nodes = &tree.nodes;
        let key = |index: usize| {
            let node = &nodes[index];
            let parent = &nodes[node.parent as usize];
            (node.name, node.tag as u8, node.depth, parent.name, parent.tag as u8)
        };
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_unstable_by_key(|&index| (key(index as usize), index));
        let mut kind = vec![0; nodes.len()];
        let mut amount: Vec<Amount> = vec![];
        for (at, &index) in order.iter().enumerate() {
            let index = index as usize;
            if at == 0 || key(order[at - 1] as usize) != key(index) {
                amount.push(Amount::default());
            }
            kind[index] = amount.len() as u32 - 1;
            if let Some(sum) = amount.last_mut() {
                *sum = *sum + own[index];
            }
        }
        Alike { kind, amount }
    }

    /// The number of the kind of a box.
    pub fn kind(&self, node: u32) -> u32 {
        self.kind[node as usize]
    }

    /// The amount of text in all boxes of the same kind as this one.
    pub fn of(&self, node: u32) -> Amount {
        self.amount[self.kind[node as usize] as usize]
    }
}
