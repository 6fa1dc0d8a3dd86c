//! The feed: changes of status by number, as lines or as a stream of server-sent events.
//!
//! One thread waits for the engine's feed to grow and wakes all listeners, so a listener costs no thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderValue};
use hyper::{Request, StatusCode};
use onecopy_engine::{FeedCursor, FeedEntry, FeedPage, Service};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::http::failure::Failure;
use crate::http::metrics::GaugeGuard;
use crate::http::params::{Params, number};
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
    let after = params
        .text("after")
        .map_or(Ok(FeedCursor::default()), |text| cursor(server, text, "the parameter `after`"))?;
    let limit = params.number("limit", 1..=MOST, USUAL)? as usize;
    let wait = Duration::from_secs(params.number("wait", 0..=LONGEST_WAIT, 0)?);
    let last = last_event(server, request)?;
    if wants_events(request) {
        let first = changes(server, last.unwrap_or(after), AT_ONCE, Duration::ZERO).await?;
        return Ok(events(server, first));
    }
    let page = changes(server, after, limit, wait).await?;
    let mut text = Vec::new();
    for change in &page.changes {
        push_line(&mut text, change)?;
    }
    let mut response = whole(StatusCode::OK, LINES, text);
    let cursor = HeaderValue::from_str(&shown(server, page.next))
        .map_err(|_| Failure::ours("the cursor is not a header"))?;
    response.headers_mut().insert(CURSOR, cursor);
    Ok(response)
}

/// The header with the value of `after` for the next changes.
const CURSOR: &str = "onecopy-cursor";

/// A cursor as text: the collection, the number, and where the reader began if it has not read that far.
fn shown(server: &Server, cursor: FeedCursor) -> String {
    let FeedCursor { after, begun } = cursor;
    let begun = if begun > 0 { format!("-{begun}") } else { String::new() };
    format!("{}-{after}{begun}", server.service.id())
}

/// Reads a cursor, or a number alone, that was given as `what`.
fn cursor(server: &Server, text: &str, what: &str) -> Result<FeedCursor, Failure> {
    let (id, numbers) = match text.split_once('-') {
        Some((id, numbers)) => (Some(id), numbers),
        None => (None, text),
    };
    let numbers: Option<Vec<u64>> = numbers.split('-').map(number).collect();
    let is_id = id.is_none_or(|id| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let cursor = match numbers.as_deref() {
        Some(&[after]) => Some(FeedCursor { after, begun: 0 }),
        Some(&[after, begun]) => Some(FeedCursor { after, begun }),
        _ => None,
    };
    match cursor.filter(|_| is_id) {
        Some(_) if id.is_some_and(|id| id != server.service.id()) => {
            Err(Failure::gone("the cursor is of another collection"))
        }
        Some(cursor) => Ok(cursor),
        None => {
            let remedy = "give the cursor of the last answer, the number of a change, or 0";
            Err(Failure::bad(format!("{what} is not a feed number"), remedy))
        }
    }
}

/// Changes after a cursor. If there are none, waits for some.
async fn changes(
    server: &Arc<Server>,
    cursor: FeedCursor,
    limit: usize,
    wait: Duration,
) -> Result<FeedPage, Failure> {
    let mut feed = server.feed.clone();
    let mut stop = server.stop.clone();
    let until = Instant::now() + wait;
    loop {
        let found = server.call(move |service| service.feed(cursor, limit)).await??;
        let left = until.saturating_duration_since(Instant::now());
        if !found.changes.is_empty() || left.is_zero() || *stop.borrow() {
            return Ok(found);
        }
        // The number of the thread may lag behind, so wait for it to grow.
        let grown = feed.wait_for(|last| *last > found.next.after);
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
fn last_event<B>(server: &Server, request: &Request<B>) -> Result<Option<FeedCursor>, Failure> {
    let Some(last) = request.headers().get("last-event-id") else { return Ok(None) };
    cursor(server, last.to_str().unwrap_or_default(), "the header `Last-Event-ID`").map(Some)
}

fn events(server: &Arc<Server>, first: FeedPage) -> crate::http::reply::Response {
    let (pieces, response) = stream(EVENTS);
    let server = server.clone();
    tokio::spawn(async move {
        let _held = GaugeGuard::one(&server.metrics.streams);
        send_events(&server, first, pieces).await;
    });
    response
}

/// Sends changes until the client disconnects or the service ends.
async fn send_events(server: &Arc<Server>, mut page: FeedPage, mut pieces: Pieces) {
    // Send something at once, so that the client sees that it is connected.
    let mut text = b": onecopy\n\n".to_vec();
    loop {
        text.extend(event_text(server, &page));
        if pieces.send_data(Bytes::from(text)).await.is_err() {
            return;
        }
        page = match changes(server, page.next, AT_ONCE, KEEP_ALIVE).await {
            _ if server.is_stopping() => return,
            Ok(page) => page,
            Err(failure) => {
                server.log.event("feed", &failure.error);
                return;
            }
        };
        text = if page.changes.is_empty() { b": nothing new\n\n".to_vec() } else { Vec::new() };
    }
}

fn event_text(server: &Server, page: &FeedPage) -> Vec<u8> {
    let mut text = Vec::with_capacity(page.changes.len() * 160);
    for change in &page.changes {
        let at = FeedCursor { after: change.sequence, ..page.next };
        let event = if matches!(change.what, FeedEntry::Group(_)) { "group" } else { "change" };
        text.extend_from_slice(format!("id: {}\nevent: {event}\ndata: ", shown(server, at)).as_bytes());
        // The newline after the JSON ends the data; an empty line ends the event.
        if push_line(&mut text, change).is_ok() {
            text.push(b'\n');
        }
    }
    text
}
