//! Answers: JSON, lines of JSON, or a stream of either.

use std::io;

use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use http_body_util::{Either, Full};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;

use super::failure::Failure;

/// The body of an answer: complete, or pieces as they are made.
pub type Body = Either<Full<Bytes>, Channel<Bytes, io::Error>>;
/// An answer.
pub type Response = hyper::Response<Body>;
/// An answer or a failure.
pub type Outcome = Result<Response, Failure>;
/// The sender of a stream. Sending waits until the client reads.
pub type Pieces = Sender<Bytes, io::Error>;

pub const JSON: &str = "application/json";
pub const LINES: &str = "application/x-ndjson";
pub const EVENTS: &str = "text/event-stream";

/// The buffered pieces of a stream before its producer waits.
const WAITING_PIECES: usize = 2;

/// A value as JSON.
pub fn json<T: Serialize>(status: StatusCode, value: &T) -> Outcome {
    let text = serde_json::to_vec(value)
        .map_err(|error| Failure::ours(format!("cannot write the answer: {error}")))?;
    Ok(json_text(status, text))
}

/// An answer from JSON text.
pub fn json_text(status: StatusCode, text: Vec<u8>) -> Response {
    whole(status, JSON, text)
}

/// A complete answer.
pub fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response {
    with_headers(status, kind, Either::Left(Full::new(text.into())))
}

/// An answer that is produced while it is sent.
pub fn stream(kind: &'static str) -> (Pieces, Response) {
    let (pieces, body) = Channel::new(WAITING_PIECES);
    (pieces, with_headers(StatusCode::OK, kind, Either::Right(body)))
}

/// Appends a value as a line of JSON.
pub fn push_line<T: Serialize>(lines: &mut Vec<u8>, value: &T) -> Result<(), Failure> {
    serde_json::to_writer(&mut *lines, value)
        .map_err(|error| Failure::ours(format!("cannot write a line: {error}")))?;
    lines.push(b'\n');
    Ok(())
}

/// No cache may store an answer, and no browser may treat it as HTML because a page's name looks like it.
fn with_headers(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers: &mut HeaderMap = response.headers_mut();
    headers.reserve(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
