//! The counters behind [`Rarity`], filled by many threads.
//!
//! A counter that two cores change moves from one cache to the other each time. So each core has a table, as far as memory
//! allows. Threads that share a table rarely compete, because each stripe has its own lock.

use std::sync::Mutex;

use onecopy_core::{Rarity, count, count_common, is_sampled};

use crate::batch::read::segment::{Row, Segment};
use crate::parallel::core;

/// The logarithm of the number of stripes.
const STRIPE_BITS: u32 = 3;

/// A part of the counters, and of those of the second table.
type Stripe = (Vec<u8>, Vec<u16>);

/// Counters that are being filled.
pub(crate) struct Counters {
    /// Tables of the same size, which are added in the end.
    tables: Vec<Vec<Mutex<Stripe>>>,
    bits: u32,
    /// Counts one page in this many.
    share: u32,
}

impl Counters {
    /// Creates some tables of `1 << bits` counters, which count one page in `share`.
    pub(crate) fn new(bits: u32, share: u32, tables: usize) -> Counters {
        // Each stripe has a counter of the second table, at least.
        let bits = bits.max(2 * STRIPE_BITS);
        let stripe = 1 << (bits - STRIPE_BITS);
        let empty = || (vec![0; stripe], vec![0; Rarity::common_of(stripe)]);
        let table = || (0..1 << STRIPE_BITS).map(|_| Mutex::new(empty())).collect();
        Counters { tables: (0..tables.max(1)).map(|_| table()).collect(), bits, share: share.max(1) }
    }

    /// Counts the shingles of each sketch in a segment.
    pub(crate) fn add(&self, segment: &Segment, sketches: &[u64]) {
        self.add_on(core(), segment, sketches);
    }

    /// Counts in the table of a core. Any table will do.
    fn add_on(&self, core: usize, segment: &Segment, sketches: &[u64]) {
        let mut ranges: Vec<(usize, usize, bool)> = Vec::with_capacity(segment.rows.len());
        // Pages are selected by fingerprint, so that their order makes no difference.
        let counted = |row: &&Row| row.sketch_size > 0 && (row.fingerprint as u32).is_multiple_of(self.share);
        let own = segment.rows.iter().filter(counted);
        ranges.extend(own.map(|row| {
            let start = row.sketch_start as usize;
            (
                start,
                start + row.sketch_size as usize,
                is_sampled(u64::from(row.fingerprint as u32 / self.share)),
            )
        }));
        let table = &self.tables[core % self.tables.len()];
        for step in 0..table.len() {
            // Cores with the same table begin at different stripes.
            let stripe = (core / self.tables.len() + step) % table.len();
            let first = stripe << (self.bits - STRIPE_BITS);
            let low = (stripe as u64) << (64 - STRIPE_BITS);
            let high = low | (u64::MAX >> STRIPE_BITS);
            let mut stripe = table[stripe].lock().expect("no thread panics with this lock");
            let (counters, common) = &mut *stripe;
            for &(start, end, is_sampled) in &ranges {
                let sketch = &sketches[start..end];
                let from = seek(sketch, low);
                let to = if high == u64::MAX { sketch.len() } else { seek(sketch, high + 1) };
                count(&sketch[from..to], self.bits, first, counters);
                if is_sampled {
                    count_common(&sketch[from..to], self.bits, first, common);
                }
            }
        }
    }

    /// The sum of all tables.
    pub(crate) fn finish(self) -> Rarity {
        let mut tables = self.tables.into_iter().map(whole);
        let (mut counters, mut common) = tables.next().expect("there is a table");
        for (more, more_common) in tables {
            counters.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
            common.iter_mut().zip(more_common).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
        if self.share > 1 {
            // If only some pages are counted, no shingle is known to be unique.
            counters.iter_mut().for_each(|counter| *counter = (*counter).max(2));
        }
        Rarity::new(counters).with_common(common)
    }
}

/// A table in one piece.
fn whole(table: Vec<Mutex<Stripe>>) -> Stripe {
    let stripes =
        table.into_iter().map(|stripe| stripe.into_inner().expect("no thread panics with this lock"));
    let (counters, common): (Vec<_>, Vec<_>) = stripes.unzip();
    (counters.concat(), common.concat())
}

/// The first position whose value is at least `low`. Hashes are uniform, so the search starts at the expected position.
fn seek(sorted: &[u64], low: u64) -> usize {
    let guess = ((u128::from(low) * sorted.len() as u128) >> 64) as usize;
    let (mut from, mut step) = (guess, 1);
    while from > 0 && sorted[from - 1] >= low {
        from = from.saturating_sub(step);
        step *= 2;
    }
    let (mut to, mut step) = (guess.max(from), 1);
    while to < sorted.len() && sorted[to] < low {
        to = (to + step).min(sorted.len());
        step *= 2;
    }
    from + sorted[from..to].partition_point(|&value| value < low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shingle_is_counted_once() {
        let sketch: Vec<u64> = (0..1_000u64).map(|n| n << 54).collect();
        let row = Row { sketch_size: 1_000, ..Default::default() };
        let short = Row { sketch_start: 10, sketch_size: 3, ..Default::default() };
        let segment = Segment { rows: vec![row, Row::default(), short], ..Default::default() };
        for tables in [1, 3] {
            let counters = Counters::new(10, 1, tables);
            (0..2 * tables).for_each(|core| counters.add_on(core, &segment, &sketch));
            let (rarity, times) = (counters.finish(), 2 * tables as u8);
            for (n, &shingle) in sketch.iter().enumerate() {
                assert_eq!(rarity.of(shingle), if (10..13).contains(&n) { 2 * times } else { times });
            }
        }
    }

    #[test]
    fn of_a_share_nothing_is_alone() {
        let sketch: Vec<u64> = (0..1_000u64).map(|n| n << 54).collect();
        let row = |fingerprint| Row { fingerprint, sketch_size: 1_000, ..Default::default() };
        let segment = Segment { rows: (0..12).map(row).collect(), ..Default::default() };
        let counters = Counters::new(10, 4, 1);
        counters.add(&segment, &sketch);
        let rarity = counters.finish();
        assert!(sketch.iter().all(|&shingle| rarity.of(shingle) == 3), "0, 4 and 8 of 12");
        assert_eq!(rarity.of(1_010 << 54), 2, "not counted, but somebody may have it");
    }

    #[test]
    fn seeking_equals_searching() {
        for values in [
            vec![],
            vec![5],
            (0..100).map(|n: u64| (n * n) << 50).collect(),
            vec![u64::MAX - 1; 40],
            vec![0; 40],
        ] {
            for low in [0, 1, 5, 6, 1 << 50, 1 << 60, 1 << 63, u64::MAX] {
                assert_eq!(seek(&values, low), values.partition_point(|&value| value < low), "{low}");
            }
        }
    }
}
