//! One long request of lines, whose answers are read while it is sent.
//!
//! Sending and reading alternate on one thread. This cannot deadlock as long as the answers of all unanswered lines fit
//! into the socket buffers: then the server never blocks on writing an answer.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{chunk_length, connect, line, read_head};

/// An overloaded server holds a line back for a minute, and then refuses it.
const PATIENCE: Duration = Duration::from_secs(90);
/// The longest accepted answer.
const ANSWER_BYTES: usize = 1 << 20;

/// A request in progress.
pub struct Lines {
    answers: Chunks<BufReader<TcpStream>>,
    chunk: Vec<u8>,
}

impl Lines {
    /// Begins a request. Returns `None` if the server accepts no more streams.
    pub fn open(address: SocketAddr, path: &str) -> Result<Option<Lines>> {
        let mut reader = connect(address, PATIENCE).with_context(|| format!("cannot reach {address}"))?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-ndjson\r\n\
             transfer-encoding: chunked\r\n\r\n"
        );
        reader.get_mut().write_all(head.as_bytes())?;
        let head = read_head(&mut reader)?;
        if head.status == 429 {
            return Ok(None);
        }
        ensure!(head.status == 200 && head.chunked, "a stream was answered with {}", head.status);
        Ok(Some(Lines { answers: Chunks { reader, left: 0, is_over: false }, chunk: Vec::new() }))
    }

    /// Sends lines, each with its line end.
    pub fn send(&mut self, lines: &[u8]) -> Result<()> {
        self.chunk.clear();
        write!(self.chunk, "{:x}\r\n", lines.len())?;
        self.chunk.extend_from_slice(lines);
        self.chunk.extend_from_slice(b"\r\n");
        self.answers.reader.get_mut().write_all(&self.chunk).context("a stream cannot be written")
    }

    /// Ends the request.
    pub fn finish(&mut self) -> Result<()> {
        self.answers.reader.get_mut().write_all(b"0\r\n\r\n").context("a stream cannot be ended")
    }

    /// Waits for the next answer. Returns false if there are no more.
    pub fn answer(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        self.answers.line(text)
    }

    /// Whether another answer has already arrived.
    pub fn has_answer(&self) -> bool {
        !self.answers.reader.buffer().is_empty()
    }
}

/// Reads lines from chunks, wherever they are cut.
struct Chunks<R> {
    reader: R,
    /// The remaining bytes of a chunk.
    left: usize,
    is_over: bool,
}

impl<R: BufRead> Chunks<R> {
    /// Reads a line without its end. Returns false at the end.
    fn line(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        text.clear();
        loop {
            if !self.is_within()? {
                ensure!(text.is_empty(), "the answers end within a line");
                return Ok(false);
            }
            let ready = self.reader.fill_buf()?;
            ensure!(!ready.is_empty(), "the connection was closed within an answer");
            let ready = &ready[..ready.len().min(self.left)];
            let end = ready.iter().position(|&byte| byte == b'\n');
            text.extend_from_slice(&ready[..end.unwrap_or(ready.len())]);
            ensure!(text.len() <= ANSWER_BYTES, "an answer of more than {ANSWER_BYTES} bytes");
            let used = end.map_or(ready.len(), |end| end + 1);
            self.reader.consume(used);
            self.left -= used;
            // The chunk's line end is read at once, so that any remaining bytes belong to another chunk.
            if self.left == 0 {
                ensure!(line(&mut self.reader)?.is_empty(), "a chunk is longer than it says");
            }
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Whether a chunk has bytes to read; begins the next chunk after a finished one.
    fn is_within(&mut self) -> Result<bool> {
        if self.left == 0 && !self.is_over {
            self.left = chunk_length(&mut self.reader)?;
            self.is_over = self.left == 0;
        }
        Ok(!self.is_over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<String>> {
        let mut chunks = Chunks { reader: text.as_bytes(), left: 0, is_over: false };
        let (mut all, mut line) = (Vec::new(), Vec::new());
        while chunks.line(&mut line)? {
            all.push(String::from_utf8(line.clone())?);
        }
        assert!(!chunks.line(&mut line)?, "it stays at its end");
        Ok(all)
    }

    #[test]
    fn lines_are_the_same_wherever_chunks_are_cut() {
        let text = "one\ntwo two\n\nlast\n";
        for first in 1..text.len() - 1 {
            for second in first + 1..text.len() {
                let parts = [&text[..first], &text[first..second], &text[second..]];
                let chunks = parts.map(|part| format!("{:x}\r\n{part}\r\n", part.len())).concat();
                assert_eq!(lines(&(chunks + "0\r\n\r\n")).unwrap(), ["one", "two two", "", "last"]);
            }
        }
        assert!(lines("0\r\n\r\n").unwrap().is_empty());
    }

    #[test]
    fn half_a_stream_is_an_error() {
        for text in
            ["", "3\r\na", "3\r\nab\n\r\n", "2\r\nab\r\n0\r\n\r\n", "3\r\nab\nc\r\n0\r\n\r\n", "x\r\n"]
        {
            assert!(lines(text).is_err(), "{text:?}");
        }
    }
}
