//! Hamming distance of strings of bits (Hamming 1950).

/// How many bits of two strings differ. Words that only the longer string has are compared with zeros.
#[inline]
pub fn hamming(a: &[u64], b: &[u64]) -> usize {
    let (both, shorter) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let (head, tail) = both.split_at(shorter.len());
    let differing: u32 = head.iter().zip(shorter).map(|(x, y)| (x ^ y).count_ones()).sum();
    differing as usize + tail.iter().map(|word| word.count_ones() as usize).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        assert_eq!(hamming(&[0b1011], &[0b0010]), 2);
        assert_eq!(hamming(&[u64::MAX, 0, 1], &[0, 0, 1]), 64);
        assert_eq!(hamming(&[], &[]), 0);
        assert_eq!(hamming(&[1], &[1, 0b111]), 3);
        assert_eq!(hamming(&[1, 0b111], &[1]), 3);
    }
}
