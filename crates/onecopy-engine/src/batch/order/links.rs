//! Stage 2, between reading and ranking: finds the pages at the addresses that other pages name.

mod claims;

use onecopy_core::{AddressBook, Links};

pub(crate) use claims::Link;
use claims::claims;

use crate::batch::budget::Budget;
use crate::batch::read::segments::Segments;
use crate::error::Result;

/// Follows all links. `ranks` gives the position of each page by the winner rules.
pub(crate) fn links(segments: &Segments, ranks: &[u32], budget: &Budget) -> Result<Links> {
    let Some(claims) = claims(segments, budget)? else { return Ok(Links::default()) };
    let mut book = AddressBook::new(claims, ranks);
    for number in 0..segments.len() {
        let (segment, first) = (segments.load(number)?, segments.first_page(number));
        for (page, row) in (first..).zip(&segment.rows).filter(|(_, row)| !row.silent) {
            book.enter(page, row.identity);
        }
    }
    Ok(book.links())
}
