//! The shingles that are not main content on some page, roughly: a bit for each hash.
//!
//! It bounds how much of a main content may be in the menus of other pages. Menus of one site are rarely main content
//! of any page, and then the bound is nearly exact.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::similarity::sketch::tag::TAG;

/// A set of shingles that may claim to have more than were added, never fewer. Threads may add to it at once. The default
/// has no room, so it may have all shingles.
#[derive(Debug, Default)]
pub struct Elsewhere {
    /// The number of words: a power of two, or none.
    size: usize,
    /// The words, once a shingle was added. Plain texts have none to add.
    words: OnceLock<Vec<AtomicU64>>,
}

/// The set of those who know nothing.
pub(crate) static UNKNOWN: Elsewhere = Elsewhere { size: 0, words: OnceLock::new() };

impl Elsewhere {
    /// An empty set with room for the shingles of so many pages, in at most `bytes`.
    pub fn new(pages: usize, bytes: usize) -> Elsewhere {
        /// Words of memory for each page.
        const WORDS: usize = 4;
        let most = (bytes / size_of::<AtomicU64>()).max(1).ilog2();
        let wanted = (WORDS * pages).max(1).ilog2() + 1;
        Elsewhere { size: 1 << wanted.min(most), words: OnceLock::new() }
    }

    /// Adds a shingle.
    pub fn add(&self, shingle: u64) {
        let words = self.words.get_or_init(|| (0..self.size).map(|_| AtomicU64::new(0)).collect());
        if let Some((word, bit)) = place(words, shingle) {
            // Menus repeat, and reading is faster.
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Whether a shingle may have been added. A set without room may have all.
    pub fn may_have(&self, shingle: u64) -> bool {
        let Some(words) = self.words.get() else { return self.size == 0 };
        place(words, shingle).is_none_or(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }
}

fn place(words: &[AtomicU64], shingle: u64) -> Option<(&AtomicU64, u64)> {
    // The tag of a shingle says what it is on its page.
    let hash = (shingle >> TAG.count_ones()) as usize;
    let word = words.get((hash >> 6) & words.len().wrapping_sub(1))?;
    Some((word, 1 << (hash & 63)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_little_else() {
        let hash = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (bytes, most) in [(1 << 20, 5), (800, 1_000), (0, 1_000)] {
            let set = Elsewhere::new(1_000, bytes);
            assert!(!set.may_have(hash(1)), "nothing was added");
            (0..1_000).for_each(|n| set.add(hash(n)));
            assert!((0..1_000).all(|n| set.may_have(hash(n)) && set.may_have(hash(n) ^ TAG)));
            let wrongly = (1_000..2_000).filter(|&n| set.may_have(hash(n))).count();
            assert!(wrongly <= most, "{wrongly}");
        }
        assert!(UNKNOWN.may_have(7), "a set without room excludes nothing");
    }
}
