//! How operators handle the service: signals, tokens, monitoring, limits on files, and the log about them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::tempdir;

use crate::client::{
    Connection, Server, folder_with_token, serve, serve_in, serve_with_file_limit, write_token,
};
use crate::pages::topic;
use crate::program::onecopy;

const TOKEN: &str = "0123456789abcdef-token";
const OTHER: &str = "another-0123456789-token";
const READING: &str = "reading-0123456789-token";
const LIMIT: Duration = Duration::from_secs(60);

/// A page that takes much room in the log and little elsewhere.
fn bulky(id: usize) -> String {
    let mut state = id as u64 + 1;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((state >> 33) % 26) as u8)
    };
    let noise: String = (0..200_000).map(|_| draw()).collect();
    json!({"id": format!("p{id}"), "redirect": "http://a.example/", "noise": noise}).to_string()
}

/// Limits the size of files that a running server writes: a number of bytes, or `unlimited`.
pub fn limit_files(server: &Server, bytes: &str) {
    let (process, limit) = (server.process().to_string(), format!("--fsize={bytes}"));
    let raised = Command::new("prlimit").args(["--pid", &process, &limit]).status();
    assert!(raised.is_ok_and(|status| status.success()), "prlimit comes with every Linux system");
}

#[test]
fn a_log_that_cannot_be_written_is_an_error_until_it_can() {
    let mut server = serve_with_file_limit("", 8 << 10);
    let refused = (0..200).map(|id| server.post("/pages", &bulky(id))).find(|answer| answer.code != 202);
    refused.expect("the limit is reached").fails(503, "log-");
    server.get("/ready").fails(503, "log-");
    server.get("/health").with(200);
    let line = server.hear_of("failing");
    assert!(line.contains("log-"), "{line}");
    limit_files(&server, "unlimited");
    // Nobody puts a page, and the service still notices.
    server.wait_for("/ready", 200);
    server.hear_of("recovered");
    server.post("/pages", &bulky(1_000)).with(202);
    server.settle();
    let (_, folder) = server.end();
    onecopy(["check", "--data", "pages"]).within(folder.path()).succeed();
}

#[test]
fn failures_of_tier_2_are_in_the_log() {
    // The tables grow in large steps, so they reach the limit before the log does.
    let mut server = serve_with_file_limit("", 2 << 10);
    let put = |id: usize| {
        let record = json!({"id": format!("p{id}"), "text": topic(&format!("t{id}x"))}).to_string();
        server.post("/pages", &record).code
    };
    let begun = Instant::now();
    let is_refused = (0..20_000).any(|id| put(id) == 503 || begun.elapsed() > LIMIT);
    assert!(is_refused && begun.elapsed() < LIMIT, "the limit is not reached");
    server.hear_of("failing");
    limit_files(&server, "unlimited");
    server.wait_for("/ready", 200);
    server.hear_of("recovered");
}

#[test]
fn a_hangup_reads_the_tokens_again_and_ends_nothing() {
    let folder = folder_with_token(TOKEN);
    let (write, read) = (folder.path().join("token"), folder.path().join("read"));
    write_token(&read, READING);
    let mut server = serve_in(folder, "--token-file token --read-token-file read");
    let with = |server: &Server, method: &str, path: &str, token: &str| {
        server.ask(method, path, &[("Authorization", &format!("Bearer {token}"))], "").code
    };
    assert_eq!(with(&server, "GET", "/stats", READING), 200);
    assert_eq!(with(&server, "DELETE", "/pages?page=a", READING), 403);
    assert_eq!(with(&server, "DELETE", "/pages?page=a", TOKEN), 404);
    write_token(&write, OTHER);
    assert_eq!(with(&server, "GET", "/stats", OTHER), 401);
    server.send_signal("HUP");
    server.hear_of("read again");
    assert_eq!((with(&server, "GET", "/stats", OTHER), with(&server, "GET", "/stats", TOKEN)), (200, 401));
    // A file that is wrong changes nothing.
    write_token(&write, "short");
    server.send_signal("HUP");
    server.hear_of("stay as they were");
    assert_eq!(with(&server, "GET", "/stats", OTHER), 200);
}

#[test]
fn a_hangup_without_tokens_is_ignored() {
    let mut server = serve("");
    server.send_signal("HUP");
    server.hear_of("read again");
    server.get("/health").with(200);
}

#[test]
fn token_files_that_others_can_read_are_refused() {
    let folder = folder_with_token(TOKEN);
    let serve = |args: &str| onecopy(["serve", "--data", "pages"]).within(folder.path()).args(args);
    let token = folder.path().join("token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).expect("a mode");
    serve("--token-file token").fail(2).says(&["token", "chmod o="]);
    serve("--read-token-file token").fail(2).says(&["--token-file"]);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o640)).expect("a mode");
    serve("--token-file token --read-token-file token").fail(2).says(&["same token"]);
    assert!(!folder.path().join("pages").exists(), "a collection was begun");
}

#[test]
fn the_grace_also_limits_a_batch() {
    let server = serve_in(tempdir().expect("a folder"), "--grace 1 --queue 1G --threads 1");
    // Every page differs a little from most others, so they are compared for a long time.
    let text = |number: usize| {
        let mixed = |part: usize| (number * 64 + part + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let variant = |part: usize| usize::from(mixed(part) % 10 == 0);
        let words = |part: usize| (0..8).map(move |word| format!("w{part}x{}x{word} ", variant(part)));
        (0..60).flat_map(words).collect::<String>()
    };
    let lines: String = (0..4_000).map(|id| json!({"id": id, "text": text(id)}).to_string() + "\n").collect();
    let answer = server.ask("POST", "/pages", &[("Content-Type", "application/x-ndjson")], &lines);
    assert_eq!(answer.code, 200);
    // After the first batch, which is small, all other pages are one batch.
    let begun = Instant::now();
    while server.get("/stats").with(200)["settled"] == 0 && begun.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(5));
    }
    let waiting = server.get("/stats").with(200)["waiting"].as_u64().unwrap_or_default();
    let begun = Instant::now();
    let (finished, folder) = server.end();
    println!("{waiting} changes were waiting; the end took {:?}", begun.elapsed());
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    assert!(begun.elapsed() < Duration::from_secs(6), "it took {:?}", begun.elapsed());
    let again = serve_in(folder, "");
    assert_eq!(again.get("/stats").with(200)["accepted"], 4_000);
}

#[test]
fn monitoring_has_its_own_address() {
    let folder = folder_with_token(TOKEN);
    let server = serve_in(folder, "--token-file token --monitor-listen 127.0.0.1:0 --connections 1");
    let address = server.heard("monitoring").split("http://").nth(1).expect("an address").trim().to_owned();
    let ask = |method: &str, path: &str| {
        let mut connection = Connection::open(&address).expect("the address is there");
        connection.send_request(method, path, &[("Host", "node.example")], b"");
        connection.answer()
    };
    let mut held = server.connect();
    held.begin_chunks("/pages", "application/json");
    ask("GET", "/health").with(200);
    ask("GET", "/ready").with(200);
    assert!(ask("GET", "/metrics").text().contains("onecopy_ready 1"));
    for path in ["/stats", "/pages?page=a", "/", "/feed"] {
        ask("GET", path).fails(404, "path");
    }
    ask("DELETE", "/pages?page=a").fails(404, "path");
    drop(held);
    server.wait_for("/metrics", 401);
}
