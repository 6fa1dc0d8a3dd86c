//! The program as a server, and a small HTTP client that can also be slow or send invalid requests.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::program::{Call, Finished, Running, onecopy};

/// Far longer than any answer takes.
const LIMIT: Duration = Duration::from_secs(20);

/// A server on a free local port, with its own collection.
pub struct Server {
    running: Running,
    pub address: String,
    folder: TempDir,
}

/// Starts a server with a new collection.
pub fn serve(args: &str) -> Server {
    serve_in(tempdir().expect("a folder"), args)
}

/// Starts a server with the collection of a stopped server.
pub fn serve_in(folder: TempDir, args: &str) -> Server {
    serve_changed(folder, args, |call, _| call)
}

/// Starts a server whose files may have this many kilobytes.
pub fn serve_with_file_limit(args: &str, kilobytes: u32) -> Server {
    serve_changed(tempdir().expect("a folder"), args, |call, _| call.with_file_limit(kilobytes))
}

/// Starts a server with a changed call, which also gets the folder.
pub fn serve_changed(folder: TempDir, args: &str, change: impl Fn(Call, &Path) -> Call) -> Server {
    let started = try_serve(folder, args, change);
    started.unwrap_or_else(|(finished, _)| panic!("ended without `listening`: {}", finished.stderr))
}

/// Starts a server. Fails with its output if it ends instead.
pub fn try_serve(
    folder: TempDir,
    args: &str,
    change: impl Fn(Call, &Path) -> Call,
) -> Result<Server, (Finished, TempDir)> {
    let call = onecopy(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("pages"));
    let mut running = change(call.within(folder.path()).args(args), folder.path()).start();
    let Some(line) = running.try_hear_of("listening") else { return Err((running.finish(), folder)) };
    let address = line.split("http://").nth(1).expect("an address");
    let address = address.trim_end_matches(['"', '}', ' ']).to_owned();
    Ok(Server { running, address, folder })
}

impl Server {
    /// Sends a request and reads the answer.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut connection = self.connect();
        connection.send_request(method, path, headers, body.as_bytes());
        connection.answer()
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// Sends a POST request with JSON.
    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, &[("Content-Type", "application/json")], body)
    }

    /// The folder of the collection.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("pages")
    }

    /// Opens a connection.
    pub fn connect(&self) -> Connection {
        Connection::open(&self.address).expect("the server listens")
    }

    /// Waits until no page is waiting to be compared.
    pub fn settle(&self) {
        let begun = Instant::now();
        while begun.elapsed() < LIMIT {
            let stats = self.get("/stats").json();
            if stats["waiting"] == 0 && stats["settled"] == stats["accepted"] {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("not settled within {LIMIT:?}: {}", self.get("/stats").text());
    }

    /// Waits for a line of the log that contains these words.
    pub fn hear_of(&mut self, words: &str) -> String {
        self.running.hear_of(words)
    }

    /// A line of the log so far that contains these words.
    pub fn heard(&self, words: &str) -> String {
        self.running.heard(words)
    }

    /// Asks it to stop, as an operating system does, and waits.
    pub fn end(self) -> (Finished, TempDir) {
        self.signal();
        self.finish()
    }

    /// Waits for it to stop after a signal.
    pub fn finish(self) -> (Finished, TempDir) {
        (self.running.finish(), self.folder)
    }

    /// Asks it to stop.
    pub fn signal(&self) {
        self.send_signal("TERM");
    }

    /// Waits until a path is answered with a code.
    pub fn wait_for(&self, path: &str, code: u16) {
        let begun = Instant::now();
        while self.get(path).code != code {
            assert!(begun.elapsed() < 3 * LIMIT, "{path} is {}", self.get(path).text());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.running.process()
    }

    /// Sends it a signal by name.
    pub fn send_signal(&self, name: &str) {
        self.running.signal(name);
    }
}

/// Sends a request to the server at an address. Returns the code and the body, or as much of a stream as arrived;
/// `None` if the server goes away before the answer is complete.
pub fn try_ask(address: &str, (method, path): (&str, &str), kind: &str, body: &str) -> Option<(u16, String)> {
    let mut connection = Connection::open(address).ok()?;
    let headers = [("Content-Type", kind), ("Connection", "close")];
    connection.send_request(method, path, &headers, body.as_bytes());
    let rest = connection.rest();
    let (head, body) = rest.split_once("\r\n\r\n")?;
    let code = head.split(' ').nth(1)?.parse().ok()?;
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_none_or(|length| length.parse() == Ok(body.len())).then(|| (code, body.to_owned()))
}

/// A folder with a token in the file `token`.
pub fn folder_with_token(token: &str) -> TempDir {
    let folder = tempdir().expect("a folder");
    write_token(&folder.path().join("token"), token);
    folder
}

/// Writes a token into a file that only its owner can read.
pub fn write_token(path: &Path, token: &str) {
    fs::write(path, format!("{token}\n")).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("a mode");
}

/// A connection to the server.
pub struct Connection {
    socket: TcpStream,
    reader: BufReader<TcpStream>,
    address: String,
}

impl Connection {
    /// A connection to the server at an address.
    pub fn open(address: &str) -> std::io::Result<Connection> {
        let socket = TcpStream::connect(address)?;
        socket.set_read_timeout(Some(LIMIT))?;
        socket.set_nodelay(true)?;
        let reader = BufReader::new(socket.try_clone()?);
        Ok(Connection { socket, reader, address: address.to_owned() })
    }

    /// Sends any bytes. An error is ignored: a server that hung up may have answered.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes);
    }

    /// Sends a request with a body and its length.
    pub fn send_request(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.send((head + "\r\n").as_bytes());
        self.send(body);
    }

    /// Sends the head of a request with a chunked body.
    pub fn begin_chunks(&mut self, path: &str, kind: &str) {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\n", self.address);
        self.send((head + "Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    }

    /// Sends a chunk; an empty one is the last.
    pub fn send_chunk(&mut self, bytes: &[u8]) {
        self.try_send_chunk(bytes);
    }

    /// Sends a chunk. Returns whether the server accepted it.
    pub fn try_send_chunk(&mut self, bytes: &[u8]) -> bool {
        let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        self.socket.write_all(&chunk).is_ok()
    }

    /// Reads an answer.
    pub fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        if answer.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk() {
                answer.body.extend(chunk);
            }
        } else {
            let length = answer.header("content-length").expect("a length").parse().expect("a number");
            answer.body = vec![0; length];
            self.reader.read_exact(&mut answer.body).expect("all of the body");
        }
        answer
    }

    /// Reads the head of an answer.
    pub fn head(&mut self) -> Answer {
        let first = self.line();
        let code = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let code = code.unwrap_or_else(|| panic!("`{first}` is not the beginning of an answer"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        Answer { code, headers, body: Vec::new() }
    }

    /// Reads a chunk of an answer; `None` at its end.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = usize::from_str_radix(&self.line(), 16).expect("the length of a chunk");
        let mut chunk = vec![0; length + 2];
        self.reader.read_exact(&mut chunk).expect("all of the chunk");
        chunk.truncate(length);
        (length > 0).then_some(chunk)
    }

    /// Reads everything until the server hangs up, which it must do.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        match self.reader.read_to_end(&mut rest) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("not hung up: {error}"),
            _ => String::from_utf8_lossy(&rest).into_owned(),
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    /// The value of a header; the name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The body.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The body as JSON lines.
    pub fn lines(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("application/x-ndjson"), "{self:?}");
        let text = self.text();
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Asserts the code of the answer. Returns the body as JSON.
    pub fn with(&self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}", self.text());
        self.json()
    }

    /// Asserts that it is an error with this code, whose text contains these words and a remedy.
    pub fn fails(&self, code: u16, words: &str) {
        let value = self.with(code);
        let error = value["error"].as_str().expect("a sentence");
        assert!(error.contains(words), "`{words}` is not in: {error}");
        assert!(value["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{value}");
    }
}
