//! A stream of pages, one per line, with an answer for each line in the same order.
//!
//! One task reads lines into groups; another accepts a group and sends its answers. The next group grows while the disk
//! is busy. A client may wait for an answer before it sends the next line, or send everything while it reads answers.
//! At most three groups of a stream are in memory.

mod cut;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::EXPECT;
use hyper::{Request, StatusCode};
use onecopy_engine::{Accepted, Action, Refusal, Service};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::sleep;

use self::cut::{Cutter, Line};
use super::about::must_be_ready;
use crate::http::body::{next_piece, refuse};
use crate::http::failure::Failure;
use crate::http::gather::{BYTES, CHANGES};
use crate::http::metrics::GaugeGuard;
use crate::http::params::Params;
use crate::http::reply::{self, LINES, Outcome, Pieces, push_line};
use crate::http::server::Server;

/// How long a stream waits for room in the queue before its lines are refused.
const FULL_TIME: Duration = Duration::from_secs(60);
/// The pause between two checks for room in the queue.
const LOOK: Duration = Duration::from_millis(10);
/// The longest pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// The lines that the response reports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// All lines.
    All,
    /// Only refused lines, with a summary at the end.
    Refused,
}

/// The lines of one call.
struct LineBatch {
    lines: Vec<Line>,
    /// A permit, held until the lines are answered.
    open: Arc<()>,
    /// Why no group follows, unless the stream ended normally.
    broken: Option<Failure>,
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

#[derive(Serialize)]
struct Summary {
    accepted_lines: u64,
    refused_lines: u64,
}

/// A line's outcome.
type LineOutcome = Result<Accepted, Failure>;

/// `POST /pages` with lines.
pub async fn put(server: &Arc<Server>, request: Request<Incoming>) -> Outcome {
    let answers = which_answers(request.uri().query()).and_then(|answers| {
        // While the queue is full, the stream waits.
        if !matches!(server.service.ready(), Err(Refusal::Full(_))) {
            must_be_ready(server)?;
        }
        let place = server.streams.clone().try_acquire_owned();
        Ok((answers, place.map_err(|_| Failure::busy("too many streams are open", 5))?))
    });
    let expects = request.headers().contains_key(EXPECT);
    let mut body = request.into_body();
    let (answers, place) = match answers {
        Ok(both) => both,
        Err(failure) => return Err(refuse(body, failure).await),
    };
    let mut cutter = Cutter::new(server.page_bytes);
    // A client that sent `Expect: 100-continue` is told to continue on the first read, unless the answer has begun.
    let first = if expects { next_piece(&mut body, server.taking.idle).await? } else { Some(Bytes::new()) };
    first.iter().for_each(|piece| cutter.push(piece));
    let (pieces, response) = reply::stream(LINES);
    let (sender, groups) = mpsc::channel(1);
    tokio::spawn(read(server.clone(), first.map(|_| body), cutter, sender));
    let server = server.clone();
    tokio::spawn(async move {
        let _place = place;
        let _held = GaugeGuard::one(&server.metrics.streams);
        settle_all(&server, groups, pieces, answers).await;
    });
    Ok(response)
}

/// The value of `answers`.
pub fn which_answers(query: Option<&str>) -> Result<Answers, Failure> {
    match Params::parse(query, &["answers"])?.text("answers") {
        None | Some("all") => Ok(Answers::All),
        Some("refused") => Ok(Answers::Refused),
        Some(_) => Err(Failure::bad(
            "the parameter `answers` must be all or refused",
            "write answers=all or answers=refused",
        )),
    }
}

/// Reads lines until the stream ends or fails, or the client stops reading.
async fn read(
    server: Arc<Server>,
    mut body: Option<Incoming>,
    mut cutter: Cutter,
    groups: mpsc::Sender<LineBatch>,
) {
    let (mut stop, open) = (server.stop.clone(), Arc::new(()));
    let group = |cutter: &mut Cutter, broken| {
        let lines = cutter.take(CHANGES, BYTES);
        LineBatch { lines, open: open.clone(), broken }
    };
    let broken = loop {
        if cutter.is_full(CHANGES, BYTES) || (body.is_none() && cutter.has_lines()) {
            if groups.send(group(&mut cutter, None)).await.is_err() {
                return;
            }
            continue;
        }
        let Some(rest) = &mut body else { return };
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => break Failure::stopping(),
            piece = next_unless_open(rest, &open, server.taking.idle) => match piece {
                Ok(Some(piece)) => cutter.push(&piece),
                Ok(None) => {
                    cutter.finish();
                    body = None;
                }
                Err(failure) => break failure,
            },
            // No more lines are ready, and the other task is idle.
            place = groups.reserve(), if cutter.has_lines() => match place {
                Ok(place) => place.send(group(&mut cutter, None)),
                Err(_) => return,
            },
        }
    };
    let _ = groups.send(group(&mut cutter, Some(broken))).await;
}

/// The next piece of a body. A client that sends nothing while a group is open may wait for its answers.
async fn next_unless_open(
    body: &mut Incoming,
    open: &Arc<()>,
    idle: Duration,
) -> Result<Option<Bytes>, Failure> {
    loop {
        match next_piece(body, idle).await {
            Err(failure) if failure.status == StatusCode::REQUEST_TIMEOUT && Arc::strong_count(open) > 1 => {}
            piece => return piece,
        }
    }
}

async fn settle_all(
    server: &Arc<Server>,
    mut groups: mpsc::Receiver<LineBatch>,
    mut pieces: Pieces,
    answers: Answers,
) {
    let mut summary = Summary { accepted_lines: 0, refused_lines: 0 };
    // Once a stream has waited too long, the rest is refused without an attempt.
    let mut is_given_up = false;
    let mut number = 0;
    while let Some(LineBatch { lines, open: _open, broken }) = groups.recv().await {
        number = lines.last().map_or(number, |line| line.number);
        let (numbers, settled) = settle(server, lines, &mut is_given_up).await;
        let refused = settled.iter().filter(|settled| settled.is_err()).count() as u64;
        let accepted = settled.len() as u64 - refused;
        (summary.accepted_lines, summary.refused_lines) =
            (summary.accepted_lines + accepted, summary.refused_lines + refused);
        server.metrics.lines_accepted.fetch_add(accepted, Ordering::Relaxed);
        server.metrics.lines_refused.fetch_add(refused, Ordering::Relaxed);
        let mut text = answer_lines(&numbers, &settled, answers);
        if let Some(failure) = &broken {
            let _ = push_line(&mut text, &refusal(number + 1, failure));
        }
        if !text.is_empty() && pieces.send_data(Bytes::from(text)).await.is_err() {
            return;
        }
        if broken.is_some() {
            return;
        }
    }
    if answers == Answers::Refused {
        let mut text = Vec::new();
        let _ = push_line(&mut text, &summary);
        let _ = pieces.send_data(Bytes::from(text)).await;
    }
}

/// Accepts the lines of a group, and waits while the queue is full. Lines that were refused for another reason are not
/// tried again.
async fn settle(
    server: &Arc<Server>,
    lines: Vec<Line>,
    is_given_up: &mut bool,
) -> (Vec<u64>, Vec<LineOutcome>) {
    let numbers: Vec<u64> = lines.iter().map(|line| line.number).collect();
    let mut settled: Vec<Option<LineOutcome>> = Vec::with_capacity(lines.len());
    let mut open: Vec<(usize, Bytes)> = Vec::with_capacity(lines.len());
    for (at, line) in lines.into_iter().enumerate() {
        match line.text {
            Some(text) => {
                open.push((at, text));
                settled.push(None);
            }
            None => settled.push(Some(Err(Failure::too_large(server.page_bytes)))),
        }
    }
    let begun = Instant::now();
    while !open.is_empty() && !*is_given_up {
        let (rest, outcomes) = match accept(server, open).await {
            Ok(both) => both,
            Err(_) => break,
        };
        let mut pause = Duration::ZERO;
        open = Vec::new();
        for ((at, text), outcome) in rest.into_iter().zip(outcomes) {
            match outcome {
                Err(Refusal::Full(seconds)) => {
                    pause = Duration::from_secs(seconds).min(PAUSE);
                    open.push((at, text));
                }
                Err(refusal) => settled[at] = Some(Err(refusal.into())),
                Ok(accepted) => settled[at] = Some(Ok(accepted)),
            }
        }
        if !open.is_empty() {
            *is_given_up = begun.elapsed() > FULL_TIME || server.is_stopping();
            wait_for_room(server, pause).await;
        }
    }
    let not_taken = || match *is_given_up {
        true if server.is_stopping() => Err(Failure::stopping()),
        true => Err(full_for_long()),
        false => Err(Failure::ours("the engine failed; this line may have been accepted")),
    };
    let settled = settled.into_iter().map(|settled| settled.unwrap_or_else(not_taken)).collect();
    (numbers, settled)
}

/// Waits until there is room, up to a limit. It polls, because a blocked thread would be missing for other requests.
async fn wait_for_room(server: &Server, most: Duration) {
    let begun = Instant::now();
    loop {
        sleep(LOOK).await;
        let is_full = matches!(server.service.ready(), Err(Refusal::Full(_)));
        if !is_full || begun.elapsed() >= most || server.is_stopping() {
            return;
        }
    }
}

/// Passes lines to the engine on a thread that may block.
async fn accept(
    server: &Arc<Server>,
    open: Vec<(usize, Bytes)>,
) -> Result<(Vec<(usize, Bytes)>, Vec<Result<Accepted, Refusal>>), Failure> {
    let call = move |service: &Service| {
        let actions: Vec<Action> = open.iter().map(|(_, text)| Action::Put(text)).collect();
        let outcomes = service.accept(&actions);
        (open, outcomes)
    };
    server.call(call).await
}

fn full_for_long() -> Failure {
    let error = format!("the queue was full for {} seconds", FULL_TIME.as_secs());
    Failure::busy(error + ": this line was not accepted", 30)
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
