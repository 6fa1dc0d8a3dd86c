//! Claims: where pages say that they are, and which pages therefore stand for another.
//!
//! A redirect or a revisit stands for its target page if that is known, and is not compared. One that leads nowhere
//! is an ordinary page if it has words. A canonical link is a hint: it counts only if the two pages turn out to be
//! alike. The caller knows which page is at an address ([`Standing`]).

mod book;
mod claims;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::page::PageId;
use crate::page::redirect::{End, HOPS_LIMIT, Redirect, Target, follow};

pub use book::{AddressBook, Links};
pub use claims::{CanonicalHint, Claims};

/// How a page says that it is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkKind {
    /// It redirects its reader there.
    Redirect,
    /// The archive says that it is identical to that page.
    Revisit,
    /// It names that address as its own. This is a hint, which its content must confirm.
    Canonical,
}

/// A page's statement that it is elsewhere. Addresses are hashes; zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The page that makes the claim.
    pub page: PageId,
    /// How it makes the claim.
    pub kind: LinkKind,
    /// The page's own address.
    pub from: u64,
    /// The identity of its own address.
    pub own_identity: u64,
    /// The address that it names.
    pub address: u64,
    /// The identity of the address that it names.
    pub identity: u64,
    /// Whether the page has no words.
    pub silent: bool,
}

/// Which page is at an address: the best if there are several.
pub trait Standing {
    /// The page with words that stands for itself, by the identity of its address.
    fn content(&self, identity: u64) -> Option<PageId>;
    /// The page that redirects or is a revisit, by its exact address.
    fn pointing(&self, address: u64) -> Option<PageId>;
    /// The page that redirects or is a revisit, by the identity of its address.
    fn pointing_alike(&self, identity: u64) -> Option<PageId>;
}

/// Where a page that stands for another ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEnd {
    /// The page that stands for another.
    pub page: PageId,
    /// Where it ends.
    pub end: End,
    /// Whether the archive says that the two are identical.
    pub revisit: bool,
}

impl PageEnd {
    /// Why the page cannot be judged, if it leads to no page. `to` is the address that it names.
    pub fn objection(&self, to: &str) -> Option<String> {
        let does = if self.revisit { "says that it is a copy of" } else { "redirects to" };
        let what = match self.end {
            End::Page(_) => return None,
            End::Missing => "which leads to no page of the input",
            End::Loop => "which leads back to it",
            End::TooLong => "which leads on for too many steps",
        };
        Some(format!("it {does} {to}, {what}"))
    }
}

/// The target at the address that a page points to. A page with content comes before one that points on, and the exact
/// address before its identity.
pub fn target(claim: &Claim, at: &dyn Standing) -> Target {
    let other = |page: &PageId| *page != claim.page;
    if let Some(page) = at.content(claim.identity) {
        return Target::Content(page);
    }
    let exact = at.pointing(claim.address);
    match exact.filter(other).or_else(|| at.pointing_alike(claim.identity).filter(other)) {
        Some(page) => Target::Redirect(page),
        // A page that points at itself is a loop. Otherwise nothing is there.
        None if exact == Some(claim.page) => Target::Redirect(claim.page),
        None => Target::Nothing,
    }
}

/// Where each page with a redirect or a revisit ends, ascending by page. Pages that have words and lead to no page
/// are left out: they are ordinary pages. The order of `claims` does not matter.
///
/// Only the claims that [`reachable`] finds from a page decide where it ends.
pub fn ends(claims: &[Claim], at: &dyn Standing) -> Vec<PageEnd> {
    let mut pointing: Vec<&Claim> = claims.iter().filter(|claim| claim.kind != LinkKind::Canonical).collect();
    pointing.sort_unstable_by_key(|claim| claim.page);
    let pages = || pointing.chunk_by(|a, b| a.page == b.page);
    let redirects: Vec<Redirect> = pages().filter_map(|claims| chosen(claims, at)).collect();
    let stays: HashSet<PageId> = (pages().zip(follow(&redirects)))
        .filter(|(claims, end)| !claims[0].silent && !matches!(end, End::Page(_)))
        .map(|(claims, _)| claims[0].page)
        .collect();
    let redirects = without(redirects, &stays);
    let left = pages().filter(|claims| !stays.contains(&claims[0].page));
    let revisits = left.map(|claims| claims.iter().all(|claim| claim.kind == LinkKind::Revisit));
    (redirects.iter().zip(follow(&redirects)).zip(revisits))
        .map(|((&Redirect { page, .. }, end), revisit)| PageEnd { page, end, revisit })
        .collect()
}

/// The one redirect of a page that counts, given all of them. A page with content comes before one that points on.
/// Between two of a kind the addresses decide, because the numbers of pages depend on the order of the input.
fn chosen(claims: &[&Claim], at: &dyn Standing) -> Option<Redirect> {
    let class = |target: &Target| match target {
        Target::Content(_) => 0,
        Target::Redirect(_) => 1,
        Target::Nothing => 2,
    };
    let found = claims.iter().map(|claim| (claim, target(claim, at)));
    let first =
        found.min_by_key(|(claim, target)| (class(target), claim.kind, claim.identity, claim.address));
    first.map(|(claim, target)| Redirect { page: claim.page, target })
}

/// The redirects of pages that do not stay. A redirect to a page that stays now ends there.
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

/// Pages and the page that each names as its own, to be compared before the link counts. The claiming pages stand
/// for themselves by `ends`, and are in the order of `hints`.
pub fn canonical_targets(
    hints: &[CanonicalHint],
    ends: &[PageEnd],
    at: &dyn Standing,
) -> Vec<(PageId, PageId)> {
    let named = hints.iter().filter_map(|&CanonicalHint { page, identity }| {
        let stands_for_another = ends.binary_search_by_key(&page, |end| end.page).is_ok();
        let target = at.content(identity)?;
        (!stands_for_another && target != page).then_some((page, target))
    });
    named.collect()
}

/// How many steps from a page the last claims are that decide where it ends. It may end at a page with words after
/// [`HOPS_LIMIT`] steps. That page may itself end at another page after as many steps, the last of which leads to no
/// claim.
const STEPS: usize = 2 * HOPS_LIMIT - 1;

/// The redirects and revisits that decide where `start` ends. They are its own and, step by step, those of the pages
/// that they lead to, by any claim of a page. `claims_of` is called once per page.
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
