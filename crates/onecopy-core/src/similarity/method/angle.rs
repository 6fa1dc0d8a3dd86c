//! Angles between pages, estimated from bits that say on which side of random planes each page lies.
//!
//! A random plane through the origin separates two vectors with chance θ/π, where θ is their angle (Goemans and
//! Williamson 1995, Charikar 2002). The share of bits that agree therefore estimates the angle. Its cosine is the
//! exact measure behind the bits.

use std::f64::consts::PI;

use super::{Method, method};
use crate::config::Config;

/// The chance that a bit agrees, given the cosine.
pub(super) fn agreement(cosine: f64) -> f64 {
    1.0 - cosine.clamp(-1.0, 1.0).acos() / PI
}

/// The cosine for which this share of the bits agrees on average.
pub(super) fn cosine(agreement: f64) -> f64 {
    (PI * (1.0 - agreement)).cos()
}

/// The chance that exactly `hits` of `trials` succeed, each with chance `p`.
pub(super) fn exactly(hits: usize, trials: usize, p: f64) -> f64 {
    let fewer = hits.min(trials - hits);
    let ways: f64 = (0..fewer).map(|n| ((trials - n) as f64 / (n + 1) as f64).ln()).sum();
    let log = |p: f64, times: usize| if times == 0 { 0.0 } else { times as f64 * p.ln() };
    (ways + log(p, hits) + log(1.0 - p, trials - hits)).exp()
}

/// The exact method that stands behind a share of `agreement` agreeing bits. `None` if there is no such method.
pub(super) fn exact(agreement: f64, config: &Config) -> Option<Box<dyn Method>> {
    let choice = format!("cosine:threshold={}", cosine(agreement).clamp(f64::MIN_POSITIVE, 1.0));
    method(&Config { method: choice, threshold: None, ..config.clone() }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_by_hand() {
        assert_eq!(agreement(1.0), 1.0);
        assert!((agreement(0.0) - 0.5).abs() < 1e-12);
        assert!((agreement(0.5) - 2.0 / 3.0).abs() < 1e-12);
        assert!((cosine(agreement(0.9)) - 0.9).abs() < 1e-12);
        assert_eq!(agreement(1.0 + 1e-9), 1.0, "rounding of a cosine is forgiven");
    }

    #[test]
    fn chances_by_hand() {
        assert!((exactly(3, 4, 0.1) - 4.0 * 0.001 * 0.9).abs() < 1e-15);
        assert_eq!((exactly(9, 9, 1.0), exactly(8, 9, 1.0), exactly(0, 9, 0.0)), (1.0, 0.0, 1.0));
        assert!(((0..=64).map(|hits| exactly(hits, 64, 0.3)).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
