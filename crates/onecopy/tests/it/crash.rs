//! Kills or stops a service at any moment. After a restart every acknowledged change is present, and the collection is
//! consistent.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::client::{serve, serve_in};
use crate::clients::{Client, Shift, assert_remembered, assert_right};
use crate::collection::{on, statuses};
use crate::pages::{Random, topic};
use crate::program::onecopy;
use crate::results::json_lines;

/// Concurrent clients, each with its own pages.
const CLIENTS: u64 = 2;
/// Pages per client.
const PAGES: u64 = 40;

/// Lets clients work until enough changes are acknowledged and some milliseconds have passed, then ends the server.
fn disturb(folder: TempDir, clients: &mut [Client], random: &mut Random, signal: &str) -> TempDir {
    let server = serve_in(folder, "");
    let shift = Shift::default();
    let (enough, pause_ms) = (random.below(150), random.below(12));
    std::thread::scope(|scope| {
        let (address, shift) = (&server.address, &shift);
        let work = |client| scope.spawn(move || Client::work(client, address, shift));
        let working: Vec<_> = clients.iter_mut().map(work).collect();
        while shift.acknowledged.load(Ordering::Relaxed) < enough {
            assert!(working.iter().all(|client| !client.is_finished()), "nobody has ended the server yet");
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_millis(pause_ms));
        server.send_signal(signal);
    });
    let (finished, folder) = server.finish();
    assert_eq!(finished.was_killed(), signal == "KILL", "{}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    folder
}

/// Asserts that the collection is consistent, and that a batch run over the same pages gives the same answer.
fn assert_consistent(folder: &TempDir) {
    on("check", folder.path()).succeed();
    assert_right(folder.path());
}

fn many(usual: usize, long: usize) -> usize {
    if std::env::var_os("ONECOPY_LONG_TESTS").is_some() { long } else { usual }
}

#[test]
fn what_was_acknowledged_survives_any_kill() {
    let mut folder = tempdir().expect("a folder");
    let (mut random, mut clients) =
        (Random::new(77), Vec::from_iter((0..CLIENTS).map(|number| Client::new(number, PAGES))));
    for round in 1..=many(8, 300) {
        folder = disturb(folder, &mut clients, &mut random, "KILL");
        // Usually the next server recovers a killed one's collection, sometimes a command does.
        if round % 8 == 0 {
            assert_remembered(folder.path(), &clients);
            assert_consistent(&folder);
        }
    }
    let server = serve_in(folder, "");
    server.settle();
    let (_, folder) = server.end();
    assert_remembered(folder.path(), &clients);
    assert_consistent(&folder);
}

#[test]
fn what_was_acknowledged_is_there_after_an_end() {
    let mut folder = tempdir().expect("a folder");
    let (mut random, mut clients) =
        (Random::new(5), Vec::from_iter((0..CLIENTS).map(|number| Client::new(number, PAGES))));
    for _ in 0..many(3, 40) {
        folder = disturb(folder, &mut clients, &mut random, "TERM");
        assert_remembered(folder.path(), &clients);
    }
    assert_consistent(&folder);
}

#[test]
fn one_process_has_a_collection_at_a_time() {
    let server = serve("");
    server.post("/pages", &json!({"id": "a", "text": topic("one")}).to_string()).with(202);
    let data = server.data();
    let second = onecopy(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    second.fail(2).says(&["in use", "stop that first"]);
    onecopy(["groups", "1", "--repair", "--data"]).arg(&data).fail(2).says(&["in use", "over HTTP"]);
    server.settle();
    // Who only reads sees the collection as of this moment.
    let read = |command: &str| onecopy([command, "--data"]).arg(&data).succeed().stdout;
    assert!(read("export").contains(r#""id":"a""#));
    assert!(read("check").contains("being served"));
    for command in ["status", "groups"] {
        read(command);
    }
    let (_, folder) = server.end();
    on("check", folder.path()).succeed();
}

#[test]
fn a_damaged_page_is_named_and_the_others_are_exported() {
    let [a, b, c] = [("a", "one"), ("b", "one"), ("c", "other")];
    // The last one is damaged. `b` is an exact copy of `a`, so nobody compares its own version.
    for pages in [[a, b, c], [a, c, b]] {
        check_without_the_last(pages);
    }
}

fn check_without_the_last(pages: [(&str, &str); 3]) {
    let server = serve("");
    for (id, name) in pages {
        server.post("/pages", &json!({"id": id, "text": topic(name)}).to_string()).with(202);
    }
    server.settle();
    let (_, folder) = server.end();
    let log = folder.path().join("pages/log-00000001");
    let mut bytes = fs::read(&log).expect("the log");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&log, bytes).expect("the log can be written");
    let told = on("check", folder.path()).fail(1).stdout;
    assert!(told.contains("log-00000001 is damaged at byte"), "{told}");
    let damaged = pages[2].0;
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("deleted and put again")).collect();
    assert!(lines.len() == 1 && lines[0].contains(&format!("page \"{damaged}\"")), "{told}");
    let export = folder.path().join("all.jsonl");
    let told = on("export", folder.path()).args("--status all --out").arg(&export).fail(1);
    told.says(&[&format!("page {damaged} is left out: "), "log-00000001 is damaged", "2 pages written"]);
    let ids: Vec<Value> = json_lines(&export).into_iter().map(|record| record["id"].clone()).collect();
    assert_eq!(ids, [pages[0].0, pages[1].0]);
    assert_eq!(statuses(folder.path()).len(), 3);
}
