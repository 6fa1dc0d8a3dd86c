//! HTML → text: all that a reader sees, or the main content of the page.
//!
//! ```text
//! scan      bytes  → text runs and tags       one pass; broken markup is read as browsers read it
//! visible   tokens → tokens                   without what is never shown
//! tree      tokens → blocks of text in boxes  no recursion, bounded depth
//! feature   block  → numbers                  itself, its neighbours, its boxes, its place, its page
//! model     numbers → main content or not     learnt from pages that people marked; whole numbers only
//! ```
//! Any text is accepted, and takes time in proportion to its length.

mod attribute;
mod block;
mod entity;
mod feature;
mod hint;
mod lines;
mod link;
mod model;
mod scan;
mod sums;
mod tag;
mod tree;
mod visible;
mod words;

use std::ops::Range;

use crate::config::Content;
use lines::{end_line, push_text};
pub use link::links;
use scan::Token;
use tag::Tag;
use tree::Tree;
use visible::Visible;

/// From which sum of the model a block is main content. Lower: more is kept. A little below even odds, where pages
/// that are nearly all content lose less than others gain; measured on pages not seen in training.
const MAIN_SUM_MIN: i32 = -200;
/// Main content of fewer words than this does not stand for a page that has three times as many. More is not safer:
/// two short pages of one site are mostly template, and all their text makes them copies of each other. Of 1,370 short
/// pages of documentation in nine templates, 80 finds 0.60 of the copies and 111 pairs that are none; this finds
/// 0.9998, and none of those.
const MAIN_WORDS_MIN: u64 = 30;
/// Nor does less than this part of a page. Of the 1,133 marked pages none has right main content that is so
/// little; on those with up to a tenth it nearly always is right.
const MAIN_PART_MIN: u64 = 25;

/// Appends the text of `html` to `out`: the part that `content` names, a line a block, runs of white space as one
/// space. Any text is accepted.
pub fn html_to_text(html: &str, content: Content, out: &mut String) {
    end_line(out);
    if content == Content::All {
        return all_text(html, out);
    }
    let tree = tree::grow(html);
    let main = main_blocks(&tree);
    if content == Content::Auto && is_too_little(&main, &tree) {
        out.push_str(&tree.text);
        return;
    }
    for index in main {
        out.push_str(&tree.text[tree.blocks[index].text.clone()]);
    }
}

/// Appends all text of `html` to `out`, as [`html_to_text`] does, and returns which parts of it are main content, in
/// order; none, where there is too little and [`Content::Auto`] takes all.
pub fn html_to_parts(html: &str, out: &mut String) -> Vec<Range<usize>> {
    end_line(out);
    let start = out.len();
    let tree = tree::grow(html);
    let main = main_blocks(&tree);
    out.push_str(&tree.text);
    if is_too_little(&main, &tree) {
        return vec![];
    }
    // Blocks that follow each other are one part: nothing that has words is between them.
    let runs = main.chunk_by(|one, next| one + 1 == *next);
    let text = |index: usize| &tree.blocks[index].text;
    runs.map(|run| start + text(run[0]).start..start + text(run[run.len() - 1]).end).collect()
}

/// The numbers that the model sees of each block of `html`, with the text of the block: what it is trained on.
#[doc(hidden)]
pub fn describe_blocks(html: &str, mut visit: impl FnMut(&str, &[i32])) {
    let tree = tree::grow(html);
    feature::describe(&tree, |index, features| {
        visit(&tree.text[tree.blocks[index].text.clone()], &features[..feature::FEATURES]);
    });
}

fn all_text(html: &str, out: &mut String) {
    for token in Visible::new(html) {
        match token {
            Token::Text(text) => push_text(text, out),
            Token::Open(open) => break_at(open.tag, out),
            Token::Close(tag) => break_at(tag, out),
        }
    }
    end_line(out);
}

/// A tag that is not inside a line of text ends the line: `<td>a</td><td>b</td>` is two words.
fn break_at(tag: Tag, out: &mut String) {
    if !tag.is_inline() {
        end_line(out);
    }
}

/// The blocks of the main content, in order. The title of the page is not among them: it is not on the page.
fn main_blocks(tree: &Tree) -> Vec<usize> {
    let mut main = vec![];
    feature::describe(tree, |index, features| {
        if model::judge(features) > MAIN_SUM_MIN {
            main.push(index);
        }
    });
    main
}

fn is_too_little(main: &[usize], tree: &Tree) -> bool {
    let words: u64 = main.iter().map(|&index| u64::from(tree.blocks[index].count.words)).sum();
    let all: u64 = tree.blocks.iter().map(|block| u64::from(block.count.words)).sum();
    words == 0 || words * MAIN_PART_MIN < all || (words < MAIN_WORDS_MIN && words * 3 < all)
}

#[cfg(test)]
mod tests;
