//! HTML → text: everything that a reader sees, or the main content of the page.
//!
//! ```text
//! scan      bytes  → text runs and tags       one pass; broken markup is read as browsers read it
//! visible   tokens → tokens                   drops tokens that are never shown
//! tree      tokens → blocks of text in boxes  no recursion, bounded depth
//! hidden    blocks → blocks                   without those that attributes hide, unless they are most of the page
//! feature   block  → numbers                  itself, its neighbours, its boxes, its place, its page
//! model     numbers → likely content or not   learnt from pages that people marked; integers only
//! context   likely? → numbers                 the first judgement of the blocks around, for a second one
//! frame     likely? → likely?                  without navigation, the foot, and a list of links before the headline
//! choice    likely? → main content            the blocks with the best expected F1
//! ```
//! The stages accept any text. Their time is proportional to its length, except for sorting its blocks.

mod block;
mod hidden;
mod hint;
mod lines;
mod link;
mod main;
mod markup;
mod tree;

use std::ops::Range;

use crate::config::Content;
use lines::end_line;
pub use link::{OutLink, each_link, links};
use main::context::CONTEXT;
#[doc(hidden)]
pub use main::context::{Judged, context};
use main::feature::{FEATURES, PageFeatures, ROOM};
use main::frame::Judgement;
use main::model::{Batch, LANES};
use main::{frame, model};
pub(super) use markup::entity::decoded;
use tree::Tree;

/// If the main content has fewer words than this and the page has more than three times as many, all text is
/// compared. A higher minimum is not safer. Two short pages of one site are mostly template, so that all their text
/// makes them copies of each other. Measured on 1,370 short pages of documentation in nine templates, a minimum of
/// 80 finds 0.60 of the copies and 111 wrong pairs. This one finds 0.9998 of the copies and no wrong pair.
const MAIN_WORDS_MIN: u64 = 30;
/// Main content of less than one in this many words does not stand for a page either. None of the 1,133 marked pages
/// has right main content that is so little. Up to a tenth of the page, it is nearly always right.
const MAIN_PART_MIN: u64 = 25;
/// Main content of at least this many words has no headline on pages made for phones.
const HEADLESS_WORDS_MIN: u64 = 100;

/// Appends the part of the text of `html` that `content` names to `out`. Each block is a line, and each run of white
/// space becomes one space. It accepts any text.
pub fn html_to_text(html: &str, content: Content, out: &mut String) {
    end_line(out);
    let tree = tree::grow(html);
    if content == Content::All {
        return out.push_str(&tree.text);
    }
    let main = main_blocks(&tree);
    if content == Content::Auto && is_too_little(&main, &tree) {
        return out.push_str(&tree.text);
    }
    for index in main {
        out.push_str(&tree.text[tree.blocks[index].text.clone()]);
    }
}

/// The main content of an HTML page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MainContent {
    /// The parts of the text of the page that are main content, in order.
    pub parts: Vec<Range<usize>>,
    /// Whether there is enough of it to stand for the page. If not, [`Content::Auto`] takes all text.
    pub is_enough: bool,
}

/// Appends all text of `html` to `out`, as [`html_to_text`] does, and returns which of it is main content.
pub fn html_to_parts(html: &str, out: &mut String) -> MainContent {
    end_line(out);
    let start = out.len();
    let tree = tree::grow(html);
    let main = main_blocks(&tree);
    out.push_str(&tree.text);
    // Adjacent blocks are one part: no words are between them.
    let runs = main.chunk_by(|one, next| one + 1 == *next);
    let text = |index: usize| &tree.blocks[index].text;
    let part = |run: &[usize]| start + text(run[0]).start..start + text(run[run.len() - 1]).end;
    MainContent { parts: runs.map(part).collect(), is_enough: !is_too_little(&main, &tree) }
}

/// Visits each block of `html` with its text and the numbers that the model is trained on. The sum in `Judged` is
/// not known yet.
#[doc(hidden)]
pub fn describe_blocks(html: &str, mut visit: impl FnMut(&str, &[i32], Judged)) {
    let tree = tree::grow(html);
    let page = PageFeatures::new(&tree);
    let mut features = [0; ROOM];
    for index in shown(&tree) {
        page.describe(index, &mut features);
        visit(&tree.text[tree.blocks[index].text.clone()], &features[..FEATURES], page.judged(index, 0));
    }
}

/// The blocks of a page without its title, which is not shown on the page.
fn shown(tree: &Tree) -> impl Iterator<Item = usize> {
    let title = tree.title;
    (0..tree.blocks.len()).filter(move |index| title != Some(*index))
}

/// The blocks of the main content, in order.
fn main_blocks(tree: &Tree) -> Vec<usize> {
    let page = PageFeatures::new(tree);
    let blocks: Vec<usize> = shown(tree).collect();
    let (mut features, mut batch) = ([0; ROOM], Batch::new());
    let mut judged = Vec::with_capacity(blocks.len());
    for some in blocks.chunks(LANES) {
        for (lane, &index) in some.iter().enumerate() {
            page.describe(index, &mut features);
            batch.put(lane, &features);
        }
        let sums = model::judge(&batch);
        judged.extend(some.iter().zip(sums).map(|(&index, sum)| page.judged(index, sum)));
    }
    let mut sums: Vec<Judgement> = Vec::with_capacity(blocks.len());
    // Each block is described twice instead of stored: a page may have tens of thousands of blocks.
    context(&judged, |at, numbers| {
        page.describe(blocks[at], &mut features);
        features[FEATURES..FEATURES + CONTEXT].copy_from_slice(numbers);
        let lane = at % LANES;
        batch.put(lane, &features);
        if lane + 1 == LANES || at + 1 == blocks.len() {
            sums.extend(blocks[at - lane..].iter().copied().zip(model::judge_again(&batch)));
        }
    });
    let sum_min = frame::remove(&page, &mut sums);
    let kept = sums.into_iter().filter(|(_, sum)| *sum >= sum_min);
    without_headline(kept.map(|(index, _)| index).collect(), &page)
}

/// The chosen blocks without the headline. In marked pages made for phones, the headline is the title and not part of the
/// content; in older ones it is. Short content keeps it, since it may be what tells two such pages apart.
fn without_headline(mut kept: Vec<usize>, page: &PageFeatures<'_>) -> Vec<usize> {
    if page.tree.fits_phones && words(&kept, page.tree) >= HEADLESS_WORDS_MIN {
        kept.retain(|index| Some(*index) != page.headline);
    }
    kept
}

fn words(blocks: &[usize], tree: &Tree) -> u64 {
    blocks.iter().map(|&index| u64::from(tree.blocks[index].count.words)).sum()
}

fn is_too_little(main: &[usize], tree: &Tree) -> bool {
    let words = words(main, tree);
    let all: u64 = tree.blocks.iter().map(|block| u64::from(block.count.words)).sum();
    words == 0 || words * MAIN_PART_MIN < all || (words < MAIN_WORDS_MIN && words * 3 < all)
}

#[cfg(test)]
mod tests;
