//! Few pages of the usual length: each is compared with all anchors before it, and outlines deny most pairs.
//!
//! For a few hundred pages that takes less time than to look for keys, which costs more for each page.

use super::tags::{Anchors, Needed, Probe};
use crate::dedup::Contents;
use crate::similarity::method::{Scratch, Search};

/// The words of an outline without its last one: as many as of a usual tag.
const WORDS: usize = 32;
/// The most pages. The number of pairs grows with its square.
const MOST: usize = 1_000;
/// The outlines of long pages with nothing in common differ in half of their bits. If alike ones may differ in as many,
/// outlines deny nothing.
const MOST_SLACK: u32 = (WORDS * 64 / 2) as u32 * 3 / 8;

/// The winner of each content and its similarity to it. `None` if keys find them sooner.
pub(super) fn winners(contents: &Contents) -> Option<(Vec<u32>, Vec<f64>)> {
    let method = contents.method;
    let is_few = contents.sketches.len() <= MOST && method.search() == Search::Keys && method.has_outlines();
    let outlines = is_few.then(|| Outlines::draw(contents))??;
    let mut anchors = Anchors::new(WORDS, Needed::HalfOfSum);
    let (mut winners, mut similarities) = (Vec::new(), Vec::new());
    for (content, sketch) in (0..).zip(&contents.sketches) {
        let probe = outlines.probe(content as usize);
        let alike = anchors.each_alike(probe).find_map(|anchor| {
            let other = contents.sketches[anchor as usize];
            let score = method.verify(sketch, other)?;
            Some((anchor, method.similarity(score, (sketch.len(), other.len()))))
        });
        if alike.is_none() {
            anchors.push(content, probe);
        }
        let (winner, similarity) = alike.unwrap_or((content, 1.0));
        winners.push(winner);
        similarities.push(similarity);
    }
    Some((winners, similarities))
}

/// The outlines of contents.
struct Outlines {
    words: Vec<u64>,
    /// How many bits of each are set, less its slack.
    needed: Vec<i32>,
    counts: Vec<u32>,
}

impl Outlines {
    /// `None` if they would deny too little.
    fn draw(contents: &Contents) -> Option<Outlines> {
        let (mut scratch, mut outline) = (Scratch::default(), [0; WORDS + 1]);
        let mut all = Outlines { words: Vec::new(), needed: Vec::new(), counts: Vec::new() };
        for sketch in &contents.sketches {
            contents.method.outline(sketch, &mut scratch, &mut outline);
            let slack = contents.method.slack(&outline).filter(|slack| *slack <= MOST_SLACK)?;
            let bits = &outline[..WORDS];
            let count = bits.iter().map(|word| word.count_ones()).sum::<u32>();
            all.words.extend_from_slice(bits);
            all.counts.push(count);
            // Two outlines that differ in no more bits than both slacks share at least half of the rest.
            all.needed.push(count.cast_signed() - slack.cast_signed());
        }
        Some(all)
    }

    fn probe(&self, content: usize) -> Probe<'_> {
        Probe {
            words: &self.words[content * WORDS..][..WORDS],
            count: self.counts[content],
            needed: self.needed[content].cast_unsigned(),
        }
    }
}
