//! Visits 0..n in a random order without storing the order.
//!
//! A Feistel network permutes the smallest power of four that is at least n. Numbers from n on are permuted again until
//! they fall below it (cycle walking). So copies are spread over a corpus of any size.

use super::random::derive;

/// Mixing rounds; four spread neighbours far apart.
const ROUNDS: u64 = 4;

/// A permutation of 0..n.
pub struct Shuffle {
    seed: u64,
    len: u64,
    half_bits: u32,
}

impl Shuffle {
    /// The permutation of 0..`len` under `seed`.
    pub fn new(seed: u64, len: u64) -> Shuffle {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Shuffle { seed, len, half_bits: bits.div_ceil(2).max(1) }
    }

    /// The number at `position`.
    pub fn at(&self, position: u64) -> u64 {
        assert!(position < self.len, "position {position} of {}", self.len);
        let mut value = self.permute(position);
        while value >= self.len {
            value = self.permute(value);
        }
        value
    }

    fn permute(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (derive(self.seed, round, right) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_in_disorder() {
        for len in [1, 2, 3, 10, 64, 65, 1000] {
            let shuffle = Shuffle::new(5, len);
            let order: Vec<u64> = (0..len).map(|position| shuffle.at(position)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..len).collect::<Vec<_>>());
            assert!(len < 10 || order != sorted);
        }
    }
}
