//! Which pages are at the addresses that pages name, collected while all pages of a run are read.

use std::collections::{HashMap, HashSet};

use super::{Claim, LinkKind, PageEnd, Standing, canonical_targets, ends};
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
    claims: Vec<Claim>,
    /// The rank of each page by the winner rules.
    ranks: &'a [u32],
    /// The address identities that claims name.
    named: HashSet<u64>,
    /// Pages that redirect or are revisits.
    elsewhere: HashSet<PageId>,
    content: HashMap<u64, PageId>,
    pointing: HashMap<u64, PageId>,
    pointing_alike: HashMap<u64, PageId>,
}

impl<'a> AddressBook<'a> {
    /// A book for these claims. The caller must then enter all pages with an address.
    pub fn new(mut claims: Vec<Claim>, ranks: &'a [u32]) -> AddressBook<'a> {
        // The order of the input must not decide the order of canonical links.
        claims.sort_by_key(|claim| (claim.page, claim.kind, claim.identity, claim.address));
        let named = claims.iter().map(|claim| claim.identity).collect();
        let mut book = AddressBook {
            claims: Vec::new(),
            ranks,
            named,
            elsewhere: HashSet::new(),
            content: HashMap::new(),
            pointing: HashMap::new(),
            pointing_alike: HashMap::new(),
        };
        for claim in claims.iter().filter(|claim| claim.kind != LinkKind::Canonical) {
            book.elsewhere.insert(claim.page);
            best(&mut book.pointing, ranks, claim.from, claim.page);
            best(&mut book.pointing_alike, ranks, claim.own_identity, claim.page);
        }
        book.claims = claims;
        book
    }

    /// Enters a page with words, by the identity of its address; zero if it has none.
    pub fn enter(&mut self, page: PageId, identity: u64) {
        if identity != 0 && self.named.contains(&identity) && !self.elsewhere.contains(&page) {
            best(&mut self.content, self.ranks, identity, page);
        }
    }

    /// Where the links lead, once all pages are entered.
    pub fn links(&self) -> Links {
        let ends = ends(&self.claims, self);
        let canonical = canonical_targets(&self.claims, &ends, self);
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
