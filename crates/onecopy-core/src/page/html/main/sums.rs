//! The amount of text in any range of blocks, as a difference of running sums.

use std::ops::{Add, Range, Sub};

use crate::page::html::block::{Block, Count};

/// Running sums over the blocks of a page.
pub struct Sums {
    upto: Vec<Amount>,
}

/// The amount of text in some blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub words: u32,
    pub linked: u32,
    /// Words of sentences: words outside links, in blocks that are long, have stops or commas and are mostly not
    /// links.
    pub prose: u32,
    pub stops: u32,
    pub blocks: u32,
}

impl Add for Amount {
    type Output = Amount;

    fn add(self, other: Amount) -> Amount {
        Amount {
            words: self.words + other.words,
            linked: self.linked + other.linked,
            prose: self.prose + other.prose,
            stops: self.stops + other.stops,
            blocks: self.blocks + other.blocks,
        }
    }
}

impl Sub for Amount {
    type Output = Amount;

    fn sub(self, other: Amount) -> Amount {
        Amount {
            words: self.words - other.words,
            linked: self.linked - other.linked,
            prose: self.prose - other.prose,
            stops: self.stops - other.stops,
            blocks: self.blocks - other.blocks,
        }
    }
}

impl Sums {
    pub fn new(blocks: &[Block]) -> Sums {
        let mut upto = Vec::with_capacity(blocks.len() + 1);
        let mut sum = Amount::default();
        upto.push(sum);
        for Block { count, .. } in blocks {
            sum.words += count.words;
            sum.linked += count.linked;
            sum.prose += prose(count);
            sum.stops += count.stops;
            sum.blocks += 1;
            upto.push(sum);
        }
        Sums { upto }
    }

    /// The amount in the blocks `range`.
    pub fn of(&self, range: &Range<u32>) -> Amount {
        self.upto[range.end as usize] - self.upto[range.start as usize]
    }

    pub fn all(&self) -> Amount {
        self.upto.last().copied().unwrap_or_default()
    }
}

/// How many words of `count` are in sentences.
pub fn prose(count: &Count) -> u32 {
    let plain = count.words - count.linked;
    let is_prose = plain >= 10 && count.linked * 3 < count.words && count.stops + count.commas > 0;
    if is_prose { plain } else { 0 }
}

/// The share of `part` in `whole`, in thousandths; 0 if `whole` is 0.
pub fn share(part: u32, whole: u32) -> i32 {
    if whole == 0 { 0 } else { (u64::from(part) * 1000 / u64::from(whole)).min(1 << 30) as i32 }
}
