//! Tests updates against a simulated server, and their table.

use super::*;
use crate::service::stream::Stream;
use crate::service::tests::played::play;

fn changes(stream: &Stream, numbers: std::ops::Range<u64>) -> Changes {
    let folder = tempfile::tempdir().unwrap();
    let change = |number, out: &mut Vec<u8>| drop(stream.change(number, out));
    Changes::make(numbers, &folder.path().join("changes"), change).unwrap()
}

fn check(way: Way) {
    let (address, played) = play();
    let (server, stream) = (Server::played(address), Stream::new(1, 100));
    let bench = Bench { server: &server, stream: &stream, pages: 100, connections: 2, seed: 1, rate: None };
    let probe = Probe { numbers: 1_000_000..1_001_000, pause: Duration::from_millis(1) };
    let changes = changes(&stream, 5..3_000);
    let updates = bench.updates(way, &changes, Duration::from_millis(300), &probe).unwrap();
    let played = played.lock().unwrap();
    let (acknowledged, followed) = (updates.acknowledged.count, updates.settled.count);
    assert!(acknowledged > 10 && followed > 1, "{updates:?}");
    assert!(
        acknowledged + followed <= played.accepted && played.accepted <= acknowledged + followed + 1,
        "{updates:?}"
    );
    assert!(updates.refused <= played.refused + 10, "{updates:?}");
    assert!((updates.tier1_share - 0.5).abs() < 0.1 && updates.accepted_a_second > 30.0, "{updates:?}");
    assert!(updates.acknowledged.p50_ms <= updates.acknowledged.p99_ms, "{updates:?}");
    assert!(updates.seconds < 3.0 && updates.client_cpu_ms_a_change > 0.0, "{updates:?}");
}

#[test]
fn updates_are_counted_as_the_server_counts_them() {
    check(Way::Requests);
    check(Way::Streams { in_flight: 5 });
}

#[test]
fn lines_that_are_refused_are_sent_again_and_none_is_lost() {
    let (address, played) = play();
    let (server, stream) = (Server::played(address), Stream::new(1, 100));
    let changes = changes(&stream, 0..200);
    let pace = Pace::start(None);
    let shared = Shared { server: &server, changes: &changes, pace, refused: 0.into(), stop: false.into() };
    let took = streams::put_until(&shared, 7).unwrap();
    let played = played.lock().unwrap();
    assert_eq!((took.latency().count, played.accepted), (200, 200));
    let unanswered = shared.refused.into_inner() - played.refused;
    assert!(played.refused >= 3 && played.broken == 1, "{}", played.refused);
    assert!((1..=7).contains(&unanswered), "{unanswered}");
}

#[test]
fn updates_end_with_the_last_change() {
    let (address, _) = play();
    let (server, stream) = (Server::played(address), Stream::new(1, 100));
    let bench = Bench { server: &server, stream: &stream, pages: 100, connections: 1, seed: 1, rate: None };
    let probe = Probe { numbers: 0..0, pause: Duration::ZERO };
    for way in [Way::Requests, Way::Streams { in_flight: 2 }] {
        let changes = changes(&stream, 0..30);
        let updates = bench.updates(way, &changes, Duration::from_secs(600), &probe).unwrap();
        assert!(changes.is_over() && updates.seconds < 60.0, "{updates:?}");
    }
}

#[test]
fn the_ways_are_side_by_side() {
    let sample = |at, accepted: u64, settled: u64, cpu: f64| Sample {
        at,
        stats: Stats { waiting: accepted - settled, accepted, settled, ..Stats::default() },
        server_cpu: cpu,
        own_cpu: cpu / 10.0,
    };
    let at = Instant::now();
    let updates = |way, accepted: u64| {
        let end = sample(at + Duration::from_secs(2), 100 + accepted, 600, 3.0);
        let drained = sample(at + Duration::from_secs(5), 100 + accepted, 100 + accepted, 4.0);
        let measured = Measured { way, begin: sample(at, 100, 100, 1.0), end, drained, refused: 3 };
        measured.updates(&Histogram::default(), &Histogram::default())
    };
    let found = [updates(Way::Requests, 500), updates(Way::Streams { in_flight: 9 }, 4_000)];
    let text = table(&found, "fresh").markdown();
    let row = |name: &str| text.lines().find(|line| line.starts_with(&format!("| {name} "))).unwrap();
    let cells = |name: &str| row(name).split('|').skip(2).take(2).map(str::trim).collect::<Vec<_>>();
    assert_eq!(cells("fresh"), ["updates, one a request", "updates, as streams"]);
    assert_eq!(cells("accepted"), ["250/s", "2,000/s"]);
    assert_eq!(cells("settled"), ["250/s", "250/s"]);
    assert_eq!(cells("refused for a full queue"), ["3", "3"]);
    assert_eq!(cells("waiting at begin, end"), ["0, 0", "0, 3,500"]);
    assert_eq!(cells("waiting settled after"), ["3.0 s", "3.0 s"]);
    assert_eq!(cells("server's processor time a change"), ["6.000 ms", "0.750 ms"]);
    assert_eq!(cells("clients' processor time a change"), ["0.400 ms", "0.050 ms"]);
    assert_eq!(table(&found[1..], "fresh").aligned().lines().count(), text.lines().count() - 1);
}
