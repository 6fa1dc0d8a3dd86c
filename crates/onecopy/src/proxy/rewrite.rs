//! Takes the repeats out of an answer, and puts hits of further pages into their places.
//!
//! Everything but the list of hits stays as the engine wrote it, and so does every hit that stays.

mod lists;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

use onecopy_core::{Place, RefineOptions, refine};

use lists::{Element, lists};

use super::fields::{Hit, HitFields};
use super::path::{JsonPath, offset};
use crate::results::relation_word;

/// What happens to repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// They are left out.
    Drop,
    /// They are left out, and the hit that they repeat names them.
    Group,
}

/// How answers are rewritten.
pub struct Rules {
    pub fields: HitFields,
    pub options: RefineOptions,
}

/// The answers to one search: the first, and those with further hits.
pub struct Answers<'a> {
    pub first: &'a str,
    pub further: &'a [&'a str],
    /// Where they have their hits.
    pub hits: &'a JsonPath,
    /// How many hits were asked for, if there is a limit.
    pub most: Option<usize>,
}

/// A rewritten answer.
#[derive(Debug, Default, PartialEq)]
pub struct Rewritten {
    /// The new text; `None` if nothing changes.
    pub text: Option<String>,
    /// Hits that the answer had, and that it has now.
    pub before: usize,
    pub after: usize,
    /// Hits that were found to be repeats.
    pub repeats: usize,
    /// Hits without a text or a tag.
    pub uncomparable: usize,
    /// The hits on the last page.
    pub last_page: usize,
}

/// Why an answer passes unchanged.
#[derive(Debug, PartialEq)]
pub enum Unchanged {
    /// It is not JSON, or its hits cannot be changed.
    Unparsed(String),
    /// It has no hits at the path.
    NoHits,
    /// It is too large.
    TooLarge,
}

impl Rewritten {
    /// Whether hits are missing that a further page may have.
    pub fn is_short_of(&self, size: usize) -> bool {
        self.after < size && self.repeats > 0 && self.last_page >= size
    }
}

impl Rules {
    /// Rewrites an answer.
    pub fn rewrite(&self, answers: &Answers, treatment: Treatment) -> Result<Rewritten, Unchanged> {
        let fields = self.fields.paths();
        let lists = lists(answers.first, answers.hits, &fields).map_err(unparsed)?;
        if lists.is_empty() {
            return Err(Unchanged::NoHits);
        }
        let (mut edits, mut all) = (Vec::new(), Rewritten::default());
        for list in lists {
            all.before += list.len();
            let (Some(first), Some(last)) = (list.first(), list.last()) else { continue };
            let place = offset(answers.first, first.raw)..end_of(answers.first, last);
            let between = list.get(1).map_or(",", |second| {
                &answers.first[end_of(answers.first, first)..offset(answers.first, second.raw)]
            });
            edits.push(Edit { place, between, hits: self.list(&list, answers, treatment, &mut all)? });
        }
        let is_changed = all.repeats > 0 || !answers.further.is_empty();
        all.text = is_changed.then(|| edited(answers.first, &edits));
        Ok(all)
    }

    /// The hits that stay in a list, as text.
    fn list<'a>(
        &self,
        list: &[Element<'a>],
        answers: &Answers<'a>,
        treatment: Treatment,
        all: &mut Rewritten,
    ) -> Result<Vec<Cow<'a, str>>, Unchanged> {
        let mut hits = self.read(list);
        all.last_page = hits.len();
        for page in answers.further {
            let lists = lists(page, answers.hits, &self.fields.paths()).map_err(unparsed)?;
            let more = self.read(lists.first().map_or(&[][..], Vec::as_slice));
            all.last_page = more.len();
            add_new(&mut hits, more);
        }
        let evidence: Vec<_> = hits.iter().map(Hit::evidence).collect();
        let refined = refine(&evidence, &self.options).map_err(unparsed)?;
        let places: Vec<Place> = refined.places.into_iter().flatten().collect();
        all.uncomparable += hits.iter().filter(|hit| !hit.is_comparable()).count();
        all.repeats += places.iter().enumerate().filter(|(hit, place)| place.anchor != *hit).count();
        let anchors = (0..hits.len()).filter(|&hit| places[hit].anchor == hit);
        let most = answers.most.filter(|_| !answers.further.is_empty()).unwrap_or(usize::MAX);
        let kept: Vec<usize> = anchors.take(most).collect();
        all.after += kept.len();
        match treatment {
            Treatment::Drop => Ok(kept.iter().map(|&hit| hits[hit].raw.into()).collect()),
            Treatment::Group => kept.iter().map(|&hit| with_repeats(hit, &hits, &places)).collect(),
        }
    }

    fn read<'a>(&self, list: &[Element<'a>]) -> Vec<Hit<'a>> {
        list.iter().map(|element| self.fields.hit(element.raw, &element.found)).collect()
    }
}

/// The hits that take the place of a list.
struct Edit<'a> {
    place: Range<usize>,
    hits: Vec<Cow<'a, str>>,
    /// What stands between two of them.
    between: &'a str,
}

/// A text with other hits.
fn edited(text: &str, edits: &[Edit]) -> String {
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for Edit { place, hits, between } in edits {
        out.push_str(&text[done..place.start]);
        for (number, hit) in hits.iter().enumerate() {
            out.push_str(if number > 0 { between } else { "" });
            out.push_str(hit);
        }
        done = place.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Adds the hits of a further page, but not those that are there: the index may have changed in between.
fn add_new<'a>(hits: &mut Vec<Hit<'a>>, more: Vec<Hit<'a>>) {
    let known: HashSet<&str> = hits.iter().filter_map(|hit| hit.id).collect();
    let is_new = |hit: &Hit| hit.id.is_none_or(|id| !known.contains(id));
    let new: Vec<Hit> = more.into_iter().filter(is_new).collect();
    hits.extend(new);
}

/// A hit that names its repeats.
fn with_repeats<'a>(anchor: usize, hits: &[Hit<'a>], places: &[Place]) -> Result<Cow<'a, str>, Unchanged> {
    let repeats = places.iter().zip(hits).enumerate();
    let repeats = repeats.filter(|(hit, (place, _))| *hit != anchor && place.anchor == anchor);
    let repeats: Vec<String> = repeats.map(|(_, (place, hit))| described(place, hit)).collect();
    let raw = hits[anchor].raw;
    if repeats.is_empty() {
        return Ok(raw.into());
    }
    let Some(members) = raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}')) else {
        return Err(Unchanged::Unparsed("a hit is not an object, so it cannot name its repeats".into()));
    };
    let comma = if members.trim().is_empty() { "" } else { "," };
    let repeats = repeats.join(",");
    Ok(format!("{{{members}{comma}\"onecopy\":{{\"repeats\":[{repeats}]}}}}").into())
}

fn described(place: &Place, hit: &Hit) -> String {
    let mut text = format!("{{\"id\":{}", hit.id.unwrap_or("null"));
    if let Some(score) = hit.score {
        let _ = write!(text, ",\"score\":{score}");
    }
    let relation = relation_word(place.relation);
    let _ = write!(text, ",\"similarity\":{},\"relation\":\"{relation}\"}}", place.similarity);
    text
}

fn end_of(whole: &str, part: &Element) -> usize {
    offset(whole, part.raw) + part.raw.len()
}

fn unparsed(error: impl std::fmt::Display) -> Unchanged {
    Unchanged::Unparsed(error.to_string())
}

#[cfg(test)]
mod tests;
