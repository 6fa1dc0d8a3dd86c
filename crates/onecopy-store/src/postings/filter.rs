//! Excludes most keys that a part lacks, and bounds the number of postings of the others, without reading the part.
//!
//! It is a blocked Bloom filter (Putze, Sanders and Singler 2007). A posting sets eight bits in one cache line, and all
//! postings of a key use the same line. So a lookup costs one cache miss.
//!
//! The high bits of the key choose the line, so sorted keys access lines in order.

/// More bits cause fewer false positives but take more memory. 10 bits give about 1 %.
const BITS_PER_KEY: u64 = 10;
const LINE_BYTES: usize = 64;
const WORDS: usize = 8;
/// Keys per lookup batch: enough that their cache misses overlap.
pub(super) const BATCH: usize = 64;

/// The filter counts the postings of a key up to this number; there may be more.
pub(super) const MANY: u8 = 4;

/// The keys that a part may have.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    lines: Vec<Line>,
}

/// One cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; WORDS]);

const EMPTY: [u64; WORDS] = [0; WORDS];

impl Filter {
    /// A filter with space for `keys` keys.
    pub(super) fn new(keys: u64) -> Filter {
        let lines = (keys * BITS_PER_KEY).div_ceil(LINE_BYTES as u64 * 8).max(1);
        Filter { lines: vec![Line::default(); lines as usize] }
    }

    /// Adds a posting of the key; the first has number 0. Numbers from `MANY` on are not stored.
    pub(super) fn insert(&mut self, key: u64, number: u8) {
        if number >= MANY {
            return;
        }
        let at = self.line_of(key);
        let bits = spread(key, number);
        for (at_word, word) in self.lines[at].0.iter_mut().enumerate() {
            *word |= 1 << bit(bits, at_word);
        }
    }

    /// Writes the indexes of the keys that may be present to `held`, in order, and returns their number. `keys` has at
    /// most `BATCH` keys.
    pub(super) fn sift(&self, keys: &[u64], held: &mut [u16; BATCH]) -> usize {
        // This loop only issues independent loads, so that the cache misses of many keys overlap.
        let mut asked = [(&EMPTY, 0); BATCH];
        for (asked, key) in asked.iter_mut().zip(keys) {
            let line = &self.lines[self.line_of(*key)].0;
            *asked = (line, line[0]);
        }
        let mut count = 0;
        for (at, ((line, first), key)) in asked.iter().zip(keys).enumerate() {
            let bits = spread(*key, 0);
            let all =
                (1..WORDS).fold(first >> bit(bits, 0), |all, word| all & (line[word] >> bit(bits, word)));
            held[count] = at as u16;
            count += (all & 1) as usize;
        }
        count
    }

    /// An upper bound of the number of postings of a key; `MANY` means any number.
    pub(super) fn most(&self, key: u64) -> u8 {
        let line = &self.lines[self.line_of(key)].0;
        let has = |number: &u8| {
            let bits = spread(key, *number);
            line.iter().enumerate().all(|(at_word, word)| word >> bit(bits, at_word) & 1 == 1)
        };
        (1..MANY).find(|number| !has(number)).unwrap_or(MANY)
    }

    fn line_of(&self, key: u64) -> usize {
        ((u128::from(key) * self.lines.len() as u128) >> 64) as usize
    }

    /// Its size on disk, in bytes.
    pub(super) fn byte_length(&self) -> u64 {
        (self.lines.len() * LINE_BYTES) as u64
    }

    /// Its bytes on disk, in pieces.
    pub(super) fn pieces(&self, piece_bytes: usize) -> impl Iterator<Item = Vec<u8>> {
        let bytes_of = |line: &Line| line.0.into_iter().flat_map(u64::to_le_bytes);
        self.lines
            .chunks((piece_bytes / LINE_BYTES).max(1))
            .map(move |some| some.iter().flat_map(bytes_of).collect())
    }

    /// Appends lines from disk.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        let line_of = |bytes: &[u8]| Line(std::array::from_fn(|at| super::block::u64_at(bytes, at * 8)));
        self.lines.extend(bytes.chunks_exact(LINE_BYTES).map(line_of));
    }
}

/// Hash bits that do not depend only on the bits that choose the line. They differ for each posting of a key.
fn spread(key: u64, number: u8) -> u64 {
    (key ^ key >> 32).wrapping_add(u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The bit in a word: each of the eight words uses six of the upper 48 bits.
fn bit(bits: u64, at_word: usize) -> u64 {
    bits >> (16 + 6 * at_word) & 63
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(count: u64, seed: u64) -> Vec<u64> {
        (0..count).map(|at| xxhash_rust::xxh3::xxh3_64_with_seed(&at.to_le_bytes(), seed)).collect()
    }

    fn held(filter: &Filter, keys: &[u64]) -> usize {
        keys.chunks(BATCH).map(|keys| filter.sift(keys, &mut [0; BATCH])).sum()
    }

    #[test]
    fn it_holds_all_that_was_inserted_and_little_else() {
        for count in [1, 100, 20_000] {
            let mut filter = Filter::new(count);
            let inserted = keys(count, 1);
            inserted.iter().for_each(|key| filter.insert(*key, 0));
            assert_eq!(held(&filter, &inserted), count as usize);
            assert!(held(&filter, &keys(20_000, 2)) < 400, "over 2 of 100 in vain");
            let more = inserted.iter().filter(|key| filter.most(**key) > 1).count();
            assert!(more <= count as usize / 50, "{more} of {count} with more than there are");
            let mut copy = Filter::default();
            filter.pieces(200).for_each(|piece| copy.extend(&piece));
            assert_eq!(copy.byte_length(), filter.byte_length());
            assert_eq!(held(&copy, &inserted), count as usize);
        }
    }

    #[test]
    fn a_key_never_has_more_postings_than_it_says() {
        let mut filter = Filter::new(4_000);
        let inserted = keys(1_000, 3);
        for (at, key) in inserted.iter().enumerate() {
            (0..=at as u8 % 7).for_each(|number| filter.insert(*key, number));
        }
        for (at, key) in inserted.iter().enumerate() {
            assert!(filter.most(*key) >= MANY.min(at as u8 % 7 + 1));
        }
    }
}
