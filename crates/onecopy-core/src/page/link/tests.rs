//! Claims by hand, and that the claims reachable from a page decide where it ends.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// Which page is at an address. The identity of an address is the address without its last bit.
#[derive(Debug, Default)]
struct Addresses {
    content: HashMap<u64, PageId>,
    pointing: HashMap<u64, PageId>,
    pointing_alike: HashMap<u64, PageId>,
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

impl Addresses {
    /// The pages of `claims` at their addresses, the least of several, and pages with words at `contents`.
    fn new(claims: &[Claim], contents: &[u64]) -> Addresses {
        let mut at = Addresses::default();
        for claim in claims.iter().filter(|claim| claim.kind != LinkKind::Canonical) {
            let least = |map: &mut HashMap<u64, PageId>, key| {
                map.entry(key).and_modify(|page| *page = claim.page.min(*page)).or_insert(claim.page);
            };
            least(&mut at.pointing, claim.from);
            least(&mut at.pointing_alike, claim.own_identity);
        }
        at.content = contents.iter().map(|&address| (address >> 1, 1_000_000 + address as PageId)).collect();
        at
    }
}

/// A page with an even address of its own names another.
fn claim(page: PageId, kind: LinkKind, to: u64, silent: bool) -> Claim {
    let from = 2 * u64::from(page);
    Claim { page, kind, from, own_identity: from >> 1, address: to, identity: to >> 1, silent }
}

fn silent(page: PageId, to: PageId) -> Claim {
    claim(page, LinkKind::Redirect, 2 * u64::from(to), true)
}

/// A page redirects to two pages. Their numbers are their places in the input, so they must not decide.
#[test]
fn the_order_of_the_input_does_not_choose_among_redirects() {
    let claims = [claim(1, LinkKind::Redirect, 20, true), claim(1, LinkKind::Redirect, 30, true)];
    let mut at = Addresses::new(&claims, &[20, 30]);
    let first = ends(&claims, &at);
    assert_eq!(first[0].end, End::Page(1_000_020));
    at.content = HashMap::from([(10, 8), (15, 7)]);
    assert_eq!(ends(&claims, &at)[0].end, End::Page(8), "the page with the other number");
    let turned = [claims[1], claims[0]];
    assert_eq!(ends(&turned, &at)[0].end, End::Page(8), "the other order of claims");
}

#[test]
fn a_page_is_meant_rather_than_one_that_points_on() {
    let claims = [silent(1, 2), silent(2, 3), silent(4, 9), silent(5, 5)];
    let at = Addresses::new(&claims, &[4]);
    let targets = claims.map(|claim| target(&claim, &at));
    let wanted = [Target::Content(1_000_004), Target::Nothing, Target::Nothing, Target::Redirect(5)];
    assert_eq!(targets, wanted);
    // Another spelling of the address leads to the same page, unless that is the page itself.
    assert_eq!(target(&claim(9, LinkKind::Redirect, 3, true), &at), Target::Redirect(1));
    assert_eq!(target(&claim(1, LinkKind::Redirect, 3, true), &at), Target::Nothing);
}

#[test]
fn who_leads_to_a_page_that_stays_ends_there() {
    let words = claim(2, LinkKind::Revisit, 98, false);
    let claims = [claim(1, LinkKind::Revisit, 4, true), words, silent(3, 50)];
    let end = |page, end, revisit| PageEnd { page, end, revisit };
    let expected = [end(1, End::Page(2), true), end(3, End::Missing, false)];
    assert_eq!(ends(&claims, &Addresses::new(&claims, &[])), expected);
}

#[test]
fn a_redirect_of_two_kinds_is_one() {
    let claims = [claim(1, LinkKind::Revisit, 20, true), claim(1, LinkKind::Redirect, 40, true)];
    let at = Addresses::new(&claims, &[20]);
    assert_eq!(ends(&claims, &at), [PageEnd { page: 1, end: End::Page(1_000_020), revisit: false }]);
}

#[test]
fn canonical_links_of_pages_that_stand_for_another_do_not_count() {
    let claims = [silent(1, 10)];
    let hints = [1, 2, 1_000_020].map(|page| CanonicalHint { page, identity: 10 });
    let at = Addresses::new(&claims, &[20]);
    let ends = ends(&claims, &at);
    assert_eq!(canonical_targets(&hints, &ends, &at), [(2, 1_000_020)]);
}

/// Checks that `ends` says the same of every page given only the claims that are reachable from it.
fn check_closure(claims: &[Claim], at: &Addresses) {
    let mut by_page: HashMap<PageId, Vec<Claim>> = HashMap::new();
    claims.iter().for_each(|claim| by_page.entry(claim.page).or_default().push(*claim));
    let find = |ends: &[PageEnd], page| ends.iter().find(|end| end.page == page).copied();
    let all = ends(claims, at);
    for &page in by_page.keys() {
        let mut claims_of = |page| by_page.get(&page).cloned().unwrap_or_default();
        let reached = reachable(page, &mut claims_of, at);
        assert_eq!(find(&ends(&reached, at), page), find(&all, page), "page {page}");
    }
}

fn any_kind() -> impl Strategy<Value = LinkKind> {
    prop_oneof![4 => Just(LinkKind::Redirect), 2 => Just(LinkKind::Revisit), 1 => Just(LinkKind::Canonical)]
}

/// A few pages that name each other, and which of them have words.
fn any_claims() -> impl Strategy<Value = (Vec<Claim>, Vec<u64>)> {
    let silent = prop::collection::vec(any::<bool>(), 20);
    let links = prop::collection::vec((0..20_u32, any_kind(), 0..44_u64), 0..40);
    (silent, links, prop::collection::vec(36..44_u64, 0..4)).prop_map(|(silent, links, contents)| {
        let made = |(page, kind, to): (PageId, _, _)| claim(page, kind, to, silent[page as usize]);
        (links.into_iter().map(made).collect(), contents)
    })
}

/// A chain of pages. A few have words, and a few also lead elsewhere in it.
fn any_chain() -> impl Strategy<Value = (Vec<Claim>, Vec<u64>)> {
    let length = 1..(7 * HOPS_LIMIT as PageId / 2);
    length.prop_flat_map(|length| {
        let worded = prop::collection::hash_set(0..length, 0..4);
        let links = prop::collection::vec((0..length, 0..2 * u64::from(length) + 6), 0..6);
        let last = prop_oneof![Just(length), 0..length];
        (Just(length), worded, links, last, any::<bool>()).prop_map(|(length, worded, links, last, ends)| {
            let next = |page| if page + 1 == length { last } else { page + 1 };
            let chain = (0..length).map(|page| (page, 2 * u64::from(next(page))));
            let made = |(page, to)| claim(page, LinkKind::Redirect, to, !worded.contains(&page));
            (chain.chain(links).map(made).collect(), if ends { vec![2 * u64::from(length)] } else { vec![] })
        })
    })
}

/// A page with words at the step limit, which ends at a page at the step limit from there.
#[test]
fn what_is_far_away_still_decides() {
    let last = 2 * HOPS_LIMIT as PageId;
    let mut claims: Vec<Claim> = (0..last).map(|page| silent(page, page + 1)).collect();
    claims[HOPS_LIMIT].silent = false;
    let at = Addresses::new(&claims, &[2 * u64::from(last)]);
    assert_eq!(ends(&claims, &at)[0].end, End::TooLong);
    check_closure(&claims, &at);
    assert_eq!(ends(&claims[..claims.len() - 1], &at)[0].end, End::Page(HOPS_LIMIT as PageId));
}

proptest! {
    #[test]
    fn the_order_of_claims_does_not_matter((claims, contents) in any_claims(), seed in any::<u64>()) {
        let at = Addresses::new(&claims, &contents);
        let mut other = claims.clone();
        other.sort_by_key(|claim| (claim.address ^ seed, claim.page, claim.kind));
        prop_assert_eq!(ends(&other, &at), ends(&claims, &at));
    }

    #[test]
    fn what_is_reached_decides((claims, contents) in any_claims()) {
        check_closure(&claims, &Addresses::new(&claims, &contents));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_reached_decides_in_long_chains((claims, contents) in any_chain()) {
        check_closure(&claims, &Addresses::new(&claims, &contents));
    }
}
