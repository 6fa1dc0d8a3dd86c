//! The decision: is the main content of each page on the other page?
//!
//! Main content is chosen page by page, and the choice errs: under one template a note or a table is left out that is
//! kept under another. So the main content of a page is looked for in *all* text of the other, where it stands
//! whatever was thought of it there. What one page lost by a wrong choice then costs nothing; what it wrongly kept
//! does. With x of the a shingles of one main content found on the other page, and y of b the other way round, the
//! similarity is
//!
//! ```text
//! 1 / (a/x + b/y - 1)
//! ```
//!
//! which is the resemblance of Broder (1997) where all of both pages is main content, since then x = y is what they
//! share. Plain text is compared exactly so.
//!
//! Pages that each quote the other's main content in their template are no copies, and no index could find them. So
//! the main contents themselves must resemble each other by [`MAIN_PART`] of the similarity, which is what candidates
//! are looked for by.

use super::resemblance;
use crate::verify::overlap;

/// How much of the similarity of two pages their main contents alone must reach. Higher: fewer pages are alike, and
/// fewer candidates. Measured at a threshold of 0.8 on pages of a kind that the model of main content had not seen:
/// without it precision is 0.9949 and recall 1, with 0.56 0.9971 and 0.9959, with this 0.9995 and 0.9937, with 0.69
/// 0.9995 and 0.9828.
pub const MAIN_PART: f64 = 0.625;

/// What is compared of a page: two sets of shingles that have none in common, ascending.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The shingles all of whose words are main content. All of the page, where that is not told apart.
    pub main: &'a [u64],
    /// The others.
    pub rest: &'a [u64],
}

/// What two pages share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Shingles that are main content on both.
    pub both: usize,
    /// Shingles that are main content on the first page and stand elsewhere on the second.
    pub first: usize,
    /// Shingles that are main content on the second page and stand elsewhere on the first.
    pub second: usize,
}

/// How alike two pages are, from 0 to 1.
pub fn similarity(a: Reading<'_>, b: Reading<'_>) -> f64 {
    let shared = Shared {
        both: overlap(a.main, b.main),
        first: overlap(a.main, b.rest),
        second: overlap(a.rest, b.main),
    };
    agreement(shared, a.main.len(), b.main.len())
}

/// The similarity of pages that have `a` and `b` shingles of main content and share so many.
pub fn agreement(shared: Shared, a: usize, b: usize) -> f64 {
    let Shared { both, first, second } = shared;
    let main = resemblance(both, a, b);
    // Most pairs of plain text: the value is that of `resemblance` to the last bit.
    if first == 0 && second == 0 {
        return main;
    }
    mutual((both + first) as f64, (both + second) as f64, a as f64, b as f64).min(main / MAIN_PART)
}

/// The lowest resemblance of main contents with which pages can be `threshold` alike.
pub fn main_needed(threshold: f64) -> f64 {
    threshold * MAIN_PART
}

/// `1 / (a/x + b/y - 1)`, without dividing by nothing.
fn mutual(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y / (a * y + b * x - x * y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similar(a: (&[u64], &[u64]), b: (&[u64], &[u64])) -> f64 {
        similarity(Reading { main: a.0, rest: a.1 }, Reading { main: b.0, rest: b.1 })
    }

    #[test]
    fn plain_text_is_compared_by_resemblance() {
        for (shared, a, b) in [(4, 4, 5), (0, 3, 4), (0, 0, 0), (7, 11, 13), (1, 1, 1_000_003)] {
            let plain = Shared { both: shared, first: 0, second: 0 };
            assert_eq!(agreement(plain, a, b), resemblance(shared, a, b));
        }
        assert_eq!(similar((&[1, 2, 3], &[]), (&[2, 3, 4], &[])), 0.5);
    }

    #[test]
    fn main_content_that_was_overlooked_still_counts() {
        let whole: Vec<u64> = (0..10).collect();
        assert_eq!(similar((&whole, &[90]), (&whole[..7], &[7, 8, 9, 95])), 1.0);
        assert_eq!(similar((&whole, &[]), (&whole[..7], &[95])), 0.7);
    }

    #[test]
    fn a_template_that_was_taken_for_content_costs() {
        let page: Vec<u64> = (1..=10).collect();
        assert_eq!(similar((&page, &[90]), (&page[2..], &[90])), 0.8);
        assert_eq!(similar((&[1, 2], &[8, 9]), (&[3, 4], &[8, 9])), 0.0);
    }

    #[test]
    fn pages_that_quote_each_other_are_not_alike() {
        assert_eq!(similar((&[1, 2, 3, 4], &[5, 6, 7, 8]), (&[5, 6, 7, 8], &[1, 2, 3, 4])), 0.0);
        let alike = similar((&[1, 2, 3, 4], &[5, 6]), (&[3, 4, 5, 6], &[1, 2]));
        assert_eq!(alike, (1.0 / 3.0) / MAIN_PART);
    }

    #[test]
    fn it_is_symmetric_between_0_and_1_and_needs_main_content_alike() {
        let shares = [(0, 0, 0), (3, 1, 0), (2, 2, 3), (5, 0, 0), (1, 4, 4)];
        for (both, first, second) in shares {
            for (a, b) in [(5, 5), (6, 9), (40, 7)] {
                let there = agreement(Shared { both, first, second }, a, b);
                let back = agreement(Shared { both, first: second, second: first }, b, a);
                assert_eq!(there, back);
                assert!((0.0..=1.0).contains(&there));
                assert!(resemblance(both, a, b) >= main_needed(there) - 1e-12);
            }
        }
    }
}
