//! A server on a local port that answers requests as a test says, and remembers them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// The path with its query.
    pub path: String,
    pub headers: String,
    pub body: String,
}

impl Request {
    /// The body as lines of JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.body.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }
}

/// An answer: a code, more headers, and a body.
pub struct Reply(pub u16, pub &'static str, pub String);

/// A running server. It ends with the process.
pub struct Fixture {
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Fixture {
    /// Starts a server that answers with `answer`.
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Fixture {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (requests, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let log = requests.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (log, answer) = (log.clone(), answer.clone());
                std::thread::spawn(move || converse(socket, &log, &*answer));
            }
        });
        Fixture { address, requests }
    }

    /// Takes the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.requests.lock().expect("no test panics with it"))
    }
}

fn converse(mut socket: TcpStream, log: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request) -> Reply) {
    let mut reader = BufReader::new(socket.try_clone().expect("a socket"));
    while let Some(request) = read(&mut reader) {
        log.lock().expect("no test panics with it").push(request.clone());
        let Reply(code, headers, body) = answer(&request);
        let length = body.len();
        let body = if request.method == "HEAD" { "" } else { &body };
        let text = format!("HTTP/1.1 {code} X\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        if socket.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|length| *length > 0)?;
    let mut parts = first.split(' ').map(str::to_owned);
    let (method, path) = (parts.next()?, parts.next()?);
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(number) = line.strip_prefix("content-length: ") {
            length = number.trim().parse().ok()?;
        }
        headers += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body: String::from_utf8(body).ok()? })
}
