//! How common shingles are, roughly. It decides which of a page's shingles are keys, never what is alike.

use xxhash_rust::xxh3::xxh3_64;

/// How often shingles occur, roughly: a fixed table of saturating counters, indexed by the leading bits of a shingle.
///
/// A byte tells rare shingles apart. A second, smaller table tells common ones apart: without it all shingles of a
/// template would look alike, and the most common of them could become keys. It counts one page in 16.
///
/// Two shingles may share a counter. That makes a shingle look more common than it is, never rarer, and costs speed
/// only. Tables of disjoint sets of pages can be merged, so that many machines count and one table results.
#[derive(Clone, Debug, PartialEq)]
pub struct Rarity {
    counters: Vec<u8>,
    /// The second table; it may be empty.
    common: Vec<u16>,
    shift: u32,
}

/// How many counters share one of the second table, as a logarithm.
const SHARED_BITS: u32 = 3;
/// The second table counts one page in this many.
const SAMPLED: u64 = 16;
/// The second table distinguishes shingles in this many pages and more.
const COMMON: u8 = 200;

/// Why a table of rarity cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RarityError {
    /// Only tables of one size can be merged.
    #[error("tables of {0} and {1} counters cannot be merged: count with one number of bits")]
    Sizes(usize, usize),
    /// The bytes are no table, or are damaged.
    #[error("the bytes are no whole table of rarity: write it again")]
    Damaged,
}

/// The first bytes of a table: its name and its version.
const MAGIC: [u8; 8] = *b"ocrare\0\x01";
/// The same for a table with a second one.
const MAGIC_COMMON: [u8; 8] = *b"ocrare\0\x02";
/// Magic, then the checksum of the counters.
const HEAD: usize = 16;
/// The most bits of a shingle that index a table: 16 GiB of counters.
const MOST_BITS: u32 = 34;

impl Rarity {
    /// A table from its counters, without a second table. Their number must be a power of two.
    pub fn new(counters: Vec<u8>) -> Rarity {
        assert!(counters.len().is_power_of_two(), "counters are indexed by leading bits");
        Rarity { shift: 64 - counters.len().ilog2(), counters, common: Vec::new() }
    }

    /// This table with a second one. See [`Rarity::common_of`] for its size.
    pub fn with_common(self, common: Vec<u16>) -> Rarity {
        assert_eq!(common.len(), Rarity::common_of(self.counters.len()), "counters of the second table");
        Rarity { common, ..self }
    }

    /// How many counters the second table has, beside so many of the first.
    pub const fn common_of(counters: usize) -> usize {
        if counters < 1 << SHARED_BITS { 1 } else { counters >> SHARED_BITS }
    }

    /// A table of `1 << bits` counters that has counted nothing. About a tenth as many counters as shingles are enough.
    pub fn empty(bits: u32) -> Rarity {
        assert!(bits <= MOST_BITS, "a table of 1 << {bits} counters");
        Rarity::new(vec![0; 1 << bits]).with_common(vec![0; Rarity::common_of(1 << bits)])
    }

    /// Counts a page with this sketch.
    pub fn count(&mut self, sketch: &[u64]) {
        count(sketch, 64 - self.shift, 0, &mut self.counters);
        // Any choice of pages will do that depends on the page alone.
        let sum = sketch.iter().fold(0, |sum: u64, shingle| sum.wrapping_add(*shingle));
        if !self.common.is_empty() && is_sampled(sum) {
            count_common(sketch, 64 - self.shift, 0, &mut self.common);
        }
    }

    /// Adds the counts of another table of the same size, which counted other pages.
    pub fn merge(&mut self, other: &Rarity) -> Result<(), RarityError> {
        if self.counters.len() != other.counters.len() || self.common.len() != other.common.len() {
            return Err(RarityError::Sizes(self.counters.len(), other.counters.len()));
        }
        for (counter, more) in self.counters.iter_mut().zip(&other.counters) {
            *counter = counter.saturating_add(*more);
        }
        for (counter, more) in self.common.iter_mut().zip(&other.common) {
            *counter = counter.saturating_add(*more);
        }
        Ok(())
    }

    /// How common `shingle` is: up to 199 about how many pages hold it, where 1 means exactly one. Above, each step is
    /// about a fifth more pages.
    #[inline]
    pub fn of(&self, shingle: u64) -> u8 {
        // A table of one counter would shift by 64 bits, which `checked_shr` turns into zero.
        let slot = shingle.checked_shr(self.shift).unwrap_or(0) as usize;
        match self.counters[slot] {
            count if count < COMMON || self.common.is_empty() => count,
            _ => COMMON + step(self.common[slot >> SHARED_BITS]),
        }
    }

    /// A table in the same order that calls nothing the page's own. Keys by it stay right when pages are added that it
    /// has not counted.
    pub fn open(&self) -> Rarity {
        let counters = self.counters.iter().map(|&count| count.max(2)).collect();
        Rarity { common: self.common.clone(), ..Rarity::new(counters) }
    }

    /// The table as one of `1 << bits` counters would have counted, if this one has more.
    pub fn folded(&self, bits: u32) -> Rarity {
        let goal = 1 << bits.min(64 - self.shift);
        let folded = Rarity::new(sums(&self.counters, goal, u8::saturating_add));
        let common = if self.common.is_empty() { 0 } else { Rarity::common_of(goal) };
        Rarity { common: sums(&self.common, common, u16::saturating_add), ..folded }
    }

    /// The table as bytes, the same on every machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.counters.len() + 2 * self.common.len());
        bytes.extend(if self.common.is_empty() { MAGIC } else { MAGIC_COMMON });
        bytes.extend([0; 8]);
        bytes.extend(&self.counters);
        bytes.extend(self.common.iter().flat_map(|counter| counter.to_le_bytes()));
        let sum = xxh3_64(&bytes[HEAD..]).to_le_bytes();
        bytes[8..HEAD].copy_from_slice(&sum);
        bytes
    }

    /// The table that [`Rarity::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Rarity, RarityError> {
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or(RarityError::Damaged)?;
        let has_common = head[..8] == MAGIC_COMMON;
        let common = |counters: usize| if has_common { Rarity::common_of(counters) } else { 0 };
        let is_size = |bits: &u32| (1 << bits) + 2 * common(1 << bits) == rest.len();
        let bits = (0..=MOST_BITS).find(is_size).ok_or(RarityError::Damaged)?;
        if !has_common && head[..8] != MAGIC || head[8..] != xxh3_64(rest).to_le_bytes() {
            return Err(RarityError::Damaged);
        }
        let (counters, common) = rest.split_at(1 << bits);
        let common = common.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        Ok(Rarity { common, ..Rarity::new(counters.to_vec()) })
    }
}

/// So many sums of neighbours.
fn sums<T: Copy>(counters: &[T], goal: usize, add: impl Fn(T, T) -> T) -> Vec<T> {
    let together = counters.len() / goal.max(1);
    counters.chunks(together.max(1)).filter_map(|near| near.iter().copied().reduce(&add)).collect()
}

/// The place of a count on a scale with four steps for each doubling, up to 55.
fn step(count: u16) -> u8 {
    let count = u32::from(count.min((1 << 14) - 2)) + 1;
    let log = count.ilog2();
    // The two bits after the first.
    let quarter = ((count << 2) >> log) & 3;
    (4 * log + quarter) as u8
}

/// Whether the second table counts a page, by a number that pages spread evenly over.
pub fn is_sampled(page: u64) -> bool {
    page.is_multiple_of(SAMPLED)
}

/// Counts each of `shingles` once in `counters`, a piece of a table of `1 << bits` that starts at counter `first`.
/// Tables are counted piece by piece, so that threads need not share one.
pub fn count(shingles: &[u64], bits: u32, first: usize, counters: &mut [u8]) {
    for shingle in shingles {
        let slot = shingle.checked_shr(64 - bits).unwrap_or(0) as usize - first;
        counters[slot] = counters[slot].saturating_add(1);
    }
}

/// As [`count`], for the piece of the second table beside that piece of the first.
pub fn count_common(shingles: &[u64], bits: u32, first: usize, common: &mut [u16]) {
    let (bits, first) = (bits.saturating_sub(SHARED_BITS), first >> SHARED_BITS);
    for shingle in shingles {
        let slot = shingle.checked_shr(64 - bits).unwrap_or(0) as usize - first;
        common[slot] = common[slot].saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(pages: &[&[u64]]) -> Rarity {
        let mut rarity = Rarity::empty(6);
        pages.iter().for_each(|sketch| rarity.count(sketch));
        rarity
    }

    #[test]
    fn merged_tables_count_as_one() {
        let pages: Vec<Vec<u64>> = (0..300u64).map(|n| vec![n << 58, u64::MAX - (n % 7)]).collect();
        let all: Vec<&[u64]> = pages.iter().map(Vec::as_slice).collect();
        let mut merged = counted(&all[..100]);
        merged.merge(&counted(&all[100..])).unwrap();
        assert_eq!(merged, counted(&all));
        assert!(merged.of(u64::MAX) >= COMMON, "counters do not run over");
        assert_eq!(merged.merge(&Rarity::empty(5)), Err(RarityError::Sizes(64, 32)));
    }

    #[test]
    fn a_folded_table_counts_as_a_small_one() {
        let mut tables = [12, 6, 2].map(Rarity::empty);
        for page in 0..3_000u64 {
            let sketch = [page.wrapping_mul(0x9e37_79b9_7f4a_7c15), u64::MAX - (page % 7)];
            tables.iter_mut().for_each(|table| table.count(&sketch));
        }
        for (bits, small) in [(6, &tables[1]), (2, &tables[2]), (20, &tables[0])] {
            assert_eq!(&tables[0].folded(bits), small);
        }
    }

    #[test]
    fn an_open_table_has_keys_for_pages_to_come() {
        let sketch: Vec<u64> = (0..10).map(|n| n << 58).collect();
        let (rarity, mut keys) = (counted(&[&sketch]), Vec::new());
        crate::keys(&sketch, 0.8, &rarity, &mut Vec::new(), &mut keys);
        assert!(keys.is_empty(), "nobody shares them yet");
        crate::keys(&sketch, 0.8, &rarity.open(), &mut Vec::new(), &mut keys);
        assert_eq!(keys.len(), 3);
    }

    #[test]
    fn common_shingles_are_told_apart() {
        let (often, sometimes) = (u64::MAX, 1 << 60);
        let mut rarity = Rarity::empty(12);
        for page in 0..20_000u64 {
            let own = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 4;
            let some = if page % 10 == 0 { vec![own, sometimes, often] } else { vec![own, often] };
            rarity.count(&some);
        }
        let steps = rarity.of(often) - rarity.of(sometimes);
        assert!((10..=16).contains(&steps), "ten times as common are {steps} steps of a fifth");
        assert_eq!([0, 1, 2, 3, 4, 7, u16::MAX].map(step), [0, 4, 6, 8, 9, 12, 55]);
    }

    #[test]
    fn a_table_is_read_back_or_refused() {
        let rarity = counted(&[&[1, 1 << 60, u64::MAX]]);
        let bytes = rarity.to_bytes();
        assert_eq!(Rarity::from_bytes(&bytes), Ok(rarity));
        assert_eq!(Rarity::from_bytes(&Rarity::empty(0).to_bytes()), Ok(Rarity::empty(0)));
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            assert_eq!(Rarity::from_bytes(&damaged), Err(RarityError::Damaged), "byte {place}");
            assert_eq!(Rarity::from_bytes(&bytes[..place]), Err(RarityError::Damaged), "cut at {place}");
        }
    }
}
