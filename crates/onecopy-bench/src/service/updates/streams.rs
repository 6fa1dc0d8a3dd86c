//! Sends updates as one long stream of lines per connection, with a few unanswered lines at a time.
//!
//! An overloaded server holds lines back for up to a minute, which slows the client down. After that it refuses all
//! further lines of the stream, and they are sent again on another. So are those of an aborted stream: the server may
//! close one whose client waits for answers, because it looks idle.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::{BEFORE_AGAIN, Shared};
use crate::service::histogram::Histogram;
use crate::service::http::lines::Lines;

/// Status codes of lines that the server refused because it was full or timed out.
const NOT_TAKEN: [u16; 2] = [408, 429];

/// A line's answer.
#[derive(Debug, PartialEq)]
enum Answer {
    Accepted,
    /// The server is full: the line must be sent again.
    Full,
    /// Refused for another reason.
    Refused(String),
}

/// Sends until it should stop or there are no more changes. Returns how long each answer took.
pub fn put_until(shared: &Shared, in_flight: usize) -> Result<Histogram> {
    let mut window = Window::new(in_flight);
    let has_more = |window: &Window| !window.again.is_empty() || !shared.changes.is_over();
    while !shared.is_stopped() && has_more(&window) {
        let refused = match Lines::open(shared.server.address(), "/pages?live=true")? {
            Some(mut lines) => window.converse(shared, &mut lines)?,
            None => 1,
        };
        if refused > 0 {
            shared.refuse(refused);
            thread::sleep(BEFORE_AGAIN);
        }
    }
    Ok(window.took)
}

/// An unanswered line.
struct Sent {
    line: u64,
    /// The index of its change.
    change: usize,
    at: Instant,
}

/// The answers of a stream.
#[derive(Default)]
struct Counts {
    answered: u64,
    /// Those that report a full server.
    refused: u64,
}

/// The unanswered lines of a connection.
struct Window {
    most: usize,
    sent: VecDeque<Sent>,
    /// Refused changes.
    again: VecDeque<usize>,
    took: Histogram,
}

impl Window {
    fn new(most: usize) -> Window {
        Window { most, sent: VecDeque::new(), again: VecDeque::new(), took: Histogram::default() }
    }

    /// Runs one stream to its end. Returns how many of its lines were refused or left unanswered.
    fn converse(&mut self, shared: &Shared, lines: &mut Lines) -> Result<u64> {
        let (mut line, mut counts, mut text) = (0, Counts::default(), Vec::new());
        loop {
            text.clear();
            if counts.refused == 0 && !shared.is_stopped() {
                self.fill(shared, &mut line, &mut text)?;
            }
            if self.sent.is_empty() {
                if counts.refused > 0 || shared.is_stopped() || shared.changes.is_over() {
                    break;
                }
                thread::sleep(shared.changes.wait(&shared.pace));
                continue;
            }
            if !self.exchange(lines, &text, &mut counts)? {
                // A stream without any answer indicates another problem.
                ensure!(counts.answered > 0, "a stream broke off before any answer");
                return Ok(counts.refused + self.take_back());
            }
        }
        // Everything is answered, so the way the stream ends does not matter.
        let _ = lines.finish().and_then(|()| lines.answer(&mut text));
        Ok(counts.refused)
    }

    /// Sends lines, if any, and takes all available answers, at least one. They free slots for lines that are sent
    /// together. Returns false if the stream breaks off.
    fn exchange(&mut self, lines: &mut Lines, text: &[u8], counts: &mut Counts) -> Result<bool> {
        if !text.is_empty() && lines.send(text).is_err() {
            return Ok(false);
        }
        let mut answer = Vec::new();
        loop {
            if !lines.answer(&mut answer).unwrap_or(false) {
                return Ok(false);
            }
            // The last line of a stream, which the server ended.
            if answer.starts_with(b"{\"accepted_lines\"") {
                return Ok(false);
            }
            counts.refused += u64::from(!self.is_accepted(&answer, Instant::now())?);
            counts.answered += 1;
            if self.sent.is_empty() || !lines.has_answer() {
                return Ok(true);
            }
        }
    }

    /// Queues all unanswered lines to be sent again. Returns their number.
    fn take_back(&mut self) -> u64 {
        let before = self.again.len();
        self.again.extend(self.sent.drain(..).map(|sent| sent.change));
        (self.again.len() - before) as u64
    }

    /// Appends lines up to the limit, refused ones first.
    fn fill(&mut self, shared: &Shared, line: &mut u64, text: &mut Vec<u8>) -> Result<()> {
        let again = |change| (change, Instant::now());
        while self.sent.len() < self.most
            && let Some((change, at)) =
                self.again.pop_front().map(again).or_else(|| shared.changes.take(&shared.pace))
        {
            shared.changes.read(change, text)?;
            *line += 1;
            self.sent.push_back(Sent { line: *line, change, at });
        }
        Ok(())
    }

    /// Takes the answer to the oldest line. Returns false if the line must be sent again.
    fn is_accepted(&mut self, text: &[u8], now: Instant) -> Result<bool> {
        let (line, answer) = parse(text)?;
        let sent = self.sent.pop_front().with_context(|| format!("an answer to line {line}, of none"))?;
        ensure!(sent.line == line, "line {} was due to be answered, not {line}: {answer:?}", sent.line);
        match answer {
            Answer::Accepted => {
                self.took.add(now - sent.at);
                Ok(true)
            }
            Answer::Full => {
                self.again.push_back(sent.change);
                Ok(false)
            }
            Answer::Refused(why) => bail!("line {line} was not accepted: {why}"),
        }
    }
}

/// The number of the answered line, and the answer.
fn parse(text: &[u8]) -> Result<(u64, Answer)> {
    #[derive(Deserialize)]
    struct Told<'a> {
        line: u64,
        accepted: Option<u64>,
        code: Option<u16>,
        #[serde(borrow)]
        error: Option<Cow<'a, str>>,
    }
    let what = || format!("an answer is not as expected: {}", String::from_utf8_lossy(text));
    let told: Told = serde_json::from_slice(text).with_context(what)?;
    let answer = match (told.accepted, told.error) {
        (Some(_), None) => Answer::Accepted,
        (None, Some(_)) if told.code.is_some_and(|code| NOT_TAKEN.contains(&code)) => Answer::Full,
        (None, Some(error)) => Answer::Refused(error.into_owned()),
        _ => bail!(what()),
    };
    Ok((told.line, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        let accepted = br#"{"line":7,"accepted":812,"page":"p\"1","status":"unique","settled":true}"#;
        assert_eq!(parse(accepted).unwrap(), (7, Answer::Accepted));
        let full =
            br#"{"line":8,"code":429,"error":"too many wait: this line was not taken","remedy":"try again"}"#;
        assert_eq!(parse(full).unwrap(), (8, Answer::Full));
        let cut = br#"{"line":3,"code":408,"error":"nothing came for 30 seconds","remedy":""}"#;
        assert_eq!(parse(cut).unwrap(), (3, Answer::Full));
        let bad = br#"{"line":9,"code":400,"error":"no \"html\"","remedy":"send it"}"#;
        assert_eq!(parse(bad).unwrap(), (9, Answer::Refused("no \"html\"".into())));
        for text in ["", "{}", r#"{"line":1}"#, r#"{"accepted":1}"#, r#"{"line":1,"accepted":1,"error":""}"#]
        {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn answers_come_in_order_and_what_is_refused_is_kept() {
        let (mut window, at) = (Window::new(4), Instant::now());
        window.sent.extend((1..=3).map(|line| Sent { line, change: 10 + line as usize, at }));
        assert!(window.is_accepted(br#"{"line":1,"accepted":5}"#, at).unwrap());
        assert!(!window.is_accepted(br#"{"line":2,"code":429,"error":"not taken"}"#, at).unwrap());
        assert_eq!((window.again.clone(), window.took.latency().count), ([12].into(), 1));
        assert!(window.is_accepted(br#"{"line":4,"accepted":6}"#, at).is_err());
        assert!(window.is_accepted(br#"{"line":4,"accepted":6}"#, at).is_err(), "nothing is under way");
    }
}
