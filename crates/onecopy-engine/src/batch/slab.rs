//! Memory for sketches: few large blocks, which the system backs with large pages where it can.
//!
//! Most of a run's memory is sketches, and getting it four kilobytes at a time cost a tenth of the processor time.

use std::ops::Range;

use memmap2::MmapMut;

use crate::error::{Error, Result};

/// Words of a block. Pages of it that were never written take no memory.
const BLOCK_WORDS: usize = 4 << 20;

/// Where words are: the block, and their place in it.
#[derive(Clone, Debug)]
pub(crate) struct SlabAt {
    block: usize,
    words: Range<usize>,
}

impl SlabAt {
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}

/// Words that are put in once and stay where they are.
#[derive(Default)]
pub(crate) struct Slab {
    blocks: Vec<MmapMut>,
    /// Words in use of the last block.
    used: usize,
}

impl Slab {
    /// Puts words in.
    pub(crate) fn push(&mut self, words: &[u64]) -> Result<SlabAt> {
        let room = self.blocks.last().map_or(0, |block| block.len() / 8 - self.used);
        if words.len() > room {
            self.blocks.push(block(words.len().max(BLOCK_WORDS))?);
            self.used = 0;
        }
        let at =
            SlabAt { block: self.blocks.len().saturating_sub(1), words: self.used..self.used + words.len() };
        if let Some(block) = self.blocks.last_mut() {
            bytemuck::cast_slice_mut(&mut block[..])[at.words.clone()].copy_from_slice(words);
        }
        self.used = at.words.end;
        Ok(at)
    }

    /// The words that were put in there.
    pub(crate) fn get(&self, at: &SlabAt) -> &[u64] {
        match self.blocks.get(at.block) {
            Some(block) => &bytemuck::cast_slice(&block[..])[at.words.clone()],
            None => &[],
        }
    }
}

fn block(words: usize) -> Result<MmapMut> {
    let no_memory = |error| Error::Config(format!("the system gave no memory for {words} shingles: {error}"));
    let block = MmapMut::map_anon(8 * words).map_err(no_memory)?;
    // A wish: where there are no large pages, small ones do.
    #[cfg(target_os = "linux")]
    let _ = block.advise(memmap2::Advice::HugePage);
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_where_they_were_put() {
        let mut slab = Slab::default();
        let sizes = [0, 1, BLOCK_WORDS - 1, 0, 1, BLOCK_WORDS + 5, 7, 3];
        let put: Vec<_> = sizes.iter().map(|&n| (n, slab.push(&vec![n as u64; n]).unwrap())).collect();
        assert_eq!(slab.blocks.len(), 4);
        for (n, at) in put {
            assert_eq!((slab.get(&at).len(), at.len()), (n, n));
            assert!(slab.get(&at).iter().all(|&word| word == n as u64));
        }
    }
}
