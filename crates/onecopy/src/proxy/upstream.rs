//! The search engine behind the proxy: one address, which nothing in a request or an answer can change.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::http::uri::{Authority, PathAndQuery, Scheme, Uri};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{sleep_until, timeout};

use super::through::{Activity, Through};
use crate::http::failure::Failure;

/// How long a connection may take to open.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long an unused connection stays open. Meilisearch closes them after 5 seconds.
const UNUSED: Duration = Duration::from_secs(4);

/// The body of a request to the upstream: all of it, or as it comes.
pub type Outgoing = Either<Full<Bytes>, Through>;

/// The upstream.
pub struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Outgoing>,
    scheme: Scheme,
    authority: Authority,
    /// What precedes every path.
    prefix: String,
    timeout: Duration,
}

/// A request without its body.
#[derive(Clone)]
pub struct RequestHead {
    pub method: Method,
    /// Path and query.
    pub target: String,
    pub headers: HeaderMap,
}

impl Upstream {
    /// The engine at an address, with the certificates to trust if they are not the system's.
    pub fn new(address: &Uri, certificates: Option<&Path>, timeout: Duration) -> Result<Upstream> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECTING));
        let scheme = address.scheme().cloned().unwrap_or(Scheme::HTTP);
        let tls = tls(&scheme, certificates)?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(UNUSED)
            .build(connector);
        let authority = address.authority().cloned().context("the upstream has no host")?;
        let prefix = address.path().trim_end_matches('/').to_owned();
        Ok(Upstream { client, scheme, authority, prefix, timeout })
    }

    /// Sends a request. The answer must begin in time, counted from the last piece of the body.
    pub async fn send(&self, head: RequestHead, body: Outgoing) -> Result<Response<Incoming>, Failure> {
        let activity = match &body {
            Either::Left(_) => Activity::now(),
            Either::Right(body) => body.activity(),
        };
        let again = match &body {
            Either::Left(body) => Some((head.clone(), body.clone())),
            Either::Right(_) => None,
        };
        let sending = async {
            match (self.client.request(self.request(head, body)?).await, again) {
                // The upstream closed a kept connection when the request was on its way.
                (Err(error), Some((head, body))) if is_closed(&error) => {
                    let again = self.request(head, Either::Left(body))?;
                    self.client.request(again).await.map_err(|error| self.unreachable(&error))
                }
                (sent, _) => sent.map_err(|error| self.unreachable(&error)),
            }
        };
        let mut sending = pin!(sending);
        loop {
            let until = activity.last() + self.timeout;
            tokio::select! {
                sent = &mut sending => return sent,
                () = sleep_until(until) => if activity.last() + self.timeout <= until {
                    return Err(self.too_slow());
                },
            }
        }
    }

    fn request(&self, head: RequestHead, body: Outgoing) -> Result<Request<Outgoing>, Failure> {
        let target: Result<PathAndQuery, _> = format!("{}{}", self.prefix, head.target).parse();
        let bad = |error: hyper::http::Error| {
            Failure::bad(
                format!("the address cannot be forwarded: {error}"),
                "send a path that begins with /",
            )
        };
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        let uri = uri.path_and_query(target.map_err(|error| bad(error.into()))?).build().map_err(bad)?;
        let mut request = Request::new(body);
        *request.method_mut() = head.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = head.headers;
        Ok(request)
    }

    /// The addresses that it has at the moment.
    pub async fn addresses(&self) -> std::io::Result<Vec<SocketAddr>> {
        let usual = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let host = self.authority.host().trim_start_matches('[').trim_end_matches(']');
        Ok(lookup_host((host, self.authority.port_u16().unwrap_or(usual))).await?.collect())
    }

    /// Whether it accepts connections.
    pub async fn is_reachable(&self) -> bool {
        let connecting = async {
            for address in self.addresses().await? {
                if TcpStream::connect(address).await.is_ok() {
                    return Ok(true);
                }
            }
            std::io::Result::Ok(false)
        };
        matches!(timeout(CONNECTING, connecting).await, Ok(Ok(true)))
    }

    fn unreachable(&self, error: &(dyn Error + 'static)) -> Failure {
        if chain(error).filter_map(|error| error.downcast_ref()).any(hyper::Error::is_user) {
            let error = format!("the request broke off: {}", causes(error));
            return Failure::bad(error, "send the whole body, without long pauses");
        }
        let error = format!("no answer from the upstream {}: {}", self.authority, causes(error));
        Failure::new(
            StatusCode::BAD_GATEWAY,
            error,
            "check that the search engine runs and that --upstream is right",
        )
    }

    /// The answer of the upstream broke off.
    pub fn broke_off(&self, error: &(dyn Error + 'static)) -> Failure {
        let error = format!("half an answer from the upstream {}: {}", self.authority, causes(error));
        Failure::new(StatusCode::BAD_GATEWAY, error, "try again; check the log of the search engine")
    }

    /// The upstream did not answer in time.
    pub fn too_slow(&self) -> Failure {
        let error = format!("no answer from the upstream {} in {:?}", self.authority, self.timeout);
        Failure::new(StatusCode::GATEWAY_TIMEOUT, error, "try again later, or raise --timeout")
    }

    /// How long the upstream may take for the answer to a search.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// The system may have no certificates, which matters only for an upstream with TLS.
fn tls(scheme: &Scheme, certificates: Option<&Path>) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let Some(path) = certificates else {
        return Ok(match *scheme == Scheme::HTTPS {
            true => builder.with_platform_verifier()?.with_no_client_auth(),
            false => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
        });
    };
    let cannot = || format!("cannot read certificates from {}", path.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).with_context(cannot)? {
        roots.add(certificate.with_context(cannot)?).with_context(cannot)?;
    }
    anyhow::ensure!(!roots.is_empty(), "{}: it has no certificate in PEM form", path.display());
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Whether a connection was closed before an answer began.
fn is_closed(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(|error| {
        let is_incomplete = |error: &hyper::Error| error.is_incomplete_message() || error.is_canceled();
        let is_reset = |error: &io::Error| {
            matches!(
                error.kind(),
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
            )
        };
        error.downcast_ref().is_some_and(is_incomplete) || error.downcast_ref().is_some_and(is_reset)
    })
}

/// An error with all its causes, on one line.
fn causes(error: &(dyn Error + 'static)) -> String {
    chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
