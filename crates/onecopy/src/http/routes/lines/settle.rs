//! Accepts the lines of a group, and waits while the queue is full.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use onecopy_engine::{Accepted, Action, Refusal, Service};
use tokio::time::sleep;

use super::cut::Line;
use crate::http::failure::Failure;
use crate::http::server::Server;

/// How long a stream waits for room in the queue before its lines are refused.
pub const FULL_TIME: Duration = Duration::from_secs(60);
/// The pause between two checks for room in the queue.
const LOOK: Duration = Duration::from_millis(10);
/// The longest pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// A line's outcome.
pub type LineOutcome = Result<Accepted, Failure>;

/// Accepts the lines of a group. Lines that were refused for another reason than a full queue are not tried again.
pub async fn settle(
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
