//! Which pages are at the addresses that pages name, collected while all pages of a run are read.

use std::collections::{HashMap, HashSet};

use super::{Claims, PageEnd, Standing, canonical_targets, ends};
use crate::page::PageId;

/// Where all links of a run lead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// The pages that stand for another, ascending, and where they end.
    pub ends: Vec<PageEnd>,
    /// Pages and the page that each names as its own, to be compared before the link counts.
    pub canonical: Vec<(PageId, PageId)>,
}

/// The pages at the addresses that claims name: the best if there are several at one address.
pub struct AddressBook<'a> {
    claims: Claims,
    /// The rank of each page by the winner rules.
    ranks: &'a [u32],
    /// The address identities that claims name.
    named: HashSet<u64>,
    content: HashMap<u64, PageId>,
    /// Redirects and revisits at addresses that others name.
    pointing: HashMap<u64, PageId>,
    pointing_alike: HashMap<u64, PageId>,
}

impl<'a> AddressBook<'a> {
    /// A book for these claims. The caller must then enter all pages with an address.
    pub fn new(mut claims: Claims, ranks: &'a [u32]) -> AddressBook<'a> {
        claims.sort();
        let pointed = claims.pointing.iter().map(|claim| claim.identity);
        let named: HashSet<u64> = pointed.chain(claims.hints.iter().map(|hint| hint.identity)).collect();
        let exact: HashSet<u64> = claims.pointing.iter().map(|claim| claim.address).collect();
        let (content, mut pointing, mut pointing_alike) = (HashMap::new(), HashMap::new(), HashMap::new());
        for claim in &claims.pointing {
            if exact.contains(&claim.from) {
                best(&mut pointing, ranks, claim.from, claim.page);
            }
            if named.contains(&claim.own_identity) {
                best(&mut pointing_alike, ranks, claim.own_identity, claim.page);
            }
        }
        AddressBook { claims, ranks, named, content, pointing, pointing_alike }
    }

    /// Enters a page with words, by the identity of its address; zero if it has none.
    pub fn enter(&mut self, page: PageId, identity: u64) {
        if identity != 0 && self.named.contains(&identity) && !self.claims.points(page) {
            best(&mut self.content, self.ranks, identity, page);
        }
    }

    /// Where the links lead, once all pages are entered.
    pub fn links(&self) -> Links {
        let ends = ends(&self.claims.pointing, self);
        let canonical = canonical_targets(&self.claims.hints, &ends, self);
        Links { ends, canonical }
    }
}

/// Keeps the better of two pages at one address.
fn best(map: &mut HashMap<u64, PageId>, ranks: &[u32], address: u64, page: PageId) {
    let held = map.entry(address).or_insert(page);
    if ranks[page as usize] < ranks[*held as usize] {
        *held = page;
    }
}

impl Standing for AddressBook<'_> {
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
