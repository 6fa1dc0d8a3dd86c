//! Compares results by a method: texts are sketched, and the stages of a run decide which of them stay.

use std::collections::HashMap;

use super::few;
use super::fragment::Query;
use super::{Compared, Evidence, Grouping, Place, RefineOptions, Relation};
use crate::config::Config;
use crate::dedup::Contents;
use crate::hash::{digest, repeated};
use crate::page::record::{Needs, Record, Text, TextParts};
use crate::similarity::method::{Method, Scratch, Subject};
use crate::similarity::sketch::append_sketch;
use crate::similarity::verify::shares;
use crate::text::canonical::{Canonical, canonicalise};

/// The winner of each content and its similarity to it.
fn by_anchor(contents: &Contents) -> (Vec<u32>, Vec<f64>) {
    if let Some(found) = few::winners(contents) {
        return found;
    }
    let settled = contents.winners();
    let similarity = (0..contents.sizes.len() as u32)
        .map(|content| settled.similarity(content, &contents.sizes, contents.method))
        .collect();
    (settled.winner, similarity)
}

/// The best content of each content's group and its similarity to it.
fn transitive(contents: &Contents) -> (Vec<u32>, Vec<f64>) {
    let (_, groups) = contents.settle();
    let all = 0..contents.sizes.len() as u32;
    all.map(|content| {
        let (best, sketches) = (groups.of(content), &contents.sketches);
        let (a, b) = (sketches[content as usize], sketches[best as usize]);
        let sizes = (a.len(), b.len());
        let similarity = match best == content {
            true => 1.0,
            false => contents.method.similarity(contents.method.score(a, b), sizes),
        };
        (best, similarity)
    })
    .unzip()
}

/// More words than the sketch of a usual text has, by its bytes. Memory that is not used costs nothing, but a list that
/// grows is copied.
fn expected_words(evidence: &Evidence) -> usize {
    match evidence {
        Evidence::Text(text) | Evidence::Json(text) => text.len() / 4,
        _ => 0,
    }
}

/// Results as the method sees them.
pub(crate) struct Sheets<'a> {
    results: &'a [Evidence<'a>],
    config: &'a Config,
    method: &'a dyn Method,
    query: Option<Query>,
    /// The number of each result's text; `u32::MAX` for results that cannot be compared.
    pub(crate) text_of: Vec<u32>,
    /// The best result of each text.
    pub(crate) best: Vec<u32>,
    /// Where the sketch of each text ends in `words`.
    ends: Vec<usize>,
    words: Vec<u64>,
}

impl<'a> Sheets<'a> {
    /// Sketches each different text once.
    pub(crate) fn new(
        results: &'a [Evidence],
        options: &'a RefineOptions,
        method: &'a dyn Method,
    ) -> Sheets<'a> {
        let config = &options.config;
        let query = options.query.as_deref().and_then(|query| Query::new(query, &config.canonical));
        let (text_of, best, ends) = (Vec::new(), Vec::new(), Vec::new());
        let words = Vec::with_capacity(results.iter().map(expected_words).sum());
        let mut sheets = Sheets { results, config, method, query, text_of, best, ends, words };
        let (mut reader, mut known) = (Reader::default(), HashMap::new());
        for (result, evidence) in (0..).zip(results) {
            let text = match sheets.read(evidence, &mut reader) {
                Some(print) => sheets.enter(result, print, &mut reader, &mut known),
                None => u32::MAX,
            };
            sheets.text_of.push(text);
        }
        sheets
    }

    /// Sketches the result that was read last. Returns the number of its text. Texts with the same digest are the
    /// same if their sketches are, too: somebody may have looked for two texts with one digest.
    fn enter(&mut self, result: u32, print: u64, reader: &mut Reader, known: &mut HashMap<u64, u32>) -> u32 {
        let (number, start) = (self.best.len() as u32, self.words.len());
        self.sketch(&self.results[result as usize], reader);
        let first = *known.entry(print).or_insert(number);
        if first != number && self.sketch_of(first as usize) == &self.words[start..] {
            self.words.truncate(start);
            return first;
        }
        self.best.push(result);
        self.ends.push(self.words.len());
        number
    }

    /// Finds the place of each result.
    pub(super) fn places(&self, grouping: Grouping) -> Vec<Place> {
        let contents = self.contents();
        let (winner, similarity) = match grouping {
            Grouping::ByAnchor => by_anchor(&contents),
            Grouping::Transitive => transitive(&contents),
        };
        let best = |text: u32| self.best[text as usize] as usize;
        let relation = |(text, winner): (u32, &u32)| match text == *winner {
            true => Relation::Similar,
            false => self.relation(best(text), best(*winner)),
        };
        let relation: Vec<Relation> = (0..).zip(&winner).map(relation).collect();
        let place = |result: usize| {
            let text = self.text_of[result] as usize;
            let anchor = winner.get(text).map_or(result, |&winner| best(winner));
            if anchor == result {
                return Place::of_anchor(result);
            }
            Place { anchor, similarity: similarity[text], relation: relation[text] }
        };
        (0..self.results.len()).map(place).collect()
    }

    /// The sketch of a text.
    pub(crate) fn sketch_of(&self, text: usize) -> &[u64] {
        let start = text.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[text]]
    }

    /// What was compared.
    pub(crate) fn compared(&self) -> Compared {
        if self.query.is_some() { Compared::Passages } else { Compared::Pages }
    }

    fn contents(&self) -> Contents<'_> {
        let sketches: Vec<&[u64]> = (0..self.best.len()).map(|text| self.sketch_of(text)).collect();
        let sizes = sketches.iter().map(|sketch| sketch.len() as u32).collect();
        Contents {
            of_page: self.text_of.clone(),
            best_page: self.best.clone(),
            sketches,
            sizes,
            base: 0,
            method: self.method,
        }
    }

    /// Reads a result into `reader`. Returns the digest of its text; `None` if there is nothing to compare.
    fn read(&self, evidence: &Evidence<'a>, reader: &mut Reader<'a>) -> Option<u64> {
        let needs = Needs::of(self.config, self.method);
        reader.record = Record::default();
        match evidence {
            Evidence::Text(text) => reader.record.plain(Text::Plain((*text).into()), &needs),
            Evidence::Json(raw) => reader.record.plain(Text::Json(raw), &needs),
            Evidence::Html(html) => reader.record.html(html, &needs),
            Evidence::Sketch(words) if !words.is_empty() => {
                return Some(words.iter().fold(0, |sum, &word| repeated(word, sum)));
            }
            Evidence::Sketch(_) | Evidence::Tag(_) | Evidence::Nothing => return None,
        }
        reader.record.text.canonicalise(&self.config.canonical, &mut reader.canonical);
        if let Some(query) = &self.query {
            reader.narrow(query, self.config);
        }
        (reader.canonical.token_count() > 0).then(|| digest(reader.canonical.as_bytes()))
    }

    /// Appends the sketch of the result that was read last.
    fn sketch(&mut self, evidence: &Evidence, reader: &mut Reader) {
        if let Evidence::Sketch(words) = evidence {
            return self.words.extend_from_slice(words);
        }
        let Reader { record, canonical, scratch, .. } = reader;
        let text = if self.method.looks_at().text { record.text.plain() } else { "".into() };
        let parts = record.parts.as_ref().map(TextParts::parts);
        let subject = Subject { canonical, text: &text, links: &record.out_links, parts };
        self.method.sketch(&subject, scratch, &mut self.words);
    }

    /// The relation of a result to its anchor. Both are the best of their texts.
    pub(crate) fn relation(&self, result: usize, anchor: usize) -> Relation {
        let sketch = |result: usize| self.sketch_of(self.text_of[result] as usize);
        let known = self.method.containment(sketch(result), sketch(anchor));
        let known = known.or_else(|| Some(shares(&self.shingles(result)?, &self.shingles(anchor)?)));
        known.map_or(Relation::Similar, |(result, anchor)| Relation::of_shares(result, anchor))
    }

    /// The shingles of a result that has a text.
    fn shingles(&self, result: usize) -> Option<Vec<u64>> {
        let (mut reader, mut out) = (Reader::default(), Vec::new());
        if let Evidence::Sketch(_) = self.results[result] {
            return None;
        }
        self.read(&self.results[result], &mut reader)?;
        append_sketch(&reader.canonical, &self.config.shingles, &mut reader.scratch.sketch, &mut out);
        Some(out)
    }
}

/// The result that is read, and buffers for it.
#[derive(Default)]
struct Reader<'a> {
    record: Record<'a>,
    canonical: Canonical,
    scratch: Scratch,
    passages: String,
}

impl Reader<'_> {
    /// Leaves the passages around the words of a query, if the page has any.
    fn narrow(&mut self, query: &Query, config: &Config) {
        if query.passages(&self.canonical, &mut self.passages) {
            canonicalise(&self.passages, &config.canonical, &mut self.canonical);
            self.record.parts = None;
            self.record.out_links.clear();
            self.record.text = Text::Plain(self.passages.clone().into());
        }
    }
}
