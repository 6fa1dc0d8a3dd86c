//! Measurements against a server that is played: every other page is settled only when it is looked up again.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::*;

/// What the played server knows.
#[derive(Default)]
struct Played {
    accepted: u64,
    settled: u64,
    refused: u64,
    unsettled: HashSet<String>,
}

impl Played {
    /// Status and body of an answer.
    fn answer(&mut self, request: &str, body: &[u8]) -> (u16, Value) {
        let name = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path.split_once('?') {
            None if path == "/stats" => (200, self.stats()),
            None if path == "/status" => {
                let asked: Value = serde_json::from_slice(body).unwrap();
                (200, json!({"pages": asked["pages"].as_array().unwrap().len()}))
            }
            // Now and then too much waits.
            None if path == "/pages" && self.accepted % 50 == 49 && self.refused < 3 => {
                self.refused += 1;
                (429, json!({"error": "full"}))
            }
            None if path == "/pages" => {
                self.accepted += 1;
                let settled = self.accepted.is_multiple_of(2);
                if settled {
                    self.settled = self.accepted;
                } else {
                    self.unsettled.insert(name(&serde_json::from_slice(body).unwrap()));
                }
                (202, json!({"accepted": self.accepted, "status": "unique", "settled": settled}))
            }
            Some(("/pages", query)) => {
                let waits = self.unsettled.remove(query.strip_prefix("page=").unwrap());
                (200, json!({"status": "unique", "settled": !waits}))
            }
            _ => (404, json!({})),
        }
    }

    fn stats(&self) -> Value {
        let waiting = self.accepted - self.settled;
        json!({"waiting": waiting, "accepted": self.accepted, "settled": self.settled, "updates": 2 * self.accepted / 3,
               "updates_settled_by_tier1": self.accepted / 3, "compared_pages": 0, "compared_pairs": 0})
    }
}

fn serve(stream: TcpStream, played: &Mutex<Played>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let (status, value) = played.lock().unwrap().answer(&first, &body);
        let text = value.to_string();
        write!(reader.get_mut(), "HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n{text}", text.len())?;
    }
}

fn play() -> (SocketAddr, Arc<Mutex<Played>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, played) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Played::default())));
    let shared = played.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let played = shared.clone();
            std::thread::spawn(move || serve(stream.unwrap(), &played));
        }
    });
    (address, played)
}

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

#[test]
fn look_ups_count_pages_not_requests() {
    let (address, _) = play();
    let (server, stream) = (Server::played(address), Stream::new(1, 100));
    let bench = Bench { server: &server, stream: &stream, pages: 100, connections: 2, seed: 1 };
    for (many, pages) in [(false, 1.0), (true, 100.0)] {
        let found = bench.lookups(Duration::from_millis(200), many).unwrap();
        let requests = found.latency.count as f64;
        let seconds = pages * requests / found.pages_a_second;
        assert!(requests > 2.0 && (0.2..2.0).contains(&seconds), "{found:?}");
    }
}
