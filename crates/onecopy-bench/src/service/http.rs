//! A minimal HTTP/1.1 client: one persistent connection, one request at a time.
//!
//! It is written here because a library client with threads and queues would affect the measurement.

pub mod lines;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// No answer of a healthy server takes this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The largest accepted answer.
const MOST_BYTES: usize = 256 << 20;
/// The most header lines, and their greatest length.
const MOST_LINES: usize = 100;
const LINE_BYTES: u64 = 16 << 10;

/// A connection to a server.
pub struct Client {
    address: SocketAddr,
    reader: Option<BufReader<TcpStream>>,
    head: Vec<u8>,
}

/// The answer of a server.
#[derive(Debug, PartialEq)]
pub struct Reply {
    /// The status code, such as 200.
    pub status: u16,
    /// The seconds to wait before a retry.
    pub retry_after: Option<u64>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// The body as JSON, if the status indicates success.
    pub fn json(&self) -> Result<Value> {
        let text = String::from_utf8_lossy(&self.body);
        ensure!((200..300).contains(&self.status), "the server said {}: {}", self.status, text.trim());
        serde_json::from_slice(&self.body).with_context(|| format!("an answer is not JSON: {}", text.trim()))
    }
}

impl Client {
    /// A client of the server at `address`. It connects on the first request.
    pub fn new(address: SocketAddr) -> Client {
        Client { address, reader: None, head: Vec::new() }
    }

    /// Sends a GET request.
    pub fn get(&mut self, path: &str) -> Result<Reply> {
        self.request("GET", path, "", b"")
    }

    /// Sends one JSON value.
    pub fn post(&mut self, path: &str, body: &[u8]) -> Result<Reply> {
        self.request("POST", path, "application/json", body)
    }

    /// Sends JSON Lines.
    pub fn post_lines(&mut self, path: &str, body: &[u8]) -> Result<Reply> {
        self.request("POST", path, "application/x-ndjson", body)
    }

    fn request(&mut self, method: &str, path: &str, kind: &str, body: &[u8]) -> Result<Reply> {
        self.head.clear();
        write!(self.head, "{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address)?;
        if !kind.is_empty() {
            write!(self.head, "content-type: {kind}\r\ncontent-length: {}\r\n", body.len())?;
        }
        self.head.extend_from_slice(b"\r\n");
        self.head.extend_from_slice(body);
        let what = || format!("{method} {path} of {}", self.address);
        if let Some(reader) = self.reader.take()
            && let Ok((reply, reader)) = exchange(reader, &self.head)
        {
            self.reader = reader;
            return Ok(reply);
        }
        // A server may close a connection at any time between requests, so this retries once on a new one. Puts may be
        // repeated.
        let reader = connect(self.address, PATIENCE).with_context(what)?;
        let (reply, reader) = exchange(reader, &self.head).with_context(what)?;
        self.reader = reader;
        Ok(reply)
    }
}

/// A new connection with a timeout of `patience`.
fn connect(address: SocketAddr, patience: Duration) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    Ok(BufReader::with_capacity(1 << 16, stream))
}

type Kept = Option<BufReader<TcpStream>>;

/// Sends a request and reads the answer. Returns the connection if it stays open.
fn exchange(mut reader: BufReader<TcpStream>, request: &[u8]) -> Result<(Reply, Kept)> {
    reader.get_mut().write_all(request)?;
    let (reply, stays) = read_reply(&mut reader)?;
    Ok((reply, stays.then_some(reader)))
}

/// The header of an answer.
struct Head {
    status: u16,
    retry_after: Option<u64>,
    length: Option<usize>,
    chunked: bool,
    stays: bool,
}

/// Reads an answer, and whether the connection stays open after it.
fn read_reply(reader: &mut impl BufRead) -> Result<(Reply, bool)> {
    let Head { status, retry_after, length, chunked, mut stays } = read_head(reader)?;
    let mut body = Vec::new();
    match (chunked, length) {
        (true, _) => read_chunks(reader, &mut body)?,
        (false, Some(length)) => take(reader, length, &mut body)?,
        (false, None) if status == 204 => {}
        (false, None) => {
            stays = false;
            reader.take(MOST_BYTES as u64).read_to_end(&mut body)?;
        }
    }
    Ok((Reply { status, retry_after, body }, stays))
}

fn read_head(reader: &mut impl BufRead) -> Result<Head> {
    let first = line(reader)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status: u16 = status.with_context(|| format!("no status in {first:?}"))?;
    let mut head = Head { status, retry_after: None, length: None, chunked: false, stays: true };
    for number in 0.. {
        ensure!(number < MOST_LINES, "more than {MOST_LINES} lines above an answer");
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => head.length = Some(value.parse().context("a length is no number")?),
            "transfer-encoding" => head.chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => head.stays = !value.eq_ignore_ascii_case("close"),
            "retry-after" => head.retry_after = value.parse().ok(),
            _ => {}
        }
    }
    Ok(head)
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Result<()> {
    loop {
        let length = chunk_length(reader)?;
        if length == 0 {
            return Ok(());
        }
        take(reader, length, body)?;
        ensure!(line(reader)?.is_empty(), "a chunk is longer than it says");
    }
}

/// The length of the next chunk. The last chunk is empty, and its trailer is read too.
fn chunk_length(reader: &mut impl BufRead) -> Result<usize> {
    let head = line(reader)?;
    let digits = head.split(';').next().unwrap_or_default().trim();
    let length = usize::from_str_radix(digits, 16).with_context(|| format!("no length in {head:?}"))?;
    while length == 0 && !line(reader)?.is_empty() {}
    Ok(length)
}

fn take(reader: &mut impl BufRead, length: usize, body: &mut Vec<u8>) -> Result<()> {
    ensure!(body.len().saturating_add(length) <= MOST_BYTES, "an answer of more than {MOST_BYTES} bytes");
    let start = body.len();
    body.resize(start + length, 0);
    Ok(reader.read_exact(&mut body[start..])?)
}

/// A line without its end.
fn line(reader: &mut impl BufRead) -> Result<String> {
    let mut bytes = Vec::new();
    reader.take(LINE_BYTES).read_until(b'\n', &mut bytes)?;
    if bytes.pop() != Some(b'\n') {
        bail!("the connection was closed within an answer");
    }
    bytes.pop_if(|last| *last == b'\r');
    String::from_utf8(bytes).context("a line above an answer is no text")
}

/// Escapes a query value: everything except letters, digits and `-._~` becomes `%XX`.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn read(text: &str) -> Result<(Reply, bool)> {
        read_reply(&mut text.as_bytes())
    }

    #[test]
    fn answers_come_with_a_length_in_chunks_or_to_the_end() {
        let body = |text: &str| {
            let (reply, stays) = read(text).unwrap();
            (reply.status, String::from_utf8(reply.body).unwrap(), stays)
        };
        let plain = "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nokHTTP";
        assert_eq!(body(plain), (202, "ok".into(), true));
        let chunked =
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n";
        assert_eq!(body(chunked), (200, "abcd".into(), true));
        let ended = "HTTP/1.1 200 OK\r\n\r\nall of it";
        assert_eq!(body(ended), (200, "all of it".into(), false));
        let closed = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        assert_eq!(body(closed), (204, String::new(), false));
        let busy = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(read(busy).unwrap().0.retry_after, Some(3));
    }

    #[test]
    fn half_an_answer_is_an_error() {
        for text in [
            "",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\ncontent-le",
            "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n",
            "nonsense\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    /// Answers each request with its first line, and closes each connection after `requests` of them.
    fn echo(requests: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                for _ in 0..requests {
                    let Ok(first) = line(&mut reader) else { break };
                    let mut length = 0;
                    while let Ok(line) = line(&mut reader) {
                        let Some((name, value)) = line.split_once(": ") else { break };
                        if name == "content-length" {
                            length = value.parse().unwrap();
                        }
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    let said = format!("{first} {length}");
                    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{said}", said.len());
                    reader.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            }
        });
        address
    }

    #[test]
    fn a_connection_is_kept_and_replaced_when_it_ends() {
        let mut client = Client::new(echo(2));
        for _ in 0..5 {
            let reply = client.post("/pages", b"{}").unwrap();
            assert_eq!(String::from_utf8(reply.body).unwrap(), "POST /pages HTTP/1.1 2");
            let reply = client.get(&format!("/pages?page={}", escaped("http://a/é&b"))).unwrap();
            assert!(
                reply.body.starts_with(b"GET /pages?page=http%3A%2F%2Fa%2F%C3%A9%26b HTTP/1.1 0"),
                "{reply:?}"
            );
        }
    }
}
