//! The answers of the service about pages, groups and itself. HTTP and the command line show the same JSON.

mod quarantined;
mod view;

use onecopy_core::Kind;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

pub(super) use quarantined::{Quarantined, RejectedTraits};
pub(super) use view::{StatusFacts, View, name_of};

use super::cursor::PageCursor;

/// A page's name as JSON: a string, or a number if its id is one.
pub type Name = Box<RawValue>;

/// One of a few words. The alias keeps serde from borrowing it from the input.
pub type Word = &'static str;

/// The fate of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusKind {
    /// It stays, and no page is similar to it.
    Unique,
    /// It stays, and other pages share its group.
    Winner,
    /// It is removed in favour of a page that stays.
    Loser,
    /// It waits for Tier 2, and no answer is known yet.
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
    /// Its fate.
    pub status: StatusKind,
    /// The page that stays in place of a loser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Name>,
    /// The similarity of the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Why a loser is removed: `exact`, `near`, `url`, `redirect`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "kind")]
    pub kind: Option<Word>,
    /// The number of its group, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
    /// Why it cannot be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether Tier 2 has settled the current version of the page. If not, this is the answer of Tier 1.
    pub settled: bool,
    /// Whether a loser was just compared with its winner and found alike. Absent without a request to verify.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
}

impl Status {
    /// A settled status without details.
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

/// An accepted change.
#[derive(Clone, Debug, Serialize)]
pub struct Accepted {
    /// The number of the change: later ones have larger numbers.
    pub accepted: u64,
    /// The answer of Tier 1.
    #[serde(flatten)]
    pub status: Status,
}

/// Why a change was not accepted, or a question not answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The record cannot be used, with the reason.
    #[error("{0}")]
    Bad(String),
    /// The page exceeds this many bytes.
    #[error("longer than the limit of {0} bytes per page")]
    TooLarge(usize),
    /// No page has this name.
    #[error("no page is named `{0}`")]
    Unknown(String),
    /// Too many changes wait for Tier 2. Try again after this many seconds.
    #[error("the queue is full: too many changes wait to be compared")]
    Full(u64),
    /// The number is not one of this feed, or too old; why.
    #[error("{0}")]
    Gone(String),
    /// The collection cannot be written or read: the reason and the remedy.
    #[error("{0}")]
    Broken(String),
}

/// A page that is similar to another.
#[derive(Clone, Debug, Serialize)]
pub struct Likeness {
    /// The page.
    pub page: Name,
    /// The similarity of the two.
    pub similarity: f64,
    /// Its group, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
}

/// The status that a page would get.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Its status if it were added now.
    #[serde(flatten)]
    pub status: Status,
    /// Kept pages that are similar to it, best first, at most ten.
    pub alike: Vec<Likeness>,
}

/// A change in the feed.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Its number, ascending from 1. The last change of a page or group replaces its earlier ones.
    pub sequence: u64,
    /// The change.
    #[serde(flatten)]
    pub what: FeedEntry,
}

/// What changed.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum FeedEntry {
    /// The status of a page from then on. A deleted page gets the status `dead` again.
    Page(Status),
    /// Pages of a group that have another winner or another group, and the same status.
    Group(Regrouped),
}

/// A group some of whose pages have another winner, another similarity to it, or were in another group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Regrouped {
    /// The group.
    pub group: u64,
    /// Always `regrouped`.
    pub status: String,
}

impl Regrouped {
    pub(crate) fn new(group: u64) -> Regrouped {
        Regrouped { group, status: "regrouped".into() }
    }
}

impl FeedEntry {
    /// Reads an entry of the feed.
    pub(super) fn from_json(bytes: &[u8]) -> serde_json::Result<FeedEntry> {
        let page = serde_json::from_slice(bytes).map(FeedEntry::Page);
        page.or_else(|error| serde_json::from_slice(bytes).map(FeedEntry::Group).map_err(|_| error))
    }
}

/// A group in a list.
#[derive(Clone, Debug, Serialize)]
pub struct GroupLine {
    /// Its number. It stays the same as long as the group's winner does.
    pub group: u64,
    /// Its best page.
    pub winner: Name,
    /// The number of its pages.
    pub pages: u64,
    /// The number of its kept pages.
    pub kept: u64,
    /// How often a loser was compared with its winner on request.
    pub checked: u64,
    /// How many of these comparisons failed.
    pub failed: u64,
}

/// A group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupView {
    /// The group as in a list.
    #[serde(flatten)]
    pub line: GroupLine,
    /// All pages of the group, best first; or some, by name.
    pub members: Vec<Status>,
    /// Where the next pages are, if these are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<PageCursor>,
}

/// A page in a list.
#[derive(Clone, Debug, Serialize)]
pub struct ListedPage {
    /// Its status.
    #[serde(flatten)]
    pub status: Status,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The language of its compared text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Word>,
    /// The number of its last change in the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
}

/// Some pages, by name.
#[derive(Clone, Debug, Serialize)]
pub struct PageList {
    /// The pages. There may be none although some follow.
    pub pages: Vec<ListedPage>,
    /// Where the next pages are; `None` at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<PageCursor>,
}

/// A page and what was put.
#[derive(Clone, Debug, Serialize)]
pub struct PageRecord {
    /// Its status.
    #[serde(flatten)]
    pub status: Status,
    /// The record of its last put, with its white space at both ends removed.
    pub record: Option<Name>,
    /// Its tag, if the collection has tags and the page has words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Why there is no record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Some pages were deleted.
#[derive(Clone, Debug, Serialize)]
pub struct Swept {
    /// How many.
    pub deleted: u64,
    /// The number of the last deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u64>,
    /// Where to continue; `None` at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<PageCursor>,
}

/// Statistics of a collection and its service.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Known pages, including dead and rejected ones.
    pub pages: u64,
    /// Kept pages.
    pub kept: u64,
    /// Removed pages.
    pub losers: u64,
    /// Dead pages.
    pub dead: u64,
    /// Pages that cannot be judged.
    pub rejected: u64,
    /// Pages whose last change could not be settled. They stay as they were before it.
    pub quarantined: u64,
    /// Groups of at least two pages.
    pub groups: u64,
    /// The number of pages in the largest group.
    pub largest_group: u64,
    /// The number of changes that wait for Tier 2.
    pub waiting: u64,
    /// The bytes of these changes.
    pub waiting_bytes: u64,
    /// The number of the last accepted change.
    pub accepted: u64,
    /// The number of the last settled change.
    pub settled: u64,
    /// The last number of the feed.
    pub feed: u64,
    /// The bytes of the changes of deleted pages and of groups in the feed.
    pub feed_expiring_bytes: u64,
    /// Pages added again since the start.
    pub updates: u64,
    /// Those of them that Tier 1 could answer.
    pub updates_settled_by_tier1: u64,
    /// Pages compared since the start.
    pub compared_pages: u64,
    /// Pairs compared since the start.
    pub compared_pairs: u64,
    /// Losers compared with their winner on request.
    pub checked: u64,
    /// How many of these comparisons failed.
    pub failed: u64,
    /// Groups that were repaired.
    pub repaired: u64,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// The name of the collection, which no other has.
    pub collection: String,
    /// Orders of keys that were damaged or missing at the start, and were replaced.
    pub replaced_orders: u64,
    /// Since the start: how often all files were read and their checksums verified.
    pub scrubs: u64,
    /// When that was complete the last time, in seconds since 1970; zero if it was not yet.
    pub scrubbed_at: u64,
    /// Damaged files and segments that it found the last time.
    pub damaged: u64,
}

/// A page for export.
#[derive(Clone, Debug, Serialize)]
pub struct PageView {
    /// Its status.
    pub status: Status,
    /// Its address.
    pub url: Option<String>,
    /// The record as a line of JSON Lines, which can be added again. It includes the text or HTML if pages are stored.
    pub record: Name,
    /// Its tag, if the collection has tags and the page has words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Why the record has no text, if the stored page cannot be read any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// The number of checked pages.
    pub pages: u64,
    /// The number of recomputed groups.
    pub groups: u64,
    /// Whether every decision was computed again. It is not while another process serves the collection.
    pub compared: bool,
    /// At most a hundred problems, one line each. Empty if everything is right.
    pub wrong: Vec<String>,
    /// The number of problems.
    pub wrong_count: u64,
}
