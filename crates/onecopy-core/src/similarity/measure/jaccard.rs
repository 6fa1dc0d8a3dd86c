//! Resemblance and containment of sets of shingles (Broder 1997).

/// Resemblance, also called Jaccard similarity: shared over all. Two empty sets are alike.
#[inline]
pub fn resemblance(shared: usize, a: usize, b: usize) -> f64 {
    ratio(shared, a + b - shared)
}

/// The share of `a` that is in the other set: 1 if all of it is.
#[inline]
pub fn containment(shared: usize, a: usize) -> f64 {
    ratio(shared, a)
}

#[inline]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        assert_eq!(resemblance(4, 4, 5), 0.8);
        assert_eq!(resemblance(0, 3, 4), 0.0);
        assert_eq!(resemblance(0, 0, 0), 1.0);
        assert_eq!(containment(2, 4), 0.5);
        assert_eq!(containment(0, 0), 1.0);
    }
}
