//! How the model judged the blocks around a block. The second judgement knows this: a paragraph among comments is a
//! comment, and a line between paragraphs belongs to them.

use std::ops::Range;

use super::model::chance;

/// How many ranges of blocks around a block are looked at.
pub const AROUND: usize = 5;
/// How many numbers describe the surroundings of a block.
pub const CONTEXT: usize = 29;
/// A block with at least this sum surely is content; one with at most its negative surely is not.
const SURE: i32 = 1000;

/// A block after the first judgement.
#[derive(Clone, Debug)]
pub struct Judged {
    /// How many words it has.
    pub words: u32,
    /// The sum that the model gave it.
    pub sum: i32,
    /// The blocks in its own box, in the three boxes around that, and in its limb of the page.
    pub around: [Range<u32>; AROUND],
    /// The kinds of its box and of the box around that.
    pub kinds: [u32; 2],
}

/// Words, and the same words weighted by their chance of being main content, in thousandths.
#[derive(Clone, Copy, Default)]
struct Weight {
    words: u64,
    likely: u64,
}

impl Weight {
    fn of(block: &Judged) -> Weight {
        let words = u64::from(block.words);
        Weight { words, likely: words * u64::from(chance(block.sum)) }
    }

    fn add(&mut self, other: Weight) {
        self.words += other.words;
        self.likely += other.likely;
    }

    /// The average chance of its words; -1 if there are none.
    fn mean(self) -> i32 {
        self.likely.checked_div(self.words).map_or(-1, |mean| mean as i32)
    }
}

/// Describes each block by the first judgement of the blocks around it.
pub fn context(blocks: &[Judged], mut visit: impl FnMut(usize, &[i32; CONTEXT])) {
    let page = JudgedPage::new(blocks);
    for index in 0..blocks.len() {
        visit(index, &page.numbers(index));
    }
}

struct JudgedPage<'a> {
    blocks: &'a [Judged],
    /// The weight before each block, and of the whole page.
    upto: Vec<Weight>,
    all: Weight,
    /// The weight of the boxes of each kind.
    kinds: Vec<Weight>,
    /// For each block, the share of the likely words that are in surer blocks, in thousandths.
    ranks: Vec<i32>,
    most: i32,
    /// From each block to the nearest sure one before and after it: blocks, and words that surely are not content.
    back: Vec<[i32; 2]>,
    ahead: Vec<[i32; 2]>,
}

impl JudgedPage<'_> {
    fn new(blocks: &[Judged]) -> JudgedPage<'_> {
        let mut upto = vec![Weight::default()];
        let mut all = Weight::default();
        let kind_count =
            blocks.iter().flat_map(|block| block.kinds).max().map_or(0, |kind| kind as usize + 1);
        let mut kinds = vec![Weight::default(); kind_count];
        for block in blocks {
            let weight = Weight::of(block);
            all.add(weight);
            upto.push(all);
            let [own, outer] = block.kinds.map(|kind| kind as usize);
            kinds[own].add(weight);
            if outer != own {
                kinds[outer].add(weight);
            }
        }
        JudgedPage {
            blocks,
            upto,
            all,
            kinds,
            ranks: ranks(blocks, all),
            most: blocks.iter().map(|block| block.sum).max().unwrap_or(0),
            back: gaps(blocks, 0..blocks.len()),
            ahead: gaps(blocks, (0..blocks.len()).rev()),
        }
    }

    fn of(&self, range: &Range<u32>) -> Weight {
        let at = |index: u32| self.upto[(index as usize).min(self.blocks.len())];
        let (from, to) = (at(range.start), at(range.end));
        Weight { words: to.words - from.words, likely: to.likely - from.likely }
    }

    fn numbers(&self, index: usize) -> [i32; CONTEXT] {
        let block = &self.blocks[index];
        let at = |offset: isize| {
            let other = index.checked_add_signed(offset).and_then(|index| self.blocks.get(index));
            other.map_or(-9000, |block| block.sum.clamp(-8000, 8000))
        };
        let here = index as u32;
        let near =
            |before: u32, behind: u32| self.of(&(here.saturating_sub(before)..here + behind + 1)).mean();
        let part = |weight: Weight| (weight.likely * 1000 / self.all.likely.max(1)) as i32;
        let around = |level: usize| self.of(&block.around[level]);
        let [own, outer] = block.kinds.map(|kind| self.kinds[kind as usize]);
        [
            at(0),
            at(-2),
            at(-1),
            at(1),
            at(2),
            near(3, 3),
            near(8, 8),
            near(8, 0),
            near(0, 8),
            around(0).mean(),
            around(1).mean(),
            around(2).mean(),
            around(3).mean(),
            around(4).mean(),
            part(around(1)),
            part(around(4)),
            self.all.mean(),
            part(self.of(&(0..here))),
            self.ranks[index],
            (self.most - block.sum).min(16_000),
            (self.all.likely / 1000).min(20_000) as i32,
            self.back[index][0],
            self.back[index][1],
            self.ahead[index][0],
            self.ahead[index][1],
            block.words.min(1000) as i32,
            own.mean(),
            outer.mean(),
            part(own),
        ]
    }
}

fn ranks(blocks: &[Judged], all: Weight) -> Vec<i32> {
    let mut order: Vec<u32> = (0..blocks.len() as u32).collect();
    order.sort_unstable_by_key(|&index| (-blocks[index as usize].sum, index));
    let mut ranks = vec![0; blocks.len()];
    let mut surer = Weight::default();
    for index in order {
        ranks[index as usize] = (surer.likely * 1000 / all.likely.max(1)) as i32;
        surer.add(Weight::of(&blocks[index as usize]));
    }
    ranks
}

fn gaps(blocks: &[Judged], order: impl Iterator<Item = usize>) -> Vec<[i32; 2]> {
    const FAR: [i32; 2] = [500, 3000];
    let mut gaps = vec![FAR; blocks.len()];
    let mut gap = FAR;
    for index in order {
        gaps[index] = gap;
        let block = &blocks[index];
        if block.sum > SURE {
            gap = [0, 0];
            continue;
        }
        let words = if block.sum < -SURE { block.words.min(3000) as i32 } else { 0 };
        gap = [(gap[0] + 1).min(FAR[0]), (gap[1] + words).min(FAR[1])];
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_knows_what_was_said_around_it() {
        let block = |sum: i32, around: Range<u32>, kind: u32| Judged {
            words: 10,
            sum,
            around: [around, 0..4, 0..4, 0..4, 0..4].map(|range| range),
            kinds: [kind, 2],
        };
        let blocks =
            [block(6000, 0..2, 0), block(5000, 0..2, 0), block(-2000, 2..4, 1), block(-3000, 2..4, 1)];
        let mut seen = vec![];
        context(&blocks, |_, numbers| seen.push(*numbers));
        assert_eq!(seen[1][..5], [5000, -9000, 6000, -2000, -3000]);
        assert!(seen[0][9] > 990 && seen[3][9] < 130, "the box around it");
        assert!(seen[0][26] > 990 && seen[3][26] < 130, "boxes of its kind");
        assert_eq!(seen[3][21..25], [1, 10, 500, 3000], "a block of ten words is between it and a sure one");
    }
}
