//! The decision: is the main content of each page on the other page?
//!
//! Main content is chosen page by page, and the choice errs: under one template a note or a table is dropped that is
//! kept under another. The main content of a page is therefore searched for in *all* text of the other page, where
//! no wrong choice can hide it. Content that a page lost by a wrong choice then costs nothing; content that it
//! wrongly kept does. Suppose x of the a shingles of one main content are on the other page, and y of b the other
//! way round. The similarity is
//!
//! ```text
//! 1 / (a/x + b/y - 1)
//! ```
//!
//! If all of both pages is main content, x = y is the number that they share, and this is the resemblance of Broder
//! (1997). Plain text is compared in this way.
//!
//! Pages that each quote the other's main content in their template are not copies, and no index could find them.
//! The main contents themselves must therefore resemble each other by [`MAIN_PART`] of the similarity. Candidates
//! are found by that.

use super::resemblance;

/// The share of the similarity of two pages that their main contents alone must reach. Higher: fewer pages are
/// alike, and fewer candidates. It was measured at a threshold of 0.8 on Javadoc, with a model that had not seen it
/// (docs/QUALITY.md). Precision and recall are 0.983 and 1 without it, and 0.989 and 0.990 with this value. They are
/// 0.991 and 0.987 with 0.69, and 0.995 and 0.933 with 1.
pub(crate) const MAIN_PART: f64 = 0.625;

/// The shingles that two pages share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedShingles {
    /// Shingles that are main content on both.
    pub both: usize,
    /// Shingles that are main content on the first page and elsewhere on the second.
    pub first: usize,
    /// Shingles that are main content on the second page and elsewhere on the first.
    pub second: usize,
}

/// The similarity of pages that have `a` and `b` shingles of main content and share `shared`.
pub(crate) fn agreement(shared: SharedShingles, a: usize, b: usize) -> f64 {
    let SharedShingles { both, first, second } = shared;
    let main = resemblance(both, a, b);
    if first == 0 && second == 0 {
        return main;
    }
    mutual((both + first) as f64, (both + second) as f64, a as f64, b as f64).min(main / MAIN_PART)
}

/// `1 / (a/x + b/y - 1)`, or 0 if a divisor is 0.
fn mutual(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y / (a * y + b * x - x * y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_all_is_main_content_it_is_resemblance() {
        for (both, a, b) in [(4, 4, 5), (0, 3, 4), (0, 0, 0), (7, 11, 13), (1, 1, 1_000_003)] {
            assert_eq!(
                agreement(SharedShingles { both, ..SharedShingles::default() }, a, b),
                resemblance(both, a, b)
            );
        }
    }

    #[test]
    fn it_is_symmetric_between_0_and_1_and_needs_main_content_alike() {
        let shares = [(0, 0, 0), (3, 1, 0), (2, 2, 3), (5, 0, 0), (1, 4, 4)];
        for (both, first, second) in shares {
            for (a, b) in [(5, 5), (6, 9), (40, 7)] {
                let there = agreement(SharedShingles { both, first, second }, a, b);
                let back = agreement(SharedShingles { both, first: second, second: first }, b, a);
                assert_eq!(there, back);
                assert!((0.0..=1.0).contains(&there));
                assert!(resemblance(both, a, b) >= MAIN_PART * there - 1e-12);
            }
        }
    }
}
