//! Engines that fail, answers that cannot be read, clients that may not call, and the end.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::upstream::{Act, Upstream, answer, json as json_answer};
use super::{GENERIC, always, hit, hits, proxy, started};
use crate::client::{Connection, folder_with_token};
use crate::pages::topic;
use crate::program::onecopy;

#[test]
fn answers_that_cannot_be_read_pass_and_are_counted() {
    let bodies = [
        "",
        "{",
        "<html>",
        "{\"hits\": [{\"id\": 1}, ]}",
        "{\"hits\": [1]} trailing",
        "{\"hits\": [\"\u{fffd}\"]",
    ];
    for body in bodies {
        let mut body = body.as_bytes().to_vec();
        // Not UTF-8 either.
        body.iter_mut().filter(|byte| **byte == 0xef).for_each(|byte| *byte = 0xff);
        let upstream = always(json_answer(&body));
        let proxy = proxy(&upstream.address, &format!("{GENERIC} --log json"));
        let answer = proxy.get("/find");
        assert_eq!((answer.code, answer.bytes()), (200, &body[..]));
        assert_eq!(proxy.count("unparsed"), 1, "{body:?}");
    }
    let upstream = always(json_answer("{\"found\": 0}"));
    let none = proxy(&upstream.address, GENERIC);
    assert_eq!(none.get("/find").text(), "{\"found\": 0}");
    let same = hits(&[hit(1, &topic("a")), hit(2, &topic("a"))]);
    let frozen = always(answer("Content-Type: application/json\r\nCache-Control: no-transform\r\n", &same));
    let fixed = proxy(&frozen.address, GENERIC);
    assert_eq!(fixed.get("/find").text(), same);
    assert_eq!((none.count("no_hits"), fixed.count("passed")), (1, 1));
}

#[test]
fn an_engine_that_breaks_off_or_never_ends_gives_a_clear_answer() {
    let kind = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let upstream = Upstream::start(move |request| {
        let bytes = |text: &str| format!("{kind}{text}").into_bytes();
        match request.target.as_str() {
            "/half" => Act::Close(bytes("Content-Length: 100\r\n\r\n{\"hits\": [")),
            "/chunk" => Act::Close(bytes("Transfer-Encoding: chunked\r\n\r\n5\r\n{\"hit\r\n")),
            "/silent" => Act::Hang(Vec::new()),
            "/stuck" => Act::Hang(bytes("Content-Length: 100\r\n\r\n{\"hits\": [")),
            "/endless" => Act::Forever(
                bytes("Transfer-Encoding: chunked\r\n\r\n"),
                [&b"2000\r\n"[..], &[b' '; 0x2000], b"\r\n"].concat(),
            ),
            "/strange" => Act::Close(b"not HTTP at all\r\n\r\n".to_vec()),
            _ => Act::Send(json_answer(hits(&[]))),
        }
    });
    let proxy = proxy(&upstream.address, &format!("{GENERIC} --timeout 1 --max-answer 1M"));
    for path in ["/half", "/chunk"] {
        proxy.get(path).fails(502, "half an answer");
    }
    proxy.get("/strange").fails(502, "no answer from the upstream");
    let begun = Instant::now();
    for path in ["/silent", "/stuck"] {
        proxy.get(path).fails(504, "no answer from the upstream");
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
    // An endless answer passes after the limit, and ends with the client.
    let mut connection = proxy.connect();
    connection.send_request("GET", "/endless", &[], b"");
    connection.head();
    let read: usize = (0..1_000).map(|_| connection.chunk().expect("more").len()).sum();
    assert!(read > 1 << 20);
    drop(connection);
    assert_eq!(proxy.get("/find").code, 200);
    assert_eq!((proxy.count("upstream_failed"), proxy.count("upstream_timed_out")), (3, 2));
}

#[test]
fn an_engine_that_is_gone_is_named() {
    let upstream = always(Vec::new());
    let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let unreachable = proxy(&gone.to_string(), "--preset solr");
    unreachable.get("/solr/pages/select?q=a").fails(502, &gone.to_string());
    let ask = |proxy: &super::Proxy, path: &str| {
        let mut connection = Connection::open(&proxy.monitor).expect("the proxy listens");
        connection.send_request("GET", path, &[], b"");
        connection.answer()
    };
    ask(&unreachable, "/ready").fails(503, "no connection");
    let reachable = proxy(&upstream.address, "--preset solr");
    assert_eq!(ask(&reachable, "/ready").with(200)["ready"], true);
    assert_eq!(ask(&reachable, "/health").with(200)["status"], "alive");
    ask(&reachable, "/pages").fails(404, "unknown path");
}

#[test]
fn a_connection_that_the_engine_closed_is_replaced() {
    // It says nothing of closing, and hangs up after each answer.
    let upstream = Upstream::start(|_| Act::Close(json_answer(hits(&[]))));
    let proxy = proxy(&upstream.address, GENERIC);
    let mut connection = proxy.connect();
    for _ in 0..20 {
        connection.send_request("GET", "/find", &[], b"");
        assert_eq!(connection.answer().code, 200);
    }
}

#[test]
fn a_failing_further_page_costs_only_itself() {
    let upstream = Upstream::start(|request| match request.target.contains("from=") {
        true => Act::Send(b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nOops".to_vec()),
        false => Act::Send(json_answer(hits(&[hit(1, &topic("a")), hit(2, &topic("a"))]))),
    });
    let proxy = proxy(&upstream.address, &format!("{GENERIC} --start-param from --size-param size"));
    assert_eq!(proxy.get("/find?size=2").text(), hits(&[hit(1, &topic("a"))]));
    assert_eq!(upstream.received().len(), 2);
}

#[test]
fn only_those_who_may_call_are_answered() {
    let upstream = always(json_answer(hits(&[])));
    let open = proxy(&upstream.address, GENERIC);
    open.ask("GET", "/find", &[("Host", "evil.example")], "").fails(403, "not this machine");
    open.ask("GET", "/find", &[("Origin", "http://evil.example")], "").fails(403, "another origin");
    let anyone = proxy(&upstream.address, &format!("{GENERIC} --allow-anyone"));
    assert_eq!(anyone.ask("GET", "/find", &[("Host", "search.example")], "").code, 200);
    let folder = folder_with_token("0123456789abcdef");
    let token = format!("{GENERIC} --token-file {}", folder.path().join("token").display());
    let closed = proxy(&upstream.address, &token);
    closed.get("/find").fails(401, "token");
    let headers = [("X-Onecopy-Token", "0123456789abcdef"), ("Authorization", "Basic abc")];
    assert_eq!(closed.ask("GET", "/find", &headers, "").code, 200);
    let last = upstream.received().pop().expect("a request");
    assert_eq!((last.header("x-onecopy-token"), last.header("authorization")), (None, Some("Basic abc")));
}

#[test]
fn wrong_calls_are_refused_before_anything_starts() {
    for (args, words) in [
        ("--upstream ftp://x --preset solr", "is not an upstream"),
        ("--upstream http://user:pass@x --preset solr", "without user"),
        ("--upstream http://x --preset generic", "--hits"),
        ("--upstream http://x --preset solr --text a..b", "is not a path"),
        ("--upstream http://x --preset solr --listen 0.0.0.0:0", "--allow-anyone"),
        ("--upstream http://x --preset solr --method nonsense", "nonsense"),
        ("--upstream http://x --preset solr --timeout 0", "--timeout"),
        ("--upstream http://127.0.0.1:47173 --preset solr --listen 127.0.0.1:47173", "the proxy itself"),
    ] {
        let said = onecopy(["proxy"]).args(args).fail(2).stderr;
        assert!(said.contains(words), "`{words}` is not in: {said}");
    }
}

#[test]
fn a_signal_lets_running_requests_end() {
    let upstream = Upstream::start(|_| {
        std::thread::sleep(Duration::from_millis(700));
        Act::Send(json_answer(hits(&[])))
    });
    let mut proxy = proxy(&upstream.address, &format!("{GENERIC} --log json"));
    let mut connection = proxy.connect();
    connection.send_request("GET", "/find", &[], b"");
    let begun = Instant::now();
    while upstream.received().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "the request does not arrive");
        std::thread::sleep(Duration::from_millis(5));
    }
    proxy.running.signal("TERM");
    assert_eq!(connection.answer().code, 200);
    let line = proxy.running.hear_of("stopping");
    assert!(line.contains("\"all requests were answered\""), "{line}");
    let request = proxy.running.heard("\"event\":\"request\"");
    assert!(request.contains("\"path\":\"/find\"") && request.contains("\"code\":200"), "{request}");
    assert!(proxy.running.finish().status.success());
}

/// An engine with TLS, whose certificate is the stores' test certificate.
fn encrypted(answer: Vec<u8>) -> String {
    let chain = CertificateDer::from_pem_file(certificate("server.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(certificate("server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("ring knows them").with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![chain], key).expect("key and certificate match"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(config.clone()).expect("a connection");
            let mut stream = BufReader::new(StreamOwned::new(connection, socket));
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let _ = stream.get_mut().write_all(&answer);
            stream.get_mut().conn.send_close_notify();
            let _ = stream.get_mut().flush();
        }
    });
    address
}

fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stores/certificates").join(name)
}

#[test]
fn only_a_trusted_engine_is_asked_over_tls() {
    let address = encrypted(json_answer(hits(&[hit(1, &topic("a")), hit(2, &topic("a"))])));
    let with = |authority: &str| {
        let call =
            onecopy(["proxy", "--listen", "127.0.0.1:0", "--monitor-listen", "127.0.0.1:0", "--upstream"]);
        let call = call.arg(format!("https://{address}")).args(GENERIC).arg("--upstream-ca");
        started(call.arg(certificate(authority)).start())
    };
    assert_eq!(with("authority.pem").get("/find").text(), hits(&[hit(1, &topic("a"))]));
    with("other.pem").get("/find").fails(502, "certificate");
    let call = onecopy(["proxy"]).args("--upstream https://x --preset solr --upstream-ca");
    let said = call.arg(certificate("server.key")).fail(1).stderr;
    assert!(said.contains("no certificate"), "{said}");
}
