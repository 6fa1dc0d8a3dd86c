//! How common shingles are, roughly. It decides which of a page's shingles are keys, never what is alike.

use xxhash_rust::xxh3::xxh3_64;

/// How often shingles occur, roughly: a fixed table of saturating counters, indexed by the leading bits of a shingle.
///
/// Two shingles may share a counter. That makes a shingle look more common than it is, never rarer, and costs speed
/// only. Tables of disjoint sets of pages can be merged, so that many machines count and one table results.
#[derive(Clone, Debug, PartialEq)]
pub struct Rarity {
    counters: Vec<u8>,
    shift: u32,
}

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
/// Magic, then the checksum of the counters.
const HEAD: usize = 16;
/// The most bits of a shingle that index a table: 16 GiB of counters.
const MOST_BITS: u32 = 34;

impl Rarity {
    /// A table from its counters. Their number must be a power of two.
    pub fn new(counters: Vec<u8>) -> Rarity {
        assert!(counters.len().is_power_of_two(), "counters are indexed by leading bits");
        Rarity { shift: 64 - counters.len().ilog2(), counters }
    }

    /// A table of `1 << bits` counters that has counted nothing. About a tenth as many counters as shingles are enough.
    pub fn empty(bits: u32) -> Rarity {
        assert!(bits <= MOST_BITS, "a table of 1 << {bits} counters");
        Rarity::new(vec![0; 1 << bits])
    }

    /// Counts a page with this sketch.
    pub fn count(&mut self, sketch: &[u64]) {
        count(sketch, 64 - self.shift, 0, &mut self.counters);
    }

    /// Adds the counts of another table of the same size, which counted other pages.
    pub fn merge(&mut self, other: &Rarity) -> Result<(), RarityError> {
        if self.counters.len() != other.counters.len() {
            return Err(RarityError::Sizes(self.counters.len(), other.counters.len()));
        }
        for (counter, more) in self.counters.iter_mut().zip(&other.counters) {
            *counter = counter.saturating_add(*more);
        }
        Ok(())
    }

    /// About how many pages hold `shingle`: 1 means exactly one, 255 means that many or more.
    #[inline]
    pub fn of(&self, shingle: u64) -> u8 {
        // A table of one counter would shift by 64 bits, which `checked_shr` turns into zero.
        self.counters[shingle.checked_shr(self.shift).unwrap_or(0) as usize]
    }

    /// A table in the same order that calls nothing the page's own. Keys by it stay right when pages are added that it
    /// has not counted.
    pub fn open(&self) -> Rarity {
        Rarity::new(self.counters.iter().map(|&count| count.max(2)).collect())
    }

    /// The table as bytes, the same on every machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.counters.len());
        bytes.extend(MAGIC);
        bytes.extend(xxh3_64(&self.counters).to_le_bytes());
        bytes.extend(&self.counters);
        bytes
    }

    /// The table that [`Rarity::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Rarity, RarityError> {
        let (head, counters) = bytes.split_at_checked(HEAD).ok_or(RarityError::Damaged)?;
        let is_whole = head[..8] == MAGIC
            && head[8..] == xxh3_64(counters).to_le_bytes()
            && counters.len().is_power_of_two();
        if is_whole { Ok(Rarity::new(counters.to_vec())) } else { Err(RarityError::Damaged) }
    }
}

/// Counts each of `shingles` once in `counters`, a piece of a table of `1 << bits` that starts at counter `first`.
/// Tables are counted piece by piece, so that threads need not share one.
pub fn count(shingles: &[u64], bits: u32, first: usize, counters: &mut [u8]) {
    for shingle in shingles {
        let slot = shingle.checked_shr(64 - bits).unwrap_or(0) as usize - first;
        counters[slot] = counters[slot].saturating_add(1);
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
        assert_eq!(merged.of(u64::MAX), 255, "counters do not run over");
        assert_eq!(merged.merge(&Rarity::empty(5)), Err(RarityError::Sizes(64, 32)));
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
