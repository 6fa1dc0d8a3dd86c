//! The service over HTTP: JSON in, JSON out.
//!
//! It has no state of its own: the engine owns accepted changes. It refuses requests that are too large, too slow, too
//! many at a time, or from a web page. It has no TLS; a proxy in front provides it.

mod body;
pub mod durations;
pub mod failure;
mod gather;
pub mod guard;
pub mod idle;
pub mod listen;
mod log;
mod lookout;
pub mod memory;
pub mod metrics;
mod params;
mod rate;
pub mod reply;
mod routes;
mod server;
mod snapshots;
pub mod tokens;
mod unpack;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, RwLock, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use onecopy_engine::{BackupJob, Service};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

use self::body::Taking;
use self::gather::Gather;
use self::guard::{Guard, TokenHeader};
use self::memory::BodyMemory;
use self::metrics::Metrics;
use self::rate::Rates;
use self::server::{CALLS, REPAIRS, Server};
use self::snapshots::Snapshots;
use crate::signals::Signals;

pub use self::log::{Asked, Log, Style};
pub use self::rate::RateLimit;
pub use self::server::unpanicked;
pub use self::tokens::{TokenFiles, Tokens};

/// Memory for large bodies.
const BODIES_BYTES: usize = 256 << 20;
/// The least time at the end for engine calls whose clients are gone, and for closing the collection.
const LAST_CALLS: Duration = Duration::from_secs(1);

/// Options of the HTTP server.
pub struct HttpOptions {
    /// The tokens of which a client must send one, if there are any.
    pub tokens: TokenFiles,
    /// The collection's folder.
    pub folder: PathBuf,
    /// How snapshots are made, if there is a place for them.
    pub snapshots: Option<BackupJob>,
    /// The longest record.
    pub page_bytes: usize,
    /// How long a client may neither send nor receive.
    pub idle: Duration,
    /// How long running requests and the current batch may take during the shutdown.
    pub grace: Duration,
    /// The most open connections.
    pub connections: usize,
    /// The fewest bytes per second of a body.
    pub min_body_rate: u64,
    /// How much each client may ask for.
    pub rate: Option<RateLimit>,
}

/// Runs the server until a signal ends it, then closes it. The second listener is for monitoring. Calls `ready` with the address once it listens.
pub fn serve(
    service: Service,
    options: &HttpOptions,
    (listener, monitor): (std::net::TcpListener, Option<std::net::TcpListener>),
    log: &Arc<Log>,
    signals: Signals,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let service = Arc::new(service);
    let runtime = runtime().context("cannot start the service's threads")?;
    let address = listener.local_addr().context("cannot read the address that the service listens on")?;
    let listener = runtime.block_on(async {
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    })?;
    let server = server(&service, options, address, log, signals.stop.clone())?;
    if let Some(monitor) = monitor {
        log.event("monitoring", &format!("http://{}", monitor.local_addr()?));
        monitor.set_nonblocking(true)?;
        let monitor = runtime.block_on(async { TcpListener::from_std(monitor) })?;
        runtime.spawn(listen::monitor(server.clone(), monitor));
    }
    let guarded = server.clone();
    let replace = move |tokens| guarded.guard.replace(tokens);
    runtime.spawn(follow_tokens(options.tokens.clone(), signals.hangups, log.clone(), replace));
    ready(address);
    log.event("listening", &format!("http://{address}"));
    let (ended, until) =
        runtime.block_on(listen::listen(&server, listener, options.connections, options.grace));
    let how = if ended { "all requests were answered" } else { "some requests were cut off" };
    log.event("stopping", how);
    let left = || until.saturating_duration_since(Instant::now()).max(LAST_CALLS);
    runtime.shutdown_timeout(left());
    drop(server);
    close(service, log, left())
}

/// Reads the tokens again whenever the operator asks for it. Wrong files change nothing.
pub async fn follow_tokens(
    files: TokenFiles,
    mut hangups: watch::Receiver<u64>,
    log: Arc<Log>,
    replace: impl Fn(Tokens),
) {
    while hangups.changed().await.is_ok() {
        match files.read() {
            Ok(tokens) => {
                replace(tokens);
                log.event("reload", "the token files were read again");
            }
            Err(error) => log.failure("reload", &format!("the tokens stay as they were: {error:#}")),
        }
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().thread_name("http").max_blocking_threads(CALLS + 4).enable_all().build()
}

fn server(
    service: &Arc<Service>,
    options: &HttpOptions,
    address: SocketAddr,
    log: &Arc<Log>,
    stop: watch::Receiver<bool>,
) -> Result<Arc<Server>> {
    let gather = Gather::start(service)?;
    let feed = routes::feed::follow(service.clone(), stop.clone())?;
    lookout::watch(service.clone(), log.clone(), stop.clone())?;
    // A page always fits, whatever others have begun.
    let memory = BodyMemory::new(BODIES_BYTES.max(2 * options.page_bytes));
    let server = Server {
        service: service.clone(),
        gather,
        feed,
        stop,
        log: log.clone(),
        metrics: Metrics::new(),
        guard: Guard {
            tokens: RwLock::new(options.tokens.read()?),
            address: address.ip(),
            header: TokenHeader::Authorization,
        },
        idle: Arc::default(),
        rates: Rates::new(options.rate),
        taking: Taking { memory, idle: options.idle, min_rate: options.min_body_rate },
        snapshots: Snapshots::new(options.snapshots.clone()),
        folder: options.folder.clone(),
        page_bytes: options.page_bytes,
        calls: Arc::new(Semaphore::new(CALLS)),
        repairs: Arc::new(Semaphore::new(REPAIRS)),
    };
    Ok(Arc::new(server))
}

/// Closes the collection once no request uses it. A request or a batch that takes longer is cut off: accepted changes
/// are in the log, and the next start continues with them.
fn close(service: Arc<Service>, log: &Log, most: Duration) -> Result<()> {
    let until = Instant::now() + most;
    while Arc::strong_count(&service) > 1 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
    let (sender, closed) = mpsc::channel();
    if let Ok(service) = Arc::try_unwrap(service) {
        std::thread::Builder::new().name("close".into()).spawn(move || sender.send(service.close()))?;
    }
    match closed.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(closed) => Ok(closed?),
        Err(_) => {
            log.event(
                "stopping",
                "a batch or a request was cut off; the next start repeats what was accepted",
            );
            Ok(())
        }
    }
}
