//! The subject of a part of a page, by its first line and its headings. A list of other articles begins with a line
//! such as "Related", and each of its entries has a heading that is a link. The headings of an article are no links.

use super::feature::heading_level;
use super::repeat::{begins_with, speaks_of_comments};
use super::sums::share;
use crate::page::html::block::Block;
use crate::page::html::tree::Tree;

/// The most words in a line that introduces something.
const LINE_WORDS: u32 = 8;
/// How many boxes around a block may begin with such a line.
const LEVELS: i32 = 7;
/// Stands for no line or heading before a block.
const NONE: u32 = u32::MAX;
/// Kinds of things that a line may introduce: other articles, offers to the reader, comments.
const KINDS: usize = 3;

/// How lines begin that introduce other articles, in some languages.
const RELATED: [&str; 40] = [
    "related",
    "recommended",
    "more from",
    "more on",
    "more in",
    "more about",
    "more stories",
    "more news",
    "read more",
    "read next",
    "read also",
    "also read",
    "also on",
    "see also",
    "see more",
    "most ",
    "latest",
    "trending",
    "popular",
    "top stories",
    "top news",
    "you may",
    "you might",
    "up next",
    "next",
    "previous",
    "don't miss",
    "editor",
    "in this",
    "mehr zum",
    "lesen sie",
    "auch interessant",
    "à lire",
    "lire aussi",
    "leggi anche",
    "lee también",
    "te puede",
    "相关",
    "推荐",
    "関連",
];
/// How lines begin that offer something to the reader.
const OFFERS: [&str; 26] = [
    "subscribe",
    "newsletter",
    "sign up",
    "sign in",
    "log in",
    "get ",
    "join ",
    "follow",
    "share",
    "advert",
    "sponsor",
    "promoted",
    "support",
    "donate",
    "download",
    "about the",
    "about us",
    "written by",
    "tags",
    "topics",
    "filed under",
    "copyright",
    "contact",
    "abonn",
    "订阅",
    "分享",
];

/// Facts about the parts of a page.
pub struct Sections {
    /// The kinds that each block introduces, one bit for each.
    marks: Vec<u8>,
    /// The last line before each block that introduces other articles or an offer.
    last: Vec<[u32; 2]>,
    /// The nearest heading at or before each block.
    heading: Vec<u32>,
    /// Before each block, and in all: headings that are links.
    linked: Vec<u32>,
}

impl Sections {
    pub fn new(tree: &Tree) -> Sections {
        let count = tree.blocks.len();
        let mut sections = Sections {
            marks: Vec::with_capacity(count),
            last: Vec::with_capacity(count),
            heading: Vec::with_capacity(count),
            linked: vec![0],
        };
        let (mut last, mut heading, mut linked) = ([NONE; 2], NONE, 0);
        for (index, block) in tree.blocks.iter().enumerate() {
            let marks = if Some(index) == tree.title { 0 } else { marks(block, tree) };
            sections.last.push(last);
            for (_, last) in last.iter_mut().enumerate().filter(|(kind, _)| marks >> kind & 1 == 1) {
                *last = index as u32;
            }
            if heading_level(tree.nodes[block.node as usize].tag) > 0 && Some(index) != tree.title {
                heading = index as u32;
                linked += u32::from(block.count.linked * 2 > block.count.words);
            }
            sections.marks.push(marks);
            sections.heading.push(heading);
            sections.linked.push(linked);
        }
        sections
    }

    pub fn numbers(&self, tree: &Tree, index: usize, titled: &[i32]) -> [i32; 14] {
        let since = |place: u32, far: i32| {
            if place == NONE { far } else { (index as i32 - place as i32).min(far - 1) }
        };
        let near = |reach: usize| {
            let (from, to) = (index.saturating_sub(reach), (index + reach + 1).min(self.marks.len()));
            (self.linked[to] - self.linked[from]) as i32
        };
        let [related, offer] = self.last[index].map(|place| since(place, 300));
        let heading = self.heading[index];
        let above = tree.blocks.get(heading as usize);
        let [box_related, box_offer, box_comment] = self.opened(tree, index);
        [
            i32::from(self.marks[index]),
            related,
            offer,
            box_related[0],
            box_related[1],
            box_offer[0],
            box_comment[0],
            since(heading, 200),
            above.map_or(0, |block| heading_level(tree.nodes[block.node as usize].tag)),
            above.map_or(-1, |block| share(block.count.linked, block.count.words)),
            titled.get(heading as usize).copied().unwrap_or(-1),
            near(4),
            near(12),
            self.linked[self.marks.len()].min(200) as i32,
        ]
    }

    /// For each kind, how many boxes up the nearest box is that begins with a line of that kind, and its blocks.
    fn opened(&self, tree: &Tree, index: usize) -> [[i32; 2]; KINDS] {
        let mut opened = [[LEVELS, 0]; KINDS];
        let mut node = tree.blocks[index].node;
        for level in 0..LEVELS {
            let blocks = &tree.nodes[node as usize].blocks;
            let first = blocks.start as usize;
            for (kind, opened) in opened.iter_mut().enumerate() {
                if opened[0] == LEVELS && first != index && self.marks[first] >> kind & 1 == 1 {
                    *opened = [level, blocks.len().min(1000) as i32];
                }
            }
            if node == 0 {
                break;
            }
            node = tree.nodes[node as usize].parent;
        }
        opened
    }
}

/// The kinds that a block introduces, one bit for each.
fn marks(block: &Block, tree: &Tree) -> u8 {
    if block.count.words > LINE_WORDS || block.count.ended {
        return 0;
    }
    let text = tree.text[block.text.clone()].trim_start();
    let begins = |with: &[&str]| with.iter().any(|with| begins_with(text.as_bytes(), with));
    u8::from(begins(&RELATED)) | u8::from(begins(&OFFERS)) << 1 | u8::from(speaks_of_comments(text)) << 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::html::tree::grow;

    #[test]
    fn a_box_is_about_what_its_first_line_says() {
        let tree = grow(
            "<div><h2>Ferry</h2><p>It leaves at nine.</p></div>\
             <div><h3>Related stories</h3><ul><li><h4><a href=/x>A linked heading</a></h4><li>Two</ul></div>",
        );
        let sections = Sections::new(&tree);
        let titled = vec![0; tree.blocks.len()];
        let [text, line, entry] = [1, 2, 4].map(|index| sections.numbers(&tree, index, &titled));
        assert_eq!((text[0], text[1], text[3]), (0, 300, LEVELS));
        assert_eq!((line[0], line[8], line[9]), (1, 3, 0));
        assert_eq!((entry[1], entry[3], entry[4]), (2, 2, 3), "two boxes up, of three blocks");
        assert_eq!((entry[9], entry[13]), (1000, 1), "the heading above is a link");
    }
}
