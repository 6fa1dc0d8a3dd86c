//! The binomial distribution, for the chances that methods promise.

/// The chance that at least `least` of `n` independent events happen, each with chance `p`.
pub(super) fn at_least(least: usize, n: usize, p: f64) -> f64 {
    if least == 0 || p >= 1.0 {
        return if least <= n { 1.0 } else { 0.0 };
    }
    if p <= 0.0 {
        return 0.0;
    }
    // Logarithms, because the first terms of many events would underflow.
    let odds = (p / (1.0 - p)).ln();
    let mut term = n as f64 * (1.0 - p).ln();
    let mut sum = 0.0;
    for i in 1..=n {
        term += odds + ((n - i + 1) as f64 / i as f64).ln();
        if i >= least {
            sum += term.exp();
        }
    }
    f64::min(sum, 1.0)
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn values_by_hand() {
        assert!((at_least(2, 3, 0.5) - 0.5).abs() < 1e-12);
        assert!((at_least(1, 2, 0.1) - 0.19).abs() < 1e-12);
        assert!((at_least(500, 1_000, 0.5) - 0.512_612).abs() < 1e-6);
        assert_eq!((at_least(0, 5, 0.0), at_least(1, 5, 0.0), at_least(5, 5, 1.0)), (1.0, 0.0, 1.0));
        assert_eq!(at_least(6, 5, 0.5), 0.0);
        assert!(at_least(20_000, 65_536, 0.9) > 0.999_999);
    }
}
