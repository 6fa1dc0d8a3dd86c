//! A generated log of requests. A seed always gives the same log.

use super::{IndexFile, Request};

/// Draws requests for files, each with a chance in proportion to its load. Loads of requests are from 0 to 4 with mean
/// 1, most of them small. `drift` is how wrong the expected loads are: the real load of a file is up to 1 + `drift` times
/// the expected one. All loads are 0 or more, and one is more.
pub fn generated_requests(files: &[IndexFile], count: usize, drift: f64, seed: u64) -> Vec<Request> {
    let mut random = Random(seed);
    let mut total = 0.0;
    let sums: Vec<f64> = files
        .iter()
        .map(|file| {
            total += file.load * (1.0 + drift * random.unit());
            total
        })
        .collect();
    let mut request = || {
        let at = random.unit() * total;
        let file = sums.partition_point(|&sum| sum <= at).min(files.len() - 1) as u32;
        Request { file, load: 4.0 * random.unit().powi(3) }
    };
    (0..count).map(|_| request()).collect()
}

/// Pseudo-random numbers by splitmix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    /// A number from 0 up to, but not including, 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
