//! Idle, slow and greedy clients do not keep the service from others.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Connection, Server, serve};
use crate::pages::topic;

/// Far less than a client would wait, and far more than an answer takes.
const SOON: Duration = Duration::from_secs(10);

fn page(id: &str) -> String {
    json!({"id": id, "text": topic(id)}).to_string()
}

/// Connections that send nothing.
fn idle(server: &Server, count: usize) -> Vec<Connection> {
    (0..count).map(|_| server.connect()).collect()
}

#[test]
fn idle_connections_make_room_for_others() {
    let server = serve("--connections 8");
    let mut held = idle(&server, 8);
    // Half of them have had an answer, and wait for the next request.
    for connection in &mut held[4..] {
        connection.send_request("GET", "/health", &[], b"");
        connection.answer().with(200);
    }
    let begun = Instant::now();
    server.get("/health").with(200);
    server.post("/pages", &page("a")).with(202);
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    // Those that waited longest made room: the last one is still served.
    held[7].send_request("GET", "/health", &[], b"");
    held[7].answer().with(200);
    assert!(server.get("/metrics").text().contains("onecopy_http_connections_closed_idle_total "));
}

#[test]
fn busy_connections_are_bounded_but_monitoring_is_answered() {
    let server = serve("--connections 2");
    let mut held = idle(&server, 2);
    for connection in &mut held {
        connection.begin_chunks("/pages?live=true", "application/x-ndjson");
        assert_eq!(connection.head().code, 200);
    }
    server.get("/stats").fails(503, "connections");
    server.get("/health").with(200);
    server.get("/ready").with(200);
    drop(held);
    let begun = Instant::now();
    while server.get("/stats").code != 200 {
        assert!(begun.elapsed() < SOON, "places are not given back");
    }
}

#[test]
fn slow_large_bodies_delay_nobody() {
    let server = serve("");
    let start = format!("{{\"id\": \"slow\", \"text\": \"{}", "word ".repeat(16_000));
    let mut slow = idle(&server, 80);
    for connection in &mut slow {
        connection.begin_chunks("/pages", "application/json");
        connection.send_chunk(start.as_bytes());
    }
    let large = json!({"id": "large", "text": topic("large"), "more": "x".repeat(1 << 20)}).to_string();
    let begun = Instant::now();
    server.post("/pages", &large).with(202);
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    for connection in &mut slow[..2] {
        connection.send_chunk(b"\"}");
        connection.send_chunk(b"");
        connection.answer().with(202);
    }
}

#[test]
fn dribbling_streams_delay_nobody() {
    let server = serve("");
    let mut slow = idle(&server, 80);
    for (number, connection) in slow.iter_mut().enumerate() {
        let path = if number % 2 == 0 { "/pages" } else { "/pages?live=true" };
        connection.begin_chunks(path, "application/x-ndjson");
        connection.send_chunk(b"{");
    }
    let begun = Instant::now();
    let lines = format!("{}\n{}", page("a"), page("b"));
    let answer = server.ask("POST", "/pages", &[("Content-Type", "application/x-ndjson")], &lines);
    assert_eq!((answer.code, answer.lines().len()), (200, 2));
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
}

#[test]
fn lines_longer_than_the_memory_for_bodies_pass_one_after_another() {
    let server = serve("--max-page 256M");
    let long = |id: &str| json!({"id": id, "redirect": "http://a.example/", "more": "x".repeat(60 << 20)});
    let lines: String = ["a", "b", "c"].map(|id| format!("{}\n", long(id))).concat();
    let begun = Instant::now();
    let answer = server.ask("POST", "/pages", &[("Content-Type", "application/x-ndjson")], &lines);
    assert_eq!((answer.code, answer.lines().len()), (200, 3));
    assert!(answer.lines().iter().all(|line| line["accepted"].is_u64()), "{}", answer.text());
    assert!(begun.elapsed() < Duration::from_secs(120), "it took {:?}", begun.elapsed());
}
