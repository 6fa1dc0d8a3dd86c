//! Stage 2, between reading and ranking: where pages say that they are.
//!
//! A redirect or a revisit whose page is among those that were read stands for that page, and is not compared. One
//! that leads nowhere is a page like any other if it has words. A canonical link is a hint: it counts only if the two
//! pages turn out to be alike, and then the page that it names is preferred.

mod claims;

use std::collections::{HashMap, HashSet};

use onecopy_core::{End, PageId, Redirect, Target, follow};

pub(crate) use claims::Link;
use claims::{Claim, claims};

use super::segments::Segments;
use crate::error::Result;
use crate::ingest::LinkKind;

/// What came of all links.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// The pages that stand for another, ascending, and where they end.
    pub ends: Vec<PageEnd>,
    /// Pages and the page that they give as their own, to be compared before it is believed.
    pub canonical: Vec<(PageId, PageId)>,
}

/// Where a page that stands for another ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageEnd {
    pub page: PageId,
    pub end: End,
    /// Whether the archive says that the two are the same.
    pub revisit: bool,
}

/// Follows all links. `ranks` are the places of pages in the order of preference: of several pages at one address the
/// best is meant.
pub(crate) fn links(segments: &Segments, ranks: &[u32]) -> Result<Links> {
    let mut claims = claims(segments)?;
    if claims.is_empty() {
        return Ok(Links::default());
    }
    // The order of the input must not decide which of two links of a page counts.
    claims.sort_by_key(|claim| (claim.page, claim.kind as u8, claim.identity, claim.address));
    let at = Addresses::new(segments, ranks, &claims)?;
    let pointing: Vec<&Claim> = claims.iter().filter(|claim| claim.kind != LinkKind::Canonical).collect();
    let ends = ends(&pointing, &at);
    let canonical = claims.iter().filter(|claim| claim.kind == LinkKind::Canonical).filter_map(|claim| {
        let stands_for_another = ends.binary_search_by_key(&claim.page, |end| end.page).is_ok();
        let target = *at.content.get(&claim.identity)?;
        (!stands_for_another && target != claim.page).then_some((claim.page, target))
    });
    let canonical = canonical.collect();
    Ok(Links { ends, canonical })
}

/// Where each redirect and revisit ends. Those that have words and lead to no page are left out: they are pages.
fn ends(pointing: &[&Claim], at: &Addresses) -> Vec<PageEnd> {
    let redirects: Vec<Redirect> =
        pointing.iter().map(|claim| Redirect { page: claim.page, target: at.target(claim) }).collect();
    let first = follow(&redirects);
    let stays: HashSet<PageId> = (pointing.iter().zip(&first))
        .filter(|(claim, end)| !claim.silent && !matches!(end, End::Page(_)))
        .map(|(claim, _)| claim.page)
        .collect();
    // Who leads to such a page has an end after all.
    let redirects: Vec<Redirect> = redirects
        .into_iter()
        .filter(|redirect| !stays.contains(&redirect.page))
        .map(|redirect| match redirect.target {
            Target::Redirect(page) if stays.contains(&page) => {
                Redirect { target: Target::Content(page), ..redirect }
            }
            _ => redirect,
        })
        .collect();
    let kinds: HashMap<PageId, LinkKind> =
        pointing.iter().rev().map(|claim| (claim.page, claim.kind)).collect();
    let mut ends: Vec<PageEnd> = (redirects.iter().zip(follow(&redirects)))
        .map(|(redirect, end)| {
            let revisit = kinds.get(&redirect.page) == Some(&LinkKind::Revisit);
            PageEnd { page: redirect.page, end, revisit }
        })
        .collect();
    ends.sort_by_key(|end| end.page);
    ends.dedup_by_key(|end| end.page);
    ends
}

/// Who is at the addresses that links name.
struct Addresses {
    /// By what an address comes to: the best page with words that stands for itself.
    content: HashMap<u64, PageId>,
    /// The best page that points elsewhere, by its address and by what that comes to.
    pointing: HashMap<u64, PageId>,
    pointing_alike: HashMap<u64, PageId>,
}

impl Addresses {
    fn new(segments: &Segments, ranks: &[u32], claims: &[Claim]) -> Result<Addresses> {
        let best = |map: &mut HashMap<u64, PageId>, key: u64, page: PageId| {
            let held = map.entry(key).or_insert(page);
            if ranks[page as usize] < ranks[*held as usize] {
                *held = page;
            }
        };
        let mut at =
            Addresses { content: HashMap::new(), pointing: HashMap::new(), pointing_alike: HashMap::new() };
        let wanted: HashSet<u64> = claims.iter().map(|claim| claim.identity).collect();
        let mut pointing = HashSet::new();
        for claim in claims {
            if claim.kind != LinkKind::Canonical {
                pointing.insert(claim.page);
                best(&mut at.pointing, claim.from, claim.page);
                best(&mut at.pointing_alike, claim.own_identity, claim.page);
            }
        }
        for number in 0..segments.len() {
            let (segment, first) = (segments.load(number)?, segments.first_page(number));
            for (page, row) in (first..).zip(&segment.rows) {
                let met = row.identity != 0 && wanted.contains(&row.identity);
                if met && !row.silent && !pointing.contains(&page) {
                    best(&mut at.content, row.identity, page);
                }
            }
        }
        Ok(at)
    }

    /// What stands where a page points: rather a page than one that points on, rather the very address.
    fn target(&self, claim: &Claim) -> Target {
        let other = |page: &&PageId| **page != claim.page;
        if let Some(&page) = self.content.get(&claim.identity) {
            return Target::Content(page);
        }
        let exact = self.pointing.get(&claim.address).filter(other);
        match exact.or_else(|| self.pointing_alike.get(&claim.identity).filter(other)) {
            Some(&page) => Target::Redirect(page),
            // A page that points at itself walks in a circle; else there is nothing.
            None if self.pointing.get(&claim.address) == Some(&claim.page) => Target::Redirect(claim.page),
            None => Target::Nothing,
        }
    }
}
