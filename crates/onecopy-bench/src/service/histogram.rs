//! Counts latencies in buckets of growing width, so that a million of them take a few kilobytes.

use std::time::Duration;

use serde::Serialize;

/// Buckets per doubling: a value is known to within 1/64, which is 1.6 %.
const STEPS_BITS: u32 = 6;
const STEPS: u64 = 1 << STEPS_BITS;

/// Counts of durations in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max_ns: u64,
}

/// The summary of a histogram, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// The number of measurements.
    pub count: u64,
    /// The median.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The maximum.
    pub max_ms: f64,
}

impl Histogram {
    /// Adds a duration.
    pub fn add(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = bucket(nanoseconds);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.max_ns = self.max_ns.max(nanoseconds);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            *own += other;
        }
        self.total += other.total;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The value that a share of all durations does not exceed.
    fn quantile_ms(&self, share: f64) -> f64 {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper(bucket).min(self.max_ns) as f64 / 1e6;
            }
        }
        0.0
    }

    /// Its summary.
    pub fn latency(&self) -> Latency {
        Latency {
            count: self.total,
            p50_ms: self.quantile_ms(0.5),
            p99_ms: self.quantile_ms(0.99),
            max_ms: self.max_ns as f64 / 1e6,
        }
    }
}

fn bucket(value: u64) -> usize {
    if value < STEPS {
        return value as usize;
    }
    let shift = value.ilog2() - STEPS_BITS;
    ((u64::from(shift) * STEPS) + (value >> shift)) as usize
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    (((bucket % STEPS + STEPS) + 1) << shift).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bucket_that_is_little_larger() {
        for value in (0..5_000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX]) {
            let upper = upper(bucket(value));
            assert!(upper >= value && upper - value <= value / STEPS + 1, "{value}: {upper}");
            assert!(value == 0 || bucket(value) >= bucket(value - 1), "{value}");
        }
    }

    #[test]
    fn quantiles_of_a_thousand() {
        let (mut low, mut high) = (Histogram::default(), Histogram::default());
        for ms in 1..=1_000 {
            let part = if ms <= 500 { &mut low } else { &mut high };
            part.add(Duration::from_millis(ms));
        }
        low.merge(&high);
        let Latency { count, p50_ms, p99_ms, max_ms } = low.latency();
        assert_eq!((count, max_ms), (1_000, 1_000.0));
        assert!((500.0..509.0).contains(&p50_ms) && (990.0..=1_000.0).contains(&p99_ms), "{p50_ms} {p99_ms}");
        assert_eq!(Histogram::default().latency(), Latency::default());
    }
}
