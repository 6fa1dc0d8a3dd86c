//! Stage 2, between reading and ranking: who is at the addresses that pages say they are at.
//!
//! What follows from that is in `link.rs` of the core.

mod claims;

use std::collections::{HashMap, HashSet};

use onecopy_core::{Claim, LinkKind, PageEnd, PageId, Standing, canonical_targets, ends};

pub(crate) use claims::Link;
use claims::claims;

use super::segments::Segments;
use crate::error::Result;

/// What came of all links.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// The pages that stand for another, ascending, and where they end.
    pub ends: Vec<PageEnd>,
    /// Pages and the page that they give as their own, to be compared before it is believed.
    pub canonical: Vec<(PageId, PageId)>,
}

/// Follows all links. `ranks` are the places of pages in the order of preference: of several pages at one address the
/// best is meant.
pub(crate) fn links(segments: &Segments, ranks: &[u32]) -> Result<Links> {
    let mut claims = claims(segments)?;
    if claims.is_empty() {
        return Ok(Links::default());
    }
    // The order of the input must not decide the order of canonical links.
    claims.sort_by_key(|claim| (claim.page, claim.kind, claim.identity, claim.address));
    let at = Addresses::new(segments, ranks, &claims)?;
    let ends = ends(&claims, &at);
    let canonical = canonical_targets(&claims, &ends, &at);
    Ok(Links { ends, canonical })
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
}

impl Standing for Addresses {
    fn content(&self, identity: u64) -> Option<PageId> {
        self.content.get(&identity).copied()
    }

    fn pointing(&self, address: u64) -> Option<PageId> {
        self.pointing.get(&address).copied()
    }

    fn pointing_alike(&self, identity: u64) -> Option<PageId> {
        self.pointing_alike.get(&identity).copied()
    }
}
