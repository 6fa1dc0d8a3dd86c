//! The frame of a page: blocks that are no main content, whatever the model says of them.
//!
//! A page with ten words of its own beside a list of all pages has hardly any main content. The model then keeps the list,
//! and all such pages of a site would be copies. Few pages of this kind are marked, so the model cannot learn them.

use super::choice::sum_min;
use super::feature::PageFeatures;
use crate::page::html::hint::Hint;
use crate::page::html::tree::{FAR, Tree};

/// A block: its number in the page, and the sum of the model.
pub type Judgement = (usize, i32);

/// The least sum of a block to keep, after the blocks of the frame were removed. A page that has nothing else has no frame.
pub fn remove(page: &PageFeatures<'_>, judged: &mut Vec<Judgement>) -> i32 {
    let tree = page.tree;
    remove_all(judged, tree, |index| is_frame(index, tree));
    let mut least = least_sum(judged, tree);
    let kept = |judged: &[Judgement], least: i32| -> Vec<usize> {
        judged.iter().filter(|(_, sum)| *sum >= least).map(|(index, _)| *index).collect()
    };
    if has_article(&kept(judged, least), tree) {
        remove_all(judged, tree, |index| is_link(index, tree) && !is_in(index, Hint::ArticleTag, tree));
        least = least_sum(judged, tree);
    }
    let headline = page.headline.filter(|headline| is_in(*headline, Hint::HeadingTag, tree));
    if let Some(headline) = headline.filter(|headline| is_list_before(*headline, &kept(judged, least), tree))
    {
        remove_all(judged, tree, |index| index < headline && is_link(index, tree));
        least = least_sum(judged, tree);
    }
    least
}

/// Whether a block is navigation or the foot of the page, by its elements.
fn is_frame(index: usize, tree: &Tree) -> bool {
    let is_in = |hint| is_in(index, hint, tree);
    is_in(Hint::NavTag) || is_in(Hint::FooterTag) && !is_in(Hint::ArticleTag) && !is_in(Hint::MainTag)
}

fn is_in(index: usize, hint: Hint, tree: &Tree) -> bool {
    tree.nodes[tree.blocks[index].node as usize].distance[hint as usize] < FAR
}

fn is_link(index: usize, tree: &Tree) -> bool {
    let count = &tree.blocks[index].count;
    count.linked >= count.words
}

/// Whether an article is among these blocks. Links outside it lead to other articles.
fn has_article(kept: &[usize], tree: &Tree) -> bool {
    kept.iter().any(|&index| is_in(index, Hint::ArticleTag, tree) && !is_link(index, tree))
}

/// Whether links before the headline are most of these blocks.
fn is_list_before(headline: usize, kept: &[usize], tree: &Tree) -> bool {
    let (mut linked, mut words) = (0, 0);
    for &index in kept {
        let count = &tree.blocks[index].count;
        words += count.words;
        linked += if index < headline { count.linked } else { 0 };
    }
    2 * linked > words
}

/// Removes blocks, unless no word would be left.
fn remove_all(judged: &mut Vec<Judgement>, tree: &Tree, is_removed: impl Fn(usize) -> bool) {
    if judged.iter().any(|(index, _)| !is_removed(*index) && tree.blocks[*index].count.words > 0) {
        judged.retain(|(index, _)| !is_removed(*index));
    }
}

fn least_sum(judged: &[Judgement], tree: &Tree) -> i32 {
    let weighed: Vec<(u32, i32)> =
        judged.iter().map(|&(index, sum)| (tree.blocks[index].count.words, sum)).collect();
    sum_min(&weighed)
}
