//! `POST /refine`: groups ranked search results by content.

use std::sync::Arc;

use hyper::{Request, StatusCode};
use onecopy_core::{Config, Grouping, RefineError, RefineOptions};
use onecopy_engine::{PageName, Service, Stored, StoredPart};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::names::parse;
use crate::http::body::{RequestBody, refuse, take_json};
use crate::http::failure::Failure;
use crate::http::params::Params;
use crate::http::reply::{Outcome, json_text};
use crate::http::server::Server;
use crate::results::{Repeats, ResultFields, Results, Text};
use crate::size::counted;

/// The longest body: 10,000 results of 6 KB.
const RESULTS_BYTES: usize = 64 << 20;
/// The most results.
const MOST: usize = 10_000;
const REMEDY: &str = "GET /openapi.json describes the body";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted<'a> {
    #[serde(borrow)]
    results: Vec<&'a RawValue>,
    query: Option<String>,
    keep: Option<usize>,
    #[serde(default)]
    drop: bool,
    #[serde(default)]
    transitive: bool,
    method: Option<String>,
    threshold: Option<f64>,
}

/// `POST /refine`.
pub async fn refine(server: &Arc<Server>, request: Request<RequestBody>) -> Outcome {
    let parsed = Params::parse(request.uri().query(), &[]);
    let (parts, body) = request.into_parts();
    if let Err(failure) = parsed {
        return Err(refuse(body, failure).await);
    }
    let taken = take_json(&parts.headers, body, RESULTS_BYTES, &server.taking).await?;
    let answer = server.call(move |service| answer(service, &taken.bytes)).await??;
    Ok(json_text(StatusCode::OK, answer.into_bytes()))
}

fn answer(service: &Service, body: &[u8]) -> Result<String, Failure> {
    let wanted: Wanted = parse(body)?;
    if wanted.results.len() > MOST {
        let error = format!("{} results are too many: the limit is {MOST}", wanted.results.len());
        return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, error, "send the best-ranked results only"));
    }
    let mut results = Results::read(&wanted.results, &ResultFields::default())
        .map_err(|error| Failure::bad(error.to_string(), REMEDY))?;
    let part = part(service, &wanted, &results);
    look_up(service, &mut results, part)?;
    let options = options(service, &wanted, &results)?;
    let answer = results.refine(&options).map_err(refused)?;
    Ok(answer.document(if wanted.drop { Repeats::Drop } else { Repeats::Group }))
}

/// The part that is compared of pages given by id alone: their sketches, which say most. Tags are compared if the
/// request chooses them, or has other results with only a tag.
fn part(service: &Service, wanted: &Wanted, results: &Results) -> StoredPart {
    let chooses_tags = |method: &String| *method != service.config().method && method.starts_with("bloom");
    let is_by_tags = results.has_tag_alone() || wanted.method.as_ref().is_some_and(chooses_tags);
    match wanted.query {
        Some(_) => StoredPart::Text,
        None if is_by_tags && service.tags().is_some() => StoredPart::Tag,
        None => StoredPart::Sketch,
    }
}

/// Fetches what the collection has stored of results that are given by id alone.
fn look_up(service: &Service, results: &mut Results, part: StoredPart) -> Result<(), Failure> {
    let ids: Vec<String> = results.bare().filter_map(|row| row.id.clone()).collect();
    let names: Vec<PageName> = ids.iter().map(|id| PageName::Json(id)).collect();
    let found = service.stored(&names, part)?;
    let unknown = found.iter().filter(|stored| stored.is_none()).count();
    if unknown > 0 {
        let verb = if unknown == 1 { "is" } else { "are" };
        results.notes.push(format!("{} {verb} not in the collection", counted(unknown as u64, "id")));
    }
    for (row, stored) in results.bare().zip(found) {
        match stored {
            Some(Stored::Sketch(words)) => row.text = Some(Text::Sketch(words)),
            Some(Stored::Text(text)) => row.text = Some(Text::Plain(text)),
            Some(Stored::Html(html)) => row.text = Some(Text::Html(html)),
            Some(Stored::Tag(tag)) => row.tag = tag,
            None => {}
        }
    }
    Ok(())
}

/// The options of a request. Stored sketches can only be compared by the collection's own method.
fn options(service: &Service, wanted: &Wanted, results: &Results) -> Result<RefineOptions, Failure> {
    let mut options = RefineOptions::default();
    let own = service.config();
    match (&wanted.method, results.has_sketch()) {
        (Some(method), true) if *method != own.method => {
            let error = format!("method {method} cannot compare pages of this collection by id");
            let remedy = format!("leave the method out, which is {}, or send the texts", own.method);
            return Err(Failure::bad(error, remedy));
        }
        (_, true) => options.config = own.clone(),
        (Some(method), false) => options.config = Config { method: method.clone(), ..options.config },
        (None, false) => {}
    }
    options.config.threshold = wanted.threshold.or(options.config.threshold);
    options.grouping = if wanted.transitive { Grouping::Transitive } else { Grouping::ByAnchor };
    (options.keep, options.query) = (wanted.keep, wanted.query.clone());
    Ok(options)
}

fn refused(error: RefineError) -> Failure {
    Failure::bad(error.to_string(), REMEDY)
}
