//! Lists pages by name, some at a time.
//!
//! A page has one name as long as it exists, and is in the tables, in the queue or quarantined. So a reader that continues
//! after the last name gets each page once, whatever changes meanwhile.

use std::iter::Peekable;
use std::ops::Bound;

use onecopy_core::{Language, host};
use onecopy_store::{Deed, Look, PageNumber, PageRow, Snapshot};

use super::groups;
use crate::error::Result;
use crate::service::collection::Collection;
use crate::service::contents::{read_version, unless_damaged};
use crate::service::cursor::PageCursor;
use crate::service::queue::WaitingChange;
use crate::service::status::{ListedPage, PageList, Quarantined, Status, StatusKind, View};

/// The least waiting changes that one list takes from the queue.
const WAITING: usize = 1_000;

/// Selects pages. All conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct PageFilter {
    /// The name begins with this text. A number as a name begins only with the empty text.
    pub prefix: String,
    /// The address has this host, without user and port, in any case.
    pub host: Option<String>,
    /// The page has this status.
    pub status: Option<StatusKind>,
    /// The page is in this group. Changes that wait or were rejected are not considered then.
    pub group: Option<u64>,
    /// The compared text has this language.
    pub language: Option<Language>,
    /// The feed has a change of the page after this number.
    pub changed_since: Option<u64>,
}

/// Facts about pages, by name.
type Named<'a, T> = Peekable<Box<dyn Iterator<Item = Result<(String, T)>> + 'a>>;

/// The pages of the tables, the quarantined ones, and those of the queue, by name.
struct Merged<'a> {
    numbers: Named<'a, PageNumber>,
    quarantined: Named<'a, Quarantined>,
    waiting: Named<'a, WaitingChange>,
}

/// A page in at least one of them.
struct Found {
    name: String,
    page: Option<PageNumber>,
    quarantined: Option<Quarantined>,
    change: Option<WaitingChange>,
}

/// Judges the pages that are found.
struct Lister<'a> {
    collection: &'a Collection,
    snapshot: &'a Snapshot,
    filter: &'a PageFilter,
    buffer: Vec<u8>,
}

/// At most `limit` pages after a cursor, by name. It may have fewer, or none, and still a cursor.
pub(in crate::service) fn list(
    collection: &Collection,
    filter: &PageFilter,
    after: Option<&PageCursor>,
    limit: usize,
) -> Result<PageList> {
    let first = filter.first_name();
    let after = after.map(|cursor| &*cursor.0).filter(|after| *after >= &*first);
    let from = after.map_or(Bound::Included(&*first), Bound::Excluded);
    let (most, pages_to_look_at) = (limit.max(WAITING), collection.tuning.looked_at);
    let waiting = if filter.group.is_none() { collection.queue.pending_from(from, most) } else { Vec::new() };
    // Beyond the last of so many changes, others may wait.
    let known_to = waiting.last().filter(|_| waiting.len() == most).map(|(name, _)| name.clone());
    // The snapshot comes last, so that it includes changes that were settled in between.
    let snapshot = collection.snapshot();
    let mut merged = match filter.group {
        Some(group) => {
            let members = groups::names(&snapshot, group, from, pages_to_look_at)?;
            Merged { numbers: named(members.into_iter().map(Ok)), quarantined: none(), waiting: none() }
        }
        None => Merged {
            numbers: named(snapshot.names_from(from)?.map(|found| Ok(found?))),
            quarantined: named(snapshot.quarantined_from(from)?.map(rejected)),
            waiting: named(waiting.into_iter().map(Ok)),
        },
    };
    let mut lister = Lister { collection, snapshot: &snapshot, filter, buffer: Vec::new() };
    let (mut pages, mut looked_at) = (Vec::new(), 0);
    while let Some(found) = merged.next()?.filter(|found| found.name.starts_with(&first)) {
        pages.extend(lister.page(&found)?);
        looked_at += 1;
        let is_known_to_end = known_to.as_ref().is_none_or(|last| found.name < *last);
        if pages.len() >= limit || looked_at >= pages_to_look_at || !is_known_to_end {
            return Ok(PageList { pages, next: Some(PageCursor(found.name)) });
        }
    }
    Ok(PageList { pages, next: None })
}

impl PageFilter {
    /// The text with which the names begin as JSON.
    fn first_name(&self) -> String {
        let mut quoted = serde_json::to_string(&self.prefix).expect("a string is JSON");
        quoted.pop();
        if self.prefix.is_empty() { String::new() } else { quoted }
    }

    /// Whether a page may be listed, whatever its status.
    fn allows(&self, url: &str, language: u8, changed: Option<u64>) -> bool {
        let has_host = |name: &String| host(url).is_some_and(|host| is_same_host(host, name));
        self.host.as_ref().is_none_or(has_host)
            && self.language.is_none_or(|wanted| wanted.to_u8() == language)
            && self.changed_since.is_none_or(|number| changed.is_some_and(|changed| changed > number))
    }

    fn allows_status(&self, status: &Status) -> bool {
        self.status.is_none_or(|kind| status.status == kind)
            && self.group.is_none_or(|group| status.group == Some(group))
    }
}

/// Whether two hosts are the same, whatever their case and a dot at the end.
fn is_same_host(a: &str, b: &str) -> bool {
    let bare = |host: &str| host.strip_suffix('.').unwrap_or(host).to_lowercase();
    bare(a) == bare(b)
}

fn named<'a, T>(pages: impl Iterator<Item = Result<(String, T)>> + 'a) -> Named<'a, T> {
    let pages: Box<dyn Iterator<Item = _> + 'a> = Box::new(pages);
    pages.peekable()
}

fn none<'a, T: 'a>() -> Named<'a, T> {
    named(std::iter::empty())
}

fn rejected(found: onecopy_store::Result<(String, Vec<u8>)>) -> Result<(String, Quarantined)> {
    let (name, bytes) = found?;
    let page = Quarantined::from_bytes(&name, &bytes)?;
    Ok((name, page))
}

/// The next name. An error comes before all names.
fn next_name<'n, T>(pages: &'n mut Named<T>) -> Option<&'n str> {
    pages.peek().map(|found| found.as_ref().map_or("", |(name, _)| name))
}

/// The fact about a page, if it is the next one.
fn take<T>(pages: &mut Named<T>, page: &str) -> Result<Option<T>> {
    let found = pages.next_if(|found| found.as_ref().map_or(true, |(name, _)| name == page));
    Ok(found.transpose()?.map(|(_, known)| known))
}

impl Merged<'_> {
    fn next(&mut self) -> Result<Option<Found>> {
        let Merged { numbers, quarantined, waiting } = self;
        let names = [next_name(numbers), next_name(quarantined), next_name(waiting)];
        let Some(name) = names.into_iter().flatten().min().map(str::to_owned) else { return Ok(None) };
        let (page, quarantined) = (take(numbers, &name)?, take(quarantined, &name)?);
        let change = take(waiting, &name)?;
        Ok(Some(Found { name, page, quarantined, change }))
    }
}

impl Lister<'_> {
    /// A page as it is listed; `None` if it is not.
    fn page(&mut self, found: &Found) -> Result<Option<ListedPage>> {
        let row = found.page.map(|page| Look::page(self.snapshot, page)).transpose()?.flatten();
        let is_known = row.is_some() || found.quarantined.is_some();
        let is_there = found.change.as_ref().map_or(is_known, |change| change.deed != Deed::Delete);
        if !is_there {
            return Ok(None);
        }
        let (url, language) = self.address(found, row.as_ref())?;
        let fed = found.page.map(|page| self.snapshot.fed_page(page)).transpose()?.flatten();
        let changed = fed.max(found.quarantined.as_ref().and_then(|page| page.traits.changed));
        if !self.filter.allows(&url, language, changed) {
            return Ok(None);
        }
        let status = self.status(found, row)?.filter(|status| self.filter.allows_status(status));
        let language = Language::from_u8(language).map(Language::code);
        let url = Some(url).filter(|url| !url.is_empty());
        Ok(status.map(|status| ListedPage { status, url, language, changed }))
    }

    /// The address and the number of the language of the last version, and of a rejected one if there is no other.
    fn address(&mut self, found: &Found, row: Option<&PageRow>) -> Result<(String, u8)> {
        let put = found.change.as_ref().filter(|change| change.deed == Deed::Put);
        let version = put.map(|put| read_version(&self.collection.reader, put.at, &mut self.buffer));
        let version = version.map(unless_damaged).transpose()?.flatten().map(|put| (put.url, put.language));
        let of_row = || row.map(|row| (row.url.clone(), row.language));
        let of_rejected =
            || found.quarantined.as_ref().map(|page| (page.traits.url.clone(), page.traits.language));
        Ok(version.or_else(of_row).or_else(of_rejected).unwrap_or_default())
    }

    fn status(&self, found: &Found, row: Option<PageRow>) -> Result<Option<Status>> {
        let told = found.change.as_ref().map(|change| &change.status);
        if let Some(status) = told.or(found.quarantined.as_ref().map(|page| &page.status)) {
            return Ok(Some(status.clone()));
        }
        let view = View { facts: self.snapshot, method: self.collection.method() };
        found.page.zip(row).map(|(page, row)| view.status(page, &row)).transpose()
    }
}
