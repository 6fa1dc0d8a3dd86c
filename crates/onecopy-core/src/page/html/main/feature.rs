//! A block as numbers: itself, its neighbours, its boxes, its place, its page.

mod boxes;
mod near;

use super::repeat::Repeats;
use super::section::Sections;
use super::sums::{Amount, Sums, prose, share};
use super::words::TitleWords;
use crate::page::html::block::{Block, Count};
use crate::page::html::hint::HINTS;
use crate::page::html::markup::tag::Tag;
use crate::page::html::tree::Tree;
use boxes::Boxes;

/// How many numbers describe a block, without the distances of its hints.
const OWN: usize = 144;
/// How many numbers describe a block.
pub const FEATURES: usize = OWN + HINTS;
/// As many as a byte can index, so that no feature number is out of bounds.
pub const ROOM: usize = 256;
/// The numbers of a block. Those after [`FEATURES`] are filled in later.
pub type Features = [i32; ROOM];

/// Facts about a page, computed before its blocks are described.
pub struct PageFeatures<'a> {
    pub tree: &'a Tree,
    sums: Sums,
    all: Amount,
    boxes: Boxes,
    repeats: Repeats,
    sections: Sections,
    /// The innermost boxes that hold 50, 70 and 90 % of the prose.
    holders: [u32; 3],
    /// The first block in a first heading that prose follows.
    heading: Option<usize>,
    /// For each block, the share of its words that are in the title.
    titled: Vec<i32>,
    /// The block that is most like the title.
    pub headline: Option<usize>,
    /// For each block, the nearest block of prose before and after it.
    prose_before: Vec<u32>,
    prose_behind: Vec<u32>,
    facts: [i32; 6],
}

const NONE: u32 = u32::MAX;

impl<'a> PageFeatures<'a> {
    pub fn new(tree: &'a Tree) -> PageFeatures<'a> {
        let sums = Sums::new(&tree.blocks);
        let all = sums.all();
        let boxes = Boxes::new(tree, &sums);
        let is_h1 = |block: &Block| tree.nodes[block.node as usize].tag == Tag::H1;
        let has = |tag: Tag| tree.nodes.iter().filter(|node| node.tag == tag).count().min(1000) as i32;
        let titled = titled(tree);
        let mut page = PageFeatures {
            tree,
            sums,
            all,
            repeats: Repeats::new(tree),
            sections: Sections::new(tree),
            holders: [500, 700, 900].map(|part| boxes.holder(tree, all.prose, part)),
            boxes,
            heading: tree.blocks.iter().position(is_h1),
            headline: headline(tree, &titled),
            titled,
            prose_before: vec![],
            prose_behind: vec![],
            facts: [Tag::P, Tag::Article, Tag::Main, Tag::H1, Tag::Td, Tag::Div].map(has),
        };
        page.find_prose();
        page
    }

    fn find_prose(&mut self) {
        let blocks = &self.tree.blocks;
        let is_prose = |index: usize| prose(&blocks[index].count) >= 20;
        let mut last = NONE;
        self.prose_before = (0..blocks.len())
            .map(|index| {
                let before = last;
                if is_prose(index) {
                    last = index as u32;
                }
                before
            })
            .collect();
        self.prose_behind = vec![NONE; blocks.len()];
        last = NONE;
        for index in (0..blocks.len()).rev() {
            self.prose_behind[index] = last;
            if is_prose(index) {
                last = index as u32;
            }
        }
    }

    /// Describes a block that is not the title.
    pub fn describe(&self, index: usize, features: &mut Features) {
        let block = &self.tree.blocks[index];
        let node = &self.tree.nodes[block.node as usize];
        let mut at = 0;
        let mut put = |values: &[i32]| {
            features[at..at + values.len()].copy_from_slice(values);
            at += values.len();
        };
        put(&own(&block.count));
        put(&kind(node.tag));
        put(&[self.titled[index]]);
        for offset in [-2, -1, 1, 2] {
            put(&self.neighbour(index, offset));
        }
        put(&self.place(index));
        put(&self.around(block.node));
        put(&self.page());
        put(&self.article(index, block.node));
        put(&self.limb(block.node));
        put(&self.window(index));
        put(&self.alike(block.node));
        put(&self.headline_place(index));
        put(&self.repeats.numbers(index));
        put(&self.sections.numbers(self.tree, index, &self.titled));
        put(&self.siblings(block.node));
        debug_assert_eq!(at, OWN);
        for (feature, distance) in features[OWN..FEATURES].iter_mut().zip(node.distance) {
            *feature = i32::from(distance);
        }
    }

    fn neighbour(&self, index: usize, offset: isize) -> [i32; 3] {
        let neighbour = index.checked_add_signed(offset).and_then(|index| self.tree.blocks.get(index));
        neighbour.map_or([-1; 3], |block| {
            let Count { words, linked, stops, .. } = block.count;
            [words.min(1000) as i32, share(linked, words), stops.min(100) as i32]
        })
    }

    fn place(&self, index: usize) -> [i32; 9] {
        let count = self.tree.blocks.len();
        let before = self.sums.of(&(0..index as u32));
        let distance = |to: u32| if to == NONE { 500 } else { (index as i32 - to as i32).abs().min(500) };
        let (back, ahead) = (self.prose_before[index], self.prose_behind[index]);
        let from_heading =
            self.heading.map_or(-500, |heading| (index as i32 - heading as i32).clamp(-400, 400));
        let common = |other: u32| if other == NONE { -1 } else { self.common(index, other as usize) };
        [
            index.min(2000) as i32,
            (count - index).min(2000) as i32,
            share(before.words, self.all.words),
            share(before.prose, self.all.prose),
            distance(back),
            distance(ahead),
            from_heading,
            common(back),
            common(ahead),
        ]
    }

    /// How many boxes up the innermost box is that holds both blocks.
    fn common(&self, index: usize, other: usize) -> i32 {
        let other = other as u32;
        let mut node = self.tree.blocks[index].node;
        for levels in 0..12 {
            if self.tree.nodes[node as usize].blocks.contains(&other) {
                return levels;
            }
            node = self.tree.nodes[node as usize].parent;
        }
        12
    }

    fn around(&self, node: u32) -> [i32; 20] {
        let nodes = &self.tree.nodes;
        let parent = nodes[node as usize].parent;
        let grandparent = nodes[parent as usize].parent;
        let branch = self.boxes.branch[node as usize];
        let item = self.boxes.item[node as usize];
        let (length, row) = self.boxes.row[item as usize];
        let [own, outer, outermost] =
            [node, parent, grandparent].map(|node| self.boxes.amount[node as usize]);
        let stem = self.boxes.amount[branch as usize];
        let inside = |holder: u32| {
            let holder = &nodes[holder as usize];
            let range = &nodes[node as usize].blocks;
            i32::from(holder.blocks.start <= range.start && range.end <= holder.blocks.end)
        };
        let depth = i32::from(nodes[node as usize].depth);
        let wide = |words: u32| words.min(20_000) as i32;
        [
            wide(own.words),
            share(own.linked, own.words),
            wide(outer.words),
            share(outer.linked, outer.words),
            share(outer.prose, self.all.prose),
            wide(outermost.words),
            share(outermost.linked, outermost.words),
            share(outermost.prose, self.all.prose),
            wide(stem.words),
            share(stem.linked, stem.words),
            share(stem.prose, self.all.prose),
            stem.blocks.min(1000) as i32,
            depth - i32::from(nodes[branch as usize].depth),
            inside(self.holders[0]),
            inside(self.holders[1]),
            inside(self.holders[2]),
            depth - i32::from(nodes[self.holders[1] as usize].depth),
            length.min(200) as i32,
            (row.words / length.max(1)).min(1000) as i32,
            share(row.linked, row.words),
        ]
    }

    fn page(&self) -> [i32; 11] {
        let all = self.all;
        let most = self.boxes.amount[self.holders[1] as usize];
        let wide = |words: u32| words.min(20_000) as i32;
        let [p, article, main, h1, td, div] = self.facts;
        [
            wide(all.words),
            share(all.linked, all.words),
            share(all.prose, all.words),
            all.blocks.min(2000) as i32,
            share(most.words, all.words),
            p,
            article,
            main,
            h1,
            td,
            div,
        ]
    }
}

fn own(count: &Count) -> [i32; 10] {
    [
        count.words.min(1000) as i32,
        share(count.linked, count.words),
        (count.letters * 10 / count.words.max(1)).min(300) as i32,
        share(count.capitals, count.words),
        share(count.numbers, count.words),
        count.stops.min(100) as i32,
        count.commas.min(100) as i32,
        count.bars.min(20) as i32,
        i32::from(count.ended),
        count.links.min(50) as i32,
    ]
}

/// The kind of a box, as numbers: the level of its heading, and flags.
fn kind(tag: Tag) -> [i32; 4] {
    let is = |yes: bool| i32::from(yes);
    [
        heading_level(tag),
        is(tag == Tag::P),
        is(matches!(tag, Tag::Div | Tag::Other | Tag::Section | Tag::Article | Tag::Body)),
        is(matches!(tag, Tag::Dd | Tag::Dt)),
    ]
}

/// The level of a heading, 9 for the title of the page, 0 for anything else.
pub fn heading_level(tag: Tag) -> i32 {
    match tag {
        Tag::H1 => 1,
        Tag::H2 => 2,
        Tag::H3 => 3,
        Tag::H4 | Tag::H5 | Tag::H6 => 4,
        Tag::Title => 9,
        _ => 0,
    }
}

/// For each block, the share of its words that are in the title, in thousandths.
fn titled(tree: &Tree) -> Vec<i32> {
    let text = |block: &Block| &tree.text[block.text.clone()];
    let title = TitleWords::new(tree.title.map(|title| text(&tree.blocks[title])).unwrap_or_default());
    tree.blocks.iter().map(|block| title.share_in(text(block), block.count.words)).collect()
}

/// The first of the blocks that are most like the title. Headings come before other blocks.
fn headline(tree: &Tree, titled: &[i32]) -> Option<usize> {
    let mut best = (599, None);
    for (index, block) in tree.blocks.iter().enumerate() {
        let bonus = if heading_level(tree.nodes[block.node as usize].tag) > 0 { 200 } else { 0 };
        let is_like = Some(index) != tree.title && block.count.words >= 3 && titled[index] >= 500;
        if is_like && titled[index] + bonus > best.0 {
            best = (titled[index] + bonus, Some(index));
        }
    }
    best.1
}
