//! The order in which pages are settled: that of the winner rules, but pages of the market first, pages that give
//! another page's address as their own last, and pages that stand for another not at all.

use super::links::Links;
use super::segments::Segments;
use crate::error::Result;

/// Knows what is to be put before the winner rules.
pub(crate) struct Preferences<'a> {
    pub segments: &'a Segments,
    pub links: &'a Links,
    /// Pages whose canonical link was believed, ascending.
    pub lesser: &'a [u32],
}

impl Preferences<'_> {
    /// The pages to compare, best first, of all pages in the order of the winner rules. `market` is a market's number.
    pub(crate) fn order(&self, by_rules: &[u32], market: Option<usize>) -> Result<Vec<u32>> {
        let favoured = self.favoured(market)?;
        let class = |page: u32| -> Option<usize> {
            match () {
                () if self.links.ends.binary_search_by_key(&page, |end| end.page).is_ok() => None,
                () if self.lesser.binary_search(&page).is_ok() => Some(2),
                () => Some(usize::from(!favoured.get(page as usize).copied().unwrap_or(true))),
            }
        };
        let mut classes = [const { Vec::new() }; 3];
        for &page in by_rules {
            if let Some(class) = class(page) {
                classes[class].push(page);
            }
        }
        let [mut order, others, last] = classes;
        order.extend(others);
        order.extend(last);
        Ok(order)
    }

    /// For each page, whether it is of the market. Nothing if there is none.
    fn favoured(&self, market: Option<usize>) -> Result<Vec<bool>> {
        let mut favoured = Vec::new();
        let Some(market) = market else { return Ok(favoured) };
        for number in 0..self.segments.len() {
            favoured
                .extend(self.segments.load(number)?.rows.iter().map(|row| row.markets >> market & 1 == 1));
        }
        Ok(favoured)
    }
}
