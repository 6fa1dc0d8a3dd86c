//! Connections: their number, their time limits, and the shutdown. The service and the proxy are their hosts.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};

use super::idle::{BusyBody, IdleConnections, Presence};
use super::log::Log;
use super::metrics::{ConnectionCounts, GaugeGuard};

/// The read buffer of a connection.
const BUFFER_BYTES: usize = 64 << 10;
/// The largest head of a request, including the page names in its address.
const HEAD_BYTES: usize = 32 << 10;
/// How many refused clients get an answer at a time.
const TOLD: usize = 64;
/// How long such a client may take to read it.
const TELLING: Duration = Duration::from_secs(1);
/// How long a new connection waits for an idle one to close.
const MAKING_ROOM: Duration = Duration::from_secs(5);
/// The pause after the system had no resources for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// The way that a request came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// All routes, for those who may call.
    All,
    /// Health, readiness and numbers, for everybody who reaches it.
    Monitoring,
    /// There is no place for the connection: only what is quick is answered.
    Full,
}

/// What answers the requests of connections.
pub trait Host: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static;

    /// Whether the host is shutting down.
    fn stop(&self) -> watch::Receiver<bool>;
    fn log(&self) -> &Log;
    fn counts(&self) -> &ConnectionCounts;
    fn idle_connections(&self) -> &Arc<IdleConnections>;
    /// How long a client may neither send nor receive.
    fn patience(&self) -> Duration;
    /// Answers a request.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        entrance: Entrance,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// Accepts connections until the shutdown, then waits for the open ones until `grace` has passed. Returns whether all
/// ended, and when the grace ends.
pub async fn listen<H: Host>(
    server: &Arc<H>,
    listener: TcpListener,
    most: usize,
    grace: Duration,
) -> (bool, std::time::Instant) {
    let open = Arc::new(Semaphore::new(most));
    let told = Arc::new(Semaphore::new(TOLD));
    let mut stop = server.stop();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((socket, peer)) => match open.clone().try_acquire_owned() {
                Ok(place) => {
                    tokio::spawn(serve(server.clone(), socket, peer, place));
                }
                Err(_) if server.idle_connections().make_room() => {
                    server.counts().made_room.fetch_add(1, Ordering::Relaxed);
                    tokio::spawn(serve_soon(server.clone(), socket, peer, open.clone()));
                }
                Err(_) => turn_away(server, socket, peer, &told),
            },
            Err(error) => {
                server.log().event("accept", &error.to_string());
                sleep(NO_ROOM).await;
            }
        }
    }
    drop(listener);
    let until = Instant::now() + grace;
    (timeout(grace, open.acquire_many(most as u32)).await.is_ok(), until.into_std())
}

/// Answers monitoring on a listener of its own until the shutdown.
pub async fn monitor<H: Host>(server: Arc<H>, listener: TcpListener) {
    let open = Arc::new(Semaphore::new(TOLD));
    loop {
        // The semaphore is never closed.
        let place = open.clone().acquire_owned().await.ok();
        let Ok((socket, peer)) = listener.accept().await else {
            sleep(NO_ROOM).await;
            continue;
        };
        let (answering, idle) = (server.clone(), server.patience());
        let service = service_fn(move |request| {
            let server = answering.clone();
            async move {
                Ok::<_, std::convert::Infallible>(server.answer(request, peer, Entrance::Monitoring).await)
            }
        });
        tokio::spawn(async move {
            let _place = place;
            let connection =
                http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(socket), service);
            let _ = timeout(idle, connection).await;
        });
    }
}

/// Serves a connection once another has made room.
async fn serve_soon<H: Host>(server: Arc<H>, socket: TcpStream, peer: SocketAddr, open: Arc<Semaphore>) {
    if let Ok(Ok(place)) = timeout(MAKING_ROOM, open.acquire_owned()).await {
        serve(server, socket, peer, place).await;
    }
}

/// Serves a connection to its end.
async fn serve<H: Host>(server: Arc<H>, socket: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
    let _place = place;
    let _held = GaugeGuard::one(&server.counts().open);
    // Answers are written completely, so waiting to fill a packet only delays them.
    let _ = socket.set_nodelay(true);
    let idle = server.patience();
    let presence = Presence::new(server.idle_connections());
    let (answering, present) = (server.clone(), presence.clone());
    let service = service_fn(move |request| {
        let (server, busy) = (answering.clone(), present.busy());
        async move {
            let response = server.answer(request, peer, Entrance::All).await;
            Ok::<_, std::convert::Infallible>(response.map(|body| BusyBody::new(body, busy)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(BUFFER_BYTES)
        .max_header_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Patient::new(socket, idle)), service);
    let mut connection = pin!(connection);
    let mut stop = server.stop();
    // How a connection broke does not matter: its requests are in the log.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => {}
        // A request may have come in between. This task runs both, so nothing changes after the check.
        () = presence.make_room.notified() => if presence.is_idle() {
            return;
        },
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Answers a client for whom there is no place. If too many clients are being told, it disconnects.
fn turn_away<H: Host>(server: &Arc<H>, socket: TcpStream, peer: SocketAddr, told: &Arc<Semaphore>) {
    server.counts().turned_away.fetch_add(1, Ordering::Relaxed);
    let Ok(place) = told.clone().try_acquire_owned() else { return };
    let server = server.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let server = server.clone();
        async move { Ok::<_, std::convert::Infallible>(server.answer(request, peer, Entrance::Full).await) }
    });
    tokio::spawn(async move {
        let _place = place;
        let connection =
            http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(socket), service);
        let _ = timeout(TELLING, connection).await;
    });
}

/// A socket that gives up on a client that receives nothing for too long. The reader of the body watches the sending.
struct Patient {
    socket: TcpStream,
    idle: Duration,
    giving_up: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(socket: TcpStream, idle: Duration) -> Patient {
        Patient { socket, idle, giving_up: None }
    }

    fn watched<T>(&mut self, polled: Poll<io::Result<T>>, context: &mut Context) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.giving_up = None;
            return polled;
        }
        let idle = self.idle;
        let sleep = self.giving_up.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + idle)));
        ready!(sleep.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.watched(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        parts: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write_vectored(context, parts);
        self.watched(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
