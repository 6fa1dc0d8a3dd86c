//! One request: check who asks, forward it, count and log the answer. All but searches pass as they come.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Incoming};
use hyper::http::request::Parts;
use hyper::http::response;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::headers::{WISH, remove_hop_by_hop, to_upstream};
use super::metrics::Fate;
use super::rewrite::Treatment;
use super::search::search;
use super::through::Through;
use super::upstream::RequestHead;
use super::{Proxy, monitor};
use crate::http::failure::{Failure, Reason};
use crate::http::guard::Access;
use crate::http::listen::Entrance;
use crate::http::{Asked, reply, unpanicked};

/// The body of an answer: our own, or what passes.
pub type ProxyBody = Either<reply::Body, Through>;
/// An answer, and what happened to it.
pub type Forwarded = (Fate, Response<ProxyBody>);

/// Answers a request.
pub async fn answer(
    proxy: Arc<Proxy>,
    request: Request<Incoming>,
    peer: SocketAddr,
    entrance: Entrance,
) -> Response<ProxyBody> {
    let begun = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let forwarded = match entrance {
        Entrance::Monitoring => {
            let told = monitor::answer(&proxy, &request).await;
            return told.unwrap_or_else(Failure::into_response).map(Either::Left);
        }
        Entrance::Full => Err(Failure::crowded()),
        Entrance::All => unpanicked(forward(&proxy, request)).await,
    };
    let (fate, response) = forwarded.unwrap_or_else(|failure| {
        let response = failure.into_response().map(Either::Left);
        (fate_of_failure(response.status()), response)
    });
    let (code, took) = (response.status().as_u16(), begun.elapsed());
    proxy.metrics.count(fate);
    proxy.metrics.whole.add(took);
    let error = response.extensions().get::<Reason>().map(|reason| reason.0.as_str());
    proxy.log.request(&Asked { method: method.as_str(), path: &path, peer, code, took, error });
    response
}

async fn forward(proxy: &Arc<Proxy>, request: Request<Incoming>) -> Result<Forwarded, Failure> {
    if let Some(guard) = &proxy.guard {
        guard.check(&request, Access::Write)?;
    }
    let (parts, body) = request.into_parts();
    let treatment = wish(&parts.headers, proxy.treatment)?;
    let is_asking = matches!(parts.method, Method::GET | Method::POST);
    let hits = proxy.hits(parts.uri.path()).filter(|_| is_asking);
    match (hits, treatment) {
        (Some(hits), Some(treatment)) => search(proxy, parts, body, (hits, treatment)).await,
        _ => pass(proxy, parts, body).await,
    }
}

/// Forwards a request whose answer passes.
async fn pass(proxy: &Proxy, parts: Parts, body: Incoming) -> Result<Forwarded, Failure> {
    // Only what may be sent twice is sent again if a kept connection turns out to be closed.
    let outgoing = match body.is_end_stream() && parts.method.is_idempotent() {
        true => Either::Left(Full::default()),
        false => Either::Right(Through::new(body, proxy.patience)),
    };
    let response = proxy.upstream.send(head(parts), outgoing).await?;
    let (parts, body) = response.into_parts();
    Ok((Fate::Passed, passing(proxy, parts, (Vec::new(), body))))
}

/// The head of a request as the upstream gets it.
pub fn head(parts: Parts) -> RequestHead {
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let mut headers = parts.headers;
    to_upstream(&mut headers);
    RequestHead { method: parts.method, target, headers }
}

/// An answer that passes: the pieces that were read, and the rest.
pub fn passing(
    proxy: &Proxy,
    parts: response::Parts,
    (read, rest): (Vec<Bytes>, Incoming),
) -> Response<ProxyBody> {
    let broken: &Arc<AtomicU64> = &proxy.metrics.broken;
    let body = Through::new(rest, proxy.upstream.timeout()).after(read).counted(broken);
    with_head(parts, Either::Right(body))
}

/// An answer with the head of the upstream's.
pub fn with_head(parts: response::Parts, body: ProxyBody) -> Response<ProxyBody> {
    let mut response = Response::new(body);
    *response.status_mut() = parts.status;
    *response.headers_mut() = parts.headers;
    remove_hop_by_hop(response.headers_mut());
    response
}

/// The wish of the client: to treat repeats as usual, otherwise, or not at all.
fn wish(headers: &HeaderMap, usual: Treatment) -> Result<Option<Treatment>, Failure> {
    match headers.get(WISH).map(|wish| wish.as_bytes().to_ascii_lowercase()).as_deref() {
        None => Ok(Some(usual)),
        Some(b"off") => Ok(None),
        Some(b"drop") => Ok(Some(Treatment::Drop)),
        Some(b"group") => Ok(Some(Treatment::Group)),
        Some(_) => Err(Failure::bad("unknown value of the header X-Onecopy", "send off, drop or group")),
    }
}

fn fate_of_failure(status: StatusCode) -> Fate {
    match status {
        StatusCode::BAD_GATEWAY => Fate::UpstreamFailed,
        StatusCode::GATEWAY_TIMEOUT => Fate::UpstreamTimedOut,
        _ => Fate::Refused,
    }
}
