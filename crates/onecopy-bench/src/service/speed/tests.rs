//! Tests look-ups against a simulated server.

use super::*;
use crate::service::tests::played::play;

#[test]
fn look_ups_count_pages_not_requests() {
    let (address, _) = play();
    let (server, stream) = (Server::played(address), Stream::new(1, 100));
    let bench = Bench { server: &server, stream: &stream, pages: 100, connections: 2, seed: 1, rate: None };
    for (many, pages) in [(false, 1.0), (true, 100.0)] {
        let found = bench.lookups(Duration::from_millis(200), many).unwrap();
        let requests = found.latency.count as f64;
        let seconds = pages * requests / found.pages_a_second;
        assert!(requests > 2.0 && (0.2..2.0).contains(&seconds), "{found:?}");
    }
}
