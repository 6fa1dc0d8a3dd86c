//! Servers on loopback that run until the test process ends.

use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

pub type Asked = Request<Incoming>;
pub type Answer = Response<Full<Bytes>>;
type Problem = Box<dyn Error + Send + Sync>;

/// Calls `meet` with each connection. Returns the address.
pub fn listen<F>(meet: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            sender.send(listener.local_addr().expect("an address")).expect("the test waits for it");
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(meet(socket));
            }
        });
    });
    address.recv().expect("the server starts")
}

/// Serves a hyper service.
pub fn serve<S, B>(service: S) -> SocketAddr
where
    S: Service<Asked, Response = Response<B>, Error: Into<Problem>, Future: Send> + Clone + Send + 'static,
    B: Body<Data: Send, Error: Into<Problem>> + Send + 'static,
{
    listen(move |socket| {
        let service = service.clone();
        async move {
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        }
    })
}

/// Serves the answers of a function.
pub fn answer_with(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> SocketAddr {
    let answer = Arc::new(answer);
    serve(service_fn(move |asked: Asked| {
        let answer = answer.clone();
        async move { Ok::<_, Problem>(answer(&asked)) }
    }))
}

/// An answer.
pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
    let builder = Response::builder().status(status);
    let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(Full::new(body.into())).expect("an answer of ours is one")
}

/// A header of a request.
pub fn header<'a>(asked: &'a Asked, name: &str) -> Option<&'a str> {
    asked.headers().get(name).and_then(|value| value.to_str().ok())
}

/// The requested part of a file, unless the file has changed.
pub fn part(asked: &Asked, file: &[u8], tag: &str) -> Answer {
    if header(asked, "if-match").is_some_and(|wanted| wanted != tag) {
        return answer(412, &[], "");
    }
    let named = [("etag", tag), ("last-modified", "Fri, 02 Jan 2026 03:04:05 GMT")];
    let range = header(asked, "range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((start, end)) = range else { return answer(200, &named, file.to_vec()) };
    let start: usize = start.parse().expect("parts start somewhere");
    let end = end.parse().map_or(file.len(), |last: usize| file.len().min(last + 1));
    if start >= end {
        return answer(416, &[], "");
    }
    let told = format!("bytes {start}-{}/{}", end - 1, file.len());
    answer(206, &[&named[..], &[("content-range", &told)]].concat(), file[start..end].to_vec())
}

/// A web server for the files in a folder.
pub fn serve_web(root: PathBuf) -> SocketAddr {
    answer_with(move |asked| match std::fs::read(root.join(asked.uri().path().trim_start_matches('/'))) {
        Ok(file) => part(asked, &file, "\"one\""),
        Err(_) => answer(404, &[], ""),
    })
}
