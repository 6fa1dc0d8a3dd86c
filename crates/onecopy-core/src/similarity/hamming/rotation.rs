//! Search by rotation: it sorts sketches again with other bits leading, and compares neighbours. It can miss pairs.

use super::{Near, Sketches, distance, simd};
use crate::simd::level;

/// The pairs that differ in at most `most` bits and come at most `window` places apart in a sorted order, in order.
/// Each order sorts the first words of all sketches, rotated by a multiple of `step` bits.
pub fn near_by_rotation(sketches: Sketches, most: u32, step: u32, window: usize) -> Vec<Near> {
    let mut order = Order::new(sketches);
    let mut pairs = Vec::new();
    let (mut unique, mut found) = (0, Vec::new());
    for rotation in 0..64 {
        if rotation % step.max(1) == 0 {
            for gap in 1..=window.min(order.ids.len()) {
                simd::neighbours(level(), &order.values, gap, most, &mut found);
                let ids =
                    found.drain(..).map(|place| (order.ids[place as usize], order.ids[place as usize + gap]));
                pairs.extend(ids.filter_map(|(a, b)| pair(sketches, a.min(b), a.max(b), most)));
            }
            // Many rotations find the same pairs. Copies are removed when half of the pairs may be copies.
            if pairs.len() > 2 * unique + (1 << 20) {
                sort_unique(&mut pairs);
                unique = pairs.len();
            }
        }
        order.rotate();
    }
    sort_unique(&mut pairs);
    pairs
}

fn sort_unique(pairs: &mut Vec<Near>) {
    pairs.sort_unstable();
    pairs.dedup();
}

fn pair(sketches: Sketches, a: u32, b: u32, most: u32) -> Option<Near> {
    let distance = distance(sketches.get(a), sketches.get(b));
    (distance <= most).then_some(Near { a, b, distance })
}

/// The first words of all sketches, sorted, and the sketches that they belong to.
struct Order {
    values: Vec<u64>,
    ids: Vec<u32>,
    other_values: Vec<u64>,
    other_ids: Vec<u32>,
}

impl Order {
    fn new(sketches: Sketches) -> Order {
        let first = sketches.words.chunks_exact(sketches.width).map(|sketch| sketch[0]);
        let mut sorted: Vec<(u64, u32)> = first.zip(0..).collect();
        sorted.sort_unstable();
        let (values, ids): (Vec<u64>, Vec<u32>) = sorted.into_iter().unzip();
        let (other_values, other_ids) = (vec![0; values.len()], vec![0; ids.len()]);
        Order { values, ids, other_values, other_ids }
    }

    /// Rotates all values by one bit. Values with leading bit 0 are in order among themselves without that bit, and
    /// so are those with 1. Merging both therefore sorts all.
    fn rotate(&mut self) {
        self.values.iter_mut().for_each(|value| *value = value.rotate_left(1));
        // The former leading bit now is the last.
        let zeros = self.values.partition_point(|value| value & 1 == 0);
        let (mut a, mut b) = (0, zeros);
        let (values, ids) = (&self.values, &self.ids);
        for (to_value, to_id) in self.other_values.iter_mut().zip(&mut self.other_ids) {
            if a == zeros || b == values.len() {
                // One side is used up: the rest of the other follows.
                let from = if a == zeros { &mut b } else { &mut a };
                (*to_value, *to_id) = (values[*from], ids[*from]);
                *from += 1;
                continue;
            }
            let is_a = values[a] < values[b];
            let from = if is_a { a } else { b };
            (*to_value, *to_id) = (values[from], ids[from]);
            a += usize::from(is_a);
            b += usize::from(!is_a);
        }
        std::mem::swap(&mut self.values, &mut self.other_values);
        std::mem::swap(&mut self.ids, &mut self.other_ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotating_equals_sorting() {
        let words: Vec<u64> = (0..300).map(|n| crate::hash::draw(n % 250, 0)).collect();
        let mut order = Order::new(Sketches { words: &words, width: 1 });
        for rotation in 1..=70 {
            order.rotate();
            let mut sorted: Vec<u64> = words.iter().map(|word| word.rotate_left(rotation)).collect();
            sorted.sort_unstable();
            assert_eq!(order.values, sorted);
            assert!(
                order
                    .values
                    .iter()
                    .zip(&order.ids)
                    .all(|(value, &id)| words[id as usize].rotate_left(rotation) == *value)
            );
        }
    }
}
