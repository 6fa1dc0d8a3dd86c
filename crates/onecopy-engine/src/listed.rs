//! Reads the lists of a finished run, and finds its pages by name, address or place.

mod statuses;

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{At, Error, Result};
pub use statuses::RunStatuses;

/// The most places that an error lists.
const CHOICES: usize = 10;

/// The place of a page of a finished run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PageKey {
    /// The name of its source.
    pub source: String,
    /// Its line, record or row, from one. Zero if the source is one page.
    pub number: u64,
}

impl fmt::Display for PageKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.number {
            0 => f.write_str(&self.source),
            number => write!(f, "{}:{number}", self.source),
        }
    }
}

/// A place as the lists have it.
#[derive(Deserialize)]
struct PlaceFields {
    source: String,
    line: Option<u64>,
    record: Option<u64>,
    row: Option<u64>,
}

impl PlaceFields {
    fn key(self) -> PageKey {
        PageKey { source: self.source, number: self.line.or(self.record).or(self.row).unwrap_or(0) }
    }
}

/// A page of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListedPage {
    pub name: String,
    pub key: PageKey,
    /// The number of its group, if it is in one.
    pub group: Option<u64>,
}

/// A line of `removed.jsonl`.
pub(crate) struct RemovedPage {
    pub page: (String, PageKey),
    pub winner: (String, PageKey),
    pub similarity: f64,
    pub kind: String,
}

/// A page of a group.
pub(crate) struct GroupMember {
    pub name: String,
    pub key: PageKey,
    pub is_kept: bool,
}

/// A name from a list, where it is a string or a number.
fn plain(name: &Value) -> String {
    name.as_str().map_or_else(|| name.to_string(), str::to_owned)
}

/// Calls `each` with the lines of a list until it returns false.
pub(crate) fn each_line<T: for<'a> Deserialize<'a>>(
    path: &Path,
    mut each: impl FnMut(T) -> bool,
) -> Result<()> {
    let file = File::open(path).at("read", path)?;
    for (line, number) in BufReader::new(file).lines().zip(1..) {
        let line = line.at("read", path)?;
        let parsed = serde_json::from_str(&line).map_err(|error| Error::DamagedResult {
            path: path.to_owned(),
            line: number,
            reason: error.to_string(),
        })?;
        if !each(parsed) {
            break;
        }
    }
    Ok(())
}

/// Finds the page that each of `wanted` describes by its name, address or place in the run in `out`. `None` if the run
/// did not judge it. Fails if several pages fit, unless one of them has that place.
pub(crate) fn find(out: &Path, wanted: &[&str]) -> Result<Vec<Option<ListedPage>>> {
    #[derive(Deserialize)]
    struct PageLine {
        page: Value,
        url: Option<String>,
        group: Option<u64>,
        #[serde(flatten)]
        place: PlaceFields,
    }
    let mut found: Vec<Matches> = wanted.iter().map(|_| Matches::default()).collect();
    each_line(&out.join("pages.jsonl"), |line: PageLine| {
        let PageLine { page, url, group, place } = line;
        let listed = ListedPage { name: plain(&page), key: place.key(), group };
        let at = listed.key.to_string();
        for (wanted, found) in wanted.iter().zip(&mut found) {
            if at == **wanted {
                found.by_place = Some(listed.clone());
            } else if listed.name == **wanted || url.as_deref() == Some(wanted) {
                found.add(&listed);
            }
        }
        true
    })?;
    wanted.iter().zip(found).map(|(wanted, found)| found.choose(wanted)).collect()
}

/// The pages that fit a description.
#[derive(Default)]
struct Matches {
    by_place: Option<ListedPage>,
    others: Vec<ListedPage>,
    count: usize,
}

impl Matches {
    fn add(&mut self, listed: &ListedPage) {
        self.count += 1;
        if self.others.len() < CHOICES {
            self.others.push(listed.clone());
        }
    }

    fn choose(mut self, wanted: &str) -> Result<Option<ListedPage>> {
        if self.by_place.is_some() || self.count < 2 {
            return Ok(self.by_place.or_else(|| self.others.pop()));
        }
        let places = self.others.iter().map(|listed| listed.key.to_string()).collect();
        Err(Error::AmbiguousPage { page: wanted.into(), count: self.count, places })
    }
}

/// As [`find`], for a page that the run judged.
pub(crate) fn judged(out: &Path, wanted: &[&str]) -> Result<Vec<ListedPage>> {
    let found = find(out, wanted)?.into_iter().zip(wanted);
    found.map(|(listed, name)| listed.ok_or_else(|| unknown(name))).collect()
}

/// The error for a page that the run does not know.
pub(crate) fn unknown(name: &str) -> Error {
    Error::PageNotJudged { page: name.into() }
}

/// Calls `each` with the removed pages of the run in `out` until it returns false.
pub(crate) fn each_removed(out: &Path, mut each: impl FnMut(RemovedPage) -> bool) -> Result<()> {
    #[derive(Deserialize)]
    struct RemovedLine {
        page: Value,
        source: String,
        line: Option<u64>,
        record: Option<u64>,
        row: Option<u64>,
        winner: Value,
        winner_source: String,
        winner_line: Option<u64>,
        winner_record: Option<u64>,
        winner_row: Option<u64>,
        similarity: f64,
        kind: String,
    }
    each_line(&out.join("removed.jsonl"), |it: RemovedLine| {
        let page = PlaceFields { source: it.source, line: it.line, record: it.record, row: it.row };
        let winner = PlaceFields {
            source: it.winner_source,
            line: it.winner_line,
            record: it.winner_record,
            row: it.winner_row,
        };
        each(RemovedPage {
            page: (plain(&it.page), page.key()),
            winner: (plain(&it.winner), winner.key()),
            similarity: it.similarity,
            kind: it.kind,
        })
    })
}

/// The pages of a group of the run in `out`, best first.
pub(crate) fn group(out: &Path, number: u64) -> Result<Vec<GroupMember>> {
    #[derive(Deserialize)]
    struct GroupLine {
        group: u64,
        members: Vec<Value>,
        places: Vec<MemberPlace>,
    }
    #[derive(Deserialize)]
    struct MemberPlace {
        status: String,
        #[serde(flatten)]
        place: PlaceFields,
    }
    let mut found = Vec::new();
    each_line(&out.join("groups.jsonl"), |line: GroupLine| {
        let is_it = line.group == number;
        let members = line.members.iter().zip(line.places).filter(|_| is_it);
        found.extend(members.map(|(name, MemberPlace { status, place })| GroupMember {
            name: plain(name),
            key: place.key(),
            is_kept: status == "kept",
        }));
        !is_it
    })?;
    Ok(found)
}

/// Why the run in `out` rejected the record at this place. `None` if it did not.
pub(crate) fn rejection(out: &Path, place: &str) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct RejectedLine {
        reason: String,
        #[serde(flatten)]
        place: PlaceFields,
    }
    let mut found = None;
    each_line(&out.join("rejected.jsonl"), |line: RejectedLine| {
        let is_it = line.place.key().to_string() == place;
        found = is_it.then_some(line.reason);
        !is_it
    })?;
    Ok(found)
}
