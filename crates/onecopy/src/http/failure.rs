//! Failures of requests: a status code, what failed, and the remedy. Every error of the service is one of these.

use hyper::StatusCode;
use hyper::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use onecopy_engine::{Error, Refusal};
use serde::Serialize;

use super::reply::{Response, json_text};

/// Why a request failed.
#[derive(Debug)]
pub struct Failure {
    /// The status code of the answer.
    pub status: StatusCode,
    /// The failure and its reason.
    pub error: String,
    /// The remedy.
    pub remedy: String,
    hint: Hint,
}

/// An extra header of the answer.
#[derive(Debug)]
enum Hint {
    None,
    /// When to try again, in seconds.
    RetryAfter(u64),
    /// The methods that the path accepts.
    Allow(String),
    /// How to authenticate.
    Challenge,
}

/// The reason of a failed answer, for the log.
#[derive(Clone)]
pub struct Reason(pub String);

#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
    remedy: &'a str,
}

impl Failure {
    /// A failure with a code.
    pub fn new(status: StatusCode, error: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure { status, error: error.into(), remedy: remedy.into(), hint: Hint::None }
    }

    /// An invalid request.
    pub fn bad(error: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, error, remedy)
    }

    /// No page has this name.
    pub fn unknown_page(name: &str) -> Failure {
        let error = format!("no page is named `{}`", shortened(name));
        Failure::new(StatusCode::NOT_FOUND, error, "a page's name is its id, or its address if it has no id")
    }

    /// More bytes than the limit.
    pub fn too_large(limit: usize) -> Failure {
        let error = format!("too long: the limit is {limit} bytes");
        let remedy = "send less, or restart the service with a larger --max-page";
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, error, remedy)
    }

    /// Something is full; the client may try again after this many seconds.
    pub fn busy(error: impl Into<String>, seconds: u64) -> Failure {
        let remedy = format!("try again in {seconds} seconds");
        let mut failure = Failure::new(StatusCode::TOO_MANY_REQUESTS, error, remedy);
        failure.hint = Hint::RetryAfter(seconds);
        failure
    }

    /// The service cannot work at the moment.
    pub fn unavailable(error: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, error, remedy)
    }

    /// There is no place for another connection.
    pub fn crowded() -> Failure {
        Failure::unavailable("too many connections are open", "close some connections, or try again later")
    }

    /// The service is shutting down and accepts nothing.
    pub fn stopping() -> Failure {
        Failure::unavailable("the service is shutting down", "try again after the restart")
    }

    /// A bug in onecopy.
    pub fn ours(error: impl Into<String>) -> Failure {
        let remedy = "this is a bug in onecopy: please report it with the service's log";
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error, remedy)
    }

    /// The path exists, but only for these methods.
    pub fn method(path: &str, allowed: &str) -> Failure {
        let error = format!("method not allowed: {} accepts {allowed}", shortened(path));
        let remedy = format!("use one of: {allowed}");
        let mut failure = Failure::new(StatusCode::METHOD_NOT_ALLOWED, error, remedy);
        failure.hint = Hint::Allow(allowed.to_owned());
        failure
    }

    /// The reader of the feed has missed changes that are gone, or reads another feed.
    pub fn gone(error: impl Into<String>) -> Failure {
        let remedy = "begin again with after=0 and continue with the cursor in the header Onecopy-Cursor: the feed has the \
                      status of every page. Drop all pages that it does not name";
        Failure::new(StatusCode::GONE, error, remedy)
    }

    /// The token is missing or wrong. It belongs into this header.
    pub fn unauthorized(header: &str) -> Failure {
        let remedy = format!("send the header `{header}` with the token from --token-file");
        let mut failure = Failure::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong", remedy);
        failure.hint = Hint::Challenge;
        failure
    }

    /// The answer for this failure.
    pub fn into_response(self) -> Response {
        let told = Told { error: &self.error, remedy: &self.remedy };
        let text = serde_json::to_vec(&told).unwrap_or_else(|_| b"{}".to_vec());
        let mut response = json_text(self.status, text);
        let header = match self.hint {
            Hint::None => None,
            Hint::RetryAfter(seconds) => Some((RETRY_AFTER, HeaderValue::from(seconds))),
            Hint::Allow(methods) => HeaderValue::from_str(&methods).ok().map(|methods| (ALLOW, methods)),
            Hint::Challenge => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        };
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response.extensions_mut().insert(Reason(self.error));
        response
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Bad(why) => {
                Failure::bad(why, "send a page as a JSON object, as in a line of JSON Lines")
            }
            Refusal::TooLarge(limit) => Failure::too_large(limit),
            Refusal::Unknown(name) => Failure::unknown_page(&name),
            Refusal::Full(seconds) => {
                Failure::busy("the queue is full: too many changes wait to be compared", seconds.max(1))
            }
            Refusal::Gone(why) => Failure::gone(why),
            other => Failure::unavailable(
                other.to_string(),
                "nothing was accepted; check the service's log and disk",
            ),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::unavailable(error.to_string(), "check the service's log and disk")
    }
}

/// A name as the message shows it. A client can send one of megabytes.
fn shortened(name: &str) -> &str {
    name.char_indices().nth(200).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_their_codes() {
        let code = |refusal: Refusal| Failure::from(refusal).into_response().status().as_u16();
        assert_eq!(code(Refusal::Bad("why".into())), 400);
        assert_eq!(code(Refusal::TooLarge(9)), 413);
        assert_eq!(code(Refusal::Unknown("\u{e9}".repeat(1_000))), 404);
        assert_eq!(code(Refusal::Broken("why".into())), 503);
        assert_eq!(code(Refusal::Gone("why".into())), 410);
        let full = Failure::from(Refusal::Full(0)).into_response();
        assert_eq!(full.status().as_u16(), 429);
        assert_eq!(full.headers().get(RETRY_AFTER).map(|value| value.as_bytes()), Some(&b"1"[..]));
    }
}
