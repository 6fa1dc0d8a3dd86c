//! The claims of a run, held in little memory: one crawl may have a canonical link on every page.

use super::{Claim, LinkKind};
use crate::page::PageId;

/// All claims of a run.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Redirects and revisits.
    pub(super) pointing: Vec<Claim>,
    pub(super) hints: Vec<CanonicalHint>,
}

/// What counts of a canonical link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CanonicalHint {
    /// The page that names an address as its own.
    pub page: PageId,
    /// The identity of the address that it names.
    pub identity: u64,
}

impl Claims {
    /// Bytes of memory for each redirect or revisit while it is followed.
    pub const BYTES_A_REDIRECT: u64 = 112;
    /// Bytes of memory for each canonical link while it is looked up.
    pub const BYTES_A_HINT: u64 = 28;

    /// Makes room for so many redirects and revisits, and so many canonical links.
    pub fn reserve(&mut self, pointing: usize, hints: usize) {
        self.pointing.reserve_exact(pointing);
        self.hints.reserve_exact(hints);
    }

    /// Adds a claim.
    pub fn push(&mut self, claim: Claim) {
        match claim.kind {
            LinkKind::Canonical => {
                self.hints.push(CanonicalHint { page: claim.page, identity: claim.identity })
            }
            LinkKind::Redirect | LinkKind::Revisit => self.pointing.push(claim),
        }
    }

    /// Sorts them: the order of the input must not decide the order of canonical links.
    pub(super) fn sort(&mut self) {
        self.pointing.sort_unstable_by_key(|claim| (claim.page, claim.kind, claim.identity, claim.address));
        self.hints.sort_unstable();
    }

    /// Whether a page redirects or is a revisit, once they are sorted.
    pub(super) fn points(&self, page: PageId) -> bool {
        self.pointing.binary_search_by_key(&page, |claim| claim.page).is_ok()
    }
}

impl FromIterator<Claim> for Claims {
    fn from_iter<I: IntoIterator<Item = Claim>>(iter: I) -> Claims {
        let mut claims = Claims::default();
        iter.into_iter().for_each(|claim| claims.push(claim));
        claims
    }
}
