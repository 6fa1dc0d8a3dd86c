//! The counters behind [`Rarity`], filled by many threads. Each stripe has its own lock, so threads rarely compete.

use std::sync::Mutex;

use onecopy_core::{Rarity, count, count_common, is_sampled};

use crate::batch::read::segment::{Row, Segment};

/// The logarithm of the number of stripes.
const STRIPE_BITS: u32 = 3;

/// A part of the counters, and of those of the second table.
type Stripe = (Vec<u8>, Vec<u16>);

/// A table of counters that is being filled.
pub(crate) struct Counters {
    stripes: Vec<Mutex<Stripe>>,
    bits: u32,
    /// Counts one page in this many.
    share: u32,
}

impl Counters {
    /// Creates a table of `1 << bits` counters, which counts one page in `share`.
    pub(crate) fn new(bits: u32, share: u32) -> Counters {
        // Each stripe has a counter of the second table, at least.
        let bits = bits.max(2 * STRIPE_BITS);
        let stripe = 1 << (bits - STRIPE_BITS);
        let empty = || (vec![0; stripe], vec![0; Rarity::common_of(stripe)]);
        let stripes = (0..1 << STRIPE_BITS).map(|_| Mutex::new(empty())).collect();
        Counters { stripes, bits, share: share.max(1) }
    }

    /// Counts the shingles of each sketch in a segment. `turn` is the first stripe, so that threads visit the stripes
    /// in sequence.
    pub(crate) fn add(&self, segment: &Segment, sketches: &[u64], turn: usize) {
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
        let stripes = self.stripes.len();
        for step in 0..stripes {
            let stripe = (turn + step) % stripes;
            let first = stripe << (self.bits - STRIPE_BITS);
            let low = (stripe as u64) << (64 - STRIPE_BITS);
            let high = low | (u64::MAX >> STRIPE_BITS);
            let mut stripe = self.stripes[stripe].lock().expect("no thread panics with this lock");
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

    /// The full table.
    pub(crate) fn finish(self) -> Rarity {
        let stripes = self
            .stripes
            .into_iter()
            .map(|stripe| stripe.into_inner().expect("no thread panics with this lock"));
        let (counters, common): (Vec<_>, Vec<_>) = stripes.unzip();
        let (mut counters, common) = (counters.concat(), common.concat());
        if self.share > 1 {
            // If only some pages are counted, no shingle is known to be unique.
            counters.iter_mut().for_each(|counter| *counter = (*counter).max(2));
        }
        Rarity::new(counters).with_common(common)
    }
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
        let counters = Counters::new(10, 1);
        counters.add(&segment, &sketch, 7);
        let rarity = counters.finish();
        for (n, &shingle) in sketch.iter().enumerate() {
            assert_eq!(rarity.of(shingle), if (10..13).contains(&n) { 2 } else { 1 });
        }
    }

    #[test]
    fn of_a_share_nothing_is_alone() {
        let sketch: Vec<u64> = (0..1_000u64).map(|n| n << 54).collect();
        let row = |fingerprint| Row { fingerprint, sketch_size: 1_000, ..Default::default() };
        let segment = Segment { rows: (0..12).map(row).collect(), ..Default::default() };
        let counters = Counters::new(10, 4);
        counters.add(&segment, &sketch, 0);
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
