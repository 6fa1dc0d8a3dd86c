//! A search: its answer is read, repeats leave it, and further hits take their places.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, VARY};
use hyper::http::request::Parts;
use hyper::http::response;
use tokio::time::timeout;

use super::Proxy;
use super::coding::Coding;
use super::collect::{Collected, Kept, collect};
use super::forward::{Forwarded, head, passing, with_head};
use super::headers::{WISH, body_kind, for_further_hits, forbid_changes, is_json, of_new_body};
use super::metrics::Fate;
use super::paging::{Asked, BodyKind, Page};
use super::path::JsonPath;
use super::rewrite::{Answers, Rewritten, Treatment, Unchanged};
use super::through::Through;
use super::upstream::{Outgoing, RequestHead};
use crate::http::failure::{Failure, Reason};
use crate::http::memory::Held;

/// The longest search that can be sent again for further hits. A longer one is forwarded as it comes.
const SEARCH_BYTES: usize = 1 << 20;
/// Answers above this size are rewritten on a thread of their own, so that they delay nobody.
const LARGE_BYTES: usize = 1 << 20;

/// A search that can be sent again.
struct Search {
    head: RequestHead,
    asked: Asked,
    page: Option<Page>,
    hits: Arc<JsonPath>,
    treatment: Treatment,
}

/// An answer as the upstream sent it.
struct Received {
    bytes: Bytes,
    held: Held,
    coding: Coding,
}

/// Forwards a search and rewrites the answer.
pub async fn search(
    proxy: &Arc<Proxy>,
    parts: Parts,
    body: Incoming,
    (hits, treatment): (Arc<JsonPath>, Treatment),
) -> Result<Forwarded, Failure> {
    let collected = timeout(proxy.patience, collect(body, SEARCH_BYTES, &proxy.memory)).await;
    let collected = collected.map_err(|_| slow_client())?.map_err(|error| broken_client(&error))?;
    let head = head(parts);
    let (asked, outgoing) = outgoing(proxy, &head, collected);
    let page = asked.as_ref().and_then(|asked| asked.page(&proxy.paging)).filter(|_| hits.is_single());
    let asked = asked.unwrap_or_default();
    let response = proxy.upstream.send(head.clone(), outgoing).await?;
    let (parts, body) = response.into_parts();
    let Some(coding) = Coding::of(&parts.headers).filter(|_| is_rewritable(&parts)) else {
        return Ok((Fate::Passed, passing(proxy, parts, (Vec::new(), body))));
    };
    let collecting = collect(body, proxy.answer_bytes, &proxy.memory);
    let collected = timeout(proxy.upstream.timeout(), collecting).await;
    let collected = collected.map_err(|_| proxy.upstream.too_slow())?;
    match collected.map_err(|error| proxy.upstream.broke_off(&error))? {
        Collected::Longer(read, rest) => Ok((Fate::TooLarge, passing(proxy, parts, (read, rest)))),
        Collected::Whole(bytes, held) => {
            let search = Search { head, asked, page, hits, treatment };
            Ok(answer(proxy, search, parts, Received { bytes, held, coding }).await)
        }
    }
}

/// The body to forward, and the request as text if it can be sent again.
fn outgoing(proxy: &Proxy, head: &RequestHead, collected: Collected) -> (Option<Asked>, Outgoing) {
    match collected {
        Collected::Longer(read, rest) => {
            (None, Either::Right(Through::new(rest, proxy.patience).after(read)))
        }
        Collected::Whole(bytes, _) => {
            let kind = if bytes.is_empty() { BodyKind::None } else { body_kind(&head.headers) };
            let query = head.target.split_once('?').map_or("", |(_, query)| query).to_owned();
            let text = String::from_utf8(bytes.to_vec()).ok();
            (text.map(|body| Asked { query, body, kind }), Either::Left(Full::new(bytes)))
        }
    }
}

fn is_rewritable(parts: &response::Parts) -> bool {
    parts.status == StatusCode::OK && is_json(&parts.headers) && !forbid_changes(&parts.headers)
}

/// The answer to a search, rewritten if it can be.
async fn answer(
    proxy: &Arc<Proxy>,
    search: Search,
    mut parts: response::Parts,
    first: Received,
) -> Forwarded {
    let rewritten = refined(proxy, &search, &first).await.and_then(|rewritten| {
        let Some(text) = rewritten.text else { return Ok(None) };
        let packed = first.coding.pack(text.into_bytes());
        packed.map(|packed| Some((rewritten.repeats, packed))).map_err(unparsed)
    });
    let (fate, bytes, reason) = match rewritten {
        Ok(Some((repeats, (coding, body)))) => {
            of_new_body(&mut parts.headers, coding, body.len());
            parts.headers.insert(WISH, HeaderValue::from(repeats));
            parts.headers.append(VARY, HeaderValue::from_static(WISH));
            (Fate::Refined, body.into(), None)
        }
        Ok(None) => (Fate::Unique, first.bytes, None),
        Err(Unchanged::NoHits) => (Fate::NoHits, first.bytes, None),
        Err(Unchanged::TooLarge) => (Fate::TooLarge, first.bytes, None),
        Err(Unchanged::Unparsed(why)) => (Fate::Unparsed, first.bytes, Some(why)),
    };
    let body = Full::new(Bytes::from_owner(Kept::new(bytes, first.held)));
    let mut response = with_head(parts, Either::Left(Either::Left(body)));
    let reason = reason.map(|why| Reason(format!("passed unchanged: {why}")));
    reason.into_iter().for_each(|reason| _ = response.extensions_mut().insert(reason));
    (fate, response)
}

/// Rewrites an answer. While hits are missing, it asks for further ones.
async fn refined(proxy: &Arc<Proxy>, search: &Search, first: &Received) -> Result<Rewritten, Unchanged> {
    let begun = Instant::now();
    let text = first.coding.unpack(first.bytes.clone(), proxy.answer_bytes).map_err(unparsed)?;
    let mut texts = vec![text.ok_or(Unchanged::TooLarge)?];
    let mut rewritten = rewrite(proxy, search, texts.clone()).await?;
    while let Some(page) = &search.page
        && rewritten.is_short_of(page.size)
        && texts.len() <= proxy.further
        && let Some(text) = further(proxy, search, page, (texts.len(), begun)).await
    {
        texts.push(text);
        // A further page that cannot be used changes nothing.
        match rewrite(proxy, search, texts.clone()).await {
            Ok(more) => rewritten = more,
            Err(_) => break,
        }
    }
    if rewritten.before > 1 && rewritten.uncomparable >= rewritten.before {
        proxy.told.call_once(|| {
            let why = "hits have no text that can be compared: name their field with --text, and let searches return it";
            proxy.log.event("no text", why);
        });
    }
    let count = |counter: &AtomicU64, by: usize| counter.fetch_add(by as u64, Ordering::Relaxed);
    count(&proxy.metrics.hits, rewritten.before);
    count(&proxy.metrics.repeats, rewritten.repeats);
    count(&proxy.metrics.uncomparable, rewritten.uncomparable);
    Ok(rewritten)
}

/// Rewrites the first text with the hits of the others.
async fn rewrite(proxy: &Arc<Proxy>, search: &Search, texts: Vec<Bytes>) -> Result<Rewritten, Unchanged> {
    let begun = Instant::now();
    let bytes: usize = texts.iter().map(Bytes::len).sum();
    let (rules, hits, treatment) = (proxy.rules.clone(), search.hits.clone(), search.treatment);
    let most = search.page.map(|page| page.size);
    let work = move || {
        let texts: Result<Vec<&str>, _> =
            texts.iter().map(|text| simdutf8::compat::from_utf8(text)).collect();
        let texts = texts.map_err(unparsed)?;
        rules.rewrite(&Answers { first: texts[0], further: &texts[1..], hits: &hits, most }, treatment)
    };
    let rewritten = match bytes > LARGE_BYTES {
        true => tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(unparsed(error))),
        false => work(),
    };
    proxy.metrics.own.add(begun.elapsed());
    rewritten
}

/// Asks for a further page of hits. `None` if there is no answer in time that can be used.
async fn further(
    proxy: &Proxy,
    search: &Search,
    page: &Page,
    (number, begun): (usize, Instant),
) -> Option<Bytes> {
    proxy.metrics.further.fetch_add(1, Ordering::Relaxed);
    let asked = search.asked.further(page, number);
    let mut head = search.head.clone();
    let path = head.target.split('?').next().unwrap_or_default();
    head.target = if asked.query.is_empty() { path.to_owned() } else { format!("{path}?{}", asked.query) };
    for_further_hits(&mut head.headers);
    let asking = async {
        let response = proxy.upstream.send(head, Either::Left(Full::new(asked.body.into()))).await.ok()?;
        let (parts, body) = response.into_parts();
        let coding = Coding::of(&parts.headers).filter(|_| is_rewritable(&parts))?;
        match collect(body, proxy.answer_bytes, &proxy.memory).await.ok()? {
            Collected::Whole(bytes, _) => coding.unpack(bytes, proxy.answer_bytes).ok()?,
            Collected::Longer(..) => None,
        }
    };
    timeout(proxy.upstream.timeout().saturating_sub(begun.elapsed()), asking).await.ok()?
}

fn unparsed(error: impl std::fmt::Display) -> Unchanged {
    Unchanged::Unparsed(error.to_string())
}

fn slow_client() -> Failure {
    Failure::new(
        StatusCode::REQUEST_TIMEOUT,
        "the search did not arrive in time",
        "send it without long pauses",
    )
}

fn broken_client(error: &hyper::Error) -> Failure {
    Failure::bad(
        format!("cannot read the whole search: {error}"),
        "send as many bytes as the headers declare",
    )
}
