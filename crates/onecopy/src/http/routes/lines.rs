//! Pages one per line, with an answer for each line in the same order.
//!
//! One task reads lines into groups; another accepts a group and makes its answers. The next group grows while the disk
//! is busy. At most three groups of a request are in memory.
//!
//! The answers follow the last line: proxies stop sending a request once its answer begins. Only then does the status
//! say whether all lines were read. A client without a proxy may ask for answers while it sends (`live=true`); then the
//! last line says it.

mod cut;
mod kept;
mod read;
mod settle;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use hyper::Request;
use hyper::header::EXPECT;
use onecopy_engine::{Accepted, Refusal};
use serde::Serialize;
use tokio::sync::mpsc;

use self::kept::Kept;
use self::read::{LineBatch, Reader};
use self::settle::{LineOutcome, settle};
use super::about::must_be_ready;
use crate::http::body::{RequestBody, next_piece, refuse};
use crate::http::failure::Failure;
use crate::http::metrics::GaugeGuard;
use crate::http::params::Params;
use crate::http::rate::Client;
use crate::http::reply::{self, LINES, Outcome, Pieces, push_line};
use crate::http::server::Server;

/// The answers that a client wants, and when.
#[derive(Clone, Copy)]
pub struct Wishes {
    answers: Answers,
    is_live: bool,
}

/// The lines that the response reports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// All lines.
    All,
    /// Only refused lines, with a summary at the end.
    Refused,
}

/// A request with lines.
#[derive(Clone, Copy)]
struct Stream {
    answers: Answers,
    client: Client,
}

/// Where answers go.
enum Sink {
    /// To the client, while it sends.
    Live(Pieces),
    /// Into store, until the last line is read.
    Kept(Kept),
}

#[derive(Serialize)]
struct TakenLine<'a> {
    line: u64,
    #[serde(flatten)]
    accepted: &'a Accepted,
}

#[derive(Serialize)]
struct Refused<'a> {
    line: u64,
    /// The HTTP status that the line would get as a single request.
    code: u16,
    error: &'a str,
    remedy: &'a str,
}

#[derive(Default, Serialize)]
struct Summary {
    accepted_lines: u64,
    refused_lines: u64,
    /// Whether every line was read.
    complete: bool,
}

/// `POST /pages` with lines.
pub async fn put(server: &Arc<Server>, request: Request<RequestBody>) -> Outcome {
    let wishes = wishes(request.uri().query()).and_then(|wishes| {
        // While the queue is full, the stream waits.
        if !matches!(server.service.ready(), Err(Refusal::Full(_))) {
            must_be_ready(server)?;
        }
        Ok(wishes)
    });
    let client = request.extensions().get::<Client>().copied().unwrap_or(Client::Others);
    let expects = request.headers().contains_key(EXPECT);
    let mut body = request.into_body();
    let wishes = match wishes {
        Ok(wishes) => wishes,
        Err(failure) => return Err(refuse(body, failure).await),
    };
    let asked = Stream { answers: wishes.answers, client };
    if !wishes.is_live {
        return answer_at_end(server, body, asked).await;
    }
    // A client that sent `Expect: 100-continue` is told to continue on the first read, unless the answer has begun.
    let first = if expects { next_piece(&mut body, &server.taking).await? } else { None };
    Ok(answer_live(server, body, first, asked))
}

/// The wishes in a query.
pub fn wishes(query: Option<&str>) -> Result<Wishes, Failure> {
    let params = Params::parse(query, &["answers", "live"])?;
    let answers = match params.text("answers") {
        None | Some("all") => Answers::All,
        Some("refused") => Answers::Refused,
        Some(_) => {
            return Err(Failure::bad(
                "the parameter `answers` must be all or refused",
                "write answers=all or answers=refused",
            ));
        }
    };
    Ok(Wishes { answers, is_live: params.flag("live")? })
}

/// Reads all lines, and then answers. The status is that of the failure if some lines were not read.
async fn answer_at_end(server: &Arc<Server>, body: RequestBody, asked: Stream) -> Outcome {
    let _held = GaugeGuard::one(&server.metrics.streams);
    let (sender, groups) = mpsc::channel(1);
    let reader = Reader::new(server.clone(), body, sender);
    tokio::spawn(async move { reader.run(None).await.drain().await });
    let mut sink = Sink::Kept(Kept::new(&server.folder));
    let broken = settle_all(server, groups, &mut sink, asked).await;
    match sink {
        Sink::Kept(kept) => kept.into_response(broken),
        Sink::Live(_) => Err(Failure::ours("the answers were sent too early")),
    }
}

/// Answers lines while they are sent.
fn answer_live(
    server: &Arc<Server>,
    body: RequestBody,
    first: Option<Bytes>,
    asked: Stream,
) -> reply::Response {
    let (pieces, response) = reply::stream(LINES);
    let (sender, groups) = mpsc::channel(1);
    tokio::spawn(Reader::new(server.clone(), body, sender).run(first));
    let server = server.clone();
    tokio::spawn(async move {
        let _held = GaugeGuard::one(&server.metrics.streams);
        settle_all(&server, groups, &mut Sink::Live(pieces), asked).await;
    });
    response
}

/// Accepts all groups. Returns why some lines were not read, or their answers not kept.
async fn settle_all(
    server: &Arc<Server>,
    mut groups: mpsc::Receiver<LineBatch>,
    sink: &mut Sink,
    asked: Stream,
) -> Option<Failure> {
    let mut summary = Summary::default();
    // Once a stream has waited too long, the rest is refused without an attempt.
    let mut is_given_up = false;
    let mut number = 0;
    while let Some(LineBatch { lines, open: _open, broken, held }) = groups.recv().await {
        number = lines.last().map_or(number, |line| line.number);
        let (numbers, settled) = settle(server, lines, &mut is_given_up).await;
        drop(held);
        summary.count(server, &settled);
        let text = answer_lines(&numbers, &settled, asked.answers);
        let broken = match sink.put(text).await {
            Ok(()) => broken,
            Err(failure) => Some(failure),
        };
        if let Some(failure) = broken {
            let mut text = Vec::new();
            let _ = push_line(&mut text, &refusal(number + 1, &failure));
            text.extend(summary.line(sink, asked));
            let _ = sink.put(text).await;
            return Some(failure);
        }
        server.slow_down(asked.client, numbers.len()).await;
    }
    summary.complete = true;
    sink.put(summary.line(sink, asked)).await.err()
}

impl Sink {
    async fn put(&mut self, text: Vec<u8>) -> Result<(), Failure> {
        match self {
            Sink::Live(_) if text.is_empty() => Ok(()),
            Sink::Live(pieces) => pieces
                .send_data(Bytes::from(text))
                .await
                .map_err(|_| Failure::bad("the client is gone", "read the answers to their end")),
            Sink::Kept(kept) => kept.push(&text),
        }
    }
}

impl Summary {
    /// The last line, if there is one. The status of a live answer cannot tell whether all lines were read.
    fn line(&self, sink: &Sink, asked: Stream) -> Vec<u8> {
        let mut text = Vec::new();
        if asked.answers == Answers::Refused || matches!(sink, Sink::Live(_)) {
            let _ = push_line(&mut text, self);
        }
        text
    }

    fn count(&mut self, server: &Server, settled: &[LineOutcome]) {
        let refused = settled.iter().filter(|settled| settled.is_err()).count() as u64;
        let accepted = settled.len() as u64 - refused;
        (self.accepted_lines, self.refused_lines) =
            (self.accepted_lines + accepted, self.refused_lines + refused);
        server.metrics.lines_accepted.fetch_add(accepted, Ordering::Relaxed);
        server.metrics.lines_refused.fetch_add(refused, Ordering::Relaxed);
    }
}

fn answer_lines(numbers: &[u64], settled: &[LineOutcome], answers: Answers) -> Vec<u8> {
    let mut text = Vec::with_capacity(settled.len() * 128);
    for (&line, settled) in numbers.iter().zip(settled) {
        let written = match settled {
            Ok(_) if answers == Answers::Refused => Ok(()),
            Ok(accepted) => push_line(&mut text, &TakenLine { line, accepted }),
            Err(failure) => push_line(&mut text, &refusal(line, failure)),
        };
        if let Err(failure) = written {
            let _ = push_line(&mut text, &refusal(line, &failure));
        }
    }
    text
}

fn refusal(line: u64, failure: &Failure) -> Refused<'_> {
    Refused { line, code: failure.status.as_u16(), error: &failure.error, remedy: &failure.remedy }
}
