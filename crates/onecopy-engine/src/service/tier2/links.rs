//! Finds the ends of redirects and revisits after pages changed.
//!
//! The end of a page depends on the pages it leads through. So a page is followed again if it changed, if an address
//! that it names has another best page, or if a page it leads to has a new end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use onecopy_core::{Claim, End, PageEnd, Standing, ends, reachable};
use onecopy_store::{Batch, EndRow, LinkRow, Look, PageNumber, PageRow, Role};

use super::pages::Changed;
use super::rows::{TouchedPages, is_pointing};
use crate::error::{Error, Result};
use crate::service::prepare::link_kind;
use onecopy_core::LinkKind;

/// The kinds of ends, as numbers in a row.
pub(in crate::service) const ENDS_AT_A_PAGE: u8 = 1;
const MISSING: u8 = 2;
const LOOP: u8 = 3;
const TOO_LONG: u8 = 4;

/// The changes of ends.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// The pages whose end changed.
    pub pages: BTreeSet<PageNumber>,
    /// The change in the number of pages that end at each page.
    pub standing: BTreeMap<PageNumber, i64>,
}

/// Follows all pages whose end may have changed.
pub(super) fn follow(rows: &mut TouchedPages, changed: &Changed) -> Result<Moved> {
    let mut moved = Moved::default();
    let (mut open, mut done) = (BTreeSet::new(), BTreeSet::new());
    for &hash in &changed.addresses {
        open.extend(rows.batch.naming(hash)?);
    }
    for &page in &changed.pages {
        let held = rows.get(page)?;
        if held.before.as_ref().map(leads) != held.now.as_ref().map(leads) {
            open.insert(page);
        }
    }
    while let Some(page) = open.pop_first() {
        if !done.insert(page) {
            continue;
        }
        let end = end(rows, page)?;
        let held = rows.get(page)?;
        let before = held.before.as_ref().map(|row| row.end).unwrap_or_default();
        if let Some(now) = &mut held.now {
            now.end = end;
        }
        if before != end {
            moved.pages.insert(page);
            moved.relink(rows, page, before, end)?;
        }
        // Even with the same end: whether the pages leading here end at a page depends on the whole chain.
        open.extend(leading_to(rows, page)?.into_iter().filter(|other| !done.contains(other)));
    }
    Ok(moved)
}

/// The fields that decide where a page leads, and which pages lead through it.
fn leads(row: &PageRow) -> (&[LinkRow], bool, bool, u64, u64) {
    (&row.links, row.silent, row.dead, row.exact, row.identity)
}

/// The pages that lead through this page, now or before.
fn leading_to(rows: &mut TouchedPages, page: PageNumber) -> Result<BTreeSet<PageNumber>> {
    let held = rows.get(page)?;
    let pointing = [&held.before, &held.now].into_iter().flatten().filter(|row| is_pointing(row));
    let addresses: BTreeSet<u64> = pointing.flat_map(|row| [row.exact, row.identity]).collect();
    let mut found = BTreeSet::new();
    for hash in addresses.into_iter().filter(|&hash| hash != 0) {
        found.extend(rows.batch.naming(hash)?);
    }
    Ok(found)
}

impl Moved {
    /// Updates the page at which another ends.
    fn relink(
        &mut self,
        rows: &mut TouchedPages,
        page: PageNumber,
        before: EndRow,
        now: EndRow,
    ) -> Result<()> {
        if before.how == ENDS_AT_A_PAGE {
            rows.batch.remove_ending(before.page, page)?;
            *self.standing.entry(before.page).or_default() -= 1;
        }
        if now.how == ENDS_AT_A_PAGE {
            rows.batch.add_ending(now.page, page)?;
            *self.standing.entry(now.page).or_default() += 1;
        }
        Ok(())
    }
}

/// The current end of a page.
fn end(rows: &TouchedPages, page: PageNumber) -> Result<EndRow> {
    let points = rows.peek(page)?.is_some_and(|row| !row.dead && is_pointing(&row));
    if !points {
        return Ok(EndRow::default());
    }
    let at = AddressLookup { batch: rows.batch, failed: RefCell::new(None) };
    let mut claims_of = |page: PageNumber| match rows.peek(page) {
        Ok(row) => row.map_or_else(Vec::new, |row| claims(page, &row)),
        Err(error) => {
            at.failed.replace(Some(error));
            Vec::new()
        }
    };
    let claims = reachable(page, &mut claims_of, &at);
    let found = ends(&claims, &at);
    if let Some(error) = at.failed.take() {
        return Err(error);
    }
    let end = found.into_iter().find(|end| end.page == page);
    Ok(end.map_or(EndRow::default(), |PageEnd { end, revisit, .. }| match end {
        End::Page(target) => EndRow { how: ENDS_AT_A_PAGE, page: target, revisit },
        End::Missing => EndRow { how: MISSING, page: 0, revisit },
        End::Loop => EndRow { how: LOOP, page: 0, revisit },
        End::TooLong => EndRow { how: TOO_LONG, page: 0, revisit },
    }))
}

/// Why a page that ends nowhere cannot be judged.
pub(in crate::service) fn objection(row: &PageRow) -> Option<String> {
    let does = if row.end.revisit { "says that it is a copy of" } else { "redirects to" };
    let what = match row.end.how {
        MISSING => "which leads to no page of the collection",
        LOOP => "which leads back to it",
        TOO_LONG => "which leads on for too many steps",
        _ => return None,
    };
    let link = row.links.iter().find(|link| link_kind(link.kind) != LinkKind::Canonical)?;
    Some(format!("it {does} {}, {what}", link.to))
}

/// The links of a page, in order of precedence.
fn claims(page: PageNumber, row: &PageRow) -> Vec<Claim> {
    let mut claims: Vec<Claim> = row
        .links
        .iter()
        .map(|link| Claim {
            page,
            kind: link_kind(link.kind),
            from: row.exact,
            own_identity: row.identity,
            address: link.address,
            identity: link.identity,
            silent: row.silent,
        })
        .filter(|claim| claim.kind != LinkKind::Canonical)
        .collect();
    claims.sort_by_key(|claim| (claim.kind as u8, claim.identity, claim.address));
    claims
}

/// Finds the page at an address in the tables.
struct AddressLookup<'a, 't> {
    batch: &'a Batch<'t>,
    failed: RefCell<Option<Error>>,
}

impl AddressLookup<'_, '_> {
    fn best(&self, role: Role, hash: u64) -> Option<PageNumber> {
        self.batch.standing(role, hash).unwrap_or_else(|error| {
            *self.failed.borrow_mut() = Some(error.into());
            None
        })
    }
}

impl Standing for AddressLookup<'_, '_> {
    fn content(&self, identity: u64) -> Option<PageNumber> {
        self.best(Role::Content, identity)
    }

    fn pointing(&self, address: u64) -> Option<PageNumber> {
        self.best(Role::Pointing, address)
    }

    fn pointing_alike(&self, identity: u64) -> Option<PageNumber> {
        self.best(Role::PointingAlike, identity)
    }
}
