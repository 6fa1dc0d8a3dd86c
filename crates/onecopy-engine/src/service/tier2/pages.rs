//! Turns versions into rows: updates pages and the addresses where they stand.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use onecopy_store::{Deed, Heads, Look, PageNumber, PageRow, Role, Version};

use super::batch::Logged;
use super::rows::{TouchedPages, named, standing};
use crate::error::Result;
use onecopy_store::Place;

/// The changed pages and addresses, before links are followed.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Pages that were added or removed.
    pub pages: BTreeSet<PageNumber>,
    /// Pages that were added again and differ only in their position in the log.
    pub refreshed: Vec<PageNumber>,
    /// Addresses with a new best page, by hash.
    pub addresses: BTreeSet<u64>,
}

/// Writes versions into rows. The last version of each page counts. `earlier` has what is known of pages that have no row
/// yet, and have a version.
pub(super) fn change(
    rows: &mut TouchedPages,
    versions: &[Logged],
    earlier: &[Logged],
    heads: &mut Heads,
) -> Result<Changed> {
    let (mut last, mut put): (HashMap<&str, &Logged>, HashMap<&str, &Logged>) = Default::default();
    for logged in earlier.iter().chain(versions) {
        let name = &*logged.version.name;
        last.insert(name, logged);
        match logged.version.deed {
            Deed::Put => drop(put.insert(name, logged)),
            Deed::Delete => drop(put.remove(name)),
            Deed::Dead => {}
        }
    }
    let mut changed = Changed::default();
    // In the order of the log, so that the numbers of new pages are deterministic.
    for logged in versions.iter().filter(|logged| std::ptr::eq(last[&*logged.version.name], *logged)) {
        // A page that is added and dies in one batch becomes known as dead, as it would in two batches.
        let died = put.get(&*logged.version.name).filter(|_| logged.version.deed == Deed::Dead);
        if let Some(put) = died
            && let Some(page) = number(rows, &put.version, heads)?
        {
            replace(rows, page, put)?;
        }
        if let Some(page) = number(rows, &logged.version, heads)? {
            replace(rows, page, logged)?;
            if rows.get(page)?.is_refreshed() {
                changed.refreshed.push(page);
            } else {
                changed.pages.insert(page);
            }
        }
    }
    let mut moving = Vec::new();
    for &page in &changed.pages {
        let held = rows.get(page)?;
        if held.before.as_ref().map(stands) != held.now.as_ref().map(stands) {
            moving.push(page);
        }
    }
    let before = best_at(rows, &moving)?;
    for page in moving {
        restand(rows, page)?;
    }
    for (spot, best) in before {
        if rows.batch.standing(spot.0, spot.1)? != best {
            changed.addresses.insert(spot.1);
        }
    }
    Ok(changed)
}

/// The number of a version's page. `None` if an unknown page is removed.
fn number(rows: &mut TouchedPages, version: &Version, heads: &mut Heads) -> Result<Option<PageNumber>> {
    if let Some(page) = rows.batch.page_number(&version.name)? {
        return Ok(Some(page));
    }
    if version.deed != Deed::Put {
        return Ok(None);
    }
    let page = heads.next_page;
    heads.next_page += 1;
    rows.batch.set_name(&version.name, page)?;
    Ok(Some(page))
}

/// Replaces a page by its new version. It keeps its last decision until a new one is made.
fn replace(rows: &mut TouchedPages, page: PageNumber, logged: &Logged) -> Result<()> {
    let Logged { place, version } = logged;
    let held = rows.get(page)?;
    let before = held.now.clone().or_else(|| held.before.clone()).unwrap_or_default();
    let accepted = version.accepted;
    held.now = match version.deed {
        Deed::Delete => None,
        Deed::Dead => Some(PageRow { dead: true, accepted, at: *place, links: Vec::new(), ..before }),
        Deed::Put => Some(put(before, *place, version)),
    };
    Ok(())
}

fn put(before: PageRow, place: Place, version: &Version) -> PageRow {
    PageRow {
        name: version.name.clone(),
        url: version.url.clone(),
        accepted: version.accepted,
        at: place,
        dead: false,
        silent: version.silent,
        fingerprint: version.fingerprint,
        sketch: hash_of(&version.sketch),
        size: version.sketch.len() as u32,
        exact: version.exact,
        identity: version.identity,
        language: version.language,
        markets: version.markets,
        rank: version.rank.clone(),
        links: version.links.clone(),
        ..before
    }
}

/// A hash that identifies a sketch.
fn hash_of(sketch: &[u64]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(sketch))
}

/// The best page at each address where one of the pages stood or will stand.
fn best_at(
    rows: &mut TouchedPages,
    pages: &[PageNumber],
) -> Result<BTreeMap<(Role, u64), Option<PageNumber>>> {
    let mut best = BTreeMap::new();
    for &page in pages {
        let held = rows.get(page)?;
        let spots: Vec<_> = held.before.iter().chain(&held.now).flat_map(standing).collect();
        for spot in spots {
            best.insert(spot, rows.batch.standing(spot.0, spot.1)?);
        }
    }
    Ok(best)
}

/// The addresses where a page stands, the addresses it names, and its rank.
fn stands(row: &PageRow) -> (Vec<(Role, u64)>, Vec<u64>, &[u8]) {
    (standing(row), named(row), &row.rank)
}

/// Removes a page from its old addresses and adds it to the new ones.
fn restand(rows: &mut TouchedPages, page: PageNumber) -> Result<()> {
    let held = rows.get(page)?;
    let (before, now) = (held.before.clone(), held.now.clone());
    if let Some(row) = &before {
        for (role, hash) in standing(row) {
            rows.batch.remove_standing(role, hash, &row.rank)?;
        }
        for hash in named(row) {
            rows.batch.remove_naming(hash, page)?;
        }
    }
    if let Some(row) = &now {
        for (role, hash) in standing(row) {
            rows.batch.add_standing(role, hash, &row.rank, page)?;
        }
        for hash in named(row) {
            rows.batch.add_naming(hash, page)?;
        }
    }
    Ok(())
}
