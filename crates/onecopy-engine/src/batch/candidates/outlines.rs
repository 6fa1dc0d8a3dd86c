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

impl Outlines {
    /// Reserves memory for outlines of this many contents. They are as wide as `memory` allows, and not much wider than
    /// alike pages of the usual size may differ in bits, given by `slack`.
    pub(crate) fn new(contents: usize, memory: u64, slack: u32) -> Outlines {
        /// With so many bits for each that may differ, pages with little in common differ in more.
        const BITS: usize = 6;
        let fits = |width: &usize| (contents * width * size_of::<u64>()) as u64 <= memory;
        let wanted = (slack as usize * BITS / 64).max(USUAL);
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
        assert_eq!(
            [12_800, 12_799, 6_399, 3_199].map(|memory| Outlines::new(100, memory, 9).width()),
            [16, 8, 4, 0]
        );
        let wide = [160, 170, 171, 660, 10_000].map(|slack| Outlines::new(100, 1 << 20, slack).width());
        assert_eq!(wide, [16, 16, 16, 64, 128], "pages that may differ much");
    }

    #[test]
    fn what_was_taken_denies_and_what_was_not_does_not() {
        let method = onecopy_core::method(&Config::default()).unwrap();
        let sketch =
            |from: u64| (from..from + 300).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !1).collect();
        let sketches: [Vec<u64>; 3] = [0, 100_000, 5].map(sketch);
        for memory in [1 << 20, 300, 0] {
            let mut outlines = Outlines::new(4, memory, 9);
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
