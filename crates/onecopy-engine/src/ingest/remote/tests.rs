//! Runs real servers on loopback: one speaks the S3 protocol, the other is a web server that can misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use parquet::data_type::ByteArrayType;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::TempDir;

use super::*;
use crate::ingest::Trouble;
use crate::ingest::chunks::LineChunks;
use crate::ingest::parquet::ParquetChunks;
use crate::ingest::warc::WarcChunks;
use crate::job::{Fields, Limits};

const LARGE: usize = 20 << 20;

/// Serves the folders of `root` as buckets until the test process ends.
fn serve_s3(root: &Path) -> String {
    let files = s3s_fs::FileSystem::new(root).unwrap();
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single("right", "secret"));
    let service = builder.build().into_shared();
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let service = service.clone();
                tokio::spawn(async move {
                    let server = Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
    });
    format!("http://{}", address.recv().unwrap())
}

fn stores(endpoint: &str, secret: &str) -> Stores {
    let settings = [
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "right"),
        ("AWS_SECRET_ACCESS_KEY", secret),
        ("AWS_REGION", "us-east-1"),
        ("HOME", "/nowhere"),
    ];
    Stores::new(settings.map(|(key, value)| (key.into(), value.into())))
}

fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes as u64 / 8).flat_map(|n| xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes()).to_le_bytes()).collect()
}

fn bucket() -> (TempDir, String) {
    let root = tempfile::tempdir().unwrap();
    let bucket = root.path().join("pages");
    std::fs::create_dir_all(bucket.join("crawl/deep")).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"{\"text\":\"packed\"}\n").unwrap();
    std::fs::write(bucket.join("crawl/a.jsonl"), "{\"text\":\"a\"}\n").unwrap();
    std::fs::write(bucket.join("crawl/b.jsonl.gz"), packed.finish().unwrap()).unwrap();
    std::fs::write(bucket.join("crawl/deep/c [1].jsonl"), "{\"text\":\"c\"}\n").unwrap();
    std::fs::write(bucket.join("large.bin"), noise(LARGE)).unwrap();
    std::fs::write(bucket.join("empty.jsonl"), "").unwrap();
    let endpoint = serve_s3(root.path());
    (root, endpoint)
}

fn addresses(stores: &Stores, input: &str) -> Vec<String> {
    stores.list(input).unwrap().into_iter().map(|file| file.address).collect()
}

fn read(stores: &Stores, input: &str) -> std::io::Result<Vec<u8>> {
    let files = stores.list(input).unwrap();
    let mut bytes = Vec::new();
    stores.read(&files[0])?.read_to_end(&mut bytes).map(|_| bytes)
}

fn refusal(stores: &Stores, input: &str) -> String {
    let error = stores.list(input).unwrap_err().to_string();
    assert!(error.contains(input), "{error}");
    error
}

#[test]
fn objects_are_listed_one_by_one_by_folder_and_by_pattern() {
    let (_root, endpoint) = bucket();
    let stores = stores(&endpoint, "secret");
    assert_eq!(addresses(&stores, "s3://pages/crawl/a.jsonl"), ["s3://pages/crawl/a.jsonl"]);
    let all =
        ["s3://pages/crawl/a.jsonl", "s3://pages/crawl/b.jsonl.gz", "s3://pages/crawl/deep/c [1].jsonl"];
    assert_eq!(addresses(&stores, "s3://pages/crawl/"), all);
    assert_eq!(addresses(&stores, "s3://pages/crawl/*"), all[..2]);
    assert_eq!(addresses(&stores, "s3://pages/crawl/*.jsonl.gz"), all[1..2]);
    assert_eq!(addresses(&stores, "s3://pages/**/*.jsonl"), [all[0], all[2], "s3://pages/empty.jsonl"]);
    assert_eq!(addresses(&stores, "s3://pages").len(), 5);
    assert_eq!(stores.list("s3://pages/large.bin").unwrap()[0].bytes, LARGE as u64);
}

#[test]
fn objects_are_read_whole() {
    let (_root, endpoint) = bucket();
    let stores = stores(&endpoint, "secret");
    assert_eq!(read(&stores, "s3://pages/crawl/a.jsonl").unwrap(), b"{\"text\":\"a\"}\n");
    assert_eq!(read(&stores, "s3://pages/crawl/deep/").unwrap(), b"{\"text\":\"c\"}\n");
    assert_eq!(read(&stores, "s3://pages/empty.jsonl").unwrap(), b"");
    assert!(read(&stores, "s3://pages/large.bin").unwrap() == noise(LARGE));
    let mut text = String::new();
    let packed = stores.read(&stores.list("s3://pages/crawl/b*").unwrap()[0]).unwrap();
    MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    assert_eq!(text, "{\"text\":\"packed\"}\n");
}

#[test]
fn objects_are_read_at_any_place() {
    let (_root, endpoint) = bucket();
    let stores = stores(&endpoint, "secret");
    let blocks = stores.blocks(&stores.list("s3://pages/large.bin").unwrap()[0]).unwrap();
    let expected = noise(LARGE);
    for (start, length) in
        [(0, 4), (LARGE - 8, 8), ((2 << 20) - 3, 7), (5 << 20, 3 << 20), (LARGE, 0), (17, 0)]
    {
        assert_eq!(blocks.get_bytes(start as u64, length).unwrap(), expected[start..start + length]);
    }
    assert_eq!(blocks.len(), LARGE as u64);
    assert!(blocks.get_bytes(LARGE as u64 - 3, 4).is_err());
    assert!(blocks.get_bytes(u64::MAX, 4).is_err());
    let mut rest = Vec::new();
    blocks.get_read(LARGE as u64 - (3 << 20)).unwrap().read_to_end(&mut rest).unwrap();
    assert!(rest == expected[LARGE - (3 << 20)..]);
}

#[test]
fn refusals_name_the_address_and_the_remedy() {
    let (_root, endpoint) = bucket();
    let right = stores(&endpoint, "secret");
    assert!(refusal(&right, "s3://pages/crawl/none").contains("no such"));
    assert!(refusal(&right, "s3://pages/none/").contains("nothing matches"));
    assert!(refusal(&right, "s3://elsewhere/").contains("no such bucket"));
    assert!(refusal(&right, "s3://elsewhere/x.jsonl").contains("no such bucket"));
    let wrong = stores(&endpoint, "guessed");
    for address in ["s3://pages/crawl/a.jsonl", "s3://pages/"] {
        assert!(refusal(&wrong, address).contains("AWS_SECRET_ACCESS_KEY"), "{}", refusal(&wrong, address));
    }
    let plain =
        Stores::new([("AWS_ENDPOINT_URL".into(), endpoint), ("AWS_SKIP_SIGNATURE".into(), "true".into())]);
    assert!(refusal(&plain, "s3://pages/").contains("AWS_ALLOW_HTTP"), "{}", refusal(&plain, "s3://pages/"));
}

#[test]
fn an_object_that_changes_is_not_read_on() {
    let (root, endpoint) = bucket();
    let stores = stores(&endpoint, "secret");
    let file = stores.list("s3://pages/large.bin").unwrap().remove(0);
    let mut reader = stores.read(&file).unwrap();
    reader.read_exact(&mut [0; 100]).unwrap();
    // Size and modification time stay the same: only the tag of the responses differs.
    let path = root.path().join("pages/large.bin");
    let age = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, vec![7; LARGE]).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(age).unwrap();
    let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("it changed"), "{error}");
    assert!(is_transport(&error));
    assert!(reader.read(&mut [0; 1]).is_err());
}

/// A Parquet file of one column, in row groups of one large row.
fn rows(count: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message m { required binary text; }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    for _ in 0..count {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&[noise(3 << 20).into()], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn parquet_is_read_from_a_store_until_it_goes() {
    let (root, endpoint) = bucket();
    let stores = stores(&endpoint, "secret");
    let path = root.path().join("pages/rows.parquet");
    std::fs::write(&path, rows(3)).unwrap();
    let file = stores.list("s3://pages/*.parquet").unwrap().remove(0);
    let (fields, limits) = (Fields::default(), Limits { page_bytes: 100, ..Limits::default() });
    let open = || ParquetChunks::open(stores.blocks(&file).unwrap(), &fields, &limits, 1).unwrap();
    let mut whole = open();
    let read = std::iter::from_fn(|| whole.next(Vec::new()).unwrap());
    assert_eq!(read.filter(|chunk| chunk.trouble == Some(Trouble::Overlong)).count(), 3);
    let mut part = open();
    part.next(Vec::new()).unwrap().unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = part.next(Vec::new()).unwrap_err();
    assert!(is_transport(&error), "{error}");
}

/// A web server with one file. It breaks off `breaks` responses halfway, and redirects to `elsewhere`.
struct Web {
    body: Vec<u8>,
    ranges: bool,
    heads: bool,
    tag: bool,
    breaks: AtomicU32,
    elsewhere: Option<String>,
}

impl Web {
    fn serve(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let web = Arc::new(self);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let web = web.clone();
                thread::spawn(move || while web.answer(stream.as_ref().unwrap()).is_some() {});
            }
        });
        address
    }

    fn answer(&self, mut stream: &TcpStream) -> Option<()> {
        let mut head = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.ok()?;
            if line.is_empty() {
                break;
            }
            head.push(line);
        }
        let request = head.first()?.clone();
        let path = request.split(' ').nth(1)?;
        if let Some(elsewhere) = &self.elsewhere {
            let _ =
                write!(stream, "HTTP/1.1 302 Found\r\nLocation: {elsewhere}\r\nContent-Length: 0\r\n\r\n");
            return None;
        }
        if !self.heads && request.starts_with("HEAD") {
            let _ = write!(stream, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
            return None;
        }
        if path != "/pages.jsonl?token=a%20b" {
            let _ = write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
            return None;
        }
        let wanted =
            head.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let range = wanted.filter(|_| self.ranges).map(|range| {
            let (start, end) = range.split_once('-').unwrap();
            start.parse::<usize>().unwrap()..end.parse::<usize>().unwrap() + 1
        });
        let whole = self.body.len();
        let part = range.clone().map_or(0..whole, |range| range);
        let mut answer = match range {
            Some(range) => {
                format!(
                    "HTTP/1.1 206 Partial\r\nContent-Range: bytes {}-{}/{whole}\r\n",
                    range.start,
                    range.end - 1
                )
            }
            None => "HTTP/1.1 200 OK\r\n".to_owned(),
        };
        if self.tag {
            answer.push_str("ETag: \"one\"\r\n");
        }
        answer.push_str(&format!("Content-Length: {}\r\n\r\n", part.len()));
        let _ = stream.write_all(answer.as_bytes());
        if request.starts_with("HEAD") {
            return Some(());
        }
        let body = &self.body[part];
        let breaks =
            self.breaks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        let _ = stream.write_all(if breaks { &body[..body.len() / 2] } else { body });
        if breaks {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        (!breaks).then_some(())
    }
}

fn web(body: Vec<u8>) -> Web {
    Web { body, ranges: true, heads: true, tag: true, breaks: AtomicU32::new(0), elsewhere: None }
}

#[test]
fn a_web_file_is_read_in_parts() {
    let body = noise(9 << 20);
    let address = format!("{}/pages.jsonl?token=a%20b", web(body.clone()).serve());
    let stores = Stores::new([]);
    let files = stores.list(&address).unwrap();
    assert_eq!((files[0].bytes, files[0].version.as_str()), (9 << 20, "one"));
    assert!(read(&stores, &address).unwrap() == body);
}

#[test]
fn a_web_file_that_may_only_be_read_is_read() {
    let address = format!("{}/pages.jsonl?token=a%20b", Web { heads: false, ..web(noise(800)) }.serve());
    assert!(read(&Stores::new([]), &address).unwrap() == noise(800));
}

#[test]
fn a_connection_that_breaks_is_made_again() {
    for tag in [true, false] {
        let body = noise(9 << 20);
        let server = Web { tag, breaks: AtomicU32::new(2), ..web(body.clone()) };
        let address = format!("{}/pages.jsonl?token=a%20b", server.serve());
        assert!(read(&Stores::new([]), &address).unwrap() == body);
    }
}

#[test]
fn a_connection_that_always_breaks_is_given_up() {
    let server = Web { tag: false, breaks: AtomicU32::new(u32::MAX), ..web(noise(100)) };
    let address = format!("{}/pages.jsonl?token=a%20b", server.serve());
    let error = read(&Stores::new([]), &address).unwrap_err();
    assert!(is_transport(&error), "{error}");
    // Reading stops with an error instead of reporting damaged lines.
    let stores = Stores::new([]);
    let reader = stores.read(&stores.list(&address).unwrap()[0]).unwrap();
    let error =
        LineChunks::new(reader, 100, 100, crate::parallel::Gate::new(1)).next(Vec::new()).unwrap_err();
    assert!(is_transport(&error), "{error}");
    let reader = stores.read(&stores.list(&address).unwrap()[0]).unwrap();
    let error =
        WarcChunks::new(reader, 100, 100, crate::parallel::Gate::new(1)).next(Vec::new()).unwrap_err();
    assert!(is_transport(&error), "{error}");
}

#[test]
fn web_servers_that_cannot_serve_are_named() {
    let stores = Stores::new([]);
    let whole = format!("{}/pages.jsonl?token=a%20b", Web { ranges: false, ..web(noise(100)) }.serve());
    let error = read(&stores, &whole).unwrap_err().to_string();
    assert!(error.contains("download it"), "{error}");
    let none = format!("{}/none", web(Vec::new()).serve());
    assert!(refusal(&stores, &none).contains("no such file"));
    let endless = Web { elsewhere: Some("/again".into()), ..web(Vec::new()) }.serve();
    refusal(&stores, &format!("{endless}/pages.jsonl"));
    let elsewhere = Web { elsewhere: Some("file:///etc/passwd".into()), ..web(Vec::new()) }.serve();
    refusal(&stores, &format!("{elsewhere}/pages.jsonl"));
    assert!(refusal(&stores, "http://h/*.jsonl").contains("cannot list"));
}

#[test]
fn a_server_that_is_not_there_is_given_up() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = refusal(&stores(&format!("http://{free}"), "secret"), "s3://pages/");
    assert!(error.contains("network"), "{error}");
}
