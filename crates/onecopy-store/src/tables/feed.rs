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
    /// A page that is deleted, and was never settled.
    Unsettled,
    /// A page whose last change was rejected. The change before it stays in the feed, because it holds again later. Who
    /// adds it has to remember its number, and to remove it once it does not hold any more.
    Rejected,
    /// A group whose pages have other winners.
    Group(u64),
}

/// The entry of the metadata with the last number of an expired change.
const EXPIRED: &str = "feed-expired";
/// The entry of the metadata with the bytes of the changes that expire. Absent in collections of earlier programs.
const EXPIRING_BYTES: &str = "feed-expiring-bytes";

/// Which of the changes of deleted pages and of groups leave the feed. The oldest go first.
#[derive(Clone, Copy, Debug)]
pub struct FeedLimits {
    /// Those that are as old as this time, in minutes.
    pub minute: u64,
    /// Those beyond this many bytes.
    pub bytes: u64,
    /// At most so many at once.
    pub most: usize,
}

impl Batch<'_> {
    /// Appends to the feed, and removes the earlier change of the subject.
    pub fn add_change(&mut self, number: u64, subject: FeedSubject, change: &[u8]) -> Result<()> {
        let group = match subject {
            FeedSubject::Page(_) | FeedSubject::Rejected => None,
            FeedSubject::Deleted(_) | FeedSubject::Unsettled => Some(0),
            FeedSubject::Group(group) => Some(group),
        };
        // Only a group has an earlier change that expires.
        let mut bytes = if group.is_some() { self.expiring_bytes()? } else { 0 };
        let earlier = match subject {
            FeedSubject::Page(page) => self.fed_pages.insert(page, number),
            FeedSubject::Deleted(page) => self.fed_pages.remove(page),
            FeedSubject::Unsettled | FeedSubject::Rejected => Ok(None),
            FeedSubject::Group(group) => self.fed_groups.insert(group, number),
        };
        let earlier = earlier.map_err(broken)?.map(|earlier| earlier.value());
        if let Some(earlier) = earlier {
            let (length, is_expiring) = self.remove_change(earlier)?;
            bytes -= if is_expiring { length.min(bytes) } else { 0 };
        }
        if let Some(group) = group {
            self.expiring.insert(number, group).map_err(broken)?;
            bytes += change.len() as u64;
            self.set_meta(EXPIRING_BYTES, &bytes.to_le_bytes())?;
        }
        self.feed.insert(number, change).map_err(broken)?;
        Ok(())
    }

    /// Removes the change of a page that was rejected.
    pub fn remove_rejected(&mut self, number: u64) -> Result<()> {
        self.feed.remove(number).map_err(broken)?;
        Ok(())
    }

    /// Removes a change. Returns its length, and whether it was to expire.
    fn remove_change(&mut self, number: u64) -> Result<(u64, bool)> {
        let length = self.feed.remove(number).map_err(broken)?.map_or(0, |change| change.value().len());
        let is_expiring = self.expiring.remove(number).map_err(broken)?.is_some();
        Ok((length as u64, is_expiring))
    }

    /// The bytes of the changes that expire. An earlier program did not count them.
    fn expiring_bytes(&self) -> Result<u64> {
        if let Some(bytes) = self.meta(EXPIRING_BYTES)?.and_then(|bytes| bytes.try_into().ok()) {
            return Ok(u64::from_le_bytes(bytes));
        }
        let mut bytes = 0;
        for entry in self.expiring.iter().map_err(broken)? {
            let change = self.feed.get(entry.map_err(broken)?.0.value()).map_err(broken)?;
            bytes += change.map_or(0, |change| change.value().len() as u64);
        }
        Ok(bytes)
    }

    /// Notes that the feed has reached a number at a time, in minutes.
    pub fn mark_feed(&mut self, minute: u64, number: u64) -> Result<()> {
        self.marks.insert(minute, number).map_err(broken)?;
        Ok(())
    }

    /// Removes changes of deleted pages and of groups beyond the limits.
    pub fn expire_feed(&mut self, limits: FeedLimits) -> Result<()> {
        let FeedLimits { minute, bytes: most_bytes, most } = limits;
        let mark = self.marks.range(..=minute).map_err(broken)?.next_back().transpose().map_err(broken)?;
        let mark = mark.map(|(minute, last)| (minute.value(), last.value()));
        let last_old = mark.map_or(0, |(_, last)| last);
        let mut bytes = self.expiring_bytes()?;
        let mut removed = 0;
        while removed < most {
            let oldest = self.expiring.first().map_err(broken)?;
            let oldest = oldest.map(|(number, group)| (number.value(), group.value()));
            let Some((number, group)) =
                oldest.filter(|(number, _)| *number <= last_old || bytes > most_bytes)
            else {
                break;
            };
            let (length, _) = self.remove_change(number)?;
            if group != 0 {
                self.fed_groups.remove(group).map_err(broken)?;
            }
            bytes -= length.min(bytes);
            removed += 1;
            self.set_meta(EXPIRED, &number.to_le_bytes())?;
        }
        self.set_meta(EXPIRING_BYTES, &bytes.to_le_bytes())?;
        if let Some((minute, _)) = mark.filter(|_| removed < most) {
            // The mark itself stays: it says how far the feed has expired.
            self.marks.retain_in(..minute, |_, _| false).map_err(broken)?;
        }
        Ok(())
    }
}

impl super::Snapshot {
    /// The bytes of the changes of deleted pages and of groups.
    pub fn expiring_bytes(&self) -> Result<u64> {
        let bytes = self.meta(EXPIRING_BYTES)?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes))
    }

    /// The last number of an expired change; zero if none has expired. Who read up to an earlier number has missed some.
    pub fn expired(&self) -> Result<u64> {
        let bytes = self.meta(EXPIRED)?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes))
    }
}
