//! Kills or stops a service at any moment. After a restart every acknowledged change is present, and the collection is
//! consistent.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::client::{serve, serve_in, try_ask};
use crate::collection::{assert_as_batch, on, statuses};
use crate::pages::{Random, topic, write_file};
use crate::program::{dedup, onecopy};
use crate::results::json_lines;

/// Concurrent clients, each with its own pages.
const CLIENTS: u64 = 2;
/// Pages per client.
const PAGES: u64 = 40;

/// The status code of a server that is stopping.
const STOPPING: u16 = 503;

/// The state of a page: the record that was put, `"dead"`, or null if it is unknown.
type State = Value;

/// The possible states of a page: the acknowledged one, or any requested since without an answer.
#[derive(Debug, Default)]
struct Memory {
    acknowledged: State,
    unsure: Vec<State>,
}

/// A client and its expectations.
struct Client {
    number: u64,
    random: Random,
    pages: BTreeMap<String, Memory>,
}

impl Client {
    fn new(number: u64) -> Client {
        Client { number, random: Random::new(number + 1), pages: BTreeMap::new() }
    }

    fn name(&mut self) -> String {
        format!("c{}p{}", self.number, self.random.below(PAGES))
    }

    /// A version of a page: one of a few texts with some words replaced.
    fn record(&mut self, name: &str) -> State {
        let mut words: Vec<String> =
            topic(&format!("t{}x", self.random.below(5))).split(' ').map(str::to_owned).collect();
        for _ in 0..self.random.below(4) {
            let at = self.random.below(40) as usize;
            words[at] = format!("other{}", self.random.below(9));
        }
        json!({"id": name, "text": words.join(" "), "popularity": self.random.below(5)})
    }

    /// Changes pages until the server stops answering. Counts acknowledged changes.
    fn work(&mut self, server: &str, acknowledged: &AtomicU64) {
        loop {
            let done = match self.random.below(8) {
                0 => self.forget(server, "DELETE"),
                1 => self.forget(server, "POST"),
                2 | 3 => self.put_many(server),
                _ => self.put(server),
            };
            match done {
                Some(count) => acknowledged.fetch_add(count, Ordering::Relaxed),
                None => return,
            };
        }
    }

    fn put(&mut self, server: &str) -> Option<u64> {
        let name = self.name();
        let record = self.record(&name);
        self.ask_for(&name, record.clone());
        let (code, body) = try_ask(server, ("POST", "/pages"), "application/json", &record.to_string())?;
        match code {
            202 => Some(self.acknowledge(&name, record)),
            STOPPING => None,
            _ => panic!("{code}: {body}"),
        }
    }

    /// Sends a stream. Some lines may be answered before the end.
    fn put_many(&mut self, server: &str) -> Option<u64> {
        let mut records = BTreeMap::new();
        for _ in 0..1 + self.random.below(20) {
            let name = self.name();
            let record = self.record(&name);
            records.insert(name, record);
        }
        let lines: String = records.values().map(|record| format!("{record}\n")).collect();
        for (name, record) in &records {
            self.ask_for(name, record.clone());
        }
        let answer = try_ask(server, ("POST", "/pages?live=true"), "application/x-ndjson", &lines);
        let (code, body) = answer.unwrap_or_default();
        let answers = body.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let accepted: Vec<String> = answers
            .filter(|answer| answer["accepted"].is_u64())
            .filter_map(|answer| Some(answer["page"].as_str()?.to_owned()))
            .collect();
        let mut count = 0;
        for name in accepted {
            count += self.acknowledge(&name, records[&name].clone());
        }
        (code == 200 && count == records.len() as u64).then_some(count)
    }

    /// Deletes a page, or marks it as dead.
    fn forget(&mut self, server: &str, method: &str) -> Option<u64> {
        let name = self.name();
        let (path, body, state) = match method {
            "DELETE" => (format!("/pages?page={name}"), String::new(), Value::Null),
            _ => ("/pages/dead".to_owned(), json!({ "page": name }).to_string(), json!("dead")),
        };
        self.ask_for(&name, state.clone());
        let (code, body) = try_ask(server, (method, &path), "application/json", &body)?;
        match code {
            202 => Some(self.acknowledge(&name, state)),
            // The page did not exist.
            404 => Some(self.acknowledge(&name, Value::Null)),
            STOPPING => None,
            _ => panic!("{code}: {body}"),
        }
    }

    fn ask_for(&mut self, name: &str, state: State) {
        self.pages.entry(name.to_owned()).or_default().unsure.push(state);
    }

    fn acknowledge(&mut self, name: &str, state: State) -> u64 {
        self.pages.insert(name.to_owned(), Memory { acknowledged: state, unsure: Vec::new() });
        1
    }
}

/// Lets clients work until enough changes are acknowledged and some milliseconds have passed, then ends the server.
fn disturb(folder: TempDir, clients: &mut [Client], random: &mut Random, signal: &str) -> TempDir {
    let server = serve_in(folder, "");
    let acknowledged = AtomicU64::new(0);
    let (enough, pause_ms) = (random.below(150), random.below(12));
    std::thread::scope(|scope| {
        let (address, acknowledged) = (&server.address, &acknowledged);
        let work = |client| scope.spawn(move || Client::work(client, address, acknowledged));
        let working: Vec<_> = clients.iter_mut().map(work).collect();
        while acknowledged.load(Ordering::Relaxed) < enough {
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

/// Asserts that the stored pages are those acknowledged.
fn assert_remembered(folder: &TempDir, clients: &[Client]) {
    let export = folder.path().join("all.jsonl");
    on("export", folder.path()).args("--status all --quiet --out").arg(&export).succeed();
    let records = json_lines(&export).into_iter().map(|record| (record["id"].clone(), record));
    let mut found: BTreeMap<String, State> =
        records.filter_map(|(id, record)| Some((id.as_str()?.to_owned(), record))).collect();
    for (name, status) in statuses(folder.path()) {
        assert_eq!(status["settled"], true, "{status}");
        if status["status"] == "dead" {
            found.insert(name, json!("dead"));
        }
    }
    for (name, Memory { acknowledged, unsure }) in clients.iter().flat_map(|client| &client.pages) {
        let state = found.remove(name).unwrap_or_default();
        let is_right = state == *acknowledged || unsure.contains(&state);
        assert!(
            is_right,
            "{name} is {state}, and {acknowledged} was acknowledged, then {unsure:?} asked for"
        );
    }
    assert!(found.is_empty(), "nobody put {found:?}");
}

/// Asserts that the collection is consistent, and that a batch run over the same pages gives the same answer.
fn assert_right(folder: &TempDir) {
    on("check", folder.path()).succeed();
    let dead = statuses(folder.path()).into_iter().filter(|(_, status)| status["status"] == "dead");
    let dead: Vec<String> = dead.map(|(name, _)| name).collect();
    let lines = json_lines(&folder.path().join("all.jsonl")).into_iter();
    let alive = lines.filter(|record| record["id"].as_str().is_some_and(|id| !dead.iter().any(|d| d == id)));
    let input = write_file(
        folder.path(),
        "alive.jsonl",
        alive.map(|record| format!("{record}\n")).collect::<String>(),
    );
    let out = folder.path().join("out");
    dedup(&input, &out).args("--quiet").succeed();
    assert_as_batch(folder.path(), &out);
    fs::remove_dir_all(out).expect("results can be deleted");
}

fn many(usual: usize, long: usize) -> usize {
    if std::env::var_os("ONECOPY_LONG_TESTS").is_some() { long } else { usual }
}

#[test]
fn what_was_acknowledged_survives_any_kill() {
    let mut folder = tempdir().expect("a folder");
    let (mut random, mut clients) = (Random::new(77), Vec::from_iter((0..CLIENTS).map(Client::new)));
    for round in 1..=many(8, 300) {
        folder = disturb(folder, &mut clients, &mut random, "KILL");
        // Usually the next server recovers a killed one's collection, sometimes a command does.
        if round % 8 == 0 {
            assert_remembered(&folder, &clients);
            assert_right(&folder);
        }
    }
    let server = serve_in(folder, "");
    server.settle();
    let (_, folder) = server.end();
    assert_remembered(&folder, &clients);
    assert_right(&folder);
}

#[test]
fn what_was_acknowledged_is_there_after_an_end() {
    let mut folder = tempdir().expect("a folder");
    let (mut random, mut clients) = (Random::new(5), Vec::from_iter((0..CLIENTS).map(Client::new)));
    for _ in 0..many(3, 40) {
        folder = disturb(folder, &mut clients, &mut random, "TERM");
        assert_remembered(&folder, &clients);
    }
    assert_right(&folder);
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
    let server = serve("");
    for (id, name) in [("a", "one"), ("b", "one"), ("c", "other")] {
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
    assert!(told.contains("page \"c\"") && told.contains("deleted and put again"), "{told}");
    let export = folder.path().join("all.jsonl");
    let told = on("export", folder.path()).args("--status all --out").arg(&export).fail(1);
    told.says(&["page c is left out: ", "log-00000001 is damaged", "2 pages written"]);
    let ids: Vec<Value> = json_lines(&export).into_iter().map(|record| record["id"].clone()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(statuses(folder.path()).len(), 3);
}
