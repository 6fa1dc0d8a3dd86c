//! The feed: the last change of every page and group, by number.
//!
//! A change replaces the earlier one of its subject, so the feed grows with the pages, not with their changes. Only
//! changes of deleted pages and of groups expire: the status of every page is in the feed as long as the page is there.

use redb::ReadableTable;

use super::{Batch, Look, broken};
use crate::error::Result;
use crate::rows::PageNumber;

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedSubject {
    /// A page with a new status.
    Page(PageNumber),
    /// A page that is deleted.
    Deleted(PageNumber),
    /// A page whose last change was rejected. The change before it stays in the feed, because it holds again later.
    Rejected,
    /// A group whose pages have other winners.
    Group(u64),
}

/// The entry of the metadata with the last number of an expired change.
const EXPIRED: &str = "feed-expired";

impl Batch<'_> {
    /// Appends to the feed, and removes the earlier change of the subject.
    pub fn add_change(&mut self, number: u64, subject: FeedSubject, change: &[u8]) -> Result<()> {
        let earlier = match subject {
            FeedSubject::Page(page) => self.fed_pages.insert(page, number),
            FeedSubject::Deleted(page) => self.fed_pages.remove(page),
            FeedSubject::Rejected => Ok(None),
            FeedSubject::Group(group) => self.fed_groups.insert(group, number),
        };
        let earlier = earlier.map_err(broken)?.map(|earlier| earlier.value());
        if let Some(earlier) = earlier {
            self.feed.remove(earlier).map_err(broken)?;
            self.expiring.remove(earlier).map_err(broken)?;
        }
        match subject {
            FeedSubject::Page(_) => {}
            FeedSubject::Deleted(_) | FeedSubject::Rejected => {
                drop(self.expiring.insert(number, 0).map_err(broken)?)
            }
            FeedSubject::Group(group) => drop(self.expiring.insert(number, group).map_err(broken)?),
        }
        self.feed.insert(number, change).map_err(broken)?;
        Ok(())
    }

    /// Notes that the feed has reached a number at a time, in minutes.
    pub fn mark_feed(&mut self, minute: u64, number: u64) -> Result<()> {
        self.marks.insert(minute, number).map_err(broken)?;
        Ok(())
    }

    /// Removes changes of deleted pages and of groups that are as old as a time, in minutes; at most so many.
    pub fn expire_feed(&mut self, minute: u64, most: usize) -> Result<()> {
        let mark = self.marks.range(..=minute).map_err(broken)?.next_back().transpose().map_err(broken)?;
        let Some((minute, last)) = mark.map(|(minute, last)| (minute.value(), last.value())) else {
            return Ok(());
        };
        let old = self.expiring.range(..=last).map_err(broken)?.take(most);
        let old = old.map(|entry| entry.map(|(number, group)| (number.value(), group.value())));
        let old: Vec<(u64, u64)> = old.collect::<std::result::Result<_, _>>().map_err(broken)?;
        for &(number, group) in &old {
            self.feed.remove(number).map_err(broken)?;
            self.expiring.remove(number).map_err(broken)?;
            if group != 0 {
                self.fed_groups.remove(group).map_err(broken)?;
            }
        }
        if let Some((number, _)) = old.last() {
            self.set_meta(EXPIRED, &number.to_le_bytes())?;
        }
        if old.len() < most {
            // The mark itself stays: it says how far the feed has expired.
            self.marks.retain_in(..minute, |_, _| false).map_err(broken)?;
        }
        Ok(())
    }
}

impl super::Snapshot {
    /// The last number of an expired change; zero if none has expired. Who read up to an earlier number has missed some.
    pub fn expired(&self) -> Result<u64> {
        let bytes = self.meta(EXPIRED)?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes))
    }
}
