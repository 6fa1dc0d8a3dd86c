//! A simulated server: every other page is settled only at the second look-up, and sometimes the server is full.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The state of the simulated server.
#[derive(Default)]
pub struct Played {
    pub accepted: u64,
    settled: u64,
    pub refused: u64,
    /// Aborted streams.
    pub broken: u64,
    unsettled: HashSet<String>,
}

impl Played {
    /// The status and body of an answer.
    fn answer(&mut self, request: &str, body: &[u8]) -> (u16, Value) {
        let name = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path.split_once('?') {
            None if path == "/stats" => {
                let stats = self.stats();
                // Everything is settled by the next request.
                self.settled = self.accepted;
                (200, stats)
            }
            None if path == "/status" => {
                let asked: Value = serde_json::from_slice(body).unwrap();
                (200, json!({"pages": asked["pages"].as_array().unwrap().len()}))
            }
            // Sometimes too many changes are waiting.
            None if path == "/pages" && self.accepted % 50 == 49 && self.refused < 3 => {
                self.refused += 1;
                (429, json!({"code": 429, "error": "not taken"}))
            }
            None if path == "/pages" => {
                self.accepted += 1;
                let settled = self.accepted.is_multiple_of(2);
                if settled {
                    self.settled = self.accepted;
                } else {
                    self.unsettled.insert(name(&serde_json::from_slice(body).unwrap()));
                }
                (202, json!({"accepted": self.accepted, "status": "unique", "settled": settled}))
            }
            Some(("/pages", query)) => {
                let waits = self.unsettled.remove(query.strip_prefix("page=").unwrap());
                (200, json!({"status": "unique", "settled": !waits}))
            }
            _ => (404, json!({})),
        }
    }

    fn stats(&self) -> Value {
        let waiting = self.accepted - self.settled;
        json!({"waiting": waiting, "accepted": self.accepted, "settled": self.settled, "updates": 2 * self.accepted / 3,
               "updates_settled_by_tier1": self.accepted / 3, "compared_pages": 0, "compared_pairs": 0})
    }
}

/// Answers the lines of a stream. After the first line that it refuses, it refuses all others. One stream breaks off.
fn serve_lines(reader: &mut BufReader<TcpStream>, played: &Mutex<Played>) -> std::io::Result<()> {
    reader.get_mut().write_all(b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n")?;
    let (mut number, mut is_given_up) = (0, false);
    loop {
        let mut head = String::new();
        reader.read_line(&mut head)?;
        let mut chunk = vec![0; usize::from_str_radix(head.trim_end(), 16).unwrap() + 2];
        reader.read_exact(&mut chunk)?;
        let mut answers = String::new();
        let is_broken = |played: &Played| number > 0 && played.accepted > 150 && played.broken == 0;
        if is_broken(&played.lock().unwrap()) {
            played.lock().unwrap().broken += 1;
            return Err(std::io::ErrorKind::ConnectionAborted.into());
        }
        for line in chunk[..chunk.len() - 2].split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            let mut played = played.lock().unwrap();
            let (status, mut answer) = match is_given_up {
                true => (429, json!({"code": 429, "error": "not taken"})),
                false => played.answer("POST /pages", line),
            };
            played.refused += u64::from(is_given_up);
            is_given_up |= status == 429;
            answer["line"] = number.into();
            answers += &(answer.to_string() + "\n");
        }
        let text = format!("{:x}\r\n{answers}\r\n", answers.len());
        reader.get_mut().write_all(text.as_bytes())?;
        if answers.is_empty() {
            return Ok(());
        }
    }
}

fn serve(stream: TcpStream, played: &Mutex<Played>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut length, mut is_stream) = (String::new(), 0, false);
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("transfer-encoding", _)) => is_stream = true,
                Some(_) => {}
                None => break,
            }
        }
        if is_stream {
            serve_lines(&mut reader, played)?;
            continue;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let (status, value) = played.lock().unwrap().answer(&first, &body);
        let text = value.to_string();
        let text = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n{text}", text.len());
        reader.get_mut().write_all(text.as_bytes())?;
    }
}

/// Starts a simulated server.
pub fn play() -> (SocketAddr, Arc<Mutex<Played>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, played) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Played::default())));
    let shared = played.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let played = shared.clone();
            std::thread::spawn(move || serve(stream.unwrap(), &played));
        }
    });
    (address, played)
}
