//! Cosine and Euclidean distance of token frequencies. A page is a vector with one coordinate per token.

use std::cmp::Ordering;

/// How often each of `tokens` occurs, sorted by token.
pub fn frequencies(tokens: &[u64]) -> Vec<(u64, u32)> {
    let mut sorted = tokens.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

/// The cosine of the angle between two vectors of frequencies, each sorted by token. Two empty ones are alike.
pub fn cosine(a: &[(u64, u32)], b: &[(u64, u32)]) -> f64 {
    let (mut product, mut squares) = (0u128, (0u128, 0u128));
    both(a, b, |x, y| {
        product += x * y;
        squares.0 += x * x;
        squares.1 += y * y;
    });
    angle(product as f64, (squares.0 as f64, squares.1 as f64))
}

/// The Euclidean distance of two vectors of frequencies, each sorted by token.
pub fn euclidean(a: &[(u64, u32)], b: &[(u64, u32)]) -> f64 {
    let mut sum = 0u128;
    both(a, b, |x, y| sum += x.abs_diff(y) * x.abs_diff(y));
    (sum as f64).sqrt()
}

/// The cosine, from the product of two vectors and the products of each with itself. It is exactly 1 for a vector
/// and itself.
///
/// All three are sums of integers, which do not depend on the order of addition. The operations here round in the
/// same way on every machine.
#[inline]
pub(crate) fn angle(product: f64, squares: (f64, f64)) -> f64 {
    if squares.0 == 0.0 || squares.1 == 0.0 {
        return if squares.0 == squares.1 { 1.0 } else { 0.0 };
    }
    (product / (squares.0 * squares.1).sqrt()).min(1.0)
}

/// Calls `each` with the two frequencies of every token that either vector has.
fn both(a: &[(u64, u32)], b: &[(u64, u32)], mut each: impl FnMut(u128, u128)) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            Ordering::Less => each(u128::from(a[i].1), 0),
            Ordering::Greater => each(0, u128::from(b[j].1)),
            Ordering::Equal => each(u128::from(a[i].1), u128::from(b[j].1)),
        }
        let (x, y) = (a[i].0, b[j].0);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    a[i..].iter().for_each(|x| each(u128::from(x.1), 0));
    b[j..].iter().for_each(|y| each(0, u128::from(y.1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let (a, b) = (frequencies(&[1, 2, 2, 2, 2]), frequencies(&[1, 1, 1, 1, 3]));
        assert_eq!(a, [(1, 1), (2, 4)]);
        assert_eq!(cosine(&a, &a), 1.0);
        assert_eq!(cosine(&a, &b), 4.0 / 17.0);
        assert_eq!(cosine(&b, &a), 4.0 / 17.0);
        assert_eq!(euclidean(&a, &b), 26f64.sqrt(), "3, 4 and 1 apart");
        assert_eq!(euclidean(&a, &a), 0.0);
        assert_eq!(euclidean(&a, &[]), 17f64.sqrt());
        assert_eq!((cosine(&[], &[]), cosine(&a, &[]), euclidean(&[], &[])), (1.0, 0.0, 0.0));
    }

    #[test]
    fn a_vector_and_itself_are_exactly_alike() {
        for square in [1.0, 3.0, 7.0, 99_991.0, (1u64 << 47) as f64 - 1.0] {
            assert_eq!(angle(square, (square, square)), 1.0);
        }
    }
}
