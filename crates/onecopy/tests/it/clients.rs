//! Clients that change pages over HTTP, each its own, and remember what was acknowledged.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::try_ask;
use crate::collection::{assert_as_batch, on, statuses};
use crate::pages::{Random, topic, write_file};
use crate::program::dedup;
use crate::results::json_lines;

/// The status code of a server that is stopping or cannot write.
const UNAVAILABLE: u16 = 503;
/// How long a client waits after it was refused.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);

/// The state of a page: the record that was put, `"dead"`, or null if it is unknown.
pub type State = Value;

/// The possible states of a page: the acknowledged one, or any requested since without an answer.
#[derive(Debug, Default)]
struct Memory {
    acknowledged: State,
    unsure: Vec<State>,
    /// All states that it may have had since [`Client::mark`].
    since_mark: Vec<State>,
}

/// A client and its expectations.
pub struct Client {
    number: u64,
    random: Random,
    names: u64,
    /// The time between two changes.
    pub pace: Duration,
    pages: BTreeMap<String, Memory>,
}

/// How a change ended.
enum Outcome {
    /// This many changes were acknowledged.
    Acknowledged(u64),
    Refused,
    /// The server is gone.
    Gone,
}

/// The changes of all clients of a server so far, and whether they should stop.
#[derive(Default)]
pub struct Shift {
    pub acknowledged: AtomicU64,
    pub refused: AtomicU64,
    pub is_over: AtomicBool,
}

impl Client {
    /// A client with so many names for pages, which works as fast as it can.
    pub fn new(number: u64, names: u64) -> Client {
        let random = Random::new(number + 1);
        Client { number, random, names, pace: Duration::ZERO, pages: BTreeMap::new() }
    }

    /// Draws other changes from now on.
    pub fn reseed(&mut self, seed: u64) {
        self.random = Random::new(seed);
    }

    /// A name; some need escapes in JSON and in addresses.
    fn name(&mut self) -> String {
        let (client, page) = (self.number, self.random.below(self.names));
        if page % 10 == 3 { format!("c{client}p{page} \"日/") } else { format!("c{client}p{page}") }
    }

    /// A version of a page: one of a few texts with some words replaced, as text, as HTML, or at the end of a template.
    fn record(&mut self, name: &str) -> State {
        let topics = self.names / 8;
        let mut words: Vec<String> =
            topic(&format!("t{}x", self.random.below(topics))).split(' ').map(str::to_owned).collect();
        for _ in 0..self.random.below(4) {
            let at = self.random.below(40) as usize;
            words[at] = format!("other{}", self.random.below(9));
        }
        let (text, popularity) = (words.join(" "), self.random.below(5));
        let url = format!("http://h{}.example/{}", self.number, self.random.below(self.names));
        let mut record = json!({"id": name, "url": url, "popularity": popularity});
        match self.random.below(40) {
            0 => record["text"] = json!(""),
            1 | 2 => record["redirect"] = json!(format!("http://h{}.example/{popularity}", self.number)),
            3..9 => {
                record["html"] = json!(format!("<ul><li><a href=/>home</a></ul><p>{text}.</p><p>{text}</p>"))
            }
            9..14 => record["text"] = json!(format!("{} {}", template(popularity), words[..4].join(" "))),
            _ => record["text"] = json!(text),
        }
        record
    }

    /// Changes pages until the server is gone or the shift is over.
    pub fn work(&mut self, server: &str, shift: &Shift) {
        while !shift.is_over.load(Ordering::Relaxed) {
            let outcome = match self.random.below(8) {
                0 => self.forget(server, "DELETE"),
                1 => self.forget(server, "POST"),
                2 | 3 => self.put_many(server),
                _ => self.put(server),
            };
            match outcome {
                Outcome::Acknowledged(count) => {
                    shift.acknowledged.fetch_add(count, Ordering::Relaxed);
                    std::thread::sleep(self.pace * count as u32);
                }
                Outcome::Refused => {
                    shift.refused.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(REFUSED_PAUSE);
                }
                Outcome::Gone => return,
            }
        }
    }

    fn put(&mut self, server: &str) -> Outcome {
        let name = self.name();
        let record = self.record(&name);
        self.ask_for(&name, record.clone());
        let line = self.written(&record);
        let answer = try_ask(server, ("POST", "/pages"), "application/json", &line);
        self.outcome(answer, &name, record)
    }

    /// A record as JSON, in one of the ways to write its characters.
    fn written(&mut self, record: &State) -> String {
        let line = record.to_string();
        if self.random.below(2) == 0 { line.replace('日', "\\u65e5").replace('/', "\\/") } else { line }
    }

    /// Sends a stream. Some lines may be answered before the end.
    fn put_many(&mut self, server: &str) -> Outcome {
        let mut records = BTreeMap::new();
        for _ in 0..1 + self.random.below(20) {
            let name = self.name();
            let record = self.record(&name);
            records.insert(name, record);
        }
        let mut lines = String::new();
        for (name, record) in &records {
            self.ask_for(name, record.clone());
            lines += &(self.written(record) + "\n");
        }
        let answer = try_ask(server, ("POST", "/pages?live=true"), "application/x-ndjson", &lines);
        let (code, body) = answer.unwrap_or_default();
        let answers = body.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let accepted: Vec<String> = answers
            .filter(|answer| answer["accepted"].is_u64())
            .filter_map(|answer| Some(answer["page"].as_str()?.to_owned()))
            .collect();
        let count = accepted.len() as u64;
        for name in accepted {
            self.acknowledge(&name, records[&name].clone());
        }
        match code {
            200 if count == records.len() as u64 => Outcome::Acknowledged(count),
            200 | UNAVAILABLE => Outcome::Refused,
            _ => Outcome::Gone,
        }
    }

    /// Deletes a page, or marks it as dead.
    fn forget(&mut self, server: &str, method: &str) -> Outcome {
        let name = self.name();
        let (path, body, state) = match method {
            "DELETE" => (format!("/pages?page={}", in_address(&name)), String::new(), Value::Null),
            _ => ("/pages/dead".to_owned(), json!({ "page": name }).to_string(), json!("dead")),
        };
        self.ask_for(&name, state.clone());
        let answer = try_ask(server, (method, &path), "application/json", &body);
        self.outcome(answer, &name, state)
    }

    fn outcome(&mut self, answer: Option<(u16, String)>, name: &str, state: State) -> Outcome {
        let Some((code, body)) = answer else { return Outcome::Gone };
        match code {
            202 => self.acknowledge(name, state),
            // The page did not exist.
            404 => self.acknowledge(name, Value::Null),
            UNAVAILABLE => return Outcome::Refused,
            _ => panic!("{code}: {body}"),
        }
        Outcome::Acknowledged(1)
    }

    fn ask_for(&mut self, name: &str, state: State) {
        let unknown = || Memory { since_mark: vec![Value::Null], ..Memory::default() };
        let memory = self.pages.entry(name.to_owned()).or_insert_with(unknown);
        memory.unsure.push(state.clone());
        memory.since_mark.push(state);
    }

    fn acknowledge(&mut self, name: &str, state: State) {
        let memory = self.pages.entry(name.to_owned()).or_default();
        (memory.acknowledged, memory.unsure) = (state, Vec::new());
    }

    /// Begins to remember every state of each page, for [`assert_since_mark`].
    pub fn mark(&mut self) {
        for memory in self.pages.values_mut() {
            memory.since_mark = memory.unsure.clone();
            memory.since_mark.push(memory.acknowledged.clone());
        }
    }

    /// A record that a page may have: that of the last change that may have been made, or the acknowledged one.
    pub fn known(&self, name: &str) -> Option<&State> {
        let memory = self.pages.get(name)?;
        memory.unsure.iter().rev().chain([&memory.acknowledged]).find(|state| state.is_object())
    }
}

/// A long text that many pages share.
fn template(number: u64) -> String {
    ["one", "two", "three"].map(|part| topic(&format!("{part}{number}x"))).join(" ")
}

/// A name as a parameter of an address.
pub fn in_address(name: &str) -> String {
    name.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

/// The state of every page of a collection that is settled. Leaves its records in `all.jsonl`.
fn states(folder: &Path) -> BTreeMap<String, State> {
    let export = folder.join("all.jsonl");
    on("export", folder).args("--status all --quiet --out").arg(&export).succeed();
    let records = json_lines(&export).into_iter().map(|record| (record["id"].clone(), record));
    let mut found: BTreeMap<String, State> =
        records.filter_map(|(id, record)| Some((id.as_str()?.to_owned(), record))).collect();
    for (name, status) in statuses(folder) {
        assert_eq!(status["settled"], true, "{status}");
        if status["status"] == "dead" {
            found.insert(name, json!("dead"));
        }
    }
    found
}

/// Asserts that the stored pages are those acknowledged.
pub fn assert_remembered(folder: &Path, clients: &[Client]) {
    assert_states(folder, clients, |memory, state| {
        *state == memory.acknowledged || memory.unsure.contains(state)
    });
}

/// Asserts that each page has a state that it had since [`Client::mark`].
pub fn assert_since_mark(folder: &Path, clients: &[Client]) {
    assert_states(folder, clients, |memory, state| memory.since_mark.contains(state));
}

fn assert_states(folder: &Path, clients: &[Client], is_right: impl Fn(&Memory, &State) -> bool) {
    let mut found = states(folder);
    for (name, memory) in clients.iter().flat_map(|client| &client.pages) {
        let state = found.remove(name).unwrap_or_default();
        assert!(is_right(memory, &state), "{name} is {state}, but {memory:?}");
    }
    assert!(found.is_empty(), "nobody put {found:?}");
}

/// Asserts that a batch run over the same pages gives the same answer. [`assert_remembered`] must come before.
pub fn assert_right(folder: &Path) {
    let dead = statuses(folder).into_iter().filter(|(_, status)| status["status"] == "dead");
    let dead: Vec<String> = dead.map(|(name, _)| name).collect();
    let lines = json_lines(&folder.join("all.jsonl")).into_iter();
    let alive = lines.filter(|record| record["id"].as_str().is_some_and(|id| !dead.iter().any(|d| d == id)));
    let input =
        write_file(folder, "alive.jsonl", alive.map(|record| format!("{record}\n")).collect::<String>());
    let out = folder.join("out");
    dedup(&input, &out).args("--quiet").succeed();
    assert_as_batch(folder, &out);
    std::fs::remove_dir_all(out).expect("results can be deleted");
}
