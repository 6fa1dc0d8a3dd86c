//! Tags, or outlines, that others are compared with. They are in one table, so that a scan reads memory in order.

use super::simd;
use crate::simd::level;
use crate::similarity::filter::simd::shared_plain;

/// Tags in the order of their ranks.
pub(in crate::refine) struct Anchors {
    pub(super) width: usize,
    pub(super) needed: Needed,
    pub(super) words: Vec<u64>,
    /// How many bits of each tag are set, and how many another tag must share with it.
    pub(super) bounds: Vec<[u32; 2]>,
    results: Vec<u32>,
}

/// How many bits two tags must share.
#[derive(Clone, Copy)]
pub(in crate::refine) enum Needed {
    /// As many as either says.
    Both,
    /// Half of the sum of both, which are signed numbers.
    HalfOfSum,
}

/// A tag that is compared with all of them.
#[derive(Clone, Copy)]
pub(in crate::refine) struct Probe<'a> {
    pub words: &'a [u64],
    pub count: u32,
    pub needed: u32,
}

impl Anchors {
    pub(in crate::refine) fn new(width: usize, needed: Needed) -> Anchors {
        Anchors { width, needed, words: Vec::new(), bounds: Vec::new(), results: Vec::new() }
    }

    pub(in crate::refine) fn push(&mut self, result: u32, tag: Probe) {
        self.words.extend_from_slice(tag.words);
        self.bounds.push([tag.count, tag.needed]);
        self.results.push(result);
    }

    /// The best-ranked result whose tag is similar.
    pub(super) fn first_alike(&self, tag: Probe) -> Option<u32> {
        simd::next(level(), self, tag, 0).map(|place| self.results[place])
    }

    /// All results whose tag is similar, the best-ranked first.
    pub(in crate::refine) fn each_alike(&self, tag: Probe) -> impl Iterator<Item = u32> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let place = simd::next(level(), self, tag, from)?;
            from = place + 1;
            Some(self.results[place])
        })
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
        let needed = match anchors.needed {
            Needed::Both => needed.max(tag.needed),
            Needed::HalfOfSum => {
                (needed.cast_signed() + tag.needed.cast_signed() + 1).max(0).cast_unsigned() / 2
            }
        };
        count.min(tag.count) >= needed && common(place) >= u64::from(needed)
    };
    (from..anchors.bounds.len()).find(|&place| is_alike(place))
}
