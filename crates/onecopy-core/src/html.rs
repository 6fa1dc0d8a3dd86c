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
mod model;
mod scan;
mod sums;
mod tag;
mod tree;
mod visible;
mod words;

use crate::config::Content;
use lines::{end_line, push_text};
use scan::Token;
use tag::Tag;
use tree::Tree;
use visible::Visible;

/// Main content of fewer words than this says too little about a page to stand for it.
const MAIN_WORDS_MIN: u32 = 25;

/// Appends the text of `html` to `out`: the part that `content` names, a line a block, runs of white space as one
/// space. Any text is accepted.
pub fn html_to_text(html: &str, content: Content, out: &mut String) {
    end_line(out);
    if content == Content::All {
        return all_text(html, out);
    }
    let tree = tree::grow(html);
    let main = main_blocks(&tree);
    let words: u32 = main.iter().map(|&index| tree.blocks[index].count.words).sum();
    if content == Content::Auto && words < MAIN_WORDS_MIN {
        out.push_str(&tree.text);
        return;
    }
    for index in main {
        out.push_str(&tree.text[tree.blocks[index].text.clone()]);
    }
}

/// The numbers that the model sees of each block of `html`, with the text of the block: what it is trained on.
#[doc(hidden)]
pub fn describe_blocks(html: &str, mut visit: impl FnMut(&str, &[i32])) {
    let tree = tree::grow(html);
    feature::describe(&tree, |index, features| visit(&tree.text[tree.blocks[index].text.clone()], features));
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
        if model::judge(features) > 0 && tree.title != Some(index) {
            main.push(index);
        }
    });
    main
}

#[cfg(test)]
mod tests;
