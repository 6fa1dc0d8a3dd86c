//! Compares results by their tags: the common bits of all pairs, which for thousands of results is faster than any
//! index.

mod anchors;
mod simd;

use std::collections::HashMap;

use super::{Evidence, Grouping, Place, RefineError, RefineOptions, Relation, Tag};
use crate::config::{REFINE_METHOD, TAG_METHOD};
use crate::decide::group::Groups;
use crate::similarity::filter::{FilterRules, shared};
use crate::similarity::measure::containment;
use crate::similarity::method::{filter_rules, method};
use crate::similarity::verify::overlap_within;
pub(super) use anchors::{Anchors, Needed, Probe};

/// The tags of results, in one table.
pub(crate) struct Tags {
    /// Tags at least this similar are alike.
    pub(crate) threshold: f64,
    /// Words of a tag.
    width: usize,
    words: Vec<u64>,
    /// How many bits of each tag are set.
    counts: Vec<u32>,
    /// How many bits another tag must share with each at least. `u32::MAX`: it is similar only to its equals, or to
    /// no tag.
    needed: Vec<u32>,
}

/// The tags of all results if at least one has a tag. Texts are made into tags by the rules of the first tag.
pub(crate) fn tags_of(results: &[Evidence], options: &RefineOptions) -> Result<Option<Tags>, RefineError> {
    let first = results.iter().find_map(|evidence| match evidence {
        Evidence::Tag(tag) => Some(*tag.rules()),
        _ => None,
    });
    let Some(rules) = first else { return Ok(None) };
    let threshold = threshold(options, &rules)?;
    let mut tags = Tags::empty(&rules, threshold);
    for (result, evidence) in results.iter().enumerate() {
        match evidence {
            Evidence::Tag(tag) if *tag.rules() == rules => tags.push(tag.words()),
            Evidence::Tag(tag) => {
                return Err(RefineError::TagRules { result, rules: *tag.rules(), others: rules });
            }
            Evidence::Text(text) => tags.push(Tag::of_text(text, &rules).words()),
            Evidence::Json(raw) => tags.push(Tag::of_json(raw, &rules).words()),
            Evidence::Html(html) => tags.push(Tag::of_html(html, &rules).words()),
            Evidence::Nothing => tags.push(&vec![0; tags.width]),
            Evidence::Sketch(_) => return Err(RefineError::TagBesideSketch { result }),
        }
    }
    Ok(Some(tags))
}

/// The threshold for tags. A chosen method must be `bloom` with the rules of the tags, or the default method.
fn threshold(options: &RefineOptions, rules: &FilterRules) -> Result<f64, RefineError> {
    let mut config = options.config.clone();
    if config.method == REFINE_METHOD {
        config.method = TAG_METHOD.into();
    } else {
        match filter_rules(&config.method) {
            Some(chosen) if chosen == *rules => {}
            Some(chosen) => return Err(RefineError::TagRules { result: 0, rules: *rules, others: chosen }),
            None => return Err(RefineError::TagMethod { method: config.method }),
        }
    }
    Ok(method(&config)?.threshold())
}

impl Tags {
    fn empty(rules: &FilterRules, threshold: f64) -> Tags {
        let width = rules.bits.div_ceil(64);
        Tags { threshold, width, words: Vec::new(), counts: Vec::new(), needed: Vec::new() }
    }

    fn push(&mut self, words: &[u64]) {
        let count: u32 = words.iter().map(|word| word.count_ones()).sum();
        self.words.extend_from_slice(words);
        self.counts.push(count);
        // A filter that is more than half full resembles every other.
        let says_nothing = count == 0 || count as usize > self.width * 32;
        self.needed.push(if says_nothing {
            u32::MAX
        } else {
            overlap_within(count as usize, self.threshold) as u32
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn tag(&self, result: usize) -> &[u64] {
        &self.words[result * self.width..(result + 1) * self.width]
    }

    fn place(&self, result: usize, anchor: usize) -> Place {
        if result == anchor {
            return Place::of_anchor(result);
        }
        let shared = shared(self.tag(result), self.tag(anchor));
        let (own, its) = (self.counts[result] as usize, self.counts[anchor] as usize);
        let relation = Relation::of_shares(containment(shared, own), containment(shared, its));
        Place { anchor, similarity: containment(shared, own.max(its)), relation }
    }

    /// Finds the place of each result.
    pub(super) fn places(&self, grouping: Grouping) -> Vec<Place> {
        let anchors = match grouping {
            Grouping::ByAnchor => self.by_anchor(),
            Grouping::Transitive => self.transitive(),
        };
        anchors.into_iter().enumerate().map(|(result, anchor)| self.place(result, anchor as usize)).collect()
    }

    fn probe(&self, result: usize) -> Probe<'_> {
        Probe { words: self.tag(result), count: self.counts[result], needed: self.needed[result] }
    }

    fn by_anchor(&self) -> Vec<u32> {
        let mut equal = HashMap::new();
        let (mut anchors, mut of) = (Anchors::new(self.width, Needed::Both), Vec::new());
        for result in 0..self.len() {
            let anchor = match self.is_full(result) {
                true => Some(*equal.entry(self.tag(result)).or_insert(result as u32)),
                false => anchors.first_alike(self.probe(result)),
            };
            if anchor.is_none() && self.counts[result] > 0 {
                anchors.push(result as u32, self.probe(result));
            }
            of.push(anchor.unwrap_or(result as u32));
        }
        of
    }

    /// Whether a tag says so little that only its equals are similar.
    fn is_full(&self, result: usize) -> bool {
        self.needed[result] == u32::MAX && self.counts[result] > 0
    }

    fn transitive(&self) -> Vec<u32> {
        let mut groups = Groups::new(self.len());
        let (mut equal, mut all) = (HashMap::new(), Anchors::new(self.width, Needed::Both));
        for result in 0..self.len() {
            if self.is_full(result) {
                groups.join(*equal.entry(self.tag(result)).or_insert(result as u32), result as u32);
            } else if self.counts[result] > 0 {
                all.each_alike(self.probe(result)).for_each(|other| groups.join(other, result as u32));
                all.push(result as u32, self.probe(result));
            }
        }
        (0..self.len() as u32).map(|result| groups.find(result)).collect()
    }
}
