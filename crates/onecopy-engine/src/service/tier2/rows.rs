//! The pages that a batch touches, before and after it. Each is read and written once.

use std::collections::{BTreeMap, BTreeSet};

use onecopy_core::{Config, LinkKind};
use onecopy_store::{Batch, LinkRow, Look, PageNumber, PageRow, Role};

use crate::error::Result;
use crate::service::prepare::link_kind;

/// A page before the batch, and now.
#[derive(Debug, Default)]
pub(super) struct TouchedPage {
    pub before: Option<PageRow>,
    pub now: Option<PageRow>,
}

impl TouchedPage {
    /// Whether only its position in the log changed.
    pub(super) fn is_refreshed(&self) -> bool {
        let TouchedPage { before: Some(before), now: Some(now) } = self else { return false };
        let place = (before.at, before.accepted);
        // The usual case needs no copy.
        place != (now.at, now.accepted)
            && before.fingerprint == now.fingerprint
            && PageRow { at: now.at, accepted: now.accepted, ..before.clone() } == *now
    }
}

/// Touched pages, read through a transaction.
pub(super) struct TouchedPages<'b, 't> {
    pub batch: &'b mut Batch<'t>,
    held: BTreeMap<PageNumber, TouchedPage>,
}

impl<'b, 't> TouchedPages<'b, 't> {
    pub(super) fn new(batch: &'b mut Batch<'t>) -> TouchedPages<'b, 't> {
        TouchedPages { batch, held: BTreeMap::new() }
    }

    /// A page, for reading or changing.
    pub(super) fn get(&mut self, page: PageNumber) -> Result<&mut TouchedPage> {
        use std::collections::btree_map::Entry;
        match self.held.entry(page) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let before = self.batch.page(page)?;
                let now = before.clone();
                Ok(entry.insert(TouchedPage { before, now }))
            }
        }
    }

    /// The current state of a page.
    pub(super) fn now(&mut self, page: PageNumber) -> Result<Option<&PageRow>> {
        Ok(self.get(page)?.now.as_ref())
    }

    /// The current state of a page, without marking it as touched.
    pub(super) fn peek(&self, page: PageNumber) -> Result<Option<PageRow>> {
        match self.held.get(&page) {
            Some(held) => Ok(held.now.clone()),
            None => Ok(self.batch.page(page)?),
        }
    }

    /// Notes what was told of a page as it is now. A winner may have a million losers, so pages that are not in memory
    /// are written at once.
    pub(super) fn set_told(&mut self, page: PageNumber, row: PageRow, told: u64) -> Result<()> {
        match self.held.get_mut(&page) {
            Some(held) => held.now = Some(PageRow { told, ..row }),
            None => self.batch.set_page(page, &PageRow { told, ..row })?,
        }
        Ok(())
    }

    /// The pages that changed.
    pub(super) fn changed(&self) -> BTreeSet<PageNumber> {
        let is_changed = |held: &TouchedPage| held.before != held.now && !held.is_refreshed();
        self.held.iter().filter(|(_, held)| is_changed(held)).map(|(page, _)| *page).collect()
    }

    /// Writes the changed pages.
    pub(super) fn write(self) -> Result<()> {
        let mut live: BTreeMap<u32, i64> = BTreeMap::new();
        for (page, held) in self.held {
            let (old, new) = (held.before.as_ref().map(|row| row.at), held.now.as_ref().map(|row| row.at));
            if old != new {
                old.into_iter().for_each(|at| *live.entry(at.segment).or_default() -= i64::from(at.length));
                new.into_iter().for_each(|at| *live.entry(at.segment).or_default() += i64::from(at.length));
            }
            match (held.before, held.now) {
                (before, Some(now)) if before.as_ref() != Some(&now) => self.batch.set_page(page, &now)?,
                (Some(before), None) => self.batch.remove_page(&before.name, page)?,
                _ => {}
            }
        }
        for (segment, bytes) in live {
            self.batch.add_live(segment, bytes)?;
        }
        Ok(())
    }
}

/// Whether a page redirects, or revisits another.
pub(super) fn is_pointing(row: &PageRow) -> bool {
    row.links.iter().any(|link| link_kind(link.kind) != LinkKind::Canonical)
}

/// The canonical links of a page.
pub(super) fn canonical(row: &PageRow) -> impl Iterator<Item = &LinkRow> {
    row.links.iter().filter(|link| link_kind(link.kind) == LinkKind::Canonical)
}

/// The addresses where a page stands, by role and hash.
pub(super) fn standing(row: &PageRow) -> Vec<(Role, u64)> {
    let mut spots = if row.dead {
        Vec::new()
    } else if is_pointing(row) {
        vec![(Role::Pointing, row.exact), (Role::PointingAlike, row.identity)]
    } else if row.silent {
        Vec::new()
    } else {
        vec![(Role::Content, row.identity)]
    };
    spots.retain(|(_, hash)| *hash != 0);
    spots
}

/// The hashes of the addresses that a page names, each once.
pub(super) fn named(row: &PageRow) -> Vec<u64> {
    if row.dead {
        return Vec::new();
    }
    let mut hashes: Vec<u64> = row.links.iter().flat_map(|link| [link.identity, link.address]).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Whether a page is compared: it has words and does not redirect.
pub(super) fn is_compared(row: &PageRow) -> bool {
    !row.dead && !row.silent && row.end.how == 0
}

/// The class of a page: those of the preferred market first, those with a believed canonical link last.
pub(in crate::service) fn class(row: &PageRow, config: &Config) -> u8 {
    if row.lesser {
        2
    } else if config.markets.is_empty() || row.markets & 1 == 1 {
        0
    } else {
        1
    }
}

/// All classes.
pub(super) const CLASSES: std::ops::Range<u8> = 0..3;
