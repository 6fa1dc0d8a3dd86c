//! Ranked search results → groups of results with the same content, each under its best-ranked member.
//!
//! The promise of a run holds here too: a repeat is similar to its anchor itself, and no two anchors are similar.
//! [`crate::reference::refine`] is the slow and obviously right answer.
//! ```
//! use onecopy_core::{Evidence, RefineOptions, Relation, refine};
//!
//! let story = "Nine pages told the same story, and one of them was kept for good.";
//! let results = [Evidence::Text(story), Evidence::Text("Another story."), Evidence::Html(story)];
//! let refined = refine(&results, &RefineOptions::default())?;
//! let repeat = refined.places[2].expect("all groups are kept");
//! assert_eq!((repeat.anchor, repeat.similarity, repeat.relation), (0, 1.0, Relation::Similar));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod few;
mod fragment;
mod pages;
mod tag;
mod tags;

use crate::config::{CONTAINED, Config, REFINE_METHOD};
use crate::similarity::method::method;

pub use error::RefineError;
pub(crate) use pages::Sheets;
pub use tag::{TAG_VERSION, Tag, TagError};
pub(crate) use tags::{Tags, tags_of};

/// The evidence about a search result.
#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    /// Nothing to compare. The result repeats no other.
    Nothing,
    /// Plain text, such as a title, a space and a snippet.
    Text(&'a str),
    /// Plain text as the inside of a JSON string, with its escapes.
    Json(&'a str),
    /// A page of HTML.
    Html(&'a str),
    /// A tag that was made before. If a result has a tag, the texts of others are made into tags of the same rules.
    Tag(&'a Tag),
    /// A sketch by the method of the options. It cannot be compared with tags.
    Sketch(&'a [u64]),
}

/// How results are refined.
#[derive(Clone, Debug)]
pub struct RefineOptions {
    /// How results are compared. Its rules for winners are not used: the rank decides.
    pub config: Config,
    /// Which similar results are put in one group.
    pub grouping: Grouping,
    /// How many groups are kept. `None`: all.
    pub keep: Option<usize>,
    /// The words that were searched for, if only the passages around them are compared.
    pub query: Option<String>,
}

impl Default for RefineOptions {
    fn default() -> RefineOptions {
        let config = Config { method: REFINE_METHOD.into(), ..Config::default() };
        RefineOptions { config, grouping: Grouping::default(), keep: None, query: None }
    }
}

/// Which similar results are put in one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Each repeat is similar to its anchor itself.
    #[default]
    ByAnchor,
    /// Each repeat is similar to some member of its group (union-find, as Jain, Dahlin and Tewari 2005).
    Transitive,
}

/// The answer about all results.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// The place of each result, in the order of the results. `None`: its group is not among those that are kept.
    pub places: Vec<Option<Place>>,
    /// What was compared.
    pub compared: Compared,
    /// Results at least this similar were alike.
    pub threshold: f64,
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Whole pages.
    Pages,
    /// The passages around the words of the query; whole pages of results that have none of them.
    Passages,
    /// Tags.
    Tags,
}

/// Where a result stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The best-ranked result of its group. An anchor names itself.
    pub anchor: usize,
    /// Its similarity to the anchor.
    pub similarity: f64,
    /// What it is to the anchor.
    pub relation: Relation,
}

impl Place {
    fn of_anchor(result: usize) -> Place {
        Place { anchor: result, similarity: 1.0, relation: Relation::Anchor }
    }
}

/// The relation of a result to the anchor of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is the anchor.
    Anchor,
    /// Each has something that the other lacks, or both are the same.
    Similar,
    /// It contains the anchor, and more.
    Contains,
    /// The anchor contains it, and more.
    Contained,
}

impl Relation {
    /// The relation of two pages, given the share of the result that the anchor has, and the other way round.
    pub(crate) fn of_shares(result: f64, anchor: f64) -> Relation {
        match (result >= CONTAINED, anchor >= CONTAINED) {
            (true, false) => Relation::Contained,
            (false, true) => Relation::Contains,
            _ => Relation::Similar,
        }
    }
}

/// Groups results, which are given best first. Fails on options that cannot be used, and on evidence that cannot be
/// compared.
pub fn refine(results: &[Evidence], options: &RefineOptions) -> Result<Refined, RefineError> {
    options.check()?;
    if let Some(tags) = tags_of(results, options)? {
        let places = kept(tags.places(options.grouping), options.keep);
        return Ok(Refined { places, compared: Compared::Tags, threshold: tags.threshold });
    }
    let method = method(&options.config)?;
    let sheets = Sheets::new(results, options, &*method);
    let places = kept(sheets.places(options.grouping), options.keep);
    Ok(Refined { places, compared: sheets.compared(), threshold: method.threshold() })
}

impl RefineOptions {
    /// Refuses options that cannot be used.
    pub fn check(&self) -> Result<(), RefineError> {
        if self.keep == Some(0) {
            return Err(RefineError::KeepsNothing);
        }
        Ok(self.config.check()?)
    }
}

/// Leaves the members of the first `keep` groups.
pub(crate) fn kept(places: Vec<Place>, keep: Option<usize>) -> Vec<Option<Place>> {
    let mut open = 0;
    let mut is_kept = vec![false; places.len()];
    let left = |(result, place): (usize, Place)| {
        if place.anchor == result {
            is_kept[result] = keep.is_none_or(|most| open < most);
            open += 1;
        }
        is_kept[place.anchor].then_some(place)
    };
    places.into_iter().enumerate().map(left).collect()
}

#[cfg(test)]
mod tests;
