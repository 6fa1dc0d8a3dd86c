//! Health, readiness and numbers of the proxy, on an address of their own.

use hyper::{Method, Request, StatusCode};
use serde_json::json;

use super::Proxy;
use crate::http::failure::Failure;
use crate::http::listen::Host;
use crate::http::metrics::KIND;
use crate::http::reply::{self, Outcome};

/// Answers a request of the monitoring.
pub async fn answer<B>(proxy: &Proxy, request: &Request<B>) -> Outcome {
    let path = request.uri().path();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Failure::method(path, "GET, HEAD"));
    }
    match path {
        "/health" => {
            reply::json(StatusCode::OK, &json!({"status": "alive", "version": env!("CARGO_PKG_VERSION")}))
        }
        "/ready" => ready(proxy).await,
        "/metrics" => Ok(reply::whole(StatusCode::OK, KIND, proxy.metrics.text(proxy.log.lost()))),
        _ => {
            let remedy = "only /health, /ready and /metrics are served here";
            Err(Failure::new(StatusCode::NOT_FOUND, "unknown path", remedy))
        }
    }
}

async fn ready(proxy: &Proxy) -> Outcome {
    if *proxy.stop().borrow() {
        return Err(Failure::stopping());
    }
    match proxy.upstream.is_reachable().await {
        true => reply::json(StatusCode::OK, &json!({"ready": true})),
        false => Err(Failure::unavailable(
            "the upstream accepts no connection",
            "check that the search engine runs and that --upstream is right",
        )),
    }
}
