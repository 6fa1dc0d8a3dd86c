//! A search engine that says what a test wants, byte for byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// No connection of a test lasts longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Received {
    /// The value of a header; the name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// What it does with a request.
pub enum Act {
    /// Sends these bytes and waits for the next request.
    Send(Vec<u8>),
    /// Sends these bytes and hangs up.
    Close(Vec<u8>),
    /// Sends these bytes and stays silent.
    Hang(Vec<u8>),
    /// Sends these bytes again and again, until nobody reads them.
    Forever(Vec<u8>, Vec<u8>),
}

/// The engine, and the requests that it got.
pub struct Upstream {
    pub address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Upstream {
    /// Starts it on a free port.
    pub fn start(act: impl Fn(&Received) -> Act + Send + Sync + 'static) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let (act, received) = (Arc::new(act), Arc::<Mutex<Vec<Received>>>::default());
        let log = received.clone();
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (act, log) = (act.clone(), log.clone());
                thread::spawn(move || serve(&socket, &*act, &log));
            }
        });
        Upstream { address, received }
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no panic").clone()
    }
}

fn serve(socket: &TcpStream, act: &dyn Fn(&Received) -> Act, log: &Mutex<Vec<Received>>) {
    let _ = socket.set_read_timeout(Some(LIMIT));
    let mut reader = BufReader::new(socket);
    let mut socket = socket;
    while let Some(request) = read(&mut reader) {
        log.lock().expect("no panic").push(request.clone());
        match act(&request) {
            Act::Send(bytes) => {
                if socket.write_all(&bytes).is_err() {
                    return;
                }
            }
            Act::Close(bytes) => {
                let _ = socket.write_all(&bytes);
                return;
            }
            Act::Hang(bytes) => {
                let _ = socket.write_all(&bytes);
                // Until the proxy hangs up.
                let _ = reader.read(&mut [0]);
                return;
            }
            Act::Forever(head, bytes) => {
                let _ = socket.write_all(&head);
                while socket.write_all(&bytes).is_ok() {}
                return;
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let first = line(reader)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    while let Some((name, value)) = line(reader)?.split_once(": ") {
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut request = Received { method, target, headers, body: String::new() };
    let mut body = Vec::new();
    if request.header("transfer-encoding").is_some() {
        loop {
            let length = usize::from_str_radix(&line(reader)?, 16).ok()?;
            let mut chunk = vec![0; length + 2];
            reader.read_exact(&mut chunk).ok()?;
            body.extend_from_slice(&chunk[..length]);
            if length == 0 {
                break;
            }
        }
    } else if let Some(length) = request.header("content-length") {
        body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut body).ok()?;
    }
    request.body = String::from_utf8_lossy(&body).into_owned();
    Some(request)
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
}

/// An answer with headers.
pub fn answer(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// An answer of JSON.
pub fn json(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("Content-Type: application/json\r\n", body)
}
