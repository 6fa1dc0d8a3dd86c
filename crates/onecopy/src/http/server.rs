//! One request: check, route, answer, count and log it.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use onecopy_engine::Service;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::body::{Media, RequestBody, Taking, media, refuse};
use super::failure::{Failure, Reason};
use super::gather::Gather;
use super::guard::{Access, Guard};
use super::idle::IdleConnections;
use super::listen::{Entrance, Host};
use super::log::{Asked, Log};
use super::metrics::{ConnectionCounts, Metrics};
use super::rate::{Client, Rates};
use super::reply::{Body, Outcome, Response};
use super::routes::{Endpoint, ROUTES, RouteMatch, find};
use super::routes::{about, feed, groups, pages, refine, snapshots};
use super::snapshots::Snapshots;

/// The time limit from the headers of a request to the start of the answer.
const REQUEST_TIME: Duration = Duration::from_secs(75);
/// How many long engine calls may run at a time.
pub const CALLS: usize = 16;
/// How many groups may be repaired at a time.
pub const REPAIRS: usize = 2;

/// The state that all requests share.
pub struct Server {
    pub service: Arc<Service>,
    pub gather: Gather,
    /// The last number of the feed.
    pub feed: watch::Receiver<u64>,
    /// Whether the service is shutting down.
    pub stop: watch::Receiver<bool>,
    pub log: Arc<Log>,
    pub metrics: Metrics,
    pub guard: Guard,
    pub rates: Rates,
    pub idle: Arc<IdleConnections>,
    pub taking: Taking,
    pub snapshots: Arc<Snapshots>,
    /// The collection's folder.
    pub folder: PathBuf,
    /// The longest record.
    pub page_bytes: usize,
    pub calls: Arc<Semaphore>,
    pub repairs: Arc<Semaphore>,
}

impl Server {
    /// Whether the service is shutting down.
    pub fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Calls the engine on a thread that may block, once a permit is free.
    pub async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Service) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let service = self.service.clone();
        // The semaphore is never closed. The call holds its permit to the end, even if the client is gone.
        let place = self.calls.clone().acquire_owned().await.ok();
        let called = tokio::task::spawn_blocking(move || {
            let _place = place;
            call(&service)
        });
        called.await.map_err(|error| Failure::ours(format!("the engine failed: {error}")))
    }

    /// Refuses a request of a client that asks too often.
    async fn within_rate(&self, request: Request<Incoming>) -> Result<Request<Incoming>, Failure> {
        let client = request.extensions().get::<Client>().copied().unwrap_or(Client::Others);
        let Err(seconds) = self.rates.take(client) else { return Ok(request) };
        self.metrics.rate_limited.fetch_add(1, Ordering::Relaxed);
        let failure = Failure::busy("this client asks too often", seconds);
        let (parts, incoming) = request.into_parts();
        Err(refuse(RequestBody::new(&parts.headers, incoming), failure).await)
    }

    /// Counts the lines that a client sent, and waits if they came too fast.
    pub async fn slow_down(&self, client: Client, lines: usize) {
        let pause = self.rates.charge(client, lines);
        if pause.is_zero() {
            return;
        }
        self.metrics.lines_delayed.fetch_add(lines as u64, Ordering::Relaxed);
        let mut stop = self.stop.clone();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

impl Host for Server {
    type Body = Body;

    fn stop(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn counts(&self) -> &ConnectionCounts {
        &self.metrics.connections
    }

    fn idle_connections(&self) -> &Arc<IdleConnections> {
        &self.idle
    }

    fn patience(&self) -> Duration {
        self.taking.idle
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        entrance: Entrance,
    ) -> Response {
        match entrance {
            Entrance::Full if !matches!(request.uri().path(), "/health" | "/ready") => {
                Failure::crowded().into_response()
            }
            _ => answer(self, request, peer, entrance).await,
        }
    }
}

/// Answers a request.
async fn answer(
    server: Arc<Server>,
    mut request: Request<Incoming>,
    peer: SocketAddr,
    entrance: Entrance,
) -> Response {
    let begun = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let found = find(&method, &path);
    let route = match found {
        RouteMatch::Route(at, _) => Some(at),
        _ => None,
    };
    let client = server.guard.client(request.headers(), peer.ip());
    request.extensions_mut().insert(client);
    let is_stream = route.is_some_and(|at| ROUTES[at].endpoint == Endpoint::PutPages)
        && media(request.headers()) == Media::Lines;
    let answering = unpanicked(handle(&server, found, request, entrance));
    let outcome = match is_stream {
        // It may have any length. Each of its waits has a limit.
        true => answering.await,
        false => timeout(REQUEST_TIME, answering).await.unwrap_or_else(|_| Err(too_long())),
    };
    let response = outcome.unwrap_or_else(Failure::into_response);
    let (code, took) = (response.status().as_u16(), begun.elapsed());
    server.metrics.count(route, code, took);
    let error = response.extensions().get::<Reason>().map(|reason| reason.0.as_str());
    server.log.request(&Asked { method: method.as_str(), path: &path, peer, code, took, error });
    response
}

async fn handle(
    server: &Arc<Server>,
    found: RouteMatch<'_>,
    request: Request<Incoming>,
    entrance: Entrance,
) -> Outcome {
    let found = match found {
        RouteMatch::Route(at, _) if entrance == Entrance::Monitoring && !is_monitoring(at) => {
            RouteMatch::Nothing
        }
        found => found,
    };
    let access = match &found {
        _ if entrance == Entrance::Monitoring => None,
        // Monitoring may check the health without a token.
        RouteMatch::Route(at, _) if ROUTES[*at].endpoint == Endpoint::Health => None,
        RouteMatch::Route(at, _) => Some(ROUTES[*at].access()),
        _ => Some(Access::Read),
    };
    let is_exempt = matches!(found, RouteMatch::Route(at, _) if is_monitoring(at));
    let request = if is_exempt { request } else { server.within_rate(request).await? };
    if let Some(access) = access {
        server.guard.check(&request, access)?;
    }
    match found {
        RouteMatch::Route(at, open) => dispatch(server, ROUTES[at].endpoint, open, request).await,
        RouteMatch::OtherMethods(allowed) => Err(Failure::method(request.uri().path(), &allowed)),
        RouteMatch::Nothing => {
            let remedy = match entrance {
                Entrance::All | Entrance::Full => "GET / lists all paths, GET /openapi.json describes them",
                Entrance::Monitoring => "only /health, /ready and /metrics are served here",
            };
            Err(Failure::new(StatusCode::NOT_FOUND, "unknown path", remedy))
        }
    }
}

/// Whether a route of the table is about monitoring.
fn is_monitoring(at: usize) -> bool {
    matches!(ROUTES[at].endpoint, Endpoint::Health | Endpoint::Ready | Endpoint::Metrics)
}

async fn dispatch(
    server: &Arc<Server>,
    endpoint: Endpoint,
    open: Option<&str>,
    request: Request<Incoming>,
) -> Outcome {
    let open = open.unwrap_or_default();
    let (parts, incoming) = request.into_parts();
    let body = RequestBody::new(&parts.headers, incoming);
    let request = Request::from_parts(parts, body);
    match endpoint {
        Endpoint::PutPages => pages::put(server, request).await,
        Endpoint::PageStatus => pages::get(server, &request).await,
        Endpoint::DeletePage => pages::delete(server, &request).await,
        Endpoint::DeadPage => pages::dead(server, request).await,
        Endpoint::Statuses => pages::statuses(server, request).await,
        Endpoint::Query => pages::query(server, request).await,
        Endpoint::Refine => refine::refine(server, request).await,
        Endpoint::Groups => groups::list(server, &request).await,
        Endpoint::Group => groups::one(server, &request, open).await,
        Endpoint::Repair => groups::repair(server, &request, open).await,
        Endpoint::Feed => feed::feed(server, &request).await,
        Endpoint::MakeSnapshot => snapshots::make(server, &request),
        Endpoint::Snapshots => snapshots::list(server, &request).await,
        Endpoint::Stats => about::stats(server, &request).await,
        Endpoint::Metrics => about::metrics(server, &request).await,
        Endpoint::Index => about::index(&request),
        Endpoint::Health => about::health(&request),
        Endpoint::Ready => about::ready(server, &request),
        Endpoint::OpenApi => about::openapi(&request),
    }
}

/// Runs an answer to its end, and turns a panic into a failure.
pub async fn unpanicked<T>(answering: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut answering = pin!(answering);
    poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Err(Failure::ours("the request caused a panic"))))
    })
    .await
}

fn too_long() -> Failure {
    let error = format!("no answer within {} seconds", REQUEST_TIME.as_secs());
    let remedy = "try again later; a change may have been accepted, and sending it again is safe";
    Failure::unavailable(error, remedy)
}
