//! The learnt part of main content: boosted trees over the features of a block.
//!
//! Every level of a tree asks one question of all blocks, so that a tree is a table without branches. All numbers
//! are integers: the same page has the same main content on every machine.

mod again;
mod weights;
mod wide;

use super::feature::{Features, ROOM};
use crate::simd::{Level, level};

/// Questions in a tree.
const DEPTH: usize = 5;
/// How many blocks are judged at once. Their numbers fill one register of AVX-512, or a few of others.
pub const LANES: usize = 32;

/// The numbers of some blocks, feature by feature: one instruction asks a question of several blocks.
pub struct Batch([[i16; LANES]; ROOM]);

impl Batch {
    pub fn new() -> Batch {
        Batch([[0; LANES]; ROOM])
    }

    /// Replaces the block in a lane. Numbers beyond 16 bits are cut off, since no question asks for so much.
    pub fn put(&mut self, lane: usize, features: &Features) {
        for (column, feature) in self.0.iter_mut().zip(features) {
            column[lane] = (*feature).clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        }
    }
}

/// How much each block by itself looks like main content: above zero, it more likely is. A sum of 1000 is odds of e to
/// 1.
pub fn judge(batch: &Batch) -> [i32; LANES] {
    sums(level(), &weights::QUESTIONS, &weights::LEAVES, batch)
}

/// The same, given the first judgement of the blocks around each.
pub fn judge_again(batch: &Batch) -> [i32; LANES] {
    sums(level(), &again::QUESTIONS, &again::LEAVES, batch)
}

fn sums(level: Level, questions: &[(u8, i16)], leaves: &[i16], batch: &Batch) -> [i32; LANES] {
    wide::sums(level, questions, leaves, batch).unwrap_or_else(|| plain_sums(questions, leaves, batch))
}

fn plain_sums(questions: &[(u8, i16)], leaves: &[i16], batch: &Batch) -> [i32; LANES] {
    let (questions, leaves) = (questions.as_chunks::<DEPTH>().0, leaves.as_chunks::<{ 1 << DEPTH }>().0);
    let mut sums = [0; LANES];
    for (questions, leaves) in questions.iter().zip(leaves) {
        let mut places = [0; LANES];
        for (level, (feature, above)) in questions.iter().enumerate() {
            let column = &batch.0[usize::from(*feature)];
            for (place, number) in places.iter_mut().zip(column) {
                *place |= i16::from(number > above) << level;
            }
        }
        for (sum, place) in sums.iter_mut().zip(places) {
            *sum += i32::from(leaves[place as usize % leaves.len()]);
        }
    }
    sums
}

/// The chance that a block with this sum is main content, in thousandths.
pub fn chance(sum: i32) -> u32 {
    let step = (sum.clamp(-LAST, LAST) + LAST + 1) / STEP;
    u32::from(CHANCES[step as usize])
}

/// Larger sums have the same chance as this one.
const LAST: i32 = 6143;
/// How many adjacent sums share a chance.
const STEP: i32 = 64;

#[rustfmt::skip]
static CHANCES: [u16; 192] = [
    3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 8, 9, 9, 10, 11, 11, 12, 13, 14, 15, 15, 16, 17,
    19, 20, 21, 22, 24, 25, 27, 28, 30, 32, 34, 36, 38, 41, 43, 46, 49, 52, 55, 58, 62, 66, 70, 74, 78, 83,
    88, 93, 98, 104, 110, 116, 123, 129, 137, 144, 152, 160, 169, 178, 187, 197, 207, 217, 228, 239, 251,
    263, 275, 288, 301, 314, 328, 342, 356, 370, 385, 400, 415, 430, 446, 461, 477, 492, 508, 523, 539, 554,
    570, 585, 600, 615, 630, 644, 658, 672, 686, 699, 712, 725, 737, 749, 761, 772, 783, 793, 803, 813, 822,
    831, 840, 848, 856, 863, 871, 877, 884, 890, 896, 902, 907, 912, 917, 922, 926, 930, 934, 938, 942, 945,
    948, 951, 954, 957, 959, 962, 964, 966, 968, 970, 972, 973, 975, 976, 978, 979, 980, 981, 983, 984, 985,
    985, 986, 987, 988, 989, 989, 990, 991, 991, 992, 992, 993, 993, 994, 994, 994, 995, 995, 995, 996, 996,
    996, 996, 997, 997, 997, 997, 997, 997,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::html::main::context::CONTEXT;
    use crate::page::html::main::feature::FEATURES;
    use crate::simd::each_level;

    #[test]
    fn the_model_knows_these_features() {
        let check = |width: usize, features: usize, questions: &[(u8, i16)], leaves: usize| {
            assert_eq!(width, features, "train the model again: `onecopy-bench train`");
            assert!(questions.iter().all(|(feature, _)| usize::from(*feature) < features));
            assert!(questions.iter().all(|(_, above)| *above < i16::MAX), "numbers above are cut off");
            assert_eq!(questions.len() / DEPTH, leaves >> DEPTH);
        };
        check(weights::WIDTH, FEATURES, &weights::QUESTIONS, weights::LEAVES.len());
        check(again::WIDTH, FEATURES + CONTEXT, &again::QUESTIONS, again::LEAVES.len());
    }

    #[test]
    fn each_lane_is_judged_by_its_own_block() {
        let mut random = 1u32;
        let mut number = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as i32 % 3000 - 1000
        };
        let blocks: [Features; LANES] = std::array::from_fn(|_| std::array::from_fn(|_| number()));
        let mut batch = Batch::new();
        (0..).zip(&blocks).for_each(|(lane, features)| batch.put(lane, features));
        for (questions, leaves) in
            [(&weights::QUESTIONS[..], &weights::LEAVES[..]), (&again::QUESTIONS, &again::LEAVES)]
        {
            let expected = blocks.map(|block| alone(questions, leaves, &block));
            each_level(|level| assert_eq!(sums(level, questions, leaves, &batch), expected, "{level:?}"));
        }
    }

    /// The sum of one block, tree by tree.
    fn alone(questions: &[(u8, i16)], leaves: &[i16], features: &Features) -> i32 {
        let trees = questions.chunks_exact(DEPTH).zip(leaves.chunks_exact(1 << DEPTH));
        let leaf = |(questions, leaves): (&[(u8, i16)], &[i16])| {
            let index = questions.iter().enumerate().fold(0, |index, (level, (feature, above))| {
                index | usize::from(features[usize::from(*feature)] > i32::from(*above)) << level
            });
            i32::from(leaves[index])
        };
        trees.map(leaf).sum()
    }

    #[test]
    fn a_chance_is_that_of_the_middle_of_its_step() {
        for sum in -7000..7000 {
            let middle = f64::from((sum.clamp(-LAST, LAST) + LAST + 1) / STEP * STEP - LAST - 1 + STEP / 2);
            let expected = 1000.0 / (1.0 + (-middle / 1024.0).exp());
            assert_eq!(chance(sum), expected.round() as u32, "{sum}");
        }
    }
}
