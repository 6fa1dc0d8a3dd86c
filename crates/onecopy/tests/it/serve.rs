//! `serve`: every route, its errors, and how it stops.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::client::{Connection, Server, folder_with_token, serve, serve_in};
use crate::pages::topic;
use crate::program::onecopy;

const LINES: (&str, &str) = ("Content-Type", "application/x-ndjson");
const TOKEN: &str = "0123456789abcdef-token";

/// A page that wins over those with lower popularity.
fn page(id: &str, text: &str, popularity: u32) -> String {
    json!({"id": id, "text": text, "popularity": popularity}).to_string()
}

/// A server with a group of `a` and `b`, and `c` alone, all settled.
fn with_pages() -> Server {
    let server = serve("");
    let (one, other) = (topic("one"), topic("other"));
    for record in [page("a", &one, 9), page("b", &one, 1), page("c", &other, 1)] {
        server.post("/pages", &record).with(202);
    }
    server.settle();
    server
}

#[test]
fn a_page_is_put_and_its_status_known() {
    let server = serve("");
    let text = topic("one");
    let accepted = server.post("/pages", &page("a", &text, 9)).with(202);
    assert_eq!(accepted["page"], "a");
    assert_eq!(accepted["accepted"], 1);
    let numbered = server.post("/pages", &format!("{{\"id\": 17,\n\"text\": \"{text}\"\r\n}}")).with(202);
    assert_eq!((&numbered["page"], &numbered["accepted"]), (&json!(17), &json!(2)));
    server.settle();
    assert_eq!(server.get("/pages?page=a").with(200)["status"], "winner");
    let loser = server.get("/pages?page=17&verify=true").with(200);
    let expected = json!({"page": 17, "status": "loser", "winner": "a", "similarity": 1.0, "kind": "exact",
                          "group": loser["group"], "settled": true, "verified": true});
    assert_eq!(loser, expected);
    server.get("/pages?page=b").fails(404, "`b`");
}

#[test]
fn many_statuses_are_asked_at_once() {
    let server = with_pages();
    let found = server.post("/status", r#"{"pages": ["c", "x", 17, "b"], "verify": true}"#).with(200);
    let pages = found["pages"].as_array().expect("a list");
    assert_eq!(pages.len(), 4);
    assert_eq!((&pages[0]["page"], &pages[0]["status"]), (&json!("c"), &json!("unique")));
    assert_eq!(pages[1], json!({"page": "x", "status": "unknown"}));
    assert_eq!(pages[2], json!({"page": 17, "status": "unknown"}));
    assert_eq!((&pages[3]["winner"], &pages[3]["verified"]), (&json!("a"), &json!(true)));
    let names: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
    let most = json!({ "pages": names }).to_string();
    assert_eq!(server.post("/status", &most).with(200)["pages"].as_array().map(Vec::len), Some(10_000));
    let names = [names, vec!["a".into()]].concat();
    let more = json!({ "pages": names }).to_string();
    server.post("/status", &more).fails(400, "more than 10000 pages");
}

#[test]
fn pages_die_and_are_forgotten() {
    let server = with_pages();
    assert_eq!(server.post("/pages/dead", r#"{"page": "a"}"#).with(202)["page"], "a");
    assert_eq!(server.ask("DELETE", "/pages?page=c", &[], "").with(202)["page"], "c");
    server.settle();
    assert_eq!(server.get("/pages?page=a").with(200)["status"], "dead");
    server.get("/pages?page=c").fails(404, "`c`");
    server.ask("DELETE", "/pages?page=c", &[], "").fails(404, "`c`");
    server.post("/pages/dead", r#"{"page": 5}"#).fails(404, "`5`");
}

#[test]
fn groups_are_listed_shown_and_repaired() {
    let server = with_pages();
    let listed = server.get("/groups").with(200);
    let groups = listed["groups"].as_array().expect("a list");
    assert_eq!(groups.len(), 1, "{listed}");
    assert_eq!(
        (&groups[0]["winner"], &groups[0]["pages"], &groups[0]["kept"]),
        (&json!("a"), &json!(2), &json!(1))
    );
    let number = groups[0]["group"].as_u64().expect("a number");
    let shown = server.get(&format!("/groups/{number}")).with(200);
    let members: Vec<&Value> =
        shown["members"].as_array().expect("a list").iter().map(|page| &page["page"]).collect();
    assert_eq!(members, ["a", "b"]);
    let repaired = server.ask("POST", &format!("/groups/{number}/repair"), &[], "").with(200);
    assert_eq!(repaired, json!({"group": number, "changed": 0}));
    for (query, found) in [("search=b", 1), ("search=zz", 0), ("least=3", 0), ("limit=1", 1)] {
        let listed = server.get(&format!("/groups?{query}")).with(200);
        assert_eq!(listed["groups"].as_array().map(Vec::len), Some(found), "{query}");
    }
    assert_eq!(server.get(&format!("/groups?after={number}")).with(200)["groups"], json!([]));
    assert_eq!(server.get("/groups?limit=1").with(200)["next"], json!(number));
    server.get("/groups/999999").fails(404, "999999");
    server.ask("POST", "/groups/999999/repair", &[], "").fails(404, "999999");
    server.get("/groups/first").fails(400, "number");
}

#[test]
fn a_question_keeps_nothing() {
    let server = with_pages();
    let before = server.get("/stats").with(200)["pages"].clone();
    let answer = server.post("/query", &page("q", &topic("one"), 1)).with(200);
    assert_eq!(answer["page"], "q");
    assert!(answer["alike"].is_array(), "{answer}");
    assert_eq!(server.get("/stats").with(200)["pages"], before);
    server.get("/pages?page=q").fails(404, "`q`");
}

#[test]
fn the_feed_is_read_by_number_and_waited_for() {
    let server = with_pages();
    let all = server.get("/feed").lines();
    let numbers: Vec<u64> = all.iter().filter_map(|change| change["sequence"].as_u64()).collect();
    assert!(numbers.len() >= 3 && numbers.is_sorted_by(|a, b| a < b), "{all:?}");
    let first = server.get("/feed?limit=1");
    assert_eq!(first.lines(), all[..1]);
    let cursor = first.header("onecopy-cursor").expect("a cursor");
    assert_eq!(server.get(&format!("/feed?after={cursor}&limit=1")).lines(), all[1..2]);
    let last = numbers[numbers.len() - 1];
    assert_eq!(server.get(&format!("/feed?after={last}")).text(), "");
    let other = format!("0123456789abcdef-{last}");
    server.get(&format!("/feed?after={other}")).fails(410, "another collection");
    server.get(&format!("/feed?after={}", last + 1)).fails(410, "the feed ends at number");
    assert!(cursor.starts_with(server.get("/stats").json()["collection"].as_str().expect("a name")));
    let mut waiting = server.connect();
    waiting.send_request("GET", &format!("/feed?after={last}&wait=15"), &[], b"");
    std::thread::sleep(Duration::from_millis(50));
    let begun = Instant::now();
    server.post("/pages", &page("d", &topic("third"), 1)).with(202);
    let news = waiting.answer().lines();
    assert_eq!((&news[0]["page"], &news[0]["sequence"]), (&json!("d"), &json!(last + 1)));
    assert!(begun.elapsed() < Duration::from_secs(10), "it waited to the end");
}

#[test]
fn the_feed_is_a_stream_of_events() {
    let server = with_pages();
    let mut events = server.connect();
    let id = server.get("/stats").json()["collection"].as_str().expect("a name").to_owned();
    let numbers: Vec<u64> =
        server.get("/feed").lines().iter().filter_map(|change| change["sequence"].as_u64()).collect();
    let seen = format!("{id}-{}", numbers[1]);
    let headers = [("Accept", "text/event-stream"), ("Last-Event-ID", &*seen)];
    events.send_request("GET", "/feed?after=0", &headers, b"");
    assert_eq!(events.head().header("content-type"), Some("text/event-stream"));
    let mut heard = String::new();
    let mut hear = |words: &str| {
        while !heard.contains(words) {
            heard += &String::from_utf8(events.chunk().expect("more events")).expect("UTF-8");
        }
        heard.clone()
    };
    let next = format!("id: {id}-{}\nevent: change\ndata: {{\"sequence\":{},", numbers[2], numbers[2]);
    assert!(!hear(&next).contains(&format!("id: {seen}\n")));
    server.post("/pages", &page("d", &topic("third"), 1)).with(202);
    hear("\"page\":\"d\"");
    let wrong = [("Accept", "text/event-stream"), ("Last-Event-ID", "x")];
    server.ask("GET", "/feed", &wrong, "").fails(400, "Last-Event-ID");
}

#[test]
fn a_stream_is_answered_line_by_line() {
    let server = serve("--max-page 4K");
    let text = |number: usize| topic(&format!("t{number}x"));
    let mut lines: Vec<String> =
        (0..700).map(|number| page(&format!("p{number}"), &text(number % 50), 1)).collect();
    lines[3] = "not JSON".into();
    lines[5] = page("long", &"word ".repeat(1_000), 1);
    lines[7] = String::new();
    let answer = server.ask("POST", "/pages", &[LINES], &lines.join("\n"));
    assert_eq!(answer.code, 200);
    let answers = answer.lines();
    assert_eq!(answers.len(), 699);
    let numbers = answers.iter().filter_map(|answer| answer["line"].as_u64());
    assert!(numbers.eq((1..=700).filter(|&number| number != 8)), "an answer is missing or out of order");
    for (at, words) in [(3, "JSON"), (5, "4096 bytes")] {
        assert!(answers[at]["error"].as_str().is_some_and(|error| error.contains(words)), "{}", answers[at]);
    }
    assert_eq!((&answers[698]["page"], &answers[698]["accepted"]), (&json!("p699"), &json!(697)));
    let refused = server.ask("POST", "/pages?answers=refused", &[LINES], &lines.join("\n")).lines();
    assert_eq!(refused.len(), 3);
    assert_eq!(refused[2], json!({"accepted_lines": 697, "refused_lines": 2, "complete": true}));
}

#[test]
fn packed_bodies_are_unpacked_within_the_limits() {
    let server = serve("--max-page 64K");
    let ask = |coding: &str, kind: &str, body: &str| {
        let packed = match coding {
            "zstd" => zstd::stream::encode_all(body.as_bytes(), 1).expect("memory is a good writer"),
            _ => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(body.as_bytes()).expect("memory is a good writer");
                encoder.finish().expect("memory is a good writer")
            }
        };
        let mut connection = server.connect();
        let headers = [("Content-Type", kind), ("Content-Encoding", coding)];
        connection.send_request("POST", "/pages", &headers, &packed);
        let whole = connection.answer();
        // The same without its end.
        let mut connection = server.connect();
        connection.send_request("POST", "/pages", &headers, &packed[..packed.len() - 1]);
        let answer = connection.answer();
        assert!(answer.code == 400 || answer.code == 413, "{}", answer.text());
        whole
    };
    for coding in ["gzip", "zstd"] {
        ask(coding, "application/json", &page(coding, &topic("one"), 1)).with(202);
        ask(coding, "application/json", &page("long", &"word ".repeat(1 << 20), 1)).fails(413, "65536 bytes");
        let lines = (0..300).map(|id| page(&format!("{coding}{id}"), &topic(&format!("t{id}x")), 1));
        let lines = lines.chain([page("long", &"word ".repeat(1 << 20), 1)]).collect::<Vec<_>>().join("\n");
        let answers = ask(coding, LINES.1, &lines).lines();
        assert_eq!((answers.len(), &answers[300]["code"]), (301, &json!(413)));
        assert!(answers[..300].iter().all(|answer| answer["accepted"].is_u64()));
    }
}

#[test]
fn a_stream_may_wait_for_each_answer() {
    let server = serve("");
    let mut stream = server.connect();
    stream.begin_chunks("/pages?live=true", "application/x-ndjson");
    assert_eq!(stream.head().code, 200);
    for number in 1..=3 {
        let line = page(&format!("p{number}"), &topic(&format!("t{number}x")), 1);
        stream.send_chunk(&line.as_bytes()[..10]);
        stream.send_chunk(&[&line.as_bytes()[10..], b"\n"].concat());
        let answer: Value = serde_json::from_slice(&stream.chunk().expect("an answer")).expect("JSON");
        assert_eq!((&answer["line"], &answer["accepted"]), (&json!(number), &json!(number)));
    }
    stream.send_chunk(b"");
    let last: Value = serde_json::from_slice(&stream.chunk().expect("a last line")).expect("JSON");
    assert_eq!(last, json!({"accepted_lines": 3, "refused_lines": 0, "complete": true}));
    assert_eq!(stream.chunk(), None);
}

#[test]
fn a_full_queue_refuses_single_pages_and_slows_streams_down() {
    let server = serve("--queue 1");
    let mut connection = server.connect();
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..5_000 {
        let record = page(&format!("s{number}"), &topic(&format!("t{number}x")), 1);
        connection.send_request("POST", "/pages", &[("Content-Type", "application/json")], record.as_bytes());
        let answer = connection.answer();
        match answer.code {
            202 => accepted += 1,
            _ => {
                assert!(answer.with(429)["remedy"].as_str().is_some_and(|remedy| remedy.contains("again")));
                assert_eq!(answer.header("retry-after"), Some("1"));
                refused += 1;
                // The queue empties when the service gets to it.
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        if accepted > 2 && refused > 2 {
            break;
        }
    }
    assert!(accepted > 2 && refused > 2, "{accepted} accepted, {refused} refused");
    let lines: Vec<String> =
        (0..900).map(|number| page(&format!("p{number}"), &topic(&format!("u{number}x")), 1)).collect();
    let answers = server.ask("POST", "/pages", &[LINES], &lines.join("\n")).lines();
    assert!(answers.len() == 900 && answers.iter().all(|answer| answer["accepted"].is_u64()));
    server.settle();
    assert_eq!(server.get("/stats").with(200)["settled"], accepted + 900);
}

#[test]
fn puts_at_the_same_time_are_all_accepted() {
    let server = serve("--log json");
    let put = |client: usize, mut connection: Connection| {
        let mut numbers = Vec::new();
        for number in 0..40 {
            let record = page(&format!("{client}-{number}"), &topic(&format!("t{number}x")), 1);
            connection.send_request(
                "POST",
                "/pages",
                &[("Content-Type", "application/json")],
                record.as_bytes(),
            );
            numbers.push(connection.answer().with(202)["accepted"].as_u64().expect("a number"));
        }
        assert!(numbers.is_sorted(), "{numbers:?}");
        numbers
    };
    let numbers: HashSet<u64> = std::thread::scope(|scope| {
        let start = |client| {
            let connection = server.connect();
            scope.spawn(move || put(client, connection))
        };
        let clients: Vec<_> = (0..8).map(start).collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    assert_eq!(numbers, (1..=320).collect());
    assert_eq!(server.get("/stats").with(200)["accepted"], 320);
}

#[test]
fn the_service_speaks_of_itself() {
    let server = with_pages();
    assert_eq!(server.get("/health").with(200)["status"], "alive");
    assert_eq!(server.get("/ready").with(200)["ready"], true);
    let stats = server.get("/stats").with(200);
    assert_eq!((&stats["pages"], &stats["kept"], &stats["groups"]), (&json!(3), &json!(2), &json!(1)));
    let document = server.get("/openapi.json").with(200);
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let index = server.get("/").text();
    for path in document["paths"].as_object().expect("paths").keys() {
        assert!(index.contains(path.as_str()), "{path} is not in {index}");
    }
    let mut connection = server.connect();
    connection.send_request("HEAD", "/health", &[("Connection", "close")], b"");
    assert_eq!(connection.head().code, 200);
    assert_eq!(connection.rest(), "");
    let metrics = server.get("/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = metrics.text();
    let puts = "onecopy_http_requests_total{method=\"POST\",route=\"/pages\",code=\"202\"} 3";
    for line in [puts, "onecopy_pages 3", "onecopy_ready 1", "onecopy_http_streams 0"] {
        assert!(text.lines().any(|found| found == line), "`{line}` is not in {text}");
    }
}

#[test]
fn wrong_requests_are_told_what_is_wrong() {
    let server = serve("--max-page 1K");
    server.get("/page").fails(404, "path");
    server.get("/pages?page=").fails(400, "`page`");
    server.get("/pages?page=a&verfiy=true").fails(400, "`verfiy`");
    server.get("/pages?page=a&verify=1").fails(400, "`verify`");
    server.get("/pages?page=a&page=b").fails(400, "twice");
    server.get("/feed?wait=61").fails(400, "`wait`");
    server.get("/feed?after=-1").fails(400, "`after`");
    server.get("/stats?x").fails(400, "`x`");
    server.post("/pages", "").fails(400, "");
    server.post("/pages", "[1]").fails(400, "");
    server.post("/pages", "{\"id\": \"a\n\"}").fails(400, "JSON");
    server.post("/pages?x=1", "{}").fails(400, "`x`");
    server.post("/pages?answers=some", "{}").fails(400, "`answers`");
    server.post("/pages/dead", r#"{"page": null}"#).fails(400, "`null`");
    server.post("/status", r#"{"pages": "a"}"#).fails(400, "list");
    server.post("/status", r#"{"pages": [], "sure": true}"#).fails(400, "`sure`");
    server.ask("POST", "/pages", &[], "{}").fails(415, "application/json");
    server.ask("POST", "/pages", &[("Content-Type", "text/plain")], "{}").fails(415, "application/json");
    let packed = |coding| [("Content-Type", "application/json"), ("Content-Encoding", coding)];
    server.ask("POST", "/pages", &packed("br"), "{}").fails(415, "encoding");
    server.ask("POST", "/pages", &packed("gzip"), "{}").fails(400, "unpacked");
    let other = server.ask("PUT", "/pages", &[], "");
    other.fails(405, "method");
    assert_eq!(other.header("allow"), Some("POST, GET, HEAD, DELETE"));
    assert_eq!(server.ask("GET", "/", &[("X-Long", &"x".repeat(100_000))], "").code, 431);
}

#[test]
fn what_is_too_long_is_refused_and_the_answer_is_heard() {
    let server = serve("--max-page 64K");
    let long = page("a", &"word ".repeat(1_600_000), 1);
    server.post("/pages", &long).fails(413, "65536 bytes");
    server.post("/query", &long).fails(413, "65536 bytes");
    let mut chunked = server.connect();
    chunked.begin_chunks("/pages", "application/json");
    // Many clients read no answer before everything is sent, and none if sending fails.
    let sent = long.as_bytes().chunks(50_000).all(|chunk| chunked.try_send_chunk(chunk));
    assert!(sent && chunked.try_send_chunk(b""), "the server hung up");
    chunked.answer().fails(413, "65536 bytes");
    server.post("/status", &format!("{{\"pages\": [\"{}\"]}}", "x".repeat(5 << 20))).fails(413, "bytes");
    // The longest allowed page.
    let longest = page("a", &"x".repeat((64 << 10) - page("a", "", 1).len()), 1);
    assert_ne!(server.post("/pages", &longest).code, 413);
}

#[test]
fn no_web_page_is_answered_without_a_token() {
    let server = serve("");
    let asked = |headers: &[(&str, &str)]| server.ask("GET", "/stats", headers, "");
    asked(&[("Host", "evil.example")]).fails(403, "host");
    asked(&[("Host", &format!("evil.example:{}", server.address.split(':').nth(1).expect("a port")))])
        .fails(403, "host");
    asked(&[("Origin", "http://evil.example")]).fails(403, "web pages");
    asked(&[("Origin", "null")]).fails(403, "web pages");
    asked(&[("Sec-Fetch-Site", "cross-site")]).fails(403, "web pages");
    asked(&[("Host", "localhost"), ("Origin", "http://localhost")]).with(200);
    let answer = asked(&[]);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let preflight = [("Origin", "http://evil.example"), ("Access-Control-Request-Method", "POST")];
    server.ask("OPTIONS", "/pages", &preflight, "").fails(403, "web pages");
}

#[test]
fn a_token_is_asked_for() {
    let server = serve_in(folder_with_token(TOKEN), "--token-file token");
    let with =
        |token: &str| server.ask("GET", "/stats", &[("Authorization", token), ("Host", "a.example")], "");
    let none = server.get("/stats");
    none.fails(401, "token");
    assert_eq!(none.header("www-authenticate"), Some("Bearer"));
    with(&format!("Bearer {TOKEN}x")).fails(401, "token");
    with(&format!("Basic {TOKEN}")).fails(401, "token");
    with(&format!("Bearer {TOKEN}")).with(200);
    server.post("/pages", "{}").fails(401, "token");
    server.get("/no-such-path").fails(401, "token");
    server.get("/health").with(200);
}

#[test]
fn other_machines_are_answered_only_with_a_good_token() {
    let folder = folder_with_token("short");
    let serve = |args: &str| onecopy(["serve", "--data", "pages"]).within(folder.path()).args(args);
    serve("--listen 0.0.0.0:0").fail(2).says(&["0.0.0.0:0", "--token-file"]);
    serve("--listen nowhere").fail(2).says(&["`nowhere`", "127.0.0.1:7171"]);
    serve("--token-file token").fail(2).says(&["token", "16"]);
    serve("--token-file none").fail(1).says(&["none"]);
    assert!(!folder.path().join("pages").exists(), "a collection was begun");
}

#[test]
fn slow_clients_are_cut_off() {
    let server = serve("--idle 1");
    let mut silent = server.connect();
    let mut half_a_head = server.connect();
    half_a_head.send(b"GET / HTTP/1.1\r\nHost: lo");
    let mut half_a_body = server.connect();
    half_a_body.begin_chunks("/pages", "application/json");
    half_a_body.send_chunk(b"{");
    let mut half_a_line = server.connect();
    half_a_line.begin_chunks("/pages", "application/x-ndjson");
    half_a_line.send_chunk(b"not JSON\n{");
    half_a_body.answer().fails(408, "1 seconds");
    let answer = half_a_line.answer();
    assert_eq!(answer.code, 408, "lines are missing");
    let lines = answer.lines();
    assert_eq!((&lines[0]["line"], &lines[1]["line"]), (&json!(1), &json!(2)));
    assert!(lines[1]["error"].as_str().is_some_and(|error| error.contains("1 seconds")), "{lines:?}");
    assert_eq!((silent.rest().as_str(), half_a_head.rest().as_str()), ("", ""));
    server.get("/health").with(200);
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let server = serve("--idle 1");
    let mut greedy = server.connect();
    greedy.begin_chunks("/pages?live=true", "application/x-ndjson");
    let lines = "x\n".repeat(100_000);
    // It sends without end and never reads, so at some point the server stops reading and hangs up.
    let begun = Instant::now();
    while greedy.try_send_chunk(lines.as_bytes()) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it is still served");
    }
    server.get("/health").with(200);
}

#[test]
fn an_end_lets_requests_finish_and_closes_streams() {
    let server = with_pages();
    let mut events = server.connect();
    events.send_request("GET", "/feed", &[("Accept", "text/event-stream")], b"");
    events.head();
    let mut poll = server.connect();
    let last = server.get("/stats").json()["feed"].to_string();
    poll.send_request("GET", &format!("/feed?after={last}&wait=60"), &[], b"");
    let mut stream = server.connect();
    stream.begin_chunks("/pages?live=true", "application/x-ndjson");
    let last = page("last", &topic("ninth"), 1);
    stream.send_chunk((last + "\n").as_bytes());
    stream.head();
    stream.chunk();
    let mut bulk = server.connect();
    bulk.begin_chunks("/pages", "application/x-ndjson");
    bulk.send_chunk((page("bulk", &topic("tenth"), 1) + "\n{").as_bytes());
    std::thread::sleep(Duration::from_millis(100));
    server.signal();
    let begun = Instant::now();
    while events.chunk().is_some() {}
    // It ends with what came meanwhile.
    let polled = poll.answer();
    assert_eq!(polled.code, 200, "{}", polled.text());
    let told = String::from_utf8(stream.chunk().expect("a last line")).expect("UTF-8");
    assert!(told.contains("shutting down"), "{told}");
    let last = json!({"accepted_lines": 1, "refused_lines": 0, "complete": false});
    assert_eq!(told.lines().last().and_then(|line| serde_json::from_str(line).ok()), Some(last), "{told}");
    assert_eq!(stream.chunk(), None);
    let cut_off = bulk.answer();
    assert_eq!((cut_off.code, cut_off.lines().len()), (503, 2), "{}", cut_off.text());
    assert_eq!(cut_off.lines()[0]["page"], "bulk");
    let (finished, folder) = server.finish();
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    assert!(begun.elapsed() < Duration::from_secs(8), "it took {:?}", begun.elapsed());
    finished.says(&["all requests were answered"]);
    let again = serve_in(folder, "");
    again.settle();
    assert_eq!(again.get("/pages?page=last").with(200)["status"], "unique");
    assert_eq!(again.get("/pages?page=b").with(200)["winner"], "a");
}

#[test]
fn an_end_does_not_wait_for_ever() {
    let server = serve("--grace 1");
    let mut held = server.connect();
    held.begin_chunks("/pages", "application/json");
    held.send_chunk(b"{");
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    let (finished, _) = server.end();
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    assert!(begun.elapsed() < Duration::from_secs(8), "it took {:?}", begun.elapsed());
    finished.says(&["cut off"]);
}

#[test]
fn a_log_for_programs_is_json() {
    let mut server = serve("--log json");
    server.get("/stats?x");
    let line = server.hear_of("/stats");
    let line: Value = serde_json::from_str(&line).expect("a line of JSON");
    let known = (&line["event"], &line["method"], &line["path"], &line["code"]);
    assert_eq!(known, (&json!("request"), &json!("GET"), &json!("/stats"), &json!(400)));
    assert!(line["error"].as_str().is_some_and(|error| error.contains("`x`")), "{line}");
    assert!(
        line["ms"].is_number() && line["time"].as_str().is_some_and(|time| time.ends_with('Z')),
        "{line}"
    );
    let (finished, _) = server.end();
    assert!(
        finished.stderr.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{}",
        finished.stderr
    );
}

#[test]
fn what_to_try_first_is_printed() {
    let server = serve("");
    let address = format!("http://{}", server.address);
    let (finished, _) = server.end();
    for words in [&format!("curl {address}/pages"), &format!("curl '{address}/pages?page=a'"), "event-stream"]
    {
        assert!(finished.stdout.contains(words), "`{words}` is not in {}", finished.stdout);
    }
}

#[test]
fn quiet_says_only_what_is_our_fault() {
    let folder = tempdir().expect("a folder");
    let call =
        onecopy(["serve", "--data", "pages", "--listen", "127.0.0.1:0", "--quiet"]).within(folder.path());
    let mut running = call.start();
    // Signal handlers are installed before the collection is created.
    let begun = Instant::now();
    while !folder.path().join("pages").exists() {
        assert!(begun.elapsed() < Duration::from_secs(10), "no collection is begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal("INT");
    assert!(running.ends_within(Duration::from_secs(10)), "it goes on");
    let finished = running.finish();
    assert_eq!((finished.code(), finished.stdout.as_str(), finished.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn help_names_every_default_and_the_risks() {
    let help = onecopy(["serve", "--help"]).succeed().stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "[default: 127.0.0.1:7171]",
        "[default: 64M]",
        "[default: 0.08]",
        "[default: 4M]",
        "[default: auto]",
        "Examples: onecopy serve --data",
        "--token-file",
        "no TLS",
    ] {
        assert!(help.contains(words), "`{words}` is not in: {help}");
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let server = serve("");
    let folder = tempdir().expect("a folder");
    let second = onecopy(["serve", "--data", "pages", "--listen", &server.address]).within(folder.path());
    second.fail(1).says(&[&server.address, "--listen"]);
    assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none(), "a collection was begun");
}

/// One service gives all answers: no client sees the mistakes of another.
#[test]
fn rubbish_costs_nothing_but_itself() {
    let server = serve("");
    for rubbish in [
        &b"\0\0\0\0"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /pages HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /pages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut connection = server.connect();
        connection.send(rubbish);
        let heard = connection.rest();
        assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 4"), "{rubbish:?}: {heard}");
    }
    let mut gone = server.connect();
    gone.send_request(
        "POST",
        "/pages",
        &[("Content-Type", "application/json"), ("Content-Length", "99")],
        b"{",
    );
    drop(gone);
    server.get("/health").with(200);
}
