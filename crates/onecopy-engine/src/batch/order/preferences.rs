//! The order in which the pages of a run are compared, for each market.

use onecopy_core::{Links, base_first, best_first};

use crate::batch::read::segments::Segments;
use crate::error::{Error, Result};

/// Preferences that come before the winner rules.
pub(crate) struct Preferences<'a> {
    pub segments: &'a Segments,
    pub links: &'a Links,
    /// How many pages are the base; they have the first numbers.
    pub base: u32,
    /// Pages whose canonical link is believed, ascending.
    pub lesser: &'a [u32],
}

/// Returns an error if no page is in a market: its name is probably mistyped.
pub(crate) fn check_markets(segments: &Segments, markets: &[String]) -> Result<()> {
    let all = (1u32 << markets.len()) - 1;
    let mut found = 0;
    for number in 0..segments.len() {
        if found == all {
            return Ok(());
        }
        found |= segments.load(number)?.rows.iter().fold(0, |found, row| found | u32::from(row.markets));
    }
    match markets.iter().enumerate().find(|(number, _)| found >> number & 1 == 0) {
        Some((_, market)) if segments.pages() > 0 => Err(Error::NoPageInMarket { market: market.clone() }),
        _ => Ok(()),
    }
}

impl Preferences<'_> {
    /// The pages to compare, best first. `by_rules` holds all pages in the order of the winner rules.
    pub(crate) fn order(&self, by_rules: &[u32], market: Option<usize>) -> Result<Vec<u32>> {
        let favoured = self.favoured(market)?;
        let is_favoured = |page: u32| favoured.get(page as usize).copied().unwrap_or(true);
        let order = best_first(by_rules, &self.links.ends, self.lesser, is_favoured);
        Ok(base_first(order, |page| page < self.base))
    }

    /// For each page, whether it belongs to the market. Empty without a market.
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
