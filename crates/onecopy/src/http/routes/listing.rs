//! Routes about many pages that a filter selects: list them, delete them.

use std::sync::Arc;

use hyper::StatusCode;
use onecopy_engine::{PageCursor, PageFilter};

use crate::http::failure::Failure;
use crate::http::params::{LARGEST, Params, number};
use crate::http::reply::{Outcome, json};
use crate::http::server::Server;
use crate::selection;

/// The parameters of a list.
pub const LIST: [&str; 8] =
    ["limit", "cursor", "host", "prefix", "status", "group", "language", "changed_since"];
/// The parameters of a deletion.
pub const SWEEP: [&str; 5] = ["limit", "cursor", "host", "prefix", "confirm"];

/// Pages per list: the default and the maximum.
pub const USUAL: u64 = 100;
pub const MOST: u64 = 10_000;
/// Deleted pages per request.
const USUAL_SWEEP: u64 = 1_000;

/// `GET /pages` without a page.
pub async fn list(server: &Arc<Server>, params: &Params) -> Outcome {
    let filter = PageFilter {
        prefix: params.text("prefix").unwrap_or_default().to_owned(),
        host: host(params)?,
        status: word(params, "status", selection::status)?,
        group: params.text("group").map(|text| digits("group", text)).transpose()?,
        language: word(params, "language", selection::language)?,
        changed_since: params.text("changed_since").map(|text| digits("changed_since", text)).transpose()?,
    };
    let limit = params.number("limit", 1..=MOST, USUAL)? as usize;
    let after = cursor(params)?;
    let listed = server.call(move |service| service.list(&filter, after.as_ref(), limit)).await??;
    json(StatusCode::OK, &listed)
}

/// `DELETE /pages` without a page.
pub async fn sweep(server: &Arc<Server>, params: &Params) -> Outcome {
    let (prefix, host) = (params.text("prefix"), host(params)?);
    let confirmed = params.flag("confirm")?;
    if prefix.is_none() && host.is_none() {
        let remedy = "add ?page=, ?prefix= or ?host=";
        return Err(Failure::bad("the parameter `page`, `prefix` or `host` is missing", remedy));
    }
    let prefix = prefix.unwrap_or_default().to_owned();
    if prefix.is_empty() && host.is_none() && !confirmed {
        let error = "an empty `prefix` would delete every page";
        return Err(Failure::bad(error, "add confirm=true if this is what you want"));
    }
    if server.is_stopping() {
        return Err(Failure::stopping());
    }
    let limit = params.number("limit", 1..=MOST, USUAL_SWEEP)? as usize;
    let (filter, after) = (PageFilter { prefix, host, ..PageFilter::default() }, cursor(params)?);
    let swept = server.call(move |service| service.sweep(&filter, after.as_ref(), limit)).await??;
    json(StatusCode::ACCEPTED, &swept)
}

/// Where to continue.
pub fn cursor(params: &Params) -> Result<Option<PageCursor>, Failure> {
    let parsed = params.text("cursor").map(str::parse).transpose();
    parsed.map_err(|()| {
        let error = "the parameter `cursor` is not a cursor";
        Failure::bad(error, "give the value of `next` in the last answer, or none to begin")
    })
}

fn host(params: &Params) -> Result<Option<String>, Failure> {
    match params.text("host") {
        None => Ok(None),
        Some(_) => params.needed("host").map(|host| Some(host.to_owned())),
    }
}

/// A word that must be one of a few.
fn word<T>(
    params: &Params,
    name: &str,
    named: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Failure> {
    let error = || format!("the value of the parameter `{name}` is unknown");
    params.text(name).map(named).transpose().map_err(|remedy| Failure::bad(error(), remedy))
}

fn digits(name: &str, text: &str) -> Result<u64, Failure> {
    let error = || format!("the parameter `{name}` is not a number in its range");
    number(text).ok_or_else(|| Failure::bad(error(), format!("give a number from 0 to {LARGEST}")))
}
