//! Durations by class, as Prometheus counts them.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the classes, in microseconds. The goal for nearly all requests is 20 ms.
const CLASSES: [u64; 13] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000, 30_000_000,
];

/// Counts of durations.
#[derive(Default)]
pub struct Durations {
    /// The last class has no upper bound.
    classes: [AtomicU64; CLASSES.len() + 1],
    microseconds: AtomicU64,
}

impl Durations {
    /// Counts a duration.
    pub fn add(&self, took: Duration) {
        let microseconds = took.as_micros() as u64;
        let class = CLASSES.partition_point(|&end| end < microseconds);
        self.classes[class].fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    /// Appends the lines of a histogram, if there are any durations.
    pub fn write(&self, text: &mut String, name: &str, labels: &str) {
        let classes: Vec<u64> = self.classes.iter().map(|class| class.load(Ordering::Relaxed)).collect();
        if classes.iter().sum::<u64>() == 0 {
            return;
        }
        let comma = if labels.is_empty() { "" } else { "," };
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let mut below = 0;
        for (count, end) in classes.iter().zip(CLASSES) {
            below += count;
            let end = end as f64 / 1e6;
            let _ = writeln!(text, "onecopy_{name}_bucket{{{labels}{comma}le=\"{end}\"}} {below}");
        }
        let all = below + classes[CLASSES.len()];
        let sum = self.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(text, "onecopy_{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {all}");
        let _ = writeln!(text, "onecopy_{name}_sum{braces} {sum}");
        let _ = writeln!(text, "onecopy_{name}_count{braces} {all}");
    }
}
