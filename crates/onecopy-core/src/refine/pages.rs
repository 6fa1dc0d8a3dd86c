//! Compares results by a method: texts are sketched, and the stages of a run decide which of them stay.

use std::collections::HashMap;

use super::fragment::Query;
use super::{Compared, Evidence, Grouping, Place, RefineError, RefineOptions, Relation};
use crate::config::Config;
use crate::dedup::Contents;
use crate::page::record::{Needs, Record, Text, TextParts};
use crate::similarity::method::{Method, Scratch, Subject, method};
use crate::similarity::sketch::append_sketch;
use crate::similarity::verify::shares;
use crate::text::canonical::{Canonical, canonicalise};

/// Finds the place of each result.
pub(super) fn places(
    results: &[Evidence],
    options: &RefineOptions,
) -> Result<(Vec<Place>, Compared), RefineError> {
    let method = method(&options.config)?;
    let sheets = Sheets::new(results, options, &*method);
    let contents = sheets.contents(&*method);
    let (winner, similarity) = match options.grouping {
        Grouping::ByAnchor => by_anchor(&contents),
        Grouping::Transitive => transitive(&contents),
    };
    let relation: Vec<Relation> = (0..winner.len())
        .map(|content| match winner[content] as usize {
            winner if winner == content => Relation::Similar,
            winner => {
                sheets.relation(contents.best_page[content] as usize, contents.best_page[winner] as usize)
            }
        })
        .collect();
    let place = |result: usize| {
        let content = contents.of_page[result] as usize;
        let anchor =
            winner.get(content).map_or(result, |&winner| contents.best_page[winner as usize] as usize);
        if anchor == result {
            return Place::of_anchor(result);
        }
        Place { anchor, similarity: similarity[content], relation: relation[content] }
    };
    Ok(((0..results.len()).map(place).collect(), sheets.compared()))
}

/// The winner of each content and its similarity to it.
fn by_anchor(contents: &Contents) -> (Vec<u32>, Vec<f64>) {
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
        let (text_of, best, ends, words) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut sheets = Sheets { results, config, method, query, text_of, best, ends, words };
        let (mut reader, mut known) = (Reader::default(), HashMap::new());
        for (result, evidence) in (0..).zip(results) {
            let number = sheets.best.len() as u32;
            let text = sheets.read(evidence, &mut reader).map(|print| *known.entry(print).or_insert(number));
            if text == Some(number) {
                sheets.sketch(evidence, &mut reader);
                sheets.best.push(result);
                sheets.ends.push(sheets.words.len());
            }
            sheets.text_of.push(text.unwrap_or(u32::MAX));
        }
        sheets
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

    fn contents<'c>(&'c self, method: &'c dyn Method) -> Contents<'c> {
        let sketches: Vec<&[u64]> = (0..self.best.len()).map(|text| self.sketch_of(text)).collect();
        let sizes = sketches.iter().map(|sketch| sketch.len() as u32).collect();
        Contents { of_page: self.text_of.clone(), best_page: self.best.clone(), sketches, sizes, method }
    }

    /// Reads a result into `reader`. Returns a value that only the same text has; `None` if there is nothing to
    /// compare.
    fn read(&self, evidence: &Evidence<'a>, reader: &mut Reader<'a>) -> Option<u128> {
        let needs = Needs::of(self.config, self.method);
        reader.record = Record::default();
        match evidence {
            Evidence::Text(text) => reader.record.plain(Text::Plain((*text).into()), &needs),
            Evidence::Html(html) => reader.record.html(html, &needs),
            Evidence::Sketch(words) if !words.is_empty() => return Some(print_of(words)),
            Evidence::Sketch(_) | Evidence::Tag(_) | Evidence::Nothing => return None,
        }
        reader.record.text.canonicalise(&self.config.canonical, &mut reader.canonical);
        if let Some(query) = &self.query {
            reader.narrow(query, self.config);
        }
        (reader.canonical.token_count() > 0).then(|| reader.canonical.fingerprint().0)
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

    /// What a result is to its anchor. Both are the best of their texts.
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

/// A value that only the same sketch has.
fn print_of(words: &[u64]) -> u128 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    crate::hash::fingerprint(&bytes).0
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
