//! Where a block stands: to the box that most likely holds the article, to boxes made alike, to the headline.

use super::PageFeatures;
use crate::page::html::main::context::{AROUND, Judged};
use crate::page::html::main::sums::share;

impl PageFeatures<'_> {
    /// The block as the second judgement sees it, with the `sum` of the first.
    pub fn judged(&self, index: usize, sum: i32) -> Judged {
        let block = &self.tree.blocks[index];
        let nodes = &self.tree.nodes;
        let parent = |node: u32| nodes[node as usize].parent;
        let node = block.node;
        let limb = self.boxes.article.limb[node as usize];
        let boxes: [u32; AROUND] =
            [node, parent(node), parent(parent(node)), parent(parent(parent(node))), limb];
        // Positions without the title, as the second judgement counts them.
        let at = |index: u32| index - u32::from(self.tree.title.is_some_and(|title| (title as u32) < index));
        Judged {
            words: block.count.words,
            sum,
            around: boxes.map(|node| {
                let blocks = &nodes[node as usize].blocks;
                at(blocks.start)..at(blocks.end)
            }),
            kinds: [node, parent(node)].map(|node| self.boxes.alike.kind(node)),
        }
    }

    /// Where the block stands to the box of the article.
    pub(super) fn article(&self, index: usize, node: u32) -> [i32; 15] {
        let nodes = &self.tree.nodes;
        let article = &self.boxes.article;
        let best = article.best;
        let top = article.points[best as usize];
        let points = |node: u32| share(article.points[node as usize], top).min(1000);
        let parent = nodes[node as usize].parent;
        let grandparent = nodes[parent as usize].parent;
        let above = article.above[node as usize];
        let range = &nodes[best as usize].blocks;
        let (start, end) = (range.start as i32, range.end as i32);
        let at = index as i32;
        let off = if at < start {
            at - start
        } else if at >= end {
            at + 1 - end
        } else {
            0
        };
        let amount = self.boxes.amount[best as usize];
        let shared_depth = i32::from(nodes[best as usize].depth) - i32::from(above);
        [
            i32::from(above.min(20)),
            (i32::from(nodes[node as usize].depth) - shared_depth).min(30),
            points(node),
            points(parent),
            points(grandparent),
            off.clamp(-300, 300),
            (at - start).clamp(-300, 500),
            (end - at).clamp(-300, 500),
            share(amount.words, self.all.words),
            share(amount.prose, self.all.prose),
            share(amount.linked, amount.words),
            share(article.second, top).min(2000),
            i32::from(article.rejected[node as usize]),
            amount.words.min(20_000) as i32,
            share(
                self.sums.of(&(range.start..(index as u32).clamp(range.start, range.end))).words,
                amount.words,
            ),
        ]
    }

    /// The amounts in the limb of the page that holds the block, and in the third box around it.
    pub(super) fn limb(&self, node: u32) -> [i32; 12] {
        let nodes = &self.tree.nodes;
        let article = &self.boxes.article;
        let limb = article.limb[node as usize];
        let amount = self.boxes.amount[limb as usize];
        let parent = nodes[nodes[nodes[node as usize].parent as usize].parent as usize].parent;
        let outer = self.boxes.amount[parent as usize];
        let [p, li, control] = self.boxes.parts[limb as usize];
        let best = self.boxes.amount[article.best as usize];
        let wide = |words: u32| words.min(20_000) as i32;
        [
            wide(amount.words),
            share(amount.linked, amount.words),
            share(amount.prose, amount.words),
            share(amount.prose, best.prose).min(3000),
            amount.blocks.min(1000) as i32,
            share(article.points[limb as usize], article.points[article.best as usize]).min(1000),
            i32::from(nodes[node as usize].depth - nodes[limb as usize].depth),
            share(p, p + li),
            control.min(100) as i32,
            wide(outer.words),
            share(outer.linked, outer.words),
            share(outer.prose, self.all.prose),
        ]
    }

    /// The amounts in the blocks around the block, in any box.
    pub(super) fn window(&self, index: usize) -> [i32; 8] {
        let near = |before: usize, behind: usize| {
            let range =
                index.saturating_sub(before) as u32..(index + behind + 1).min(self.tree.blocks.len()) as u32;
            self.sums.of(&range)
        };
        let (close, wide) = (near(3, 3), near(10, 10));
        let (back, ahead) = (near(6, 0), near(0, 6));
        [
            close.prose.min(2000) as i32,
            share(close.linked, close.words),
            wide.prose.min(4000) as i32,
            share(wide.linked, wide.words),
            share(wide.prose, wide.words),
            share(back.prose, back.words),
            share(ahead.prose, ahead.words),
            share(close.words, self.all.words),
        ]
    }

    /// The amounts in the boxes that are made like its box and like the box around that.
    pub(super) fn alike(&self, node: u32) -> [i32; 8] {
        let nodes = &self.tree.nodes;
        let parent = nodes[node as usize].parent;
        let (own, outer) = (self.boxes.alike.of(node), self.boxes.alike.of(parent));
        let (here, around) = (self.boxes.amount[node as usize], self.boxes.amount[parent as usize]);
        [
            share(own.prose, self.all.prose),
            share(own.linked, own.words),
            (own.words / own.blocks.max(1)).min(1000) as i32,
            share(here.words, own.words),
            share(outer.prose, self.all.prose),
            share(outer.linked, outer.words),
            (outer.words / outer.blocks.max(1)).min(1000) as i32,
            share(around.words, outer.words),
        ]
    }

    /// The row of boxes of one tag around the block.
    pub(super) fn siblings(&self, node: u32) -> [i32; 3] {
        let (length, row) = self.boxes.tagged[node as usize];
        [length.min(200) as i32, (row.words / length.max(1)).min(1000) as i32, share(row.linked, row.words)]
    }

    /// Where the block and the box of the article stand to the headline.
    pub(super) fn headline_place(&self, index: usize) -> [i32; 3] {
        let at =
            |place: Option<usize>| place.map_or(-500, |place| (index as i32 - place as i32).clamp(-400, 400));
        let best = &self.tree.nodes[self.boxes.article.best as usize].blocks;
        let place = self.headline.map_or(-500, |place| (place as i32 - best.start as i32).clamp(-400, 400));
        [at(self.headline), place, i32::from(self.headline.is_some_and(|h| best.contains(&(h as u32))))]
    }
}
