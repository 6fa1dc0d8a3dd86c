//! Labels the blocks of a page by its gold text: the training data of the model.
//!
//! The label of a block of five or more words is the share of its word triples that occur in the gold text. A shorter
//! block could match anywhere, so it must occur between the longer blocks around it.

use std::collections::HashMap;

/// Shorter blocks, in words, are located by their neighbours.
const LONG: usize = 5;

/// The share of each block that is gold, from 0 to 1.
pub fn align(blocks: &[Vec<u64>], gold: &[u64]) -> Vec<f32> {
    let mut places: HashMap<&[u64], Vec<usize>> = HashMap::new();
    for (at, triple) in gold.windows(3).enumerate() {
        places.entry(triple).or_default().push(at);
    }
    let (mut labels, spans): (Vec<f32>, Vec<Option<(usize, usize)>>) =
        blocks.iter().map(|block| long(block, &places)).unzip();
    let mut upto = vec![gold.len(); blocks.len()];
    let mut next = gold.len();
    for index in (0..blocks.len()).rev() {
        upto[index] = next;
        next = spans[index].map_or(next, |(start, _)| start.min(next));
    }
    let mut from = 0;
    for (index, block) in blocks.iter().enumerate() {
        if let Some((_, end)) = spans[index] {
            from = from.max(end);
        } else if !block.is_empty() && block.len() < LONG && from < upto[index] {
            let found = gold[from..upto[index]].windows(block.len()).position(|words| words == block);
            if let Some(at) = found {
                labels[index] = 1.0;
                from += at + block.len();
            }
        }
    }
    labels
}

/// The gold share of a long block, and its position in the gold text if that is unambiguous.
fn long(block: &[u64], places: &HashMap<&[u64], Vec<usize>>) -> (f32, Option<(usize, usize)>) {
    if block.len() < LONG {
        return (0.0, None);
    }
    let found: Vec<&Vec<usize>> = block.windows(3).filter_map(|triple| places.get(triple)).collect();
    let share = found.len() as f32 / (block.len() - 2) as f32;
    let sure = || found.iter().filter(|places| places.len() == 1).map(|places| places[0]);
    let span = sure().min().zip(sure().max()).map(|(start, end)| (start, end + 3));
    (share, span.filter(|_| share > 0.7))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::score::words;

    #[test]
    fn short_blocks_are_placed_between_long_ones() {
        let blocks =
            ["Home", "one two three four five", "Home", "six seven eight nine ten", "Home"].map(words);
        let gold = words("one two three four five home six seven eight nine ten");
        assert_eq!(align(&blocks, &gold), [0.0, 1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn half_a_block_is_half_gold() {
        assert_eq!(align(&[words("a b c d e f")], &words("a b c d")), [0.5]);
    }
}
