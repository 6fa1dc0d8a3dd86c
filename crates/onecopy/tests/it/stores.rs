//! Object stores and web servers give the answer that local files give, or an error that names address and remedy.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::{TempDir, tempdir};

use crate::pages::{corpus_lines, gzip, topic, window, write_file, write_records};
use crate::program::{Call, onecopy};
use crate::results::{assert_same_answer, files_below, removed};
use crate::warc::{packed, page, warcinfo};

/// Serves the folders of `root` as buckets of S3, for as long as the test process lives. Gives its address.
fn serve_s3(root: &Path) -> String {
    let files = s3s_fs::FileSystem::new(root).expect("a folder to serve");
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single("right", "secret"));
    let service = builder.build().into_shared();
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            sender.send(listener.local_addr().expect("an address")).expect("the test waits for it");
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let server = Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
    });
    format!("http://{}", address.recv().expect("the server starts"))
}

/// A crawl in a bucket `pages`, below `crawl/`: lines, an archive, and where there is one a Parquet file.
fn bucket() -> (TempDir, String) {
    let root = tempdir().expect("a folder");
    let crawl = root.path().join("pages/crawl");
    let lines: String = corpus_lines(2_000).collect();
    write_file(&crawl, "a.jsonl.gz", gzip(lines.as_bytes()));
    let archive: Vec<_> = corpus_lines(300)
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
            let text = value["text"].as_str().expect("a text");
            page(&format!("http://archive.example/{}", value["id"].as_str().expect("an id")), text)
        })
        .collect();
    write_file(&crawl, "b.warc.gz", packed(&[vec![warcinfo()], archive].concat(), "b.warc.gz"));
    write_file(&crawl, "deep/c [1].parquet", include_bytes!("pages.parquet"));
    let endpoint = serve_s3(root.path());
    (root, endpoint)
}

fn dedup(inputs: &[&str], out: &Path, endpoint: &str, secret: &str) -> Call {
    let call = onecopy(["dedup"]).arg("--out").arg(out).arg("--quiet");
    let settings = [
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "right"),
        ("AWS_SECRET_ACCESS_KEY", secret),
        ("AWS_REGION", "us-east-1"),
        ("NO_PROXY", "127.0.0.1"),
    ];
    let call = inputs.iter().fold(call, |call, input| call.arg(*input));
    settings.into_iter().fold(call, |call, (name, value)| call.variable(name, value))
}

#[test]
fn a_bucket_gives_the_answer_of_the_files_in_it() {
    let (root, endpoint) = bucket();
    let local = root.path().join("local");
    let crawl = root.path().join("pages/crawl").display().to_string();
    dedup(&[&crawl], &local, &endpoint, "").succeed();
    assert!(removed(&local).len() > 500, "the crawl has duplicates");
    assert_eq!(files_below(&local.join("kept")), ["a.jsonl.gz", "b.warc.gz", "deep/c [1].parquet"]);
    for flags in ["--threads 1", "--threads 4 --memory 64M"] {
        let out = root.path().join(format!("out{}", flags.len()));
        dedup(&["s3://pages/crawl/"], &out, &endpoint, "secret").args(flags).succeed();
        assert_same_answer(&out, &local, flags);
        let run = fs::read_to_string(out.join("run.json")).expect("a run");
        assert!(run.contains("s3://pages/crawl/b.warc.gz") && !run.contains("secret"), "{run}");
    }
    let again = dedup(&["s3://pages/crawl/"], &root.path().join("out11"), &endpoint, "secret").succeed();
    assert_eq!(again.stderr, "");
}

#[test]
fn stores_that_refuse_are_named_with_the_remedy() {
    let (root, endpoint) = bucket();
    let out = root.path().join("out");
    for (address, secret, words) in [
        ("s3://pages/crawl/", "wrong", "AWS_SECRET_ACCESS_KEY"),
        ("s3://pages/crawl/a.jsonl.gz", "wrong", "AWS_SECRET_ACCESS_KEY"),
        ("s3://elsewhere/crawl/", "secret", "no such bucket"),
        ("s3://pages/none/", "secret", "nothing matches"),
        ("s3://pages/crawl/none.jsonl", "secret", "no such object"),
    ] {
        dedup(&[address], &out, &endpoint, secret).fail(1).says(&[address, words]);
        assert!(!out.join("report.json").exists());
    }
    // As for a file that is not there.
    dedup(&["/nowhere/at/all"], &out, &endpoint, "secret").fail(1).says(&["/nowhere/at/all", "no such file"]);
}

/// A web server of the files in a folder, which answers for ranges.
fn serve_web(root: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let root = root.clone();
            thread::spawn(move || while answer(&root, &stream).is_some() {});
        }
    });
    format!("http://{address}")
}

/// Answers one request; nothing if the connection is over.
fn answer(root: &Path, mut stream: &TcpStream) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let request = lines.next()?;
    let head: Vec<String> =
        lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
    let path = request.split(' ').nth(1)?;
    let Ok(body) = fs::read(root.join(path.trim_start_matches('/'))) else {
        stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").ok()?;
        return Some(());
    };
    let wanted = head.iter().find_map(|line| line.strip_prefix("range: bytes="));
    let range = wanted.and_then(|range| range.split_once('-')).map(|(start, end)| {
        start.parse().unwrap_or(0)..end.parse().map_or(body.len(), |end: usize| body.len().min(end + 1))
    });
    let part = range.clone().unwrap_or(0..body.len());
    let status = match range {
        Some(range) => {
            format!("206 Partial\r\nContent-Range: bytes {}-{}/{}", range.start, range.end - 1, body.len())
        }
        None => "200 OK".to_owned(),
    };
    write!(stream, "HTTP/1.1 {status}\r\nETag: \"one\"\r\nContent-Length: {}\r\n\r\n", part.len()).ok()?;
    if !request.starts_with("HEAD") {
        stream.write_all(&body[part]).ok()?;
    }
    Some(())
}

#[test]
fn a_web_server_gives_the_answer_of_its_files() {
    let root = tempdir().expect("a folder");
    let texts = [("a", window(0)), ("b", window(0)), ("c", topic("c"))];
    write_records(root.path(), "web/pages.jsonl", &texts.each_ref().map(|(id, text)| (*id, text.as_str())));
    let archive =
        [warcinfo(), page("http://a.example/", &topic("c")), page("http://b.example/", &topic("d"))];
    write_file(&root.path().join("web"), "crawl.warc.gz", packed(&archive, "crawl.warc.gz"));
    let server = serve_web(root.path().join("web"));
    let (local, out) = (root.path().join("local"), root.path().join("out"));
    let names = ["pages.jsonl", "crawl.warc.gz"];
    let files = names.map(|name| root.path().join("web").join(name).display().to_string());
    let addresses = names.map(|name| format!("{server}/{name}"));
    dedup(&files.each_ref().map(String::as_str), &local, "", "").succeed();
    dedup(&addresses.each_ref().map(String::as_str), &out, "", "").succeed();
    assert_same_answer(&out, &local, "a web server");
    assert_eq!(removed(&out).len(), 2);
    let none = format!("{server}/none.jsonl");
    dedup(&[&none], &root.path().join("none"), "", "").fail(1).says(&[&none, "no such file"]);
}
