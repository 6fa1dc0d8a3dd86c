//! The outlines of all contents, in memory. With them, most pairs that are not alike need no comparison of sketches.

/// Possible numbers of words per outline, the most informative first.
const WIDTHS: [usize; 6] = [128, 64, 32, 16, 8, 4];
/// Outlines of a usual page are not wider.
const USUAL: usize = 16;

/// Outlines by content, all of one width. Without outlines, more pairs are compared.
#[derive(Default)]
pub(crate) struct Outlines {
    words: Vec<u64>,
    width: usize,
}

/// Some contents, which stand for all.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usual {
    pub contents: usize,
    /// The words of their sketches.
    pub words: usize,
    /// In how many bits the outlines of contents like these may differ.
    pub slack: usize,
}

impl Usual {
    /// How many words outlines of these contents should have.
    fn wanted(self) -> usize {
        /// With so many bits for each that may differ, pages with little in common differ in more.
        const BITS: usize = 6;
        /// With so many, most bits are flipped by one shingle, and outlines differ in nearly as many bits as the pages in
        /// shingles.
        const MORE_BITS: usize = 40;
        /// Enough for that, in words.
        const WIDE: usize = 64;
        let words = |bits: usize| self.slack * bits / 64 / self.contents.max(1);
        // Two pages of one template differ in little more than alike pages may.
        let more = if 4 * self.slack > self.words { words(MORE_BITS).min(WIDE) } else { 0 };
        words(BITS).max(more).max(USUAL)
    }
}

impl Outlines {
    /// Reserves memory for outlines of this many contents. They are as wide as `memory` allows, and not much wider than
    /// the usual contents need.
    pub(crate) fn new(contents: usize, memory: u64, usual: Usual) -> Outlines {
        let fits = |width: &usize| (contents * width * size_of::<u64>()) as u64 <= memory;
        let wanted = usual.wanted();
        let is_wanted = |width: &usize| *width < 2 * wanted;
        let width = WIDTHS.into_iter().filter(is_wanted).find(fits).unwrap_or(0);
        Outlines { words: vec![0; contents * width], width }
    }

    /// The number of words per outline; zero if there are none.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Stores the outlines of some contents. `outlines` holds them in sequence.
    pub(crate) fn take(&mut self, contents: &[u32], outlines: &[u64]) {
        for (&content, outline) in contents.iter().zip(outlines.chunks_exact(self.width.max(1))) {
            self.words[content as usize * self.width..][..self.width].copy_from_slice(outline);
        }
    }

    /// The outline of a content, if there are outlines.
    pub(crate) fn of(&self, content: u32) -> Option<&[u64]> {
        (self.width > 0).then(|| &self.words[content as usize * self.width..][..self.width])
    }
}

#[cfg(test)]
mod tests {
    use onecopy_core::{Config, Scratch};

    use super::*;

    #[test]
    fn outlines_are_as_wide_as_memory_allows() {
        let width = |memory, slack: usize| {
            let usual = Usual { contents: 10, words: 10 * 600, slack: 10 * slack };
            Outlines::new(100, memory, usual).width()
        };
        assert_eq!([12_800, 12_799, 6_399, 3_199].map(|memory| width(memory, 9)), [16, 8, 4, 0]);
        assert_eq!([60, 150, 151, 660, 10_000].map(|slack| width(1 << 20, slack)), [16, 16, 64, 64, 128]);
    }

    #[test]
    fn what_was_taken_denies_and_what_was_not_does_not() {
        let method = onecopy_core::method(&Config::default()).unwrap();
        let sketch =
            |from: u64| (from..from + 300).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !1).collect();
        let sketches: [Vec<u64>; 3] = [0, 100_000, 5].map(sketch);
        for memory in [1 << 20, 300, 0] {
            let mut outlines = Outlines::new(4, memory, Usual::default());
            let mut drawn = vec![0; 3 * outlines.width()];
            for (sketch, outline) in sketches.iter().zip(drawn.chunks_exact_mut(outlines.width().max(1))) {
                method.outline(sketch, &mut Scratch::default(), outline);
            }
            outlines.take(&[3, 0, 1], &drawn);
            let denied = |a, b| outlines.of(a).zip(outlines.of(b)).is_some_and(|(a, b)| method.deny(a, b));
            assert_eq!((denied(3, 0), denied(0, 1)), (memory > 0, memory > 0));
            assert!(!denied(3, 1) && !denied(2, 0) && !denied(3, 3));
        }
    }
}
