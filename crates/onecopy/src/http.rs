//! The service over HTTP: JSON in, JSON out.
//!
//! It has no state of its own: the engine owns accepted changes. It refuses requests that are too large, too slow, too
//! many at a time, or from a web page. It has no TLS; a proxy in front provides it.

mod body;
mod clock;
mod failure;
mod gather;
mod guard;
mod listen;
mod log;
mod memory;
mod metrics;
mod params;
mod reply;
mod routes;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use onecopy_engine::Service;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

use self::body::Taking;
use self::gather::Gather;
use self::guard::Guard;
use self::memory::BodyMemory;
use self::metrics::Metrics;
use self::server::{CALLS, REPAIRS, Server};

pub use self::guard::TOKEN_LENGTH;
pub use self::log::{Log, Style};

/// Memory for large bodies.
const BODIES_BYTES: usize = 256 << 20;
/// How long to wait at the end for engine calls whose clients are gone.
const LAST_CALLS: Duration = Duration::from_secs(5);

/// Options of the HTTP server.
pub struct HttpOptions {
    /// The token that a client must send, if any.
    pub token: Option<String>,
    /// The collection's folder.
    pub folder: PathBuf,
    /// The longest record.
    pub page_bytes: usize,
    /// How long a client may neither send nor receive.
    pub idle: Duration,
    /// How long running requests may take during the shutdown.
    pub grace: Duration,
    /// The most open connections.
    pub connections: usize,
}

/// Runs the server until `stop` is true, then closes it. Calls `ready` with the address once it listens.
pub fn serve(
    service: Service,
    options: &HttpOptions,
    listener: std::net::TcpListener,
    log: &Arc<Log>,
    stop: watch::Receiver<bool>,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let service = Arc::new(service);
    let runtime = runtime().context("cannot start the service's threads")?;
    let address = listener.local_addr().context("cannot read the address that the service listens on")?;
    let listener = runtime.block_on(async {
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    })?;
    let (server, threads) = server(&service, options, address, log, stop)?;
    ready(address);
    log.event("listening", &format!("http://{address}"));
    let ended = runtime.block_on(listen::listen(&server, listener, options.connections, options.grace));
    let how = if ended { "all requests were answered" } else { "some requests were cut off" };
    log.event("stopping", how);
    runtime.shutdown_timeout(LAST_CALLS);
    drop(server);
    close(service, threads)
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
) -> Result<(Arc<Server>, Vec<JoinHandle<()>>)> {
    let (gather, mut threads) = Gather::start(service)?;
    let (feed, thread) = routes::feed::follow(service.clone(), stop.clone())?;
    threads.push(thread);
    // A page always fits, whatever others have begun.
    let memory = BodyMemory::new(BODIES_BYTES.max(2 * options.page_bytes));
    let server = Server {
        service: service.clone(),
        gather,
        feed,
        stop,
        log: log.clone(),
        metrics: Metrics::new(),
        guard: Guard { token: options.token.clone(), address: address.ip() },
        taking: Taking { memory, idle: options.idle },
        folder: options.folder.clone(),
        page_bytes: options.page_bytes,
        calls: Arc::new(Semaphore::new(CALLS)),
        repairs: Arc::new(Semaphore::new(REPAIRS)),
    };
    Ok((Arc::new(server), threads))
}

/// Closes the collection once no request uses it.
fn close(service: Arc<Service>, threads: Vec<JoinHandle<()>>) -> Result<()> {
    let until = Instant::now() + LAST_CALLS;
    while Arc::strong_count(&service) > 1 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(threads);
    match Arc::try_unwrap(service) {
        Ok(service) => Ok(service.close()?),
        Err(_) => bail!(
            "a request did not end in time, so the collection was not closed: what was accepted is safe, and is taken up when it is opened again"
        ),
    }
}
