//! Request bodies: read completely, within limits on size, pauses and total time.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, StatusCode};
use tokio::time::timeout;

use super::failure::Failure;
use super::memory::{BodyMemory, Held};
use super::unpack::{Unpacker, coding};

/// How long a large body waits for memory.
const MEMORY_TIME: Duration = Duration::from_secs(10);
/// How much of a refused body is read, and for how long. A client that is still writing would not see the answer.
const REFUSED_BYTES: usize = 16 << 20;
const REFUSED_TIME: Duration = Duration::from_secs(2);

/// A body that is being received.
pub struct RequestBody {
    incoming: Incoming,
    unpacker: Option<Unpacker>,
    pace: Pace,
}

/// How much came, and how long the service waited for it, since the last look.
#[derive(Default)]
struct Pace {
    bytes: u64,
    waited: Duration,
}

/// A complete body.
pub struct Taken {
    pub bytes: Bytes,
    /// The memory of a large body, held until the bytes are no longer needed.
    _held: Held,
}

/// How bodies are read.
pub struct Taking {
    /// The memory for large bodies.
    pub memory: BodyMemory,
    /// How long a client may pause.
    pub idle: Duration,
    /// The fewest bytes per second, over each such time.
    pub min_rate: u64,
}

/// The declared type of a body.
#[derive(Debug, PartialEq, Eq)]
pub enum Media {
    Json,
    Lines,
    Other,
}

impl RequestBody {
    /// The body of a request with these headers.
    pub fn new(headers: &HeaderMap, incoming: Incoming) -> RequestBody {
        let unpacker = coding(headers).and_then(Unpacker::new);
        RequestBody { incoming, unpacker, pace: Pace::default() }
    }
}

impl Pace {
    /// Counts a piece. Says whether the client was too slow since the last look.
    fn is_slow(&mut self, bytes: usize, waited: Duration, taking: &Taking) -> bool {
        self.bytes += bytes as u64;
        self.waited += waited;
        if self.waited < taking.idle {
            return false;
        }
        let Pace { bytes, waited } = std::mem::take(self);
        (bytes as f64) < taking.min_rate as f64 * waited.as_secs_f64()
    }
}

/// The type that the headers declare.
pub fn media(headers: &HeaderMap) -> Media {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        _ if coding(headers).is_none() => Media::Other,
        "application/json" => Media::Json,
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Media::Lines,
        _ => Media::Other,
    }
}

/// The failure for a body that has none of these types.
pub fn unsupported(kinds: &str) -> Failure {
    let error =
        format!("unsupported body: expected {kinds}, plain or with the content encoding gzip or zstd");
    let remedy = format!("send the header `Content-Type: {}`", kinds.split(' ').next().unwrap_or(kinds));
    Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error, remedy)
}

/// Reads a body that must be one JSON value, of at most `limit` bytes.
pub async fn take_json(
    headers: &HeaderMap,
    body: RequestBody,
    limit: usize,
    taking: &Taking,
) -> Result<Taken, Failure> {
    if media(headers) != Media::Json {
        return Err(refuse(body, unsupported("application/json")).await);
    }
    take(body, limit, taking).await
}

/// Reads a body of at most `limit` bytes.
pub async fn take(mut body: RequestBody, limit: usize, taking: &Taking) -> Result<Taken, Failure> {
    if body.incoming.size_hint().lower() > limit as u64 {
        return Err(refuse(body, Failure::too_large(limit)).await);
    }
    let mut held = Held::default();
    let mut first = Bytes::new();
    let mut all: Vec<u8> = Vec::new();
    while let Some(piece) = next_piece(&mut body, taking).await? {
        let length = first.len() + all.len() + piece.len();
        if length > limit {
            return Err(refuse(body, Failure::too_large(limit)).await);
        }
        if let Err(failure) = taking.memory.grow(&mut held, length, MEMORY_TIME).await {
            return Err(refuse(body, failure).await);
        }
        // Most bodies arrive in one piece and need no copy.
        if first.is_empty() && all.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.reserve(body.incoming.size_hint().lower().min(limit as u64) as usize + length);
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&piece);
    }
    let bytes = if all.is_empty() { first } else { all.into() };
    Ok(Taken { bytes, _held: held })
}

/// The next piece of a body; `None` at its end.
pub async fn next_piece(body: &mut RequestBody, taking: &Taking) -> Result<Option<Bytes>, Failure> {
    loop {
        if let Some(unpacker) = &mut body.unpacker
            && let Some(piece) = unpacker.next().map_err(not_packed)?
        {
            return Ok(Some(piece));
        }
        let begun = Instant::now();
        let piece = match timeout(taking.idle, body.incoming.frame()).await {
            Err(_) => return Err(silent(taking.idle)),
            Ok(None) if body.unpacker.as_ref().is_some_and(|unpacker| !unpacker.is_complete()) => {
                return Err(not_packed("it is cut off"));
            }
            Ok(None) => return Ok(None),
            Ok(Some(Err(error))) => {
                let error = format!("cannot read the whole body: {error}");
                return Err(Failure::bad(error, "send as many bytes as the headers declare"));
            }
            // Trailers are ignored.
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        };
        if body.pace.is_slow(piece.len(), begun.elapsed(), taking) {
            return Err(too_slow(taking.min_rate));
        }
        match &mut body.unpacker {
            Some(unpacker) => unpacker.push(piece),
            None if piece.is_empty() => {}
            None => return Ok(Some(piece)),
        }
    }
}

fn not_packed(error: impl std::fmt::Display) -> Failure {
    let error = format!("the body cannot be unpacked: {error}");
    Failure::bad(error, "pack it as the header `Content-Encoding` says, or send it plain")
}

/// Reads the rest of a body, within limits, so that the client gets to read why it is refused.
pub async fn refuse(body: RequestBody, failure: Failure) -> Failure {
    drain(body).await;
    failure
}

/// Reads the rest of a body, within limits.
pub async fn drain(mut body: RequestBody) {
    let read = async {
        let mut left = REFUSED_BYTES;
        while let Some(Ok(frame)) = body.incoming.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(length) else { return };
            left = rest;
        }
    };
    let _ = timeout(REFUSED_TIME, read).await;
}

fn too_slow(min_rate: u64) -> Failure {
    let error = format!("the body comes with fewer than {min_rate} bytes per second");
    Failure::new(StatusCode::REQUEST_TIMEOUT, error, "send the body faster, or begin it when it is ready")
}

fn silent(idle: Duration) -> Failure {
    let error = format!("no data for {} seconds within the body", idle.as_secs());
    Failure::new(StatusCode::REQUEST_TIMEOUT, error, "send the body without long pauses")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_bodies_are_told_apart() {
        let kind = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
            headers.insert(name, hyper::header::HeaderValue::from_static(value));
            media(&headers)
        };
        assert_eq!(kind("content-type", "Application/JSON; charset=utf-8"), Media::Json);
        assert_eq!(kind("content-type", "application/x-ndjson"), Media::Lines);
        assert_eq!(kind("content-type", "text/plain"), Media::Other);
        assert_eq!(kind("content-encoding", "gzip"), Media::Json);
        assert_eq!(kind("content-encoding", "br"), Media::Other);
        assert_eq!(kind("content-encoding", "identity"), Media::Json);
        assert_eq!(media(&HeaderMap::new()), Media::Other);
    }
}
