//! HTML → its text, cut into blocks, and the boxes around them.
//!
//! Boxes are a list with parents, and no code walks them by recursion. A box is a range of blocks, so that any
//! amount inside it is a difference of two sums. For tags that were never closed, it does as browsers do only where
//! that changes which box holds a text.

use std::ops::Range;

use super::block::{Block, Count, count};
use super::hidden::{hides, is_hiding, remove_hidden};
use super::hint::{self, HINTS, Hint, Hints};
use super::lines::{end_line, is_blank, push_text};
use super::markup::attribute::Attributes;
use super::markup::scan::{Open, Token};
use super::markup::tag::{TAGS, Tag};
use super::markup::visible::Visible;

/// Deeper boxes are merged into their outer box, as browsers do.
const DEPTH_LIMIT: usize = 512;
/// After this many boxes or blocks no more are created, but their text stays. Each takes about 400 bytes until the
/// page is judged, and may be six bytes of HTML.
const COUNT_LIMIT: usize = 1 << 16;
/// The distance of a hint that no box gives.
pub const FAR: u8 = 15;

/// A box.
#[derive(Clone, Debug)]
pub struct HtmlBox {
    pub tag: Tag,
    pub parent: u32,
    /// How many boxes are around it.
    pub depth: u16,
    /// A hash of its name. The boxes of a list share a name.
    pub name: u32,
    /// The previous box in the same parent, or itself.
    pub before: u32,
    /// The blocks in it.
    pub blocks: Range<u32>,
    /// For each hint, how many boxes up the nearest box is that gives it; [`FAR`] if none.
    pub distance: [u8; HINTS],
}

/// A page, cut into blocks and boxes.
#[derive(Debug, Default)]
pub struct Tree {
    /// The text that a reader sees. Each block has at least one line.
    pub text: String,
    pub blocks: Vec<Block>,
    /// The boxes in the order in which they begin. The first is the page.
    pub nodes: Vec<HtmlBox>,
    /// The title of the page, if any: a block that is in no box of the body.
    pub title: Option<usize>,
    /// Whether the page says that it fits the screens of phones, as pages since about 2012 do.
    pub fits_phones: bool,
}

/// Cuts a page into blocks and boxes.
pub fn grow(html: &str) -> Tree {
    let mut builder = Builder::new();
    for token in Visible::new(html) {
        match token {
            Token::Text(text) => builder.text(text),
            Token::Open(open) => builder.open(&open),
            Token::Close(tag) => builder.close(tag),
        }
    }
    let mut tree = builder.finish();
    remove_hidden(&mut tree);
    tree
}

struct Builder {
    tree: Tree,
    /// The open boxes, outermost first.
    stack: Vec<u32>,
    /// The last box that began in each open box.
    last: Vec<u32>,
    /// How many boxes of each tag are open.
    open: [u32; TAGS],
    /// How many open tags are beyond the limit of depth.
    beyond: usize,
    /// Whether the cursor is inside a link.
    linked: bool,
    /// Line breaks since the last text.
    breaks: u8,
    /// The hidden element inside a line that the cursor is in, if any.
    unseen: Option<Unseen>,
    block: Block,
}

/// A hidden element inside a line of text.
struct Unseen {
    tag: Tag,
    /// How many elements of the same tag are open in it, with itself.
    open: u32,
    /// How many boxes were open at its start tag. It ends with the innermost of them if nothing closes it.
    boxes: usize,
}

impl Builder {
    fn new() -> Builder {
        let root = HtmlBox {
            tag: Tag::Html,
            parent: 0,
            depth: 0,
            name: 0,
            before: 0,
            blocks: 0..0,
            distance: [FAR; HINTS],
        };
        Builder {
            tree: Tree { nodes: vec![root], ..Tree::default() },
            stack: vec![0],
            last: vec![0],
            open: [0; TAGS],
            beyond: 0,
            linked: false,
            breaks: 0,
            unseen: None,
            block: Block::default(),
        }
    }

    fn text(&mut self, text: &str) {
        if is_blank(text) {
            return push_text(text, &mut self.tree.text);
        }
        if self.unseen.is_some() {
            return;
        }
        if self.breaks > 1 {
            self.end_block();
        }
        self.breaks = 0;
        let start = self.tree.text.len();
        push_text(text, &mut self.tree.text);
        self.block.count.add(&count(&self.tree.text[start..], self.linked));
    }

    fn open(&mut self, open: &Open<'_>) {
        if open.tag.is_inline() {
            self.hide(open);
        }
        match open.tag {
            Tag::A => {
                self.linked =
                    Attributes::new(open.attributes).any(|(name, _)| name.eq_ignore_ascii_case(b"href"));
                self.block.count.links += u32::from(self.linked);
            }
            Tag::Span | Tag::Inline => {}
            Tag::Br => {
                self.breaks = self.breaks.saturating_add(1);
                end_line(&mut self.tree.text);
            }
            Tag::Void | Tag::Raw => {
                end_line(&mut self.tree.text);
                self.tree.fits_phones |= self.tree.blocks.len() < 2 && is_viewport(open.attributes);
            }
            Tag::Hr => self.end_block(),
            tag if tag.is_hidden() => end_line(&mut self.tree.text),
            tag => {
                self.end_block();
                self.end_implied(tag);
                self.push(tag, open.attributes);
            }
        }
    }

    /// Notes that an element inside a line hides its text, or that one more of its tag is open.
    fn hide(&mut self, open: &Open<'_>) {
        match &mut self.unseen {
            Some(unseen) => unseen.open += u32::from(unseen.tag == open.tag),
            None if is_hiding(open.attributes) => {
                self.unseen = Some(Unseen { tag: open.tag, open: 1, boxes: self.stack.len() });
            }
            None => {}
        }
    }

    fn close(&mut self, tag: Tag) {
        if let Some(unseen) = &mut self.unseen
            && unseen.tag == tag
        {
            unseen.open -= 1;
            if unseen.open == 0 {
                self.unseen = None;
            }
        }
        match tag {
            Tag::A => self.linked = false,
            Tag::Span | Tag::Inline => {}
            Tag::Br | Tag::Void | Tag::Raw => end_line(&mut self.tree.text),
            Tag::Body | Tag::Html => self.end_block(),
            tag => {
                self.end_block();
                if self.beyond > 0 {
                    self.beyond -= 1;
                } else if self.open[tag as usize] > 0 {
                    self.pop_to(|open| open == tag, barrier(tag));
                }
            }
        }
    }

    /// Closes the boxes that a start tag of `tag` closes implicitly.
    fn end_implied(&mut self, tag: Tag) {
        if self.top() == Tag::P || (is_heading(self.top()) && is_heading(tag)) {
            self.pop();
        }
        match tag {
            Tag::Li => self.pop_to(|open| open == Tag::Li, &[Tag::Ul, Tag::Ol, Tag::Td, Tag::Table]),
            Tag::Dt | Tag::Dd => self.pop_to(|open| matches!(open, Tag::Dt | Tag::Dd), &[Tag::Dl, Tag::Td]),
            Tag::Td | Tag::Th => {
                self.pop_to(|open| matches!(open, Tag::Td | Tag::Th), &[Tag::Tr, Tag::Table])
            }
            Tag::Tr => self.pop_to(|open| open == Tag::Tr, &[Tag::Table]),
            Tag::Tbody => self.pop_to(|open| open == Tag::Tbody, &[Tag::Table]),
            Tag::Option => self.pop_to(|open| open == Tag::Option, &[Tag::Select]),
            Tag::Body => self.pop_to(|open| open == Tag::Head, &[]),
            _ => {}
        }
        if matches!(tag, Tag::Li | Tag::Td | Tag::Th | Tag::Tr | Tag::Table | Tag::Body) {
            self.linked = false;
        }
    }

    fn top(&self) -> Tag {
        let node = self.stack.last().map_or(0, |&node| node as usize);
        self.tree.nodes[node].tag
    }

    /// Closes boxes up to the innermost that is `wanted`, unless a barrier comes first. The stack is bounded, so
    /// this is too.
    fn pop_to(&mut self, wanted: impl Fn(Tag) -> bool, barrier: &[Tag]) {
        let tags = self.stack[1..].iter().rev().map(|&node| self.tree.nodes[node as usize].tag);
        let mut tags = tags.take_while(|tag| wanted(*tag) || !barrier.contains(tag));
        if let Some(above) = tags.position(&wanted) {
            for _ in 0..=above {
                self.pop();
            }
        }
    }

    fn pop(&mut self) {
        if self.stack.len() > 1
            && let Some(node) = self.stack.pop()
        {
            self.last.pop();
            self.unseen.take_if(|unseen| self.stack.len() < unseen.boxes);
            let node = &mut self.tree.nodes[node as usize];
            node.blocks.end = self.tree.blocks.len() as u32;
            self.open[node.tag as usize] -= 1;
        }
    }

    fn push(&mut self, tag: Tag, attributes: &[u8]) {
        if self.stack.len() >= DEPTH_LIMIT || self.tree.nodes.len() >= COUNT_LIMIT {
            self.beyond += 1;
            return;
        }
        let index = self.tree.nodes.len() as u32;
        let parent = self.stack.last().copied().unwrap_or(0);
        let (hints, name) = describe(tag, attributes);
        let before = self.last.last_mut().map_or(index, |last| std::mem::replace(last, index));
        let start = self.tree.blocks.len() as u32;
        let mut distance = self.tree.nodes[parent as usize].distance;
        for (hint, distance) in distance.iter_mut().enumerate() {
            *distance = if hints >> hint & 1 == 1 { 0 } else { (*distance + 1).min(FAR) };
        }
        let depth = self.stack.len() as u16;
        let before = if before == 0 { index } else { before };
        self.tree.nodes.push(HtmlBox { tag, parent, depth, name, before, blocks: start..start, distance });
        self.stack.push(index);
        self.last.push(0);
        self.open[tag as usize] += 1;
    }

    /// Ends the block under construction and begins another in the innermost box.
    fn end_block(&mut self) {
        self.breaks = 0;
        end_line(&mut self.tree.text);
        let end = self.tree.text.len();
        let node = self.stack.last().copied().unwrap_or(0);
        let links = self.block.count.links;
        if self.block.count.words > 0 && self.tree.blocks.len() < COUNT_LIMIT {
            let block = std::mem::take(&mut self.block);
            if self.top() == Tag::Title && self.tree.title.is_none() {
                self.tree.title = Some(self.tree.blocks.len());
            }
            self.tree.blocks.push(Block { text: block.text.start..end, node, ..block });
        } else if self.block.count.words == 0 {
            // A link around boxes belongs to the text in them.
            self.block.count = Count { links: if self.linked { links } else { 0 }, ..Count::default() };
        }
        if self.block.count.words == 0 {
            self.block.text.start = end;
        }
    }

    fn finish(mut self) -> Tree {
        self.end_block();
        while self.stack.len() > 1 {
            self.pop();
        }
        let blocks = self.tree.blocks.len() as u32;
        self.tree.nodes[0].blocks = 0..blocks;
        self.tree
    }
}

/// Whether these are the attributes of `<meta name=viewport>`.
fn is_viewport(attributes: &[u8]) -> bool {
    Attributes::new(attributes).any(|(name, value)| {
        name.eq_ignore_ascii_case(b"name") && value.trim_ascii().eq_ignore_ascii_case(b"viewport")
    })
}

fn is_heading(tag: Tag) -> bool {
    hint::of_tag(tag) == Hint::HeadingTag.bit()
}

/// The boxes that an end tag cannot close across.
fn barrier(tag: Tag) -> &'static [Tag] {
    match tag {
        Tag::Table => &[],
        Tag::Td | Tag::Th | Tag::Tr | Tag::Tbody => &[Tag::Table],
        Tag::Li => &[Tag::Ul, Tag::Ol, Tag::Td, Tag::Th, Tag::Table],
        _ => &[Tag::Td, Tag::Th, Tag::Table],
    }
}

/// The hints that a box gives, and a hash of its name.
fn describe(tag: Tag, attributes: &[u8]) -> (Hints, u32) {
    let mut hints = hint::of_tag(tag);
    let mut name = tag as u32;
    // The name of a whole page says nothing about its parts.
    if matches!(tag, Tag::Html | Tag::Body) {
        return (hints, name);
    }
    for (key, value) in Attributes::new(attributes) {
        let is = |wanted: &[u8]| key.eq_ignore_ascii_case(wanted);
        if is(b"class") {
            name = value.iter().fold(name, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
            hints |= hint::of_name(value);
        } else if is(b"id") || is(b"role") || is(b"itemprop") {
            hints |= hint::of_name(value);
        } else if is(b"aria-hidden") && value == b"true" {
            // Readers see it unless a style sheet hides it too.
            hints |= Hint::Hidden.bit();
        }
        if hides(key, value) {
            hints |= Hint::Unseen.bit();
        }
    }
    (hints, name)
}
