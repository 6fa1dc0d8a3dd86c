//! Rabin fingerprints (Rabin 1981): bits as a polynomial over GF(2), and its remainder after division by a fixed
//! irreducible polynomial.
//!
//! Two different strings of n bits have the same fingerprint with a chance of at most n / 2⁶³ over the choice of the
//! polynomial. A window rolls on without reading its contents again. Fingerprints are linear, so values that must be
//! spread evenly need mixing afterwards. They start at 0, so leading zeros do not count. Strings that are compared
//! must therefore begin with a nonzero byte or have equal lengths.

/// The terms below x⁶⁴ of an irreducible polynomial: the first one at or after the bytes `onecopyr`. It is frozen,
/// because fingerprints are stored.
pub(crate) const POLYNOMIAL: u64 = 0x6f6e_6563_6f70_7983;

/// A byte times a power of x, for each byte.
type ProductTable = [u64; 256];

/// Fingerprints by one polynomial.
#[derive(Clone, Debug)]
pub(crate) struct Rabin {
    polynomial: u64,
    /// Byte i of a fingerprint times x⁶⁴, for each value of the byte.
    over: Box<[ProductTable; 8]>,
}

impl Rabin {
    /// Fingerprints by x⁶⁴ and the terms in `polynomial`, which must be irreducible.
    pub(crate) fn new(polynomial: u64) -> Rabin {
        let over = tables(polynomial, 64);
        Rabin { polynomial, over }
    }

    /// The fingerprint after one more byte.
    #[inline]
    pub(crate) fn append(&self, fingerprint: u64, byte: u8) -> u64 {
        (fingerprint << 8 | u64::from(byte)) ^ self.over[0][(fingerprint >> 56) as usize]
    }

    /// The fingerprint after eight more bytes, the highest first.
    #[inline]
    pub(crate) fn append_word(&self, fingerprint: u64, word: u64) -> u64 {
        word ^ times(&self.over, fingerprint)
    }

    /// A window of `length` bytes that rolls byte by byte.
    pub(crate) fn bytes(self, length: usize) -> ByteWindow {
        let leaving = Box::new(table(power(self.polynomial, 8 * length), self.polynomial));
        ByteWindow { rabin: self, leaving }
    }

    /// A window of `length` words of 64 bits that rolls word by word.
    pub(crate) fn words(self, length: usize) -> WordWindow {
        let leaving = tables(self.polynomial, 64 * length);
        WordWindow { rabin: self, leaving }
    }
}

/// A window of bytes.
#[derive(Clone, Debug)]
pub(crate) struct ByteWindow {
    rabin: Rabin,
    leaving: Box<ProductTable>,
}

impl ByteWindow {
    /// The fingerprint of the window one byte on. While the window fills, `leaves` is 0.
    #[inline]
    pub(crate) fn roll(&self, fingerprint: u64, leaves: u8, enters: u8) -> u64 {
        self.rabin.append(fingerprint, enters) ^ self.leaving[leaves as usize]
    }
}

/// A window of words of 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct WordWindow {
    rabin: Rabin,
    leaving: Box<[ProductTable; 8]>,
}

impl WordWindow {
    /// The fingerprint of the window one word on. While the window fills, `leaves` is 0.
    #[inline]
    pub(crate) fn roll(&self, fingerprint: u64, leaves: u64, enters: u64) -> u64 {
        self.rabin.append_word(fingerprint, enters) ^ times(&self.leaving, leaves)
    }
}

/// `word` times the power of x that `tables` are for.
#[inline]
fn times(tables: &[ProductTable; 8], word: u64) -> u64 {
    let bytes = word.to_le_bytes();
    tables.iter().zip(bytes).fold(0, |sum, (table, byte)| sum ^ table[byte as usize])
}

/// Byte i of a word times x to the power of `exponent`, for each value of the byte.
fn tables(polynomial: u64, exponent: usize) -> Box<[ProductTable; 8]> {
    let mut first = power(polynomial, exponent);
    let mut tables = Box::new([[0; 256]; 8]);
    for out in tables.iter_mut() {
        *out = table(first, polynomial);
        first = (0..8).fold(first, |product, _| shifted(product, polynomial));
    }
    tables
}

/// `first` times each byte.
fn table(first: u64, polynomial: u64) -> ProductTable {
    let mut table = [0; 256];
    let mut product = first;
    for bit in 0..8 {
        let (known, rest) = table.split_at_mut(1 << bit);
        rest.iter_mut().zip(known).for_each(|(out, lower)| *out = product ^ *lower);
        product = shifted(product, polynomial);
    }
    table
}

/// x to the power of `exponent`.
fn power(polynomial: u64, exponent: usize) -> u64 {
    (0..exponent).fold(1, |product, _| shifted(product, polynomial))
}

/// `value` times x.
fn shifted(value: u64, polynomial: u64) -> u64 {
    value << 1 ^ if value >> 63 == 1 { polynomial } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: bit by bit, the highest first.
    fn divided(bytes: &[u8]) -> u64 {
        let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
        bits.fold(0, |left, bit| shifted(left, POLYNOMIAL) ^ u64::from(bit))
    }

    fn product(a: u64, b: u64) -> u64 {
        (0..64).rev().fold(0, |sum, bit| shifted(sum, POLYNOMIAL) ^ if b >> bit & 1 == 1 { a } else { 0 })
    }

    /// Rabin's test: x^(2⁶⁴) is x, and x^(2³²) − x has no factor in common with the polynomial.
    #[test]
    fn the_polynomial_is_irreducible() {
        let squared = |times: usize| (0..times).fold(2, |value, _| product(value, value));
        assert_eq!(squared(64), 2);
        let (mut a, mut b) = (1u128 << 64 | u128::from(POLYNOMIAL), u128::from(squared(32) ^ 2));
        while b != 0 {
            while a.checked_ilog2() >= b.checked_ilog2() && a != 0 {
                a ^= b << (a.ilog2() - b.ilog2());
            }
            std::mem::swap(&mut a, &mut b);
        }
        assert_eq!(a, 1);
    }

    #[test]
    fn golden_vectors() {
        let rabin = Rabin::new(POLYNOMIAL);
        let of = |text: &str| text.bytes().fold(0, |sum, byte| rabin.append(sum, byte));
        assert_eq!(of("onecopy"), 0x6f_6e65_636f_7079);
        assert_eq!(of("one copy of each page"), 0xf7f9_1727_f108_0945);
    }

    proptest! {
        #[test]
        fn tables_equal_dividing(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            words in prop::collection::vec(any::<u64>(), 0..9),
        ) {
            let rabin = Rabin::new(POLYNOMIAL);
            prop_assert_eq!(bytes.iter().fold(0, |sum, &byte| rabin.append(sum, byte)), divided(&bytes));
            let flat: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            prop_assert_eq!(words.iter().fold(0, |sum, &word| rabin.append_word(sum, word)), divided(&flat));
        }

        #[test]
        fn rolling_equals_dividing_each_window(
            bytes in prop::collection::vec(any::<u8>(), 1..60),
            words in prop::collection::vec(any::<u64>(), 1..20),
            length in 1usize..12,
        ) {
            let (by_bytes, mut sum) = (Rabin::new(POLYNOMIAL).bytes(length), 0);
            for (end, &byte) in bytes.iter().enumerate() {
                sum = by_bytes.roll(sum, if end < length { 0 } else { bytes[end - length] }, byte);
                prop_assert_eq!(sum, divided(&bytes[(end + 1).saturating_sub(length)..=end]));
            }
            let (by_words, mut sum) = (Rabin::new(POLYNOMIAL).words(length), 0);
            for (end, &word) in words.iter().enumerate() {
                sum = by_words.roll(sum, if end < length { 0 } else { words[end - length] }, word);
                let window = &words[(end + 1).saturating_sub(length)..=end];
                let flat: Vec<u8> = window.iter().flat_map(|word| word.to_be_bytes()).collect();
                prop_assert_eq!(sum, divided(&flat));
            }
        }
    }
}
