//! Counts of the proxy, in the text format of Prometheus.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::http::durations::Durations;
use crate::http::metrics::{ConnectionCounts, counter, head};

/// What happened to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is not the answer to a search, or the client wanted it unchanged.
    Passed,
    /// Repeats were removed.
    Refined,
    /// It has no repeats.
    Unique,
    /// It has no hits at the path.
    NoHits,
    /// It is not JSON, or cannot be changed, and passed unchanged.
    Unparsed,
    /// It is too large, and passed unchanged.
    TooLarge,
    /// The proxy refused the request.
    Refused,
    /// The upstream failed: no connection, or half an answer.
    UpstreamFailed,
    /// The upstream took too long.
    UpstreamTimedOut,
}

const FATES: [(Fate, &str); 9] = [
    (Fate::Passed, "passed"),
    (Fate::Refined, "refined"),
    (Fate::Unique, "unique"),
    (Fate::NoHits, "no_hits"),
    (Fate::Unparsed, "unparsed"),
    (Fate::TooLarge, "too_large"),
    (Fate::Refused, "refused"),
    (Fate::UpstreamFailed, "upstream_failed"),
    (Fate::UpstreamTimedOut, "upstream_timed_out"),
];

/// Counts since the start.
#[derive(Default)]
pub struct ProxyMetrics {
    pub connections: ConnectionCounts,
    answers: [AtomicU64; FATES.len()],
    /// Passing bodies that broke off.
    pub broken: Arc<AtomicU64>,
    /// Hits of searches.
    pub hits: AtomicU64,
    /// Hits that repeat another.
    pub repeats: AtomicU64,
    /// Hits without a text or a tag.
    pub uncomparable: AtomicU64,
    /// Requests for further hits.
    pub further: AtomicU64,
    /// The time that the proxy itself took for answers to searches.
    pub own: Durations,
    /// The time until an answer began.
    pub whole: Durations,
}

impl ProxyMetrics {
    /// Counts an answer.
    pub fn count(&self, fate: Fate) {
        self.answers[fate as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// All numbers as text.
    pub fn text(&self, lost_lines: u64) -> String {
        let mut text = String::with_capacity(8 << 10);
        head(&mut text, "proxy_answers_total", "Answers by what happened to them.", "counter");
        for (count, (_, name)) in self.answers.iter().zip(FATES) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(text, "onecopy_proxy_answers_total{{fate=\"{name}\"}} {count}");
        }
        for (name, help, number) in [
            ("proxy_hits_total", "Hits of searches.", &self.hits),
            ("proxy_repeats_total", "Hits that repeat another.", &self.repeats),
            ("proxy_uncomparable_total", "Hits without a text or a tag.", &self.uncomparable),
            ("proxy_further_requests_total", "Requests for further hits.", &self.further),
            ("proxy_broken_bodies_total", "Passing bodies that broke off.", &*self.broken),
        ] {
            counter(&mut text, name, help, number.load(Ordering::Relaxed) as f64);
        }
        self.connections.write(&mut text);
        let lost = "Log lines dropped because the log was read too slowly.";
        counter(&mut text, "log_lines_lost_total", lost, lost_lines as f64);
        for (name, help, durations) in [
            ("proxy_duration_seconds", "Time until an answer began.", &self.whole),
            ("proxy_own_duration_seconds", "Time that the proxy itself took for a search.", &self.own),
        ] {
            head(&mut text, name, help, "histogram");
            durations.write(&mut text, name, "");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fates_are_counted_by_name() {
        for (place, (fate, _)) in FATES.iter().enumerate() {
            assert_eq!(*fate as usize, place);
        }
        let metrics = ProxyMetrics::default();
        metrics.count(Fate::Unparsed);
        metrics.own.add(std::time::Duration::from_micros(300));
        let text = metrics.text(0);
        for line in [
            "onecopy_proxy_answers_total{fate=\"unparsed\"} 1",
            "onecopy_proxy_own_duration_seconds_bucket{le=\"0.0005\"} 1",
            "onecopy_proxy_own_duration_seconds_count 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
