//! The feed: changes of status by number, as lines or as a stream of server-sent events.
//!
//! One thread waits for the engine's feed to grow and wakes all listeners, so a listener costs no thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::header::ACCEPT;
use hyper::{Request, StatusCode};
use onecopy_engine::{Change, Service};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::http::failure::Failure;
use crate::http::metrics::GaugeGuard;
use crate::http::params::{LARGEST, Params, number};
use crate::http::reply::{EVENTS, LINES, Outcome, Pieces, push_line, stream, whole};
use crate::http::server::Server;

/// Changes per answer: the default and the maximum.
const USUAL: u64 = 1_000;
const MOST: u64 = 10_000;
/// The longest wait of a client, in seconds.
const LONGEST_WAIT: u64 = 60;
/// Changes read at a time for a stream.
const AT_ONCE: usize = 500;
/// A stream sends something at least this often, so that no proxy closes it as idle.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long the thread waits for the engine at a time. It notices the shutdown afterwards.
const ASKING: Duration = Duration::from_millis(250);

/// The pause after the feed grew. Changes come in batches, and each look has a cost.
const PACE: Duration = Duration::from_millis(20);

/// Starts the thread that follows the engine's feed until the shutdown.
pub fn follow(service: Arc<Service>, stop: watch::Receiver<bool>) -> std::io::Result<watch::Receiver<u64>> {
    let (sender, receiver) = watch::channel(service.wait_for_feed(0, Duration::ZERO));
    let follow = move || {
        while !*stop.borrow() {
            let last = *sender.borrow();
            let now = service.wait_for_feed(last, ASKING);
            if now > last {
                sender.send_replace(now);
                std::thread::sleep(PACE);
            }
        }
    };
    std::thread::Builder::new().name("feed".into()).spawn(follow)?;
    Ok(receiver)
}

/// `GET /feed`.
pub async fn feed<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    let params = Params::parse(request.uri().query(), &["after", "limit", "wait"])?;
    let after = params.number("after", 0..=LARGEST, 0)?;
    let limit = params.number("limit", 1..=MOST, USUAL)? as usize;
    let wait = Duration::from_secs(params.number("wait", 0..=LONGEST_WAIT, 0)?);
    let last = last_event(request)?;
    if wants_events(request) {
        let after = last.unwrap_or(after);
        return Ok(events(server, after));
    }
    let mut text = Vec::new();
    for change in changes(server, after, limit, wait).await? {
        push_line(&mut text, &change)?;
    }
    Ok(whole(StatusCode::OK, LINES, text))
}

/// Changes after a number. If there are none, waits for some.
async fn changes(
    server: &Arc<Server>,
    after: u64,
    limit: usize,
    wait: Duration,
) -> Result<Vec<Change>, Failure> {
    let mut feed = server.feed.clone();
    let mut stop = server.stop.clone();
    let until = Instant::now() + wait;
    loop {
        let found = server.call(move |service| service.feed(after, limit)).await??;
        let left = until.saturating_duration_since(Instant::now());
        if !found.is_empty() || left.is_zero() || *stop.borrow() {
            return Ok(found);
        }
        // The number of the thread may lag behind, so wait for it to grow.
        let grown = feed.wait_for(|last| *last > after);
        tokio::select! {
            _ = timeout(left, grown) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

fn wants_events<B>(request: &Request<B>) -> bool {
    let accepted = request.headers().get_all(ACCEPT).into_iter();
    let mut kinds = accepted.filter_map(|kinds| kinds.to_str().ok()).flat_map(|kinds| kinds.split(','));
    kinds.any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(EVENTS)))
}

/// Where a reconnecting client wants to continue.
fn last_event<B>(request: &Request<B>) -> Result<Option<u64>, Failure> {
    let Some(last) = request.headers().get("last-event-id") else { return Ok(None) };
    let number = last.to_str().ok().and_then(number);
    let error = "the header `Last-Event-ID` is not a feed number";
    number.map(Some).ok_or_else(|| Failure::bad(error, "send the `id` of the last event, or omit the header"))
}

fn events(server: &Arc<Server>, after: u64) -> crate::http::reply::Response {
    let (pieces, response) = stream(EVENTS);
    let server = server.clone();
    tokio::spawn(async move {
        let _held = GaugeGuard::one(&server.metrics.streams);
        send_events(&server, after, pieces).await;
    });
    response
}

/// Sends changes until the client disconnects or the service ends.
async fn send_events(server: &Arc<Server>, mut after: u64, mut pieces: Pieces) {
    // Send something at once, so that the client sees that it is connected.
    if pieces.send_data(Bytes::from_static(b": onecopy\n\n")).await.is_err() {
        return;
    }
    loop {
        let text = match changes(server, after, AT_ONCE, KEEP_ALIVE).await {
            _ if server.is_stopping() => return,
            Ok(changes) if changes.is_empty() => b": nothing new\n\n".to_vec(),
            Ok(changes) => {
                after = changes.last().map_or(after, |change| change.sequence);
                event_text(&changes)
            }
            Err(failure) => {
                server.log.event("feed", &failure.error);
                return;
            }
        };
        if pieces.send_data(Bytes::from(text)).await.is_err() {
            return;
        }
    }
}

fn event_text(changes: &[Change]) -> Vec<u8> {
    let mut text = Vec::with_capacity(changes.len() * 160);
    for change in changes {
        text.extend_from_slice(format!("id: {}\nevent: change\ndata: ", change.sequence).as_bytes());
        // The newline after the JSON ends the data; an empty line ends the event.
        if push_line(&mut text, change).is_ok() {
            text.push(b'\n');
        }
    }
    text
}
