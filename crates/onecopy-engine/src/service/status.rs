//! What the service says: of pages, groups, and itself. As JSON the same everywhere, HTTP and command line.

mod view;

use onecopy_core::Kind;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

pub(super) use view::{StatusFacts, View, name_of};

/// A page's name as JSON: a string, or a number if its id is one.
pub type Name = Box<RawValue>;

/// One of a few words. It has a name because serde would take it for a part of what is read.
pub type Word = &'static str;

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusKind {
    /// It stays, and nothing is like it.
    Unique,
    /// It stays, and is in a group with others.
    Winner,
    /// It goes for a page that stays.
    Loser,
    /// It waits for Tier 2, and nothing is known of it yet.
    Pending,
    /// It is dead.
    Dead,
    /// It cannot be judged.
    Rejected,
}

/// The status of a page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The page.
    pub page: Name,
    /// What became of it.
    pub status: StatusKind,
    /// The page that stays for a loser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Name>,
    /// How alike the two are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Why a loser goes: `exact`, `near`, `url`, `redirect`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "kind")]
    pub kind: Option<Word>,
    /// The number of its group, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
    /// Why it cannot be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether Tier 2 has seen the page as it is now. If not, this is what Tier 1 says.
    pub settled: bool,
    /// Whether a loser was compared with its winner just now and found alike; absent if that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
}

impl Status {
    /// A settled status of which nothing more is to be said.
    pub(crate) fn bare(page: Name, status: StatusKind) -> Status {
        Status {
            page,
            status,
            winner: None,
            similarity: None,
            kind: None,
            group: None,
            reason: None,
            settled: true,
            verified: None,
        }
    }
}

fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    let word = Option::<String>::deserialize(from)?;
    let known = [Kind::Exact, Kind::Near, Kind::Url, Kind::Redirect].map(Kind::as_str);
    Ok(known.into_iter().find(|known| word.as_deref() == Some(known)))
}

/// A change that was accepted.
#[derive(Clone, Debug, Serialize)]
pub struct Accepted {
    /// The number of the change: later ones have larger numbers.
    pub accepted: u64,
    /// What Tier 1 says.
    #[serde(flatten)]
    pub status: Status,
}

/// Why a change was not accepted, or a question not answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The record cannot be used; why.
    #[error("{0}")]
    Bad(String),
    /// It is larger than the limit of so many bytes.
    #[error("longer than the limit of {0} bytes per page")]
    TooLarge(usize),
    /// No page has this name.
    #[error("no page is named `{0}`")]
    Unknown(String),
    /// Too much waits for Tier 2; try again after so many seconds.
    #[error("the queue is full: too many changes wait to be compared")]
    Full(u64),
    /// The collection cannot be written or read; why, and the remedy.
    #[error("{0}")]
    Broken(String),
}

/// A page that another would be, or is, alike.
#[derive(Clone, Debug, Serialize)]
pub struct Likeness {
    /// The page.
    pub page: Name,
    /// How alike the two are.
    pub similarity: f64,
    /// Its group, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
}

/// What would become of a page.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Its status, if it were put now.
    #[serde(flatten)]
    pub status: Status,
    /// Pages that stay and that it is alike, best first, at most ten.
    pub alike: Vec<Likeness>,
}

/// A change of status.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Its number in the feed: from 1, ascending, none left out.
    pub sequence: u64,
    /// The status from then on. A page that was deleted has the status `dead` once more.
    #[serde(flatten)]
    pub status: Status,
}

/// A group in a list.
#[derive(Clone, Debug, Serialize)]
pub struct GroupLine {
    /// Its number. It stays while the group's winner stays in it.
    pub group: u64,
    /// Its best page.
    pub winner: Name,
    /// Its pages.
    pub pages: u64,
    /// Those of them that stay.
    pub kept: u64,
    /// How often a loser was compared with its winner on request, and how often that failed.
    pub checked: u64,
    /// See `checked`.
    pub failed: u64,
}

/// A group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupView {
    /// As in a list.
    #[serde(flatten)]
    pub line: GroupLine,
    /// All pages of the group, those that stay first.
    pub members: Vec<Status>,
}

/// Numbers about a collection and its service.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Pages that are known, dead and rejected ones too.
    pub pages: u64,
    /// Pages that stay.
    pub kept: u64,
    /// Pages that go.
    pub losers: u64,
    /// Pages that are dead.
    pub dead: u64,
    /// Pages that cannot be judged.
    pub rejected: u64,
    /// Groups of two pages or more.
    pub groups: u64,
    /// Pages in the largest of them.
    pub largest_group: u64,
    /// Changes that wait for Tier 2, and their bytes.
    pub waiting: u64,
    /// See `waiting`.
    pub waiting_bytes: u64,
    /// The number of the last change that was accepted.
    pub accepted: u64,
    /// The number of the last change that is settled.
    pub settled: u64,
    /// The last number of the feed.
    pub feed: u64,
    /// Since the start: pages put again, and those of them that Tier 1 could answer for.
    pub updates: u64,
    /// See `updates`.
    pub updates_settled_by_tier1: u64,
    /// Since the start: pages that were compared, and pairs.
    pub compared_pages: u64,
    /// See `compared_pages`.
    pub compared_pairs: u64,
    /// Partitions, and how many of them a page visited on average.
    pub partitions: u64,
    /// See `partitions`.
    pub partitions_visited: f64,
    /// Losers that were compared with their winner on request, and how many failed.
    pub checked: u64,
    /// See `checked`.
    pub failed: u64,
    /// Groups that were repaired.
    pub repaired: u64,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Orders of keys that were damaged or missing at the start, and were replaced.
    pub replaced_orders: u64,
}

/// A page as it is exported.
#[derive(Clone, Debug, Serialize)]
pub struct PageView {
    /// Its status.
    pub status: Status,
    /// Its address.
    pub url: Option<String>,
    /// The record as a line of JSON Lines that can be put again: with its text or HTML, if pages are kept whole.
    pub record: Name,
    /// Why the record has no text, if what was put cannot be read any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// Pages that were looked at.
    pub pages: u64,
    /// Groups that were found anew.
    pub groups: u64,
    /// Whether every decision was found anew. It is not while another process serves the collection.
    pub compared: bool,
    /// What is wrong, a line each, at most a hundred. Empty if all is right.
    pub wrong: Vec<String>,
    /// How many things are wrong.
    pub wrong_count: u64,
}
