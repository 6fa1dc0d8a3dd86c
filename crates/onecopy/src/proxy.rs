//! A proxy in front of a search engine: its answers without repeats, and all else unchanged.
//!
//! It knows one upstream and follows no address in a request or an answer. An answer that it cannot read passes as it
//! is. It has no TLS of its own; it speaks TLS to the upstream.

mod coding;
mod collect;
mod fields;
mod forward;
mod headers;
mod metrics;
mod monitor;
mod paging;
mod path;
mod preset;
mod rewrite;
mod search;
mod through;
mod upstream;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Once, RwLock};
use std::time::Duration;

use anyhow::{Context, Result};
use hyper::body::Incoming;
use hyper::{Request, Response, Uri};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::watch;

use self::forward::ProxyBody;
use self::metrics::ProxyMetrics;
use self::upstream::Upstream;
use crate::commands::WrongCall;
use crate::http::guard::{Guard, TokenHeader};
use crate::http::idle::IdleConnections;
use crate::http::listen::{self, Entrance, Host};
use crate::http::memory::BodyMemory;
use crate::http::metrics::ConnectionCounts;
use crate::http::{Log, TokenFiles, Tokens, follow_tokens};
use crate::signals::Signals;

pub use self::fields::{HitFields, TextFields};
pub use self::paging::{Count, PageStyle, Paging, Part};
pub use self::path::JsonPath;
pub use self::preset::{HTML_FIELD, Preset, TAG_FIELD, TEXT_FIELDS};
pub use self::rewrite::{Rules, Treatment};

/// Memory for answers that are being read, written or sent.
const BODIES_BYTES: usize = 512 << 20;

/// Options of the proxy.
pub struct ProxyOptions {
    pub upstream: Uri,
    /// A file with the certificates to trust, if they are not the system's.
    pub certificates: Option<PathBuf>,
    /// Which paths search, and where their answers have the hits.
    pub searches: Vec<(String, JsonPath)>,
    pub rules: Rules,
    pub treatment: Treatment,
    pub paging: Paging,
    /// How often further hits are asked for in one search.
    pub further: usize,
    /// The largest answer that is rewritten.
    pub answer_bytes: usize,
    /// How long the upstream may take.
    pub timeout: Duration,
    /// How long a client may neither send nor receive.
    pub patience: Duration,
    /// How long running requests may take during the shutdown.
    pub grace: Duration,
    /// The most open connections.
    pub connections: usize,
    pub callers: Callers,
}

/// Who may call.
pub enum Callers {
    /// Those with a token; without a token file, programs on this machine.
    Checked(TokenFiles),
    /// Everybody who reaches it.
    Anyone,
}

/// The state that all requests share.
struct Proxy {
    upstream: Upstream,
    searches: Vec<(String, Arc<JsonPath>)>,
    rules: Arc<Rules>,
    treatment: Treatment,
    paging: Paging,
    further: usize,
    answer_bytes: usize,
    memory: BodyMemory,
    patience: Duration,
    guard: Option<Guard>,
    metrics: ProxyMetrics,
    idle: Arc<IdleConnections>,
    log: Arc<Log>,
    stop: watch::Receiver<bool>,
    /// Whether the log has said that hits have no text.
    told: Once,
}

/// Runs the proxy until a signal ends it. The second listener is for monitoring. Calls `ready` with the address once
/// it listens.
pub fn run(
    options: ProxyOptions,
    (listener, monitor): (std::net::TcpListener, Option<std::net::TcpListener>),
    log: &Arc<Log>,
    signals: Signals,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let runtime = Builder::new_multi_thread().thread_name("proxy").enable_all().build();
    let runtime = runtime.context("cannot start the proxy's threads")?;
    let address = listener.local_addr().context("cannot read the address that the proxy listens on")?;
    let (grace, connections) = (options.grace, options.connections);
    let tokens = match &options.callers {
        Callers::Checked(tokens) => tokens.clone(),
        Callers::Anyone => TokenFiles::default(),
    };
    let proxy = Arc::new(proxy(options, address, log, signals.stop.clone())?);
    runtime.block_on(refuse_itself(&proxy, address))?;
    let listen = |listener: std::net::TcpListener| {
        listener.set_nonblocking(true)?;
        runtime.block_on(async { TcpListener::from_std(listener) })
    };
    if let Some(monitor) = monitor {
        log.event("monitoring", &format!("http://{}", monitor.local_addr()?));
        runtime.spawn(listen::monitor(proxy.clone(), listen(monitor)?));
    }
    let guarded = proxy.clone();
    let replace = move |tokens: Tokens| guarded.guard.iter().for_each(|guard| guard.replace(tokens.clone()));
    runtime.spawn(follow_tokens(tokens, signals.hangups, log.clone(), replace));
    let listener = listen(listener)?;
    ready(address);
    log.event("listening", &format!("http://{address}"));
    let (ended, _) = runtime.block_on(listen::listen(&proxy, listener, connections, grace));
    log.event("stopping", if ended { "all requests were answered" } else { "some requests were cut off" });
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(())
}

fn proxy(
    options: ProxyOptions,
    address: SocketAddr,
    log: &Arc<Log>,
    stop: watch::Receiver<bool>,
) -> Result<Proxy> {
    let upstream = Upstream::new(&options.upstream, options.certificates.as_deref(), options.timeout)?;
    let guard = |tokens: TokenFiles| -> Result<Guard> {
        Ok(Guard { tokens: RwLock::new(tokens.read()?), address: address.ip(), header: TokenHeader::Own })
    };
    Ok(Proxy {
        upstream,
        searches: options.searches.into_iter().map(|(path, hits)| (path, Arc::new(hits))).collect(),
        rules: Arc::new(options.rules),
        treatment: options.treatment,
        paging: options.paging,
        further: options.further,
        answer_bytes: options.answer_bytes,
        memory: BodyMemory::new(BODIES_BYTES.max(2 * options.answer_bytes)),
        patience: options.patience,
        guard: match options.callers {
            Callers::Checked(tokens) => Some(guard(tokens)?),
            Callers::Anyone => None,
        },
        metrics: ProxyMetrics::default(),
        idle: Arc::default(),
        log: log.clone(),
        stop,
        told: Once::new(),
    })
}

/// A proxy that is its own upstream would forward a request forever.
async fn refuse_itself(proxy: &Proxy, address: SocketAddr) -> Result<()> {
    // An upstream whose name has no address yet may get one later.
    let upstream = proxy.upstream.addresses().await.unwrap_or_default();
    let is_here = |other: &SocketAddr| {
        let same = other.ip() == address.ip() || (address.ip().is_unspecified() && other.ip().is_loopback());
        same && other.port() == address.port()
    };
    if upstream.iter().any(is_here) {
        let why = format!("--upstream is the proxy itself, {address}: name the search engine");
        return Err(WrongCall(why).into());
    }
    Ok(())
}

impl Proxy {
    /// Where the answer has its hits, if a path searches.
    fn hits(&self, path: &str) -> Option<Arc<JsonPath>> {
        let found = self.searches.iter().find(|(pattern, _)| preset::matches(pattern, path));
        found.map(|(_, hits)| hits.clone())
    }
}

impl Host for Proxy {
    type Body = ProxyBody;

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
        self.patience
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        entrance: Entrance,
    ) -> Response<ProxyBody> {
        forward::answer(self, request, peer, entrance).await
    }
}
