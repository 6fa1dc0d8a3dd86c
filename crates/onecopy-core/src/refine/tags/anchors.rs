//! Tags that others are compared with, in one table so that a scan reads memory in order.

use super::simd;
use crate::simd::level;
use crate::similarity::filter::simd::shared_plain;

/// Tags in the order of their ranks.
pub(super) struct Anchors {
    pub(super) width: usize,
    pub(super) words: Vec<u64>,
    /// How many bits of each tag are set, and how many another tag must share with it.
    pub(super) bounds: Vec<[u32; 2]>,
    results: Vec<u32>,
}

/// A tag that is compared with all of them.
#[derive(Clone, Copy)]
pub(super) struct Probe<'a> {
    pub words: &'a [u64],
    pub count: u32,
    pub needed: u32,
}

impl Anchors {
    pub(super) fn new(width: usize) -> Anchors {
        Anchors { width, words: Vec::new(), bounds: Vec::new(), results: Vec::new() }
    }

    pub(super) fn push(&mut self, result: u32, tag: Probe) {
        self.words.extend_from_slice(tag.words);
        self.bounds.push([tag.count, tag.needed]);
        self.results.push(result);
    }

    /// The best-ranked result whose tag is similar.
    pub(super) fn first_alike(&self, tag: Probe) -> Option<u32> {
        simd::next(level(), self, tag, 0).map(|place| self.results[place])
    }

    /// Calls `each` with every result whose tag is similar.
    pub(super) fn each_alike(&self, tag: Probe, mut each: impl FnMut(u32)) {
        let mut from = 0;
        while let Some(place) = simd::next(level(), self, tag, from) {
            each(self.results[place]);
            from = place + 1;
        }
    }
}

/// The first place from `from` on whose tag is similar.
#[inline(always)]
pub(super) fn next_plain(anchors: &Anchors, tag: Probe, from: usize) -> Option<usize> {
    // The usual width is known at compile time, so that the tag stays in registers.
    match tag.words.try_into() {
        Ok(words) => next_usual(anchors, words, tag, from),
        Err(_) => {
            let others = anchors.words.chunks_exact(anchors.width);
            next_by(anchors, tag, from, |place| {
                shared_plain(tag.words, others.clone().nth(place).unwrap_or_default())
            })
        }
    }
}

/// The words of a tag by the default rules.
const USUAL: usize = 32;

#[inline(always)]
fn next_usual(anchors: &Anchors, words: &[u64; USUAL], tag: Probe, from: usize) -> Option<usize> {
    let others = anchors.words.as_chunks::<USUAL>().0;
    next_by(anchors, tag, from, |place| shared_plain(words, &others[place]))
}

#[inline(always)]
fn next_by(anchors: &Anchors, tag: Probe, from: usize, common: impl Fn(usize) -> u64) -> Option<usize> {
    let is_alike = |place: usize| {
        let [count, needed] = anchors.bounds[place];
        let needed = needed.max(tag.needed);
        count.min(tag.count) >= needed && common(place) >= u64::from(needed)
    };
    (from..anchors.bounds.len()).find(|&place| is_alike(place))
}
