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

/// How much of the similarity of two pages their main contents alone must reach. Higher: fewer pages are alike, and
/// fewer candidates. Measured at a threshold of 0.8 on Javadoc, with a model that had not seen it (docs/QUALITY.md):
/// without it precision is 0.983 and recall 1, with this 0.989 and 0.990, with 0.69 0.991 and 0.987, with all of it
/// 0.995 and 0.933.
pub(crate) const MAIN_PART: f64 = 0.625;

/// What two pages share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shared {
    /// Shingles that are main content on both.
    pub both: usize,
    /// Shingles that are main content on the first page and stand elsewhere on the second.
    pub first: usize,
    /// Shingles that are main content on the second page and stand elsewhere on the first.
    pub second: usize,
}

/// The similarity of pages that have `a` and `b` shingles of main content and share so many.
pub(crate) fn agreement(shared: Shared, a: usize, b: usize) -> f64 {
    let Shared { both, first, second } = shared;
    let main = resemblance(both, a, b);
    if first == 0 && second == 0 {
        return main;
    }
    mutual((both + first) as f64, (both + second) as f64, a as f64, b as f64).min(main / MAIN_PART)
}

/// `1 / (a/x + b/y - 1)`, without dividing by nothing.
fn mutual(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y / (a * y + b * x - x * y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_all_is_main_content_it_is_resemblance() {
        for (both, a, b) in [(4, 4, 5), (0, 3, 4), (0, 0, 0), (7, 11, 13), (1, 1, 1_000_003)] {
            assert_eq!(agreement(Shared { both, ..Shared::default() }, a, b), resemblance(both, a, b));
        }
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
                assert!(resemblance(both, a, b) >= MAIN_PART * there - 1e-12);
            }
        }
    }
}
