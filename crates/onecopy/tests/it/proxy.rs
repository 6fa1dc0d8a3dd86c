//! `proxy`: answers of a search engine without repeats, and all else unchanged.

mod engines; // real engines behind the proxy
mod faults; //  engines that fail, and clients that may not call
mod shapes; //  the requests and answers of the engines that have a preset
mod upstream; // an engine that says what a test wants

use std::io::Write as _;

use serde_json::{Value, json};

use self::upstream::{Act, Upstream, answer, json as json_answer};
use crate::client::{Answer, Connection};
use crate::pages::topic;
use crate::program::{Running, onecopy};

/// A running proxy.
struct Proxy {
    running: Running,
    address: String,
    /// The address for monitoring.
    monitor: String,
}

/// Starts a proxy in front of an engine.
fn proxy(upstream: &str, args: &str) -> Proxy {
    let call = onecopy(["proxy", "--listen", "127.0.0.1:0", "--monitor-listen", "127.0.0.1:0"]);
    started(call.args(&format!("--upstream http://{upstream} {args}")).start())
}

/// A proxy that says where it listens.
fn started(mut running: Running) -> Proxy {
    let address = |line: String| {
        let address = line.split("http://").nth(1).expect("an address").to_owned();
        address.trim_end_matches(['"', '}', ' ']).to_owned()
    };
    let monitor = address(running.hear_of("monitoring"));
    let address = address(running.hear_of("listening"));
    Proxy { running, address, monitor }
}

impl Proxy {
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut connection = self.connect();
        connection.send_request(method, path, headers, body.as_bytes());
        connection.answer()
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    fn connect(&self) -> Connection {
        Connection::open(&self.address).expect("the proxy listens")
    }

    /// A number of the monitoring.
    fn number(&self, name: &str) -> u64 {
        let mut connection = Connection::open(&self.monitor).expect("the proxy listens");
        connection.send_request("GET", "/metrics", &[], b"");
        let text = connection.answer().text();
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        let value = line.and_then(|line| line.split(' ').nth(1)?.parse().ok());
        value.unwrap_or_else(|| panic!("{name} is not in\n{text}"))
    }

    /// How many answers had a fate.
    fn count(&self, fate: &str) -> u64 {
        self.number(&format!("onecopy_proxy_answers_total{{fate=\"{fate}\"}}"))
    }
}

/// A hit of an engine without a preset.
fn hit(id: u32, text: &str) -> String {
    json!({"id": id, "score": 0.5, "text": text}).to_string()
}

/// An answer with hits. Its spaces and numbers are odd, so that a changed byte shows.
fn hits(hits: &[String]) -> String {
    format!("{{ \"total\" : 1.50e3, \"hits\":[{}] ,\"facets\": {{\"a\":[1 ]}}}}\n", hits.join(", "))
}

/// An engine that always gives one answer.
fn always(bytes: Vec<u8>) -> Upstream {
    Upstream::start(move |_| Act::Send(bytes.clone()))
}

const GENERIC: &str = "--preset generic --hits hits";

fn ids(answer: &Answer, pointer: &str) -> Vec<Value> {
    let value = answer.with(200);
    let hits = value.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{value}")).clone();
    hits.iter().map(|hit| hit["id"].clone()).collect()
}

#[test]
fn repeats_go_and_the_rest_keeps_its_bytes() {
    let [a, b, c] = [hit(1, &topic("a")), hit(2, &topic("a")), hit(3, &topic("c"))];
    let headers =
        "Content-Type: application/json\r\nETag: \"v1\"\r\nX-Engine: yes\r\nKeep-Alive: timeout=9\r\n";
    let upstream = always(answer(headers, hits(&[a.clone(), b.clone(), c.clone()])));
    let proxy = proxy(&upstream.address, GENERIC);
    let refined = proxy.get("/find?q=%41+b");
    assert_eq!(refined.text(), hits(&[a.clone(), c.clone()]));
    assert_eq!((refined.header("x-engine"), refined.header("x-onecopy")), (Some("yes"), Some("1")));
    assert_eq!((refined.header("etag"), refined.header("keep-alive")), (None, None));
    assert_eq!(upstream.received()[0].target, "/find?q=%41+b");
    let off = proxy.ask("GET", "/find", &[("X-Onecopy", "off")], "");
    assert_eq!(off.text(), hits(&[a.clone(), b, c.clone()]));
    assert_eq!(off.header("etag"), Some("\"v1\""));
    assert_eq!(upstream.received()[1].header("x-onecopy"), None);
    let grouped = proxy.ask("GET", "/find", &[("X-Onecopy", "group")], "");
    let repeat = json!([{"id": 2, "score": 0.5, "similarity": 1, "relation": "similar"}]);
    let value: Value = serde_json::from_str(&grouped.text()).expect("JSON");
    assert_eq!(value["hits"][0]["onecopy"]["repeats"], repeat);
    assert_eq!(ids(&grouped, "/hits"), [1, 3]);
    proxy.ask("GET", "/find", &[("X-Onecopy", "maybe")], "").fails(400, "X-Onecopy");
    assert_eq!((proxy.count("refined"), proxy.count("passed"), proxy.count("refused")), (2, 1, 1));
    assert_eq!(
        (proxy.number("onecopy_proxy_hits_total"), proxy.number("onecopy_proxy_repeats_total")),
        (6, 2)
    );
}

#[test]
fn what_is_no_search_passes_byte_for_byte() {
    let odd = b"\x00\xff{\"hits\": [1,1]}\r\n".to_vec();
    let body = odd.clone();
    let upstream = Upstream::start(move |request| match request.target.as_str() {
        "/missing" => Act::Send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone".to_vec()),
        "/moved" => Act::Send(
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
        _ => Act::Send(answer("Content-Type: application/octet-stream\r\nETag: \"x\"\r\n", &body)),
    });
    let proxy = proxy(&upstream.address, "--preset elasticsearch");
    let mut connection = proxy.connect();
    for (method, path) in
        [("PUT", "/pages/_doc/1"), ("GET", "/"), ("POST", "/_bulk"), ("GET", "/pages/_search")]
    {
        let headers = [("Authorization", "ApiKey abc"), ("Content-Type", "application/x-ndjson")];
        connection.send_request(method, path, &headers, "{\"index\": {}}\n\n".as_bytes());
        let answer = connection.answer();
        assert_eq!((answer.bytes(), answer.header("etag")), (&odd[..], Some("\"x\"")), "{method} {path}");
    }
    for request in upstream.received() {
        assert_eq!(request.body, "{\"index\": {}}\n\n");
        assert_eq!(request.header("authorization"), Some("ApiKey abc"));
        assert_eq!(request.header("host"), Some(upstream.address.as_str()));
        assert_eq!(request.header("via"), Some("1.1 onecopy"));
    }
    let mut connection = proxy.connect();
    connection.send(format!("HEAD / HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.address).as_bytes());
    assert_eq!(connection.head().header("content-length"), Some(odd.len().to_string().as_str()));
    let missing = proxy.get("/missing");
    assert_eq!((missing.code, missing.text().as_str()), (404, "none"));
    let moved = proxy.get("/moved");
    assert_eq!((moved.code, moved.header("location")), (302, Some("http://127.0.0.1:1/")));
}

#[test]
fn further_hits_fill_the_page_up_to_a_limit() {
    // Every third text is new: pages of 3 have one new hit each.
    let page = |from: usize, size: usize| {
        let hit = |at: usize| hit(at as u32, &topic(&format!("t{}x", at / 3)));
        hits(&(from..(from + size).min(30)).map(hit).collect::<Vec<_>>())
    };
    let upstream = Upstream::start(move |request| {
        let number = |name: &str| {
            let pairs = request.target.split(['?', '&']).filter_map(|pair| pair.split_once('='));
            pairs
                .into_iter()
                .find(|(key, _)| *key == name)
                .map_or(0, |(_, value)| value.parse().expect("a number"))
        };
        Act::Send(json_answer(page(number("from"), number("size"))))
    });
    let paged = format!("{GENERIC} --start-param from --size-param size");
    let three = proxy(&upstream.address, &paged);
    assert_eq!(ids(&three.get("/find?size=3"), "/hits"), [0, 3, 6]);
    let targets: Vec<String> = upstream.received().into_iter().map(|request| request.target).collect();
    assert_eq!(targets, ["/find?size=3", "/find?size=3&from=3", "/find?size=3&from=6"]);
    // The limit, the end of the index, and a request without a size.
    assert_eq!(ids(&three.get("/find?size=9"), "/hits"), [0, 3, 6, 9, 12, 15, 18, 21, 24]);
    assert_eq!(ids(&three.get("/find?from=24&size=6"), "/hits"), [24, 27]);
    let before = upstream.received().len();
    assert!(ids(&three.get("/find"), "/hits").is_empty());
    let one = proxy(&upstream.address, &format!("{paged} --pages 1"));
    assert_eq!(ids(&one.get("/find?size=3"), "/hits"), [0, 3]);
    assert_eq!(upstream.received().len(), before + 3);
    assert_eq!(one.number("onecopy_proxy_further_requests_total"), 1);
    assert_eq!(ids(&one.ask("GET", "/find?size=3", &[("X-Onecopy", "off")], ""), "/hits"), [0, 1, 2]);
}

#[test]
fn packed_and_chunked_answers_are_refined_too() {
    let whole = hits(&[hit(1, &topic("a")), hit(2, &topic("a"))]);
    let refined = hits(&[hit(1, &topic("a"))]);
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("packed");
        encoder.finish().expect("packed")
    };
    let (packed, plain) = (gzip(&whole), whole.clone());
    let upstream = Upstream::start(move |request| {
        let kind = "Content-Type: application/json; charset=utf-8\r\n";
        match request.header("accept-encoding") {
            Some("gzip") => Act::Send(answer(&format!("{kind}Content-Encoding: gzip\r\n"), &packed)),
            Some("zstd") => {
                let packed = zstd::bulk::compress(plain.as_bytes(), 1).expect("packed");
                Act::Send(answer(&format!("{kind}Content-Encoding: zstd\r\n"), packed))
            }
            Some("strange") => Act::Send(answer(&format!("{kind}Content-Encoding: strange\r\n"), &packed)),
            Some("broken") => Act::Send(answer(&format!("{kind}Content-Encoding: gzip\r\n"), &packed[..40])),
            _ => {
                let mut bytes =
                    format!("HTTP/1.1 200 OK\r\n{kind}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
                for chunk in plain.as_bytes().chunks(100) {
                    bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                    bytes.extend([chunk, b"\r\n"].concat());
                }
                Act::Send([bytes, b"0\r\n\r\n".to_vec()].concat())
            }
        }
    });
    let proxy = proxy(&upstream.address, GENERIC);
    let ask = |coding: &str| proxy.ask("GET", "/find", &[("Accept-Encoding", coding)], "");
    assert_eq!(proxy.get("/find").text(), refined);
    let answer = ask("gzip");
    assert_eq!((answer.header("content-encoding"), answer.bytes()), (Some("gzip"), &gzip(&refined)[..]));
    let answer = ask("zstd");
    let text = zstd::bulk::decompress(answer.bytes(), 1 << 20).expect("packed");
    assert_eq!(String::from_utf8(text).expect("UTF-8"), refined);
    // What cannot be unpacked passes.
    assert_eq!(ask("strange").bytes(), gzip(&whole));
    assert_eq!(ask("broken").bytes(), &gzip(&whole)[..40]);
    assert_eq!((proxy.count("refined"), proxy.count("passed"), proxy.count("unparsed")), (3, 1, 1));
}

#[test]
fn large_bodies_stream_in_both_directions() {
    let large = hits(&(0..4_000).map(|id| hit(id, &topic("a"))).collect::<Vec<_>>());
    let bytes = large.clone();
    let upstream = Upstream::start(move |request| match request.method.as_str() {
        "POST" => Act::Send(answer("", request.body.len().to_string())),
        _ => Act::Send(json_answer(&bytes)),
    });
    let proxy = proxy(&upstream.address, &format!("{GENERIC} --max-answer 100K"));
    assert_eq!(proxy.get("/find").text(), large);
    assert_eq!(proxy.count("too_large"), 1);
    let body = "x".repeat(8 << 20);
    assert_eq!(proxy.ask("POST", "/load", &[], &body).text(), body.len().to_string());
    let mut connection = proxy.connect();
    connection.begin_chunks("/load", "text/plain");
    for _ in 0..40 {
        connection.send_chunk(&[b'x'; 50_000]);
    }
    connection.send_chunk(b"");
    assert_eq!(connection.answer().text(), "2000000");
    // The first piece of an endless answer arrives although no end does.
    let head =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n";
    let endless = Upstream::start(|_| Act::Hang(head.to_vec()));
    let other = super::proxy::proxy(&endless.address, "--preset solr");
    let mut connection = other.connect();
    connection.send_request("GET", "/stream", &[], b"");
    connection.head();
    assert_eq!(connection.chunk().as_deref(), Some(&b"first"[..]));
}
