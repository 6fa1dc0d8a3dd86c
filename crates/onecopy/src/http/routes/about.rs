//! Routes about the service itself: index, health, readiness, numbers, description.

use std::fmt::Write;
use std::sync::Arc;

use hyper::{Request, StatusCode};
use onecopy_engine::{Refusal, Stats};
use serde::Serialize;

use super::ROUTES;
use crate::http::failure::Failure;
use crate::http::metrics;
use crate::http::params::Params;
use crate::http::reply::{JSON, Outcome, json, whole};
use crate::http::server::Server;

/// The description of all routes for programs. A test compares it with the routes.
const OPENAPI: &str = include_str!("../openapi.json");

#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Ready {
    ready: bool,
}

/// `GET /`.
pub fn index<B>(request: &Request<B>) -> Outcome {
    none(request)?;
    let mut text = format!("onecopy {}\n\n", env!("CARGO_PKG_VERSION"));
    for route in ROUTES {
        let _ = writeln!(text, "{:<6} {:<24} {}", route.method, route.path, route.about);
    }
    Ok(whole(StatusCode::OK, "text/plain; charset=utf-8", text))
}

/// `GET /health`.
pub fn health<B>(request: &Request<B>) -> Outcome {
    none(request)?;
    json(StatusCode::OK, &Health { status: "alive", version: env!("CARGO_PKG_VERSION") })
}

/// `GET /ready`.
pub fn ready<B>(server: &Server, request: &Request<B>) -> Outcome {
    none(request)?;
    must_be_ready(server)?;
    json(StatusCode::OK, &Ready { ready: true })
}

/// `GET /openapi.json`.
pub fn openapi<B>(request: &Request<B>) -> Outcome {
    none(request)?;
    Ok(whole(StatusCode::OK, JSON, OPENAPI))
}

/// `GET /stats`.
pub async fn stats<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    none(request)?;
    json(StatusCode::OK, &numbers(server).await?)
}

/// `GET /metrics`.
pub async fn metrics<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    none(request)?;
    let stats = numbers(server).await?;
    let mut text = server.metrics.text(&stats, must_be_ready(server).is_ok(), server.log.lost());
    metrics::snapshots(&server.snapshots.numbers(), &mut text);
    Ok(whole(StatusCode::OK, metrics::KIND, text))
}

/// Fails with the reason if the service accepts no changes.
pub fn must_be_ready(server: &Server) -> Result<(), Failure> {
    if server.is_stopping() {
        return Err(Failure::stopping());
    }
    let reason = match server.service.ready() {
        Ok(()) => return Ok(()),
        Err(Refusal::Full(_)) => "the queue is full".to_owned(),
        Err(Refusal::Broken(why)) => why,
        Err(other) => format!("{other:?}"),
    };
    Err(Failure::unavailable(reason, "fix the cause or wait; accepted changes are safe"))
}

async fn numbers(server: &Arc<Server>) -> Result<Stats, Failure> {
    server.call(|service| service.stats()).await
}

/// Refuses all parameters.
fn none<B>(request: &Request<B>) -> Result<(), Failure> {
    Params::parse(request.uri().query(), &[]).map(|_| ())
}
