//! The hashes and their seeds, frozen.
//!
//! Sketches are stored, so the value of every hash here is a format: the golden vectors in the tests must never
//! change. No hash here depends on one whose value a dependency may change.

use xxhash_rust::xxh3::xxh3_64_with_seed;

const SEED: u64 = 0x6f6e_6563_6f70_7931; // "onecopy1"
const MIX_LOW: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_HIGH: u64 = 0xd6e8_feb8_6659_fd93;

/// The multiplier of the shingle polynomial. `BASE - 1` is twice an odd number, so that swapping two tokens changes
/// the shingle unless their hashes agree in 63 bits.
pub(crate) const BASE: u64 = 0xf135_7aea_2e62_a9c7;

/// Hash of the whole canonical text: the first 128 bits of BLAKE3.
///
/// It is cryptographic, because a page with the same fingerprint as another is removed without further comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u128);

/// The fingerprint of `bytes`.
pub fn fingerprint(bytes: &[u8]) -> Fingerprint {
    let digest = blake3::hash(bytes);
    let (head, _) = digest.as_bytes().split_at(16);
    Fingerprint(u128::from_be_bytes(head.try_into().expect("a digest has 32 bytes")))
}

/// How many bytes after the end of every token must be readable for [`token`].
pub(crate) const TOKEN_PADDING: usize = 16;

/// Hash of the token `padded[start..end]`. Tokens of up to 16 bytes, nearly all of them, take two loads and one
/// multiplication. No branch depends on their length, which no predictor could guess.
#[inline(always)]
pub(crate) fn token(padded: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    if length > 16 {
        return xxh3_64_with_seed(&padded[start..end], SEED);
    }
    let window: &[u8; 16] = padded[start..start + 16].try_into().expect("sixteen bytes");
    // Tokens hold no zero byte, so the zeros after a short one cannot make two tokens equal.
    let text = u128::from_le_bytes(*window) & KEEP[length];
    fold(text as u64 ^ SEED, (text >> 64) as u64 ^ MIX_HIGH)
}

/// `KEEP[n]` keeps the first `n` bytes of sixteen.
const KEEP: [u128; 17] = {
    let mut masks = [u128::MAX; 17];
    let mut n = 0;
    while n < 16 {
        masks[n] = (1 << (8 * n)) - 1;
        n += 1;
    }
    masks
};

/// The `occurrence`-th repetition of a shingle as a distinct value, which turns a multiset into a set.
#[inline]
pub(crate) fn repeated(shingle: u64, occurrence: u64) -> u64 {
    fold(shingle ^ SEED, occurrence.wrapping_mul(MIX_LOW) ^ MIX_HIGH)
}

/// How many words [`draw`] has for a value.
pub(crate) const DRAWS: usize = 64;

/// The word numbered `number` of the random words of a hash. Both factors depend on the number. If one were fixed,
/// the words would be steps of one arithmetic progression, and their bits not independent.
#[inline]
pub(crate) fn draw(value: u64, number: usize) -> u64 {
    let (a, b) = DRAW[number];
    fold(value ^ a, value.rotate_left(32) ^ b)
}

/// Two masks for each word: splitmix64 (Steele, Lea and Flood 2014) from the seed.
const DRAW: [(u64, u64); DRAWS] = {
    let mut masks = [(0, 0); DRAWS];
    let mut n = 0;
    while n < DRAWS {
        masks[n] = (splitmix(2 * n as u64), splitmix(2 * n as u64 + 1));
        n += 1;
    }
    masks
};

const fn splitmix(n: u64) -> u64 {
    let mut z = SEED.wrapping_add(MIX_LOW.wrapping_mul(n + 1));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A general 64-bit hash for values that are compared but not shingled, such as the bytes of a record.
pub fn digest(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, SEED)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_of(text: &str) -> u64 {
        let mut padded = text.as_bytes().to_vec();
        padded.extend([0xaa; TOKEN_PADDING]);
        token(&padded, 0, text.len())
    }

    /// These values are in stored files. If one changes, the format has changed.
    #[test]
    fn golden_vectors() {
        assert_eq!(token_of("the"), GOLDEN[0]);
        assert_eq!(token_of("deduplication"), GOLDEN[1]);
        assert_eq!(token_of("donaudampfschifffahrtsgesellschaft"), GOLDEN[2]);
        assert_eq!(repeated(1, 2), GOLDEN[3]);
        assert_eq!(digest(b"onecopy"), GOLDEN[4]);
        assert_eq!([draw(1, 0), draw(2, DRAWS - 1)], GOLDEN_DRAWS);
        assert_eq!(fingerprint(b"one copy").0, GOLDEN_FINGERPRINT);
    }

    const GOLDEN: [u64; 5] = [
        0x5ab1_ec01_d751_ecc2,
        0xf7ed_b93a_8d71_c784,
        0x0a6c_da41_1ba9_45b2,
        0xbb81_0898_86b8_796b,
        0xe073_a30c_9f36_860a,
    ];
    const GOLDEN_DRAWS: [u64; 2] = [0xd4ac_06a2_832b_6bff, 0x8d3d_184b_01cd_75bd];
    const GOLDEN_FINGERPRINT: u128 = 0x7ab4_4b3f_9427_91fa_3548_091e_8082_53b0;

    #[test]
    fn what_follows_a_token_does_not_matter() {
        for length in 0..40 {
            let word = &b"abcdefghijklmnopqrstuvwxyzabcdefghijklmn"[..length];
            let (mut a, mut b) = (word.to_vec(), word.to_vec());
            a.extend([0; TOKEN_PADDING]);
            b.extend([b'z'; TOKEN_PADDING]);
            assert_eq!(token(&a, 0, length), token(&b, 0, length));
        }
    }

    /// Bits of words drawn for one hash, and for different ones, agree half of the time.
    #[test]
    fn draws_are_independent() {
        let agreeing = |a: (u64, usize), b: (u64, usize)| {
            64 - (draw(repeated(a.0, 1), a.1) ^ draw(repeated(b.0, 1), b.1)).count_ones()
        };
        let mean = |of: &dyn Fn(u64) -> u32| (0..20_000).map(|n| f64::from(of(n))).sum::<f64>() / 20_000.0;
        for number in 1..DRAWS {
            let (words, values) =
                (mean(&|n| agreeing((n, 0), (n, number))), mean(&|n| agreeing((n, number), (n + 1, number))));
            assert!(
                (words - 32.0).abs() < 0.15 && (values - 32.0).abs() < 0.15,
                "{number}: {words} {values}"
            );
        }
    }

    #[test]
    fn lengths_are_told_apart() {
        let hashes: std::collections::BTreeSet<u64> = (1..40).map(|n| token_of(&"a".repeat(n))).collect();
        assert_eq!(hashes.len(), 39);
    }
}
