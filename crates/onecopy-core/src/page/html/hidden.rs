//! Text that a browser does not show: which attributes hide a box, and how its text leaves the page.
//!
//! Style sheets and scripts are not read, so a page may show later what its markup hides. Most of a page cannot be
//! hidden, so if hidden text has as many sentences as the rest, all text counts as shown.

use std::collections::HashSet;

use super::block::Block;
use super::hint::Hint;
use super::main::sums::prose;
use super::main::words::hashes;
use super::markup::attribute::Attributes;
use super::tree::{FAR, Tree};

/// Class names that hide text from readers in the style sheets of nearly every site that uses them. Names such as
/// `hidden` are not among them: with another class, the box shows on wide screens.
const HIDING_CLASSES: [&[u8]; 6] = [
    b"sr-only",
    b"visually-hidden",
    b"visuallyhidden",
    b"screen-reader-text",
    b"screen-reader-only",
    b"element-invisible",
];

/// Whether these attributes hide their element.
pub fn is_hiding(attributes: &[u8]) -> bool {
    attributes.len() > 5 && Attributes::new(attributes).any(|(name, value)| hides(name, value))
}

/// Whether an attribute hides its element in a browser.
pub fn hides(name: &[u8], value: &[u8]) -> bool {
    let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
    if is(b"class") {
        return value.split(u8::is_ascii_whitespace).any(|class| HIDING_CLASSES.contains(&class));
    }
    is(b"hidden")
        || is(b"popover")
        || (is(b"style") && (has(value, b"display", b"none") || has(value, b"visibility", b"hidden")))
}

/// Whether a style sets `property` to `value`.
fn has(style: &[u8], property: &[u8], value: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(style, property) else { return false };
    let rest = style[at + property.len()..].trim_ascii_start();
    rest.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii_start().starts_with(value))
}

/// Removes the text of hidden boxes, unless it is most of the page. Hidden copies of shown text, as some pages have
/// for machines, do not count.
pub fn remove_hidden(tree: &mut Tree) {
    let is_hidden = |block: &Block| tree.nodes[block.node as usize].distance[Hint::Unseen as usize] < FAR;
    let hidden: Vec<bool> = tree.blocks.iter().map(is_hidden).collect();
    let shown = amount(tree.blocks.iter().zip(&hidden).filter(|(_, hidden)| !**hidden));
    let away = amount(tree.blocks.iter().zip(&hidden).filter(|(_, hidden)| **hidden));
    if away.1 > 0 && (away < shown || without_copies(tree, &hidden) < shown) {
        keep(tree, &hidden);
    }
}

/// The words of sentences, and all words.
fn amount<'a>(blocks: impl Iterator<Item = (&'a Block, &'a bool)>) -> (u64, u64) {
    blocks.fold((0, 0), |(sentences, words), (block, _)| {
        (sentences + u64::from(prose(&block.count)), words + u64::from(block.count.words))
    })
}

/// The amount of hidden text that is not shown elsewhere on the page.
fn without_copies(tree: &Tree, hidden: &[bool]) -> (u64, u64) {
    let blocks = || tree.blocks.iter().zip(hidden);
    let text = |block: &Block| &tree.text[block.text.clone()];
    let shown: HashSet<u64> =
        blocks().filter(|(_, hidden)| !**hidden).flat_map(|(block, _)| phrases(text(block))).collect();
    let is_copy = |block: &Block| {
        let (all, known) = phrases(text(block))
            .fold((0, 0), |(all, known), phrase| (all + 1, known + usize::from(shown.contains(&phrase))));
        known * 2 > all
    };
    amount(blocks().filter(|(block, hidden)| **hidden && !is_copy(block)))
}

/// Hashes of each four words in a row.
fn phrases(text: &str) -> impl Iterator<Item = u64> + '_ {
    let mut last = [0u32; 4];
    hashes(text).enumerate().filter_map(move |(at, (word, _))| {
        last.rotate_left(1);
        last[3] = word;
        let mixed = |sum: u64, word: &u32| (sum ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (at >= 3).then(|| last.iter().fold(0, mixed))
    })
}

fn keep(tree: &mut Tree, hidden: &[bool]) {
    let mut text = String::with_capacity(tree.text.len());
    let mut blocks = Vec::with_capacity(tree.blocks.len());
    // How many blocks stay before each one.
    let mut before = Vec::with_capacity(hidden.len() + 1);
    let mut copied = 0;
    for (block, hidden) in tree.blocks.iter().zip(hidden) {
        before.push(blocks.len() as u32);
        text.push_str(&tree.text[copied..block.text.start]);
        copied = block.text.end;
        if !hidden {
            let start = text.len();
            text.push_str(&tree.text[block.text.clone()]);
            blocks.push(Block { text: start..text.len(), ..block.clone() });
        }
    }
    before.push(blocks.len() as u32);
    text.push_str(&tree.text[copied..]);
    for node in &mut tree.nodes {
        node.blocks = before[node.blocks.start as usize]..before[node.blocks.end as usize];
    }
    tree.title = tree.title.filter(|&title| !hidden[title]).map(|title| before[title] as usize);
    (tree.text, tree.blocks) = (text, blocks);
}
