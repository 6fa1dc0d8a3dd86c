//! Clients that ask too often or send too slowly.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Answer, Server, folder_with_token, serve, serve_in, write_token};
use crate::pages::topic;

const WRITE: &str = "0123456789abcdef";
const READ: &str = "reading-0123456789";

fn ask(server: &Server, path: &str, token: &str) -> Answer {
    server.ask("GET", path, &[("Authorization", &format!("Bearer {token}"))], "")
}

#[test]
fn a_client_that_asks_too_often_is_told_to_wait() {
    let server = serve("--rate-limit 1/m --rate-burst 3");
    for _ in 0..2 {
        server.get("/stats").with(200);
    }
    server.post("/pages", &json!({"id": "a", "text": topic("a")}).to_string()).with(202);
    let refused = server.get("/stats");
    refused.with(429);
    let wait: u64 = refused.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("a time");
    assert!((1..=60).contains(&wait), "{wait} seconds");
    server.post("/pages", &json!({"id": "b", "text": topic("b")}).to_string()).fails(429, "often");
    server.get("/no-such-path").fails(429, "often");
    for _ in 0..5 {
        server.get("/health").with(200);
        server.get("/ready").with(200);
    }
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("\nonecopy_http_rate_limited_total 3\n"), "{metrics}");
}

#[test]
fn each_token_has_its_own_limit() {
    let folder = folder_with_token(WRITE);
    write_token(&folder.path().join("reading"), READ);
    let flags = "--token-file token --read-token-file reading --rate-limit 1/m --rate-burst 2";
    let server = serve_in(folder, flags);
    for _ in 0..2 {
        ask(&server, "/stats", WRITE).with(200);
    }
    ask(&server, "/stats", WRITE).fails(429, "often");
    ask(&server, "/stats", READ).with(200);
    // The address limits a client that guesses tokens.
    for _ in 0..2 {
        ask(&server, "/stats", "a-wrong-token-0123").fails(401, "token");
    }
    ask(&server, "/stats", "a-wrong-token-4567").fails(429, "often");
    ask(&server, "/stats", READ).with(200);
}

#[test]
fn a_stream_that_sends_too_fast_is_slowed_down() {
    let server = serve("--rate-limit 300/s --rate-burst 10");
    let page = |number| json!({"id": number, "text": topic(&format!("t{number}"))}).to_string() + "\n";
    let lines: String = (0..600).map(page).collect();
    let begun = Instant::now();
    let answer = server.ask("POST", "/pages", &[("Content-Type", "application/x-ndjson")], &lines);
    let answers: Vec<Value> = answer.lines();
    assert_eq!((answer.code, answers.len()), (200, 600));
    assert!(answers.iter().all(|answer| answer["accepted"].is_u64()));
    assert!(begun.elapsed() > Duration::from_secs(1), "it took only {:?}", begun.elapsed());
}

#[test]
fn a_body_that_dribbles_is_cut_off() {
    let server = serve("--idle 1 --min-body-rate 100");
    let mut bulk = server.connect();
    bulk.begin_chunks("/pages", "application/x-ndjson");
    let mut live = server.connect();
    live.begin_chunks("/pages?live=true", "application/x-ndjson");
    live.head();
    let begun = Instant::now();
    // Each pause is shorter than a client may pause.
    while begun.elapsed() < Duration::from_millis(2_500) {
        bulk.try_send_chunk(b"{");
        live.try_send_chunk(b"{");
        std::thread::sleep(Duration::from_millis(200));
    }
    let answer = bulk.answer();
    assert_eq!(answer.code, 408, "{}", answer.text());
    assert!(answer.text().contains("100 bytes per second"), "{}", answer.text());
    let told = String::from_utf8(live.chunk().expect("a last line")).expect("UTF-8");
    assert!(told.contains("100 bytes per second") && told.contains("\"complete\":false"), "{told}");
    // A body that comes fast enough may take longer.
    let mut fast = server.connect();
    fast.begin_chunks("/pages", "application/x-ndjson");
    for number in 0..8 {
        fast.send_chunk((json!({"id": number, "text": topic("fast")}).to_string() + "\n").as_bytes());
        std::thread::sleep(Duration::from_millis(250));
    }
    fast.send_chunk(b"");
    assert_eq!(fast.answer().code, 200);
}
