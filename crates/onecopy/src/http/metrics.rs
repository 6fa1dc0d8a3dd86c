//! Counts and durations of requests by route, in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use onecopy_engine::Stats;

use super::durations::Durations;
use super::routes::ROUTES;
use super::snapshots::SnapshotNumbers;

/// The content type of the text.
pub const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The status codes of the service. Others count as 500.
const CODES: [u16; 17] =
    [200, 202, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 429, 431, 500, 503, 505];

/// Counts since the start.
pub struct Metrics {
    /// By route; the last entry counts unknown paths.
    routes: Vec<Counts>,
    pub connections: ConnectionCounts,
    /// Open streams of lines or events.
    pub streams: AtomicU64,
    /// Accepted and refused lines of streams.
    pub lines_accepted: AtomicU64,
    /// See `lines_accepted`.
    pub lines_refused: AtomicU64,
    /// Requests refused because the client asked too often.
    pub rate_limited: AtomicU64,
    /// Lines of streams after which the client had to wait.
    pub lines_delayed: AtomicU64,
}

#[derive(Default)]
struct Counts {
    codes: [AtomicU64; CODES.len()],
    durations: Durations,
}

/// Counts of connections.
#[derive(Default)]
pub struct ConnectionCounts {
    /// Open connections.
    pub open: AtomicU64,
    /// Connections refused because too many were open.
    pub turned_away: AtomicU64,
    /// Idle connections closed to make room for others.
    pub made_room: AtomicU64,
}

impl ConnectionCounts {
    /// Appends the counts.
    pub fn write(&self, text: &mut String) {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        gauge(text, "http_connections", "Open connections.", load(&self.open));
        let turned = "Connections refused because too many were open.";
        counter(text, "http_connections_turned_away_total", turned, load(&self.turned_away));
        let closed = "Idle connections closed to make room for others.";
        counter(text, "http_connections_closed_idle_total", closed, load(&self.made_room));
    }
}

/// Counts something while it exists.
pub struct GaugeGuard<'a>(&'a AtomicU64);

impl<'a> GaugeGuard<'a> {
    /// Adds one until dropped.
    pub fn one(counter: &'a AtomicU64) -> GaugeGuard<'a> {
        counter.fetch_add(1, Ordering::Relaxed);
        GaugeGuard(counter)
    }
}

impl Drop for GaugeGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// All counts at zero.
    pub fn new() -> Metrics {
        Metrics {
            routes: (0..=ROUTES.len()).map(|_| Counts::default()).collect(),
            connections: ConnectionCounts::default(),
            streams: AtomicU64::new(0),
            lines_accepted: AtomicU64::new(0),
            lines_refused: AtomicU64::new(0),
            rate_limited: AtomicU64::new(0),
            lines_delayed: AtomicU64::new(0),
        }
    }

    /// Counts an answer. The duration of a stream ends when its answer begins.
    pub fn count(&self, route: Option<usize>, code: u16, took: Duration) {
        let counts = &self.routes[route.unwrap_or(ROUTES.len())];
        let code = CODES.iter().position(|&known| known == code);
        let fallback = CODES.iter().position(|&known| known == 500);
        if let Some(code) = code.or(fallback) {
            counts.codes[code].fetch_add(1, Ordering::Relaxed);
        }
        counts.durations.add(took);
    }

    /// All numbers as text.
    pub fn text(&self, stats: &Stats, is_ready: bool, lost_lines: u64) -> String {
        let mut text = String::with_capacity(16 << 10);
        collection(stats, &mut text);
        gauge(&mut text, "ready", "Whether the service accepts changes.", u64::from(is_ready) as f64);
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        self.connections.write(&mut text);
        gauge(&mut text, "http_streams", "Open streams.", load(&self.streams));
        let accepted = "Accepted lines of streams.";
        counter(&mut text, "http_lines_accepted_total", accepted, load(&self.lines_accepted));
        let refused = "Refused lines of streams.";
        counter(&mut text, "http_lines_refused_total", refused, load(&self.lines_refused));
        let limited = "Requests refused because the client asked too often.";
        counter(&mut text, "http_rate_limited_total", limited, load(&self.rate_limited));
        let delayed = "Lines of streams that were delayed because they came too fast.";
        counter(&mut text, "http_lines_delayed_total", delayed, load(&self.lines_delayed));
        let lost = "Log lines dropped because the log was read too slowly.";
        counter(&mut text, "log_lines_lost_total", lost, lost_lines as f64);
        self.requests(&mut text);
        self.durations(&mut text);
        text
    }

    fn requests(&self, text: &mut String) {
        head(text, "http_requests_total", "Requests by route and code.", "counter");
        for (counts, (method, path)) in self.routes.iter().zip(labels()) {
            for (count, code) in counts.codes.iter().zip(CODES) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let _ = writeln!(
                        text,
                        "onecopy_http_requests_total{{method=\"{method}\",route=\"{path}\",code=\"{code}\"}} {count}"
                    );
                }
            }
        }
    }

    fn durations(&self, text: &mut String) {
        let name = "http_request_duration_seconds";
        head(text, name, "Time until an answer began, by route.", "histogram");
        for (counts, (method, path)) in self.routes.iter().zip(labels()) {
            counts.durations.write(text, name, &format!("method=\"{method}\",route=\"{path}\""));
        }
    }
}

/// Method and path of each place in `Metrics::routes`.
fn labels() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|route| (route.method, route.path)).chain([("any", "none")])
}

/// The numbers of the engine.
fn collection(stats: &Stats, text: &mut String) {
    for (name, help, value) in [
        ("pages", "Pages in the collection.", stats.pages),
        ("pages_kept", "Kept pages.", stats.kept),
        ("pages_losers", "Removed pages.", stats.losers),
        ("pages_dead", "Dead pages.", stats.dead),
        ("pages_rejected", "Pages that cannot be judged.", stats.rejected),
        ("pages_quarantined", "Pages whose last change could not be settled.", stats.quarantined),
        ("groups", "Groups of two or more pages.", stats.groups),
        ("largest_group_pages", "Pages in the largest group.", stats.largest_group),
        ("waiting_changes", "Changes in the queue.", stats.waiting),
        ("waiting_bytes", "Bytes of the changes in the queue.", stats.waiting_bytes),
        ("accepted_number", "The number of the last accepted change.", stats.accepted),
        ("settled_number", "The number of the last settled change.", stats.settled),
        ("feed_number", "The last number of the feed.", stats.feed),
        (
            "feed_expiring_bytes",
            "Bytes of changes of deleted pages and of groups in the feed.",
            stats.feed_expiring_bytes,
        ),
        ("disk_bytes", "Bytes on disk.", stats.disk_bytes),
        (
            "replaced_orders",
            "Orders of keys that were lost, and replaced at the start.",
            stats.replaced_orders,
        ),
        (
            "scrubbed_timestamp_seconds",
            "The end of the last complete check of all checksums.",
            stats.scrubbed_at,
        ),
        (
            "damaged_files",
            "Damaged files and log segments that the last complete check found.",
            stats.damaged,
        ),
    ] {
        gauge(text, name, help, value as f64);
    }
    for (name, help, value) in [
        ("updates_total", "Pages put again.", stats.updates),
        (
            "updates_tier1_total",
            "Pages put again that Tier 1 could answer at once.",
            stats.updates_settled_by_tier1,
        ),
        ("compared_pages_total", "Compared pages.", stats.compared_pages),
        ("compared_pairs_total", "Compared pairs.", stats.compared_pairs),
        ("checked_total", "Requested checks of a loser against its winner.", stats.checked),
        ("checks_failed_total", "Checks that found a loser not similar to its winner.", stats.failed),
        ("repaired_groups_total", "Repaired groups.", stats.repaired),
        ("scrubs_total", "Complete checks of all checksums.", stats.scrubs),
    ] {
        counter(text, name, help, value as f64);
    }
}

/// The numbers of snapshots.
pub fn snapshots(numbers: &SnapshotNumbers, text: &mut String) {
    let SnapshotNumbers { running, made, failures, ended, took, bytes, .. } = numbers;
    gauge(text, "snapshot_running", "Whether a snapshot is being made.", f64::from(*running));
    gauge(text, "snapshot_timestamp_seconds", "The end of the last snapshot.", *ended as f64);
    gauge(text, "snapshot_duration_seconds", "The duration of the last snapshot.", took.as_secs_f64());
    gauge(text, "snapshot_bytes", "The bytes that the last snapshot wrote.", *bytes as f64);
    counter(text, "snapshots_total", "Snapshots made.", *made as f64);
    counter(text, "snapshots_failed_total", "Snapshots that failed.", *failures as f64);
}

/// Appends a number that can fall.
pub fn gauge(text: &mut String, name: &str, help: &str, value: f64) {
    head(text, name, help, "gauge");
    let _ = writeln!(text, "onecopy_{name} {value}");
}

/// Appends a number that only grows.
pub fn counter(text: &mut String, name: &str, help: &str, value: f64) {
    head(text, name, help, "counter");
    let _ = writeln!(text, "onecopy_{name} {value}");
}

/// Appends the description of a number.
pub fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(text, "# HELP onecopy_{name} {help}\n# TYPE onecopy_{name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_add_up() {
        let metrics = Metrics::new();
        for micros in [100, 250, 251, 20_000, 40_000_000] {
            metrics.count(Some(2), 200, Duration::from_micros(micros));
        }
        metrics.count(None, 418, Duration::ZERO);
        let text = metrics.text(&Stats::default(), true, 0);
        let labels = "{method=\"GET\",route=\"/pages\"";
        for line in [
            format!("onecopy_http_requests_total{labels},code=\"200\"}} 5"),
            format!("onecopy_http_request_duration_seconds_bucket{labels},le=\"0.00025\"}} 2"),
            format!("onecopy_http_request_duration_seconds_bucket{labels},le=\"0.02\"}} 4"),
            format!("onecopy_http_request_duration_seconds_bucket{labels},le=\"+Inf\"}} 5"),
            format!("onecopy_http_request_duration_seconds_count{labels}}} 5"),
            "onecopy_http_requests_total{method=\"any\",route=\"none\",code=\"500\"} 1".into(),
            "onecopy_ready 1".into(),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
