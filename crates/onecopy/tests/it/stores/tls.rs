//! https: only trusted servers are used, nothing is sent unencrypted, and stores are found at their real addresses.
//!
//! The certificates use P-256 and are valid from 2020 to 2120. The key of the authority was not kept, so that it can
//! sign nothing else.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::{TempDir, tempdir};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::azure::{Azure, keys};
use super::google::{TOKEN, serve_google};
use super::server::{answer, answer_with, header, listen, part, serve_web};
use super::{Remote, s3, serve_s3, write_crawl, write_web};
use crate::results::assert_same_answer;

/// The requests, one line each.
type Log = Arc<Mutex<Vec<String>>>;

fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stores/certificates").join(name)
}

/// Accepts TLS connections with the test certificate.
fn acceptor() -> TlsAcceptor {
    let chain = CertificateDer::from_pem_file(certificate("server.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(certificate("server.key")).expect("a key");
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder =
        builder.with_safe_default_protocol_versions().expect("ring knows them").with_no_client_auth();
    TlsAcceptor::from(Arc::new(
        builder.with_single_cert(vec![chain], key).expect("key and certificate match"),
    ))
}

/// A TLS front end for a plain server.
fn encrypt(server: SocketAddr) -> SocketAddr {
    let acceptor = acceptor();
    listen(move |socket| unlock(acceptor.clone(), socket, server))
}

async fn unlock(acceptor: TlsAcceptor, socket: TcpStream, server: SocketAddr) {
    let Ok(mut outside) = acceptor.accept(socket).await else { return };
    let mut inside = TcpStream::connect(server).await.expect("a server of ours");
    let _ = copy_bidirectional(&mut outside, &mut inside).await;
}

/// A TLS proxy that serves foreign host names with our own servers. Returns its address and a log of requested hosts.
fn proxy(servers: Vec<(&'static str, SocketAddr)>) -> (String, Log) {
    let (acceptor, log) = (acceptor(), Log::default());
    let kept = log.clone();
    let address = listen(move |mut socket| {
        let (acceptor, servers, log) = (acceptor.clone(), servers.clone(), log.clone());
        async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = socket.read_u8().await else { return };
                head.push(byte);
            }
            let asked = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
            log.lock().expect("a log").push(asked.clone());
            let is_asked = |name: &str| asked == format!("CONNECT {name}:443 HTTP/1.1");
            let Some((_, server)) = servers.iter().find(|(name, _)| is_asked(name)) else { return };
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            unlock(acceptor, socket, *server).await;
        }
    });
    (format!("http://{address}"), kept)
}

/// The store with trust in the test authority.
fn trusting(store: Remote) -> Remote {
    store.with("SSL_CERT_FILE", &certificate("authority.pem").display().to_string())
}

fn web() -> Remote {
    Remote::new("https", &[])
}

#[test]
fn a_web_server_gives_the_answer_of_its_files_to_who_trusts_it() {
    let root = tempdir().expect("a folder");
    let (files, names) = write_web(root.path());
    let server = encrypt(serve_web(root.path().join("web")));
    let (local, out) = (root.path().join("local"), root.path().join("out"));
    web().dedup(&files.each_ref().map(String::as_str), &local).succeed();
    let addresses = names.map(|name| format!("https://localhost:{}/{name}", server.port()));
    trusting(web()).dedup(&addresses.each_ref().map(String::as_str), &out).succeed();
    assert_same_answer(&out, &local, "https");
}

#[test]
fn who_is_not_trusted_is_not_asked() {
    let log = Log::default();
    let kept = log.clone();
    let server = answer_with(move |asked| {
        kept.lock().expect("a log").push(asked.uri().to_string());
        part(asked, b"{}\n", "\"one\"")
    });
    let door = encrypt(server);
    let address = format!("https://localhost:{}/a.jsonl", door.port());
    let other = certificate("other.pem").display().to_string();
    web().with("SSL_CERT_FILE", &other).refuses(&address, &["UnknownIssuer", "SSL_CERT_FILE"]);
    // With the trust store of this machine, which may be empty.
    web().refuses(&address, &["certificate", "SSL_CERT_FILE"]);
    web().with("SSL_CERT_FILE", "/nowhere/ca.pem").refuses(&address, &["certificate", "SSL_CERT_FILE"]);
    // The right server under a wrong name.
    let (proxy, _) = proxy(vec![("other.example", server)]);
    let misled = trusting(web()).with("HTTPS_PROXY", &proxy);
    misled.refuses("https://other.example/a.jsonl", &["certificate", "not valid for name"]);
    assert!(log.lock().expect("a log").is_empty());
    // A server without TLS is not contacted in plain text.
    trusting(web()).refuses(&format!("https://localhost:{}/a.jsonl", server.port()), &["network"]);
    assert!(log.lock().expect("a log").is_empty());
}

#[test]
fn https_is_not_led_to_http() {
    let log = Log::default();
    let kept = log.clone();
    let plain = answer_with(move |asked| {
        kept.lock().expect("a log").push(asked.uri().to_string());
        part(asked, b"{}\n", "\"one\"")
    });
    let target = format!("http://localhost:{}/a.jsonl", plain.port());
    let door = encrypt(answer_with(move |_| answer(302, &[("location", &target)], "")));
    let address = format!("https://localhost:{}/a.jsonl", door.port());
    trusting(web()).refuses(&address, &["plain http"]);
    assert!(log.lock().expect("a log").is_empty());
}

/// A store at its own address redirects to another host: the file is read there, and no secret is sent along.
#[test]
fn secrets_are_not_taken_along_to_another_host() {
    let log = Log::default();
    let kept = log.clone();
    let elsewhere = answer_with(move |asked| {
        let told = ["authorization", "referer"].map(|name| header(asked, name).unwrap_or_default());
        kept.lock().expect("a log").push(told.join(" "));
        part(asked, b"{\"id\":\"a\",\"text\":\"a\"}\n", "\"one\"")
    });
    let leading = answer_with(|_| answer(302, &[("location", "https://pages.example/a.jsonl")], ""));
    let servers = vec![
        ("storage.googleapis.com", leading),
        ("localhost", leading),
        ("onecopy.blob.core.windows.net", leading),
        ("pages.example", elsewhere),
    ];
    let (proxy, _) = proxy(servers);
    for (store, address) in [
        (Remote::new("gs", &[("GOOGLE_BEARER_TOKEN", TOKEN)]), "gs://pages/a.jsonl"),
        (keys("onecopy"), "az://pages/a.jsonl"),
        (web(), "https://localhost/a.jsonl?token=secret"),
    ] {
        let out = tempdir().expect("a folder");
        trusting(store).with("HTTPS_PROXY", &proxy).dedup(&[address], &out.path().join("out")).succeed();
        let seen: Vec<String> = log.lock().expect("a log").drain(..).collect();
        let is_secret =
            |told: &String| ["Bearer", "SharedKey", "token"].iter().any(|word| told.contains(word));
        assert!(!seen.is_empty() && !seen.iter().any(is_secret), "{address}: {seen:?}");
    }
}

/// The servers of the clouds, under their real names.
fn clouds(root: &Path) -> (String, Log) {
    let azure = Arc::new(Azure::of("onecopy", &root.join("buckets"))).serve();
    let google = serve_google(&root.join("buckets")).0;
    // Returns a token to a user who has logged in with `gcloud`.
    let login = answer_with(|asked| {
        let token = format!("{{\"access_token\":\"{TOKEN}\",\"expires_in\":3600}}");
        if asked.method() == "POST" { answer(200, &[], token) } else { answer(404, &[], "") }
    });
    proxy(vec![
        ("s3.us-east-1.amazonaws.com", serve_s3(&root.join("buckets"))),
        ("storage.googleapis.com", google),
        ("accounts.google.com", login),
        ("onecopy.blob.core.windows.net", azure),
    ])
}

fn crawl() -> TempDir {
    let root = tempdir().expect("a folder");
    write_crawl(&root.path().join("buckets/pages/crawl"), 200);
    root
}

#[test]
fn stores_are_found_at_their_own_addresses() {
    let root = crawl();
    let (proxy, asked) = clouds(root.path());
    let local = root.path().join("local");
    let files = root.path().join("buckets/pages/crawl").display().to_string();
    web().dedup(&[&files], &local).succeed();
    let login = root.path().join("application_default_credentials.json");
    let user = r#"{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}"#;
    fs::write(&login, user).expect("a file");
    let google = Remote::new("gs", &[("GOOGLE_APPLICATION_CREDENTIALS", &login.display().to_string())]);
    for store in [s3(), google, keys("onecopy")] {
        let (out, address) = (root.path().join(store.scheme), format!("{}://pages/crawl/", store.scheme));
        trusting(store.clone()).with("HTTPS_PROXY", &proxy).dedup(&[&address], &out).succeed();
        assert_same_answer(&out, &local, store.scheme);
        // A store gets no credentials before it has proven its identity.
        store.with("HTTPS_PROXY", &proxy).refuses(&address, &["certificate", "SSL_CERT_FILE"]);
    }
    assert_eq!(asked.lock().expect("a log").iter().filter(|line| line.contains("http:")).count(), 0);
}
