//! Real engines behind the proxy: tantivy from PyPI, and Groonga if the machine has it.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::tempdir;

use super::{Proxy, proxy};
use crate::pages::{topic, write_file};
use crate::python::Python;

/// How long an engine may take to start.
const STARTING: Duration = Duration::from_secs(60);
const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
const STORIES: usize = 14;

/// A running engine. Dropping it kills it.
struct Engine(Child);

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Stories with up to three near-duplicates, which differ in a word at the end, and have the same words at the start.
fn pages() -> Vec<(String, String)> {
    let page = |story: usize, copy: usize| {
        let text = topic(&format!("s{story}x"));
        (format!("s{story}-{copy}"), format!("the river and the town {text} end{copy}"))
    };
    (0..STORIES).flat_map(|story| (0..=story % 4).map(move |copy| page(story, copy))).collect()
}

/// Searches with and without the proxy's work: each story comes once, in the engine's order, and hits are unchanged.
fn check(proxy: &Proxy, search: impl Fn(usize) -> String, hits: &str, id: &str) {
    let story = |hit: &Value| -> String {
        let id = hit.pointer(id).and_then(Value::as_str).expect("an id");
        id.split('-').next().expect("a story").to_owned()
    };
    let list = |answer: &Value| answer.pointer(hits).and_then(Value::as_array).expect("hits").clone();
    let all = proxy.ask("GET", &search(100), &[("X-Onecopy", "off")], "").with(200);
    let all = list(&all);
    assert_eq!(all.len(), pages().len(), "every page has the words");
    let mut seen = Vec::new();
    let is_first = |hit: &&Value| {
        let is_new = !seen.contains(&story(hit));
        seen.push(story(hit));
        is_new
    };
    let once: Vec<Value> = all.iter().filter(is_first).cloned().collect();
    assert_eq!(once.len(), STORIES);
    for size in [1, 5, 10, 100] {
        let refined = list(&proxy.get(&search(size)).with(200));
        assert_eq!(refined, once[..size.min(STORIES)], "{size} hits");
    }
}

#[test]
fn tantivy_shows_each_story_once() {
    let python = match Python::with(&["tantivy==0.27.0"], "tantivy") {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: tantivy cannot be installed: {reason}");
            return;
        }
    };
    let folder = tempdir().expect("a folder");
    let lines = pages()
        .iter()
        .map(|(id, text)| json!({"id": id, "text": text}).to_string() + "\n")
        .collect::<String>();
    let file = write_file(folder.path(), "pages.jsonl", lines);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/proxy/engine.py");
    let child = python.command().arg(script).arg(file).stdout(Stdio::piped()).spawn();
    let mut engine = Engine(child.expect("Python starts"));
    let mut port = String::new();
    let out = engine.0.stdout.take().expect("stdout is piped");
    BufReader::new(out).read_line(&mut port).expect("a port");
    let proxy = proxy(&format!("127.0.0.1:{}", port.trim()), "--preset elasticsearch");
    check(&proxy, |size| format!("/pages/_search?q=river+town&size={size}"), "/hits/hits", "/_id");
    let body = json!({"query": {"match": {"body": "river"}}, "size": 10}).to_string();
    let answer = proxy.ask("POST", "/pages/_search", &JSON, &body).with(200);
    assert_eq!(answer["hits"]["hits"].as_array().map(Vec::len), Some(10));
    assert_eq!(answer["hits"]["total"]["value"], pages().len());
    let packed = proxy.ask("GET", "/pages/_search?q=river", &[("Accept-Encoding", "gzip")], "");
    assert_eq!(
        (packed.header("content-encoding"), packed.header("x-onecopy").is_some()),
        (Some("gzip"), true)
    );
    proxy.get("/pages/_other").with(404);
}

#[test]
fn groonga_shows_each_story_once() {
    let path = Path::new("/usr/bin/groonga");
    if !path.is_file() {
        println!("skipped: groonga is not installed");
        return;
    }
    let folder = tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port().to_string();
    drop(listener);
    let mut command = Command::new(path);
    command.args(["--protocol", "http", "--bind-address", "127.0.0.1", "-s", "-n", "-p", &port]);
    let log = folder.path().join("log");
    command
        .arg("--log-path")
        .arg(log)
        .arg(folder.path().join("db"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _engine = Engine(command.spawn().expect("Groonga starts"));
    let begun = Instant::now();
    while TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
        assert!(begun.elapsed() < STARTING, "Groonga does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    let paths = "--search-path /d/select* --hits body.records --id 0 --text 1";
    let paging = "--start-param offset --size-param limit";
    let proxy = proxy(&format!("127.0.0.1:{port}"), &format!("--preset generic {paths} {paging}"));
    for command in [
        "table_create?name=Pages&flags=TABLE_HASH_KEY&key_type=ShortText",
        "column_create?table=Pages&name=body&type=Text",
        "table_create?name=Terms&flags=TABLE_PAT_KEY&key_type=ShortText&default_tokenizer=TokenBigram&normalizer=NormalizerAuto",
        "column_create?table=Terms&name=pages_body&flags=COLUMN_INDEX%7CWITH_POSITION&type=Pages&source=body",
    ] {
        assert_eq!(proxy.get(&format!("/d/{command}")).with(200)[1], true, "{command}");
    }
    let load: Vec<Value> = pages().iter().map(|(id, text)| json!({"_key": id, "body": text})).collect();
    let loaded = proxy.ask("POST", "/d/load?table=Pages", &JSON, &json!(load).to_string()).with(200);
    assert_eq!(loaded[1], pages().len());
    let columns = "output_columns=_key,body,_score&sort_keys=-_score,_key&command_version=3";
    let search =
        |size| format!("/d/select?table=Pages&match_columns=body&query=river&{columns}&limit={size}");
    check(&proxy, search, "/body/records", "/0");
    let answer = proxy.get(&search(10)).with(200);
    assert_eq!(answer["body"]["n_hits"], pages().len());
}
