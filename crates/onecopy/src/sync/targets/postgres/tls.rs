//! TLS for PostgreSQL, with the certificates that the system trusts.
//!
//! The server is always verified, also where libpq would not: an address says that with `sslmode=require`, and without
//! `sslmode` TLS is used if the server has it. There is no channel binding.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use anyhow::Result;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use postgres::{Config, Socket};
use rustls::ClientConfig;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connects with TLS.
#[derive(Clone)]
pub struct Tls(TlsConnector);

impl Tls {
    pub fn new() -> Result<Tls> {
        // This fails if another client already chose a provider, which works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = ClientConfig::builder().with_platform_verifier()?.with_no_client_auth();
        Ok(Tls(TlsConnector::from(std::sync::Arc::new(config))))
    }

    /// Connects to a database.
    pub fn connect(&self, config: &Config) -> Result<postgres::Client, postgres::Error> {
        config.connect(self.clone())
    }
}

/// A connection to a server with this name.
pub struct Handshake(TlsConnector, ServerName<'static>);

/// An encrypted connection.
pub struct Encrypted(TlsStream<Socket>);

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, InvalidDnsNameError> {
        Ok(Handshake(self.0.clone(), ServerName::try_from(host.to_owned())?))
    }
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { self.0.connect(self.1, socket).await.map(Encrypted) })
    }
}

impl postgres::tls::TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context, into: &mut ReadBuf) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_read(cx, into)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
    }
}
