//! The pseudo-random numbers of generated corpora.
//!
//! They are implemented here rather than in a crate, so that a seed always gives the same bytes. Seeding and mixing use
//! splitmix64 (Steele, Lea and Flood 2014), streams use xoshiro256++ (Blackman and Vigna 2018). This module and its
//! callers use no float function that a platform may round differently.

/// Scrambles `value`: a bijection in which every input bit reaches every output bit.
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed for item `number` of the kind `kind`, derived from `seed`.
pub fn derive(seed: u64, kind: u64, number: u64) -> u64 {
    mix(mix(mix(seed) ^ kind) ^ number)
}

/// A stream of numbers.
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Random {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        Random { state: [0, 1, 2, 3].map(|i: u64| mix(seed.wrapping_add(step.wrapping_mul(i)))) }
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `limit`. The bias is under limit / 2⁶⁴, which is negligible.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True once in `one_in` times.
    pub fn once_in(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_frozen() {
        // Published test vector: splitmix64 from state 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        let mut random = Random::new(1);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, GOLDEN);
    }

    const GOLDEN: [u64; 3] = [14971601782005023387, 13781649495232077965, 1847458086238483744];

    #[test]
    fn numbers_are_spread_evenly() {
        let mut random = Random::new(9);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[random.below(10) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        let mean = (0..100_000).map(|_| random.unit()).sum::<f64>() / 100_000.0;
        assert!((mean - 0.5).abs() < 0.01);
    }
}
