//! The log: one line per request or event, on standard error, as JSON or plain text.
//!
//! A separate thread writes the buffered lines a few dozen times per second, so a slow reader of the log never delays a
//! request. When the buffer is full, lines are dropped and counted.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use onecopy_engine::utc;
use serde::Serialize;

/// The size of the buffer, in bytes.
const WAITING_BYTES: usize = 4 << 20;
/// The pause between two writes.
const GATHERING: Duration = Duration::from_millis(25);

/// The format of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text.
    Plain,
    /// JSON.
    Json,
}

/// A request that was answered.
pub struct Asked<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub peer: SocketAddr,
    pub code: u16,
    pub took: Duration,
    /// Why it failed, if it did.
    pub error: Option<&'a str>,
}

/// The log.
pub struct Log {
    style: Style,
    /// Whether only failures of the service itself are logged.
    is_quiet: bool,
    shared: Arc<LogBuffer>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// A line as JSON.
#[derive(Serialize)]
struct Line<'a> {
    time: &'a str,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(flatten)]
    request: Option<Request<'a>>,
}

#[derive(Serialize)]
struct Request<'a> {
    method: &'a str,
    path: &'a str,
    code: u16,
    ms: f64,
    peer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Default)]
struct LogBuffer {
    waiting: Mutex<Vec<u8>>,
    has_lines: Condvar,
    is_ending: AtomicBool,
    lost: AtomicU64,
}

impl Log {
    /// Starts the thread that writes.
    pub fn start(style: Style, is_quiet: bool) -> std::io::Result<Log> {
        let shared = Arc::new(LogBuffer::default());
        let writing = shared.clone();
        let writer = std::thread::Builder::new().name("log".into()).spawn(move || write_lines(&writing))?;
        Ok(Log { style, is_quiet, shared, writer: Mutex::new(Some(writer)) })
    }

    /// The number of dropped lines.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// Logs a request.
    pub fn request(&self, asked: &Asked) {
        let Asked { method, path, peer, code, took, error } = asked;
        if self.is_quiet && *code < 500 {
            return;
        }
        let (time, ms) = (utc(SystemTime::now()), took.as_secs_f64() * 1e3);
        match self.style {
            Style::Plain => {
                let error = error.map_or(String::new(), |error| format!(": {}", one_line(error)));
                self.put(&format!("{time} {method} {path} {code} {ms:.2} ms {peer}{error}\n"));
            }
            Style::Json => {
                let (peer, ms) = (&peer.to_string(), (ms * 1e3).round() / 1e3);
                let request = Request { method, path, code: *code, ms, peer, error: *error };
                self.put_json(&Line { time: &time, event: "request", message: None, request: Some(request) });
            }
        }
    }

    /// Logs an event: its name and a message.
    pub fn event(&self, event: &str, said: &str) {
        if !self.is_quiet {
            self.failure(event, said);
        }
    }

    /// Logs an event that operators must know, even if the log is quiet.
    pub fn failure(&self, event: &str, said: &str) {
        let time = utc(SystemTime::now());
        match self.style {
            Style::Plain => self.put(&format!("{time} {event}: {}\n", one_line(said))),
            Style::Json => {
                self.put_json(&Line { time: &time, event, message: Some(said), request: None });
            }
        }
    }

    /// Writes the buffered lines, and ends.
    pub fn end(&self) {
        self.shared.is_ending.store(true, Ordering::Release);
        self.shared.has_lines.notify_all();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }

    fn put_json(&self, line: &Line) {
        if let Ok(line) = serde_json::to_string(line) {
            self.put(&(line + "\n"));
        }
    }

    fn put(&self, line: &str) {
        let mut waiting = self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() + line.len() > WAITING_BYTES {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let was_empty = waiting.is_empty();
        waiting.extend_from_slice(line.as_bytes());
        if was_empty {
            self.shared.has_lines.notify_one();
        }
    }
}

fn write_lines(shared: &LogBuffer) {
    loop {
        let mut waiting = shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting.is_empty() {
            if shared.is_ending.load(Ordering::Acquire) {
                return;
            }
            // The timeout covers an end that is signalled between the check and the wait.
            let woken = shared.has_lines.wait_timeout(waiting, Duration::from_secs(1));
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let lines = std::mem::take(&mut *waiting);
        drop(waiting);
        // A log without a reader is no reason to stop.
        let _ = std::io::stderr().write_all(&lines);
        if !shared.is_ending.load(Ordering::Acquire) {
            std::thread::sleep(GATHERING);
        }
    }
}

/// A message on one line, so that foreign text cannot forge a log line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
