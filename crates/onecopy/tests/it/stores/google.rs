//! Google Cloud Storage, by the S3 server: the XML interface is the same except for authorization. That is checked here
//! as Google documents it.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hyper::header::AUTHORIZATION;
use hyper::service::{Service, service_fn};
use hyper::{Method, Response};
use s3s::service::S3ServiceBuilder;
use tempfile::{TempDir, tempdir};

use super::server::{Asked, header, serve};
use super::{Remote, write_crawl};

/// The token that grants access.
pub const TOKEN: &str = "ya29.right";

/// The requests: method, path, and whether gzip was accepted.
type Log = Arc<Mutex<Vec<String>>>;

/// Serves the folders of `root` as Google buckets.
pub fn serve_google(root: &Path) -> (SocketAddr, Log) {
    let service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root).expect("a folder to serve")).build();
    let (service, log) = (service.into_shared(), Log::default());
    let kept = log.clone();
    let address = serve(service_fn(move |mut asked: Asked| {
        let (service, right) = (service.clone(), format!("Bearer {TOKEN}"));
        let encoding = header(&asked, "accept-encoding").unwrap_or("any");
        log.lock().expect("a log").push(format!("{} {} {encoding}", asked.method(), asked.uri()));
        let status = match header(&asked, "authorization") {
            Some(token) if token == right => 200,
            Some(_) => 401,
            None => 403,
        };
        asked.headers_mut().remove(AUTHORIZATION);
        // For a HEAD request this server gives no tag, but Google does. So it handles a GET and omits the body.
        if asked.method() == "HEAD" {
            *asked.method_mut() = Method::GET;
        }
        async move {
            if status == 200 {
                return service.call(asked).await;
            }
            let code = if status == 401 { "AuthenticationRequired" } else { "AccessDenied" };
            let body = Bytes::from(format!("<?xml version='1.0'?><Error><Code>{code}</Code></Error>"));
            Ok(Response::builder().status(status).body(s3s::Body::from(body)).expect("an answer"))
        }
    }));
    (address, kept)
}

/// A bucket `pages` with a crawl.
fn bucket() -> (TempDir, Remote, Log) {
    let root = tempdir().expect("a folder");
    write_crawl(&root.path().join("pages/crawl"), 300);
    let (address, log) = serve_google(root.path());
    let variables = [("GOOGLE_ALLOW_HTTP", "true"), ("GOOGLE_BEARER_TOKEN", TOKEN)];
    let store = Remote::new("gs", &variables).with("GOOGLE_BASE_URL", &format!("http://{address}"));
    (root, store, log)
}

#[test]
fn a_bucket_gives_the_answer_of_the_files_in_it() {
    let (root, store, log) = bucket();
    store.gives_the_answer_of(root.path());
    let asked = log.lock().expect("a log");
    assert!(
        asked.iter().any(|line| line.starts_with("GET /pages?list-type=2&prefix=crawl%2F ")),
        "{asked:?}"
    );
    // Otherwise Google would unpack objects that were uploaded as packed, and serve no parts of them.
    assert!(asked.iter().all(|line| line.ends_with(" gzip")), "{asked:?}");
}

#[test]
fn stores_that_refuse_are_named_with_the_remedy() {
    let (_root, store, _) = bucket();
    store.misses_what_is_not_there();
    store.clone().with("GOOGLE_BEARER_TOKEN", "wrong").refuses_everything("GOOGLE_APPLICATION_CREDENTIALS");
    store.clone().with("GOOGLE_SKIP_SIGNATURE", "true").refuses_everything("access denied");
    store.with("GOOGLE_ALLOW_HTTP", "false").refuses_everything("GOOGLE_ALLOW_HTTP");
}

#[test]
fn keys_that_cannot_be_read_are_named() {
    let root = tempdir().expect("a folder");
    let file = root.path().join("key.json");
    fs::write(&file, "{}").expect("a file");
    for name in ["GOOGLE_SERVICE_ACCOUNT", "GOOGLE_APPLICATION_CREDENTIALS"] {
        let store = |file: &str| Remote::new("gs", &[(name, file)]);
        store("/nowhere/key.json").refuses("gs://pages/", &["/nowhere/key.json", "No such file", "GOOGLE_"]);
        store(&file.display().to_string()).refuses("gs://pages/", &["missing field", "GOOGLE_"]);
    }
}
