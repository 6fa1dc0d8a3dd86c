//! Updates of a server that is played, and their table.

use super::*;
use crate::service::played::play;
use crate::service::stream::Stream;

#[test]
fn updates_are_counted_as_the_server_counts_them() {
    let (address, played) = play();
    let (server, stream) = (Server::played(address), Stream::new(1, 100));
    let bench = Bench { server: &server, stream: &stream, pages: 100, connections: 2, seed: 1 };
    let probe = Probe { first: 1_000_000, pause: Duration::from_millis(1), most: 1_000 };
    let (updates, next) = bench.updates(5, Duration::from_millis(300), &probe).unwrap();
    let played = played.lock().unwrap();
    let (acknowledged, followed) = (updates.acknowledged.count, updates.settled.count);
    assert!(acknowledged > 10 && followed > 1, "{updates:?}");
    assert!(
        acknowledged + followed <= played.accepted && played.accepted <= acknowledged + followed + 1,
        "{updates:?}"
    );
    assert!(next - 5 >= acknowledged && updates.refused <= played.refused, "{updates:?}");
    assert!((updates.tier1_share - 0.5).abs() < 0.1 && updates.accepted_a_second > 30.0, "{updates:?}");
    assert!(updates.acknowledged.p50_ms <= updates.acknowledged.p99_ms, "{updates:?}");
}

