//! Real proxies in front of the service, with the configurations of `packaging/`: requests of many lines arrive whole.
//!
//! A machine without nginx or haproxy skips its test with a message.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::{TempDir, tempdir};

use crate::client::{Answer, Connection, Server, folder_with_token, serve_in};
use crate::pages::topic;

const TOKEN: &str = "0123456789abcdef-token";
const LINES: usize = 3_000;

/// A running proxy. Dropping it kills it.
struct Proxy {
    child: Child,
    address: String,
    _folder: TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The path of a program, also where only administrators look.
fn program(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
    let found = folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: {name} is not installed");
    }
    found
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Starts a proxy that listens on a port.
fn start(mut command: Command, port: u16, folder: TempDir) -> Proxy {
    let log = fs::File::create(folder.path().join("log")).expect("a file");
    command.stdin(Stdio::null()).stdout(log.try_clone().expect("a handle")).stderr(log);
    let child = command.spawn().expect("the proxy starts");
    let proxy = Proxy { child, address: format!("127.0.0.1:{port}"), _folder: folder };
    let begun = Instant::now();
    while TcpStream::connect(&proxy.address).is_err() {
        let said = fs::read_to_string(proxy._folder.path().join("log")).unwrap_or_default();
        assert!(begun.elapsed() < Duration::from_secs(20), "the proxy does not listen: {said}");
        std::thread::sleep(Duration::from_millis(20));
    }
    proxy
}

fn nginx(path: &Path, server: &Server, site: &str) -> Proxy {
    let (folder, port) = (tempdir().expect("a folder"), free_port());
    let site = site.replace("listen 80;", &format!("listen 127.0.0.1:{port};"));
    let site = site.replace("127.0.0.1:7171", &server.address);
    assert!(site.contains(&server.address), "the configuration names another port: {site}");
    let mut http = "access_log off;\n".to_owned();
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        http += &format!("{kind}_temp_path {kind};\n");
    }
    let config = format!(
        "daemon off;\nmaster_process off;\npid pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n{http}{site}\n}}\n"
    );
    fs::write(folder.path().join("nginx.conf"), config).expect("a file");
    let mut command = Command::new(path);
    command.arg("-p").arg(folder.path()).args(["-e", "stderr", "-c"]).arg(folder.path().join("nginx.conf"));
    start(command, port, folder)
}

fn haproxy(path: &Path, server: &Server) -> Proxy {
    let (folder, port) = (tempdir().expect("a folder"), free_port());
    let config = include_str!("../../../../packaging/haproxy.cfg");
    let config = config.replace("bind :80\n", &format!("bind 127.0.0.1:{port}\n"));
    let config = config.replace("127.0.0.1:7171", &server.address);
    fs::write(folder.path().join("haproxy.cfg"), config).expect("a file");
    let mut command = Command::new(path);
    command.args(["-db", "-f"]).arg(folder.path().join("haproxy.cfg"));
    start(command, port, folder)
}

fn service() -> Server {
    serve_in(folder_with_token(TOKEN), "--token-file token --queue 1G")
}

fn ask(address: &str, path: &str, kind: &str, body: &str) -> Answer {
    let mut connection = Connection::open(address).expect("the proxy listens");
    let token = format!("Bearer {TOKEN}");
    let headers = [("Authorization", token.as_str()), ("Content-Type", kind), ("Host", "pages.example")];
    let method = if body.is_empty() { "GET" } else { "POST" };
    connection.send_request(method, path, &headers, body.as_bytes());
    connection.answer()
}

/// Sends many lines through a proxy. All must arrive, and all be answered.
fn all_lines_arrive(address: &str) {
    let page = |number: usize| {
        let text = topic(&format!("t{number}x"));
        json!({"id": format!("p{number}"), "text": text, "more": "x".repeat(1_000)}).to_string()
    };
    let body = (0..LINES).map(page).collect::<Vec<_>>().join("\n");
    assert!(body.len() > 4 << 20, "no proxy keeps that much in its buffers");
    let answer = ask(address, "/pages", "application/x-ndjson", &body);
    assert_eq!(answer.code, 200, "{}", answer.text());
    let lines = answer.lines();
    let accepted = lines.iter().filter(|line| line["accepted"].is_u64()).count();
    assert_eq!((lines.len(), accepted), (LINES, LINES));
    assert_eq!(lines[LINES - 1]["line"], LINES);
    let refused = ask(address, "/pages?answers=refused", "application/x-ndjson", &(body + "\nnot JSON"));
    assert_eq!(refused.lines()[1], json!({"accepted_lines": LINES, "refused_lines": 1, "complete": true}));
    let one = json!({"id": "one", "text": topic("one")}).to_string();
    ask(address, "/pages", "application/json", &one).with(202);
    ask(address, "/stats", "", "").with(200);
}

#[test]
fn nginx_passes_all_lines_on() {
    let Some(path) = program("nginx") else { return };
    let server = service();
    let proxy = nginx(&path, &server, include_str!("../../../../packaging/nginx.conf"));
    all_lines_arrive(&proxy.address);
    let bare = "server {\nlisten 80;\nclient_max_body_size 0;\nlocation / {\nproxy_pass http://127.0.0.1:7171;\n}\n}";
    all_lines_arrive(&nginx(&path, &server, bare).address);
}

#[test]
fn haproxy_passes_all_lines_on() {
    let Some(path) = program("haproxy") else { return };
    let server = service();
    all_lines_arrive(&haproxy(&path, &server).address);
}
