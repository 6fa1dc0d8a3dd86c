//! Routes about pages: put them, get their status and record, mark them as dead, delete them.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{Request, StatusCode};
use onecopy_engine::{Service, Status, Stored, StoredPart};
use serde::Serialize;
use serde_json::value::RawValue;

use super::lines;
use super::listing;
use super::names::{Name, Named, Names, name, named, parse};
use crate::http::body::{self, Media, RequestBody, Taken, media, refuse, take, take_json};
use crate::http::failure::Failure;
use crate::http::gather::Change;
use crate::http::params::Params;
use crate::http::reply::{Outcome, json};
use crate::http::server::Server;

/// The longest body that names pages.
const NAMES_BYTES: usize = 4 << 20;
/// Look-ups of more pages run on another thread, so that they do not delay other requests.
const FEW_PAGES: usize = 16;

#[derive(Serialize)]
#[serde(untagged)]
enum Told<'a> {
    Known(Known),
    Unknown { page: &'a RawValue, status: &'static str },
}

/// The status of a page, with its tag if that was asked for and the page has one.
#[derive(Serialize)]
struct Known {
    #[serde(flatten)]
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
}

#[derive(Serialize)]
struct Statuses<'a> {
    pages: Vec<Told<'a>>,
}

/// `POST /pages`: one page, or a stream of them.
pub async fn put(server: &Arc<Server>, request: Request<RequestBody>) -> Outcome {
    let kind = media(request.headers());
    if kind == Media::Lines {
        return lines::put(server, request).await;
    }
    // A single page always gets an answer, whatever `answers` says.
    let parsed = lines::wishes(request.uri().query());
    let body = request.into_body();
    let failure = match (kind, parsed) {
        (Media::Json, Ok(_)) => {
            let mut record = take(body, server.page_bytes, &server.taking).await?;
            in_one_line(&mut record)?;
            return accept(server, Change::Put(record)).await;
        }
        (Media::Json, Err(failure)) => failure,
        _ => body::unsupported("application/json or application/x-ndjson"),
    };
    Err(refuse(body, failure).await)
}

/// The parameters of a request about one page. The first two name it.
const ONE: [&str; 4] = ["page", "json", "verify", "record"];

/// `GET /pages`: one page, or a list.
pub async fn get<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    let params = Params::parse(request.uri().query(), &[&ONE[..], &listing::LIST].concat())?;
    match params.text("page") {
        Some(_) => status(server, &params.only(&ONE)?).await,
        None => listing::list(server, &params.only(&listing::LIST)?).await,
    }
}

async fn status(server: &Arc<Server>, params: &Params) -> Outcome {
    let page = named(params)?;
    if params.flag("record")? {
        if params.flag("verify")? {
            let remedy = "ask for the record and the check in two requests";
            return Err(Failure::bad("`record` and `verify` do not go together", remedy));
        }
        let found = server.call(move |service| service.record(page.get())).await??;
        return json(StatusCode::OK, &found.ok_or_else(|| unknown(params))?);
    }
    let found = if params.flag("verify")? {
        server.call(move |service| service.status(&[page.get()], true)).await??
    } else {
        // This takes microseconds; a hand-over to another thread would take longer.
        server.service.status(&[page.get()], false)?
    };
    let found = found.into_iter().next().flatten().ok_or_else(|| unknown(params))?;
    json(StatusCode::OK, &found)
}

fn unknown(params: &Params) -> Failure {
    Failure::unknown_page(params.text("page").unwrap_or_default())
}

/// `POST /status`.
pub async fn statuses(server: &Arc<Server>, request: Request<RequestBody>) -> Outcome {
    let taken = take_named(server, request).await?;
    let Names { pages, verify, tags } = parse(&taken.bytes)?;
    if tags && server.service.tags().is_none() {
        return Err(Failure::bad("this collection has no tags", "begin a collection with --tags"));
    }
    let names = pages.0.iter().map(|page| name(page)).collect::<Result<Vec<Name>, Failure>>()?;
    let look = move |service: &Service| {
        let names: Vec<_> = names.iter().map(Name::get).collect();
        let found = service.status(&names, verify)?;
        let stored = if tags { service.stored(&names, StoredPart::Tag)? } else { Vec::new() };
        Ok::<_, onecopy_engine::Error>((found, stored))
    };
    let is_short = !verify && !tags && pages.0.len() <= FEW_PAGES;
    let (found, stored) = if is_short { look(&server.service)? } else { server.call(look).await?? };
    let told = |((page, status), stored)| match status {
        Some(status) => Told::Known(Known { status, tag: tag_of(stored) }),
        None => Told::Unknown { page, status: "unknown" },
    };
    let stored = stored.into_iter().chain(std::iter::repeat(None));
    let pages = pages.0.into_iter().zip(found).zip(stored).map(told).collect();
    json(StatusCode::OK, &Statuses { pages })
}

fn tag_of(stored: Option<Stored>) -> Option<String> {
    let Some(Stored::Tag(tag)) = stored else { return None };
    tag.map(|tag| tag.to_string())
}

/// `DELETE /pages`: one page, or those that a filter selects.
pub async fn delete<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    let params = Params::parse(request.uri().query(), &[&ONE[..2], &listing::SWEEP].concat())?;
    match params.text("page") {
        Some(_) => accept(server, Change::Delete(named(&params.only(&ONE[..2])?)?)).await,
        None => listing::sweep(server, &params.only(&listing::SWEEP)?).await,
    }
}

/// `POST /pages/dead`.
pub async fn dead(server: &Arc<Server>, request: Request<RequestBody>) -> Outcome {
    let taken = take_named(server, request).await?;
    let Named { page } = parse(&taken.bytes)?;
    accept(server, Change::Dead(name(page)?)).await
}

/// `POST /query`.
pub async fn query(server: &Arc<Server>, request: Request<RequestBody>) -> Outcome {
    let parsed = Params::parse(request.uri().query(), &[]);
    let (parts, body) = request.into_parts();
    if let Err(failure) = parsed {
        return Err(refuse(body, failure).await);
    }
    let record = take_json(&parts.headers, body, server.page_bytes, &server.taking).await?;
    let answer = server.call(move |service| service.query(&record.bytes)).await??;
    json(StatusCode::OK, &answer)
}

async fn accept(server: &Arc<Server>, change: Change) -> Outcome {
    if server.is_stopping() {
        return Err(Failure::stopping());
    }
    let accepted = server.gather.accept(change).await?;
    json(StatusCode::ACCEPTED, &accepted)
}

async fn take_named(server: &Arc<Server>, request: Request<RequestBody>) -> Result<Taken, Failure> {
    let parsed = Params::parse(request.uri().query(), &[]);
    let (parts, body) = request.into_parts();
    if let Err(failure) = parsed {
        return Err(refuse(body, failure).await);
    }
    take_json(&parts.headers, body, NAMES_BYTES, &server.taking).await
}

/// Turns a record into one line. Newlines in it are white space, because JSON strings contain none.
fn in_one_line(record: &mut Taken) -> Result<(), Failure> {
    if !record.bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return Ok(());
    }
    let checked: Result<&RawValue, _> = serde_json::from_slice(&record.bytes);
    checked.map_err(|error| {
        let error = format!("the body is not JSON: {error}");
        Failure::bad(error, "send a page as a JSON object, as in a line of JSON Lines")
    })?;
    let joined = record.bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
    record.bytes = Bytes::from(joined.collect::<Vec<u8>>());
    Ok(())
}
