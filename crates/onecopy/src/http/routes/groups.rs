//! Routes about groups: list them, show one, repair one.

use std::sync::Arc;

use hyper::{Request, StatusCode};
use onecopy_engine::GroupLine;
use serde::Serialize;

use super::listing;
use crate::http::failure::Failure;
use crate::http::params::{self, LARGEST, Params};
use crate::http::reply::{Outcome, json};
use crate::http::server::Server;

/// Groups per list: the default and the maximum.
const USUAL: u64 = 100;
const MOST: u64 = 1_000;

#[derive(Serialize)]
struct List {
    groups: Vec<GroupLine>,
    /// The value of `after` for the next list; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

#[derive(Serialize)]
struct Repaired {
    group: u64,
    changed: u64,
}

/// `GET /groups`.
pub async fn list<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    let params = Params::parse(request.uri().query(), &["after", "limit", "least", "search"])?;
    let after = params.number("after", 0..=LARGEST, 0)?;
    let limit = params.number("limit", 1..=MOST, USUAL)? as usize;
    let least = params.number("least", 1..=LARGEST, 2)?;
    let search = params.text("search").filter(|search| !search.is_empty()).map(str::to_owned);
    let listed = server.call(move |service| service.groups(after, limit, least, search.as_deref()));
    let groups = listed.await??;
    let next = groups.last().filter(|_| groups.len() >= limit).map(|group| group.group);
    json(StatusCode::OK, &List { groups, next })
}

/// `GET /groups/{group}`.
pub async fn one<B>(server: &Arc<Server>, request: &Request<B>, group: &str) -> Outcome {
    let params = Params::parse(request.uri().query(), &["limit", "cursor"])?;
    let group = number(group)?;
    let after = listing::cursor(&params)?;
    let is_paged = after.is_some() || params.text("limit").is_some();
    let limit = params.number("limit", 1..=listing::MOST, listing::USUAL)? as usize;
    let found = match is_paged {
        true => server.call(move |service| service.group_page(group, after.as_ref(), limit)).await??,
        false => server.call(move |service| service.group(group)).await??,
    };
    json(StatusCode::OK, &found.ok_or_else(|| unknown(group))?)
}

/// `POST /groups/{group}/repair`. It may take long, so only a few run at a time.
pub async fn repair<B>(server: &Arc<Server>, request: &Request<B>, group: &str) -> Outcome {
    Params::parse(request.uri().query(), &[])?;
    let group = number(group)?;
    let place = server.repairs.clone().try_acquire_owned();
    let place = place.map_err(|_| Failure::busy("too many groups are being repaired", 5))?;
    let repaired = server.call(move |service| {
        let _place = place;
        service.repair(group)
    });
    let changed = repaired.await??.ok_or_else(|| unknown(group))?;
    json(StatusCode::OK, &Repaired { group, changed })
}

fn number(group: &str) -> Result<u64, Failure> {
    params::number(group)
        .ok_or_else(|| Failure::bad("a group must be a number", "GET /groups lists the groups"))
}

fn unknown(group: u64) -> Failure {
    let error = format!("no group has the number {group}");
    Failure::new(StatusCode::NOT_FOUND, error, "GET /groups lists the groups; a group's number can change")
}
