//! Claims: where pages say that they are, and which pages therefore stand for another.
//!
//! A redirect or a revisit whose page is known stands for that page, and is not compared. One that leads nowhere is a
//! page like any other if it has words. A canonical link is a hint: it counts only if the two pages turn out to be
//! alike. Who is at an address is for the caller to know ([`Standing`]).

mod book;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use crate::page::PageId;
use crate::redirect::{End, HOPS_LIMIT, Redirect, Target, follow};

pub use book::{AddressBook, Links};

/// How a page says that it is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkKind {
    /// It sends its reader there.
    Redirect,
    /// The archive says that it was found to be the same as that page.
    Revisit,
    /// It gives that address as its own. A hint, which its content must bear out.
    Canonical,
}

/// That a page says it is elsewhere. Addresses are hashes; zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The page that says so.
    pub page: PageId,
    /// How it says so.
    pub kind: LinkKind,
    /// The page's own address.
    pub from: u64,
    /// What its own address comes to by the rules.
    pub own_identity: u64,
    /// The address that it names.
    pub address: u64,
    /// What that address comes to by the rules.
    pub identity: u64,
    /// Whether the page has no words of its own.
    pub silent: bool,
}

/// Who is at an address. Of several pages the best is meant.
pub trait Standing {
    /// The page with words that stands for itself, by what its address comes to.
    fn content(&self, identity: u64) -> Option<PageId>;
    /// The page that redirects or is a revisit, by its address.
    fn pointing(&self, address: u64) -> Option<PageId>;
    /// The page that redirects or is a revisit, by what its address comes to.
    fn pointing_alike(&self, identity: u64) -> Option<PageId>;
}

/// Where a page that stands for another ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEnd {
    /// The page that stands for another.
    pub page: PageId,
    /// Where it ends.
    pub end: End,
    /// Whether the archive says that the two are the same.
    pub revisit: bool,
}

/// What stands where a page points: rather a page than one that points on, rather the very address.
pub fn target(claim: &Claim, at: &dyn Standing) -> Target {
    let other = |page: &PageId| *page != claim.page;
    if let Some(page) = at.content(claim.identity) {
        return Target::Content(page);
    }
    let exact = at.pointing(claim.address);
    match exact.filter(other).or_else(|| at.pointing_alike(claim.identity).filter(other)) {
        Some(page) => Target::Redirect(page),
        // A page that points at itself walks in a circle; else there is nothing.
        None if exact == Some(claim.page) => Target::Redirect(claim.page),
        None => Target::Nothing,
    }
}

/// Where each page with a redirect or a revisit ends, ascending by page. Those that have words and lead to no page are
/// left out: they are pages. The order of `claims` does not matter.
///
/// Where a page ends is decided by the claims that [`reachable`] finds from it.
pub fn ends(claims: &[Claim], at: &dyn Standing) -> Vec<PageEnd> {
    let pointing: Vec<&Claim> = claims.iter().filter(|claim| claim.kind != LinkKind::Canonical).collect();
    let redirects: Vec<Redirect> =
        pointing.iter().map(|claim| Redirect { page: claim.page, target: target(claim, at) }).collect();
    let stays: HashSet<PageId> = (pointing.iter().zip(follow(&redirects)))
        .filter(|(claim, end)| !claim.silent && !matches!(end, End::Page(_)))
        .map(|(claim, _)| claim.page)
        .collect();
    let mut kinds: HashMap<PageId, LinkKind> = HashMap::new();
    for claim in pointing {
        kinds.entry(claim.page).and_modify(|kind| *kind = claim.kind.min(*kind)).or_insert(claim.kind);
    }
    let redirects = without(redirects, &stays);
    let mut ends: Vec<PageEnd> = (redirects.iter().zip(follow(&redirects)))
        .map(|(&Redirect { page, .. }, end)| PageEnd {
            page,
            end,
            revisit: kinds.get(&page) == Some(&LinkKind::Revisit),
        })
        .collect();
    ends.sort_unstable_by_key(|end| end.page);
    ends.dedup_by_key(|end| end.page);
    ends
}

/// The redirects of pages that do not stay. Who leads to one that stays has an end after all.
fn without(redirects: Vec<Redirect>, stays: &HashSet<PageId>) -> Vec<Redirect> {
    let left = redirects.into_iter().filter(|redirect| !stays.contains(&redirect.page));
    left.map(|redirect| match redirect.target {
        Target::Redirect(page) if stays.contains(&page) => {
            Redirect { target: Target::Content(page), ..redirect }
        }
        _ => redirect,
    })
    .collect()
}

/// Pages and the page that each gives as its own, to be compared before it is believed: pages that, by `ends`, stand for
/// themselves, in the order of `claims`.
pub fn canonical_targets(claims: &[Claim], ends: &[PageEnd], at: &dyn Standing) -> Vec<(PageId, PageId)> {
    let canonical = claims.iter().filter(|claim| claim.kind == LinkKind::Canonical);
    let named = canonical.filter_map(|claim| {
        let stands_for_another = ends.binary_search_by_key(&claim.page, |end| end.page).is_ok();
        let target = at.content(claim.identity)?;
        (!stands_for_another && target != claim.page).then_some((claim.page, target))
    });
    named.collect()
}

/// Steps from a page to the last claims that decide where it ends. It may end at a page with words as many steps away as
/// are followed, unless that one ends at another page, which takes as many steps again, the last of them to no claim.
const STEPS: usize = 2 * HOPS_LIMIT - 1;

/// The redirects and revisits that decide where `start` ends: its own and, step by step, those of the pages that they
/// lead to, whichever of a page's claims is followed. `claims_of` is asked once for a page.
pub fn reachable(
    start: PageId,
    claims_of: &mut dyn FnMut(PageId) -> Vec<Claim>,
    at: &dyn Standing,
) -> Vec<Claim> {
    let (mut found, mut met, mut pages) = (Vec::new(), HashSet::from([start]), vec![start]);
    for _ in 0..=STEPS {
        let first = found.len();
        for page in pages.drain(..) {
            found.extend(claims_of(page).into_iter().filter(|claim| claim.kind != LinkKind::Canonical));
        }
        for claim in &found[first..] {
            if let Target::Redirect(page) = target(claim, at)
                && met.insert(page)
            {
                pages.push(page);
            }
        }
        if pages.is_empty() {
            break;
        }
    }
    found
}
