//! The learnt part of main content: boosted trees over the features of a block.
//!
//! Every level of a tree asks one question of all blocks, so that a tree is a table without branches. All numbers
//! are whole: the same page has the same main content on every machine.

mod weights;

use super::feature::{Features, ROOM};
use weights::{LEAVES, QUESTIONS};

/// Questions in a tree.
const DEPTH: usize = 5;

/// How much a block looks like main content: above zero it rather is. A thousand is odds of one to 2.7.
pub fn judge(features: &Features) -> i32 {
    let trees = QUESTIONS.chunks_exact(DEPTH).zip(LEAVES.chunks_exact(1 << DEPTH));
    let leaf = |(questions, leaves): (&[(u8, i16)], &[i16])| {
        let index = questions.iter().enumerate().fold(0, |index, (level, (feature, above))| {
            index | usize::from(features[*feature as usize % ROOM] > i32::from(*above)) << level
        });
        i32::from(leaves[index])
    };
    trees.map(leaf).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::feature::FEATURES;

    #[test]
    fn the_model_knows_these_features() {
        assert_eq!(weights::WIDTH, FEATURES, "train the model again: `onecopy-bench train`");
        assert!(QUESTIONS.iter().all(|(feature, _)| usize::from(*feature) < FEATURES));
        assert_eq!(QUESTIONS.len() / DEPTH, LEAVES.len() >> DEPTH);
    }
}
