//! A similarity as a score: whole billionths, rounded up.
//!
//! It serves methods whose similarity does not follow from a count and the sizes of the sketches. Rounding up keeps
//! every ratio that reaches a threshold at that threshold.

const BILLION: u64 = 1_000_000_000;

/// The ratio of `part` to `whole`; zero if both are zero. `part` is at most `whole`.
pub(super) fn ratio(part: usize, whole: usize) -> u32 {
    // Sketches have less than 2^32 words, so no product reaches 2^62.
    (part as u64 * BILLION).div_ceil(whole.max(1) as u64) as u32
}

/// The score of a computed value in [0, 1], whose last digits may be off.
pub(super) fn of(value: f64) -> u32 {
    (value * BILLION as f64 - 1e-3).ceil() as u32
}

/// The similarity that a score stands for.
pub(super) fn similarity(score: u32) -> f64 {
    f64::from(score) / BILLION as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_reach_the_thresholds_that_they_equal() {
        for (part, whole) in [(7, 10), (2, 3), (1, 3), (19, 20), (5, 5), (0, 9), (0, 0), (123_457, 1_000_003)]
        {
            let exact = part as f64 / whole.max(1) as f64;
            let similarity = similarity(ratio(part, whole));
            assert!(similarity >= exact && similarity < exact + 2e-9, "{part}/{whole}: {similarity}");
        }
        assert_eq!(similarity(ratio(7, 10)), 0.7);
        assert_eq!((of(0.0), of(0.7), of(1.0), of(1.0 / 3.0)), (0, 700_000_000, 1_000_000_000, 333_333_334));
    }
}
