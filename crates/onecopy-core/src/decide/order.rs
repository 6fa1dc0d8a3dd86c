//! The order in which pages are compared: best first by the winner rules, with two exceptions. Pages of the
//! preferred market come before all others, and pages whose canonical link was believed come last. Pages that stand
//! for another are not compared.

use crate::page::PageId;
use crate::page::link::PageEnd;

/// The pages to compare, best first, out of all pages in the order of the winner rules.
///
/// `ends` are the pages that stand for another and `lesser` those whose canonical link was believed, both ascending.
/// `favoured` says which pages are in the preferred market.
pub fn best_first(
    by_rules: &[PageId],
    ends: &[PageEnd],
    lesser: &[PageId],
    favoured: impl Fn(PageId) -> bool,
) -> Vec<PageId> {
    let mut classes = [const { Vec::new() }; 3];
    for &page in by_rules {
        if ends.binary_search_by_key(&page, |end| end.page).is_ok() {
            continue;
        }
        let class = if lesser.binary_search(&page).is_ok() { 2 } else { usize::from(!favoured(page)) };
        classes[class].push(page);
    }
    let [mut order, others, last] = classes;
    order.extend(others);
    order.extend(last);
    order
}

/// Puts pages of the base before all others, and keeps the order otherwise.
pub fn base_first(mut order: Vec<PageId>, is_base: impl Fn(PageId) -> bool) -> Vec<PageId> {
    order.sort_by_key(|&page| !is_base(page));
    order
}

/// The rank of each of `pages` pages in an order; `u32::MAX` for those that are not in it.
pub fn ranks(order: &[PageId], pages: usize) -> Vec<u32> {
    let mut ranks = vec![u32::MAX; pages];
    for (rank, &page) in order.iter().enumerate() {
        ranks[page as usize] = rank as u32;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::redirect::End;

    #[test]
    fn markets_come_first_and_believed_canonicals_last() {
        let ends = [PageEnd { page: 4, end: End::Page(0), revisit: false }];
        let order = best_first(&[5, 4, 3, 2, 1, 0], &ends, &[2, 5], |page| page % 3 == 0);
        assert_eq!(order, [3, 0, 1, 5, 2]);
        assert_eq!(ranks(&order, 6), [1, 2, 4, 0, u32::MAX, 3]);
    }
}
