//! Azure, by our own server. It checks signatures, gives lists in short pages and answers like Azurite.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::prelude::{BASE64_STANDARD, Engine};
use hyper::header::HeaderValue;
use ring::hmac;
use tempfile::{TempDir, tempdir};

use super::server::{Answer, Asked, answer, answer_with, header, part};
use super::{Remote, write_crawl};
use crate::pages::{record, topic, write_file};
use crate::results::files_below;

/// Entries per page of a list, so that there are many pages. Azure uses 5,000.
const PAGE: usize = 3;

/// The account of Azurite, whose key is public.
pub const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// An Azure account with containers.
pub struct Azure {
    pub account: &'static str,
    /// Its blobs by `container/name`, with their tags.
    blobs: Mutex<BTreeMap<String, (Vec<u8>, u64)>>,
    /// A blob that is replaced as soon as a part of it was read.
    changing: Option<&'static str>,
    /// The requests, one line each.
    pub asked: Mutex<Vec<String>>,
}

impl Azure {
    /// The folders of `root` as containers.
    pub fn of(account: &'static str, root: &Path) -> Azure {
        let read = |name: String| (name.clone(), (std::fs::read(root.join(name)).expect("a file"), 1));
        let blobs = files_below(root).into_iter().map(read).collect();
        Azure { account, blobs: Mutex::new(blobs), changing: None, asked: Mutex::default() }
    }

    pub fn serve(self: &Arc<Self>) -> SocketAddr {
        let azure = self.clone();
        answer_with(move |asked| azure.answer(asked))
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let fields = [asked.method().as_str(), asked.uri().path(), asked.uri().query().unwrap_or_default()];
        let headers = ["range", "if-match"].map(|name| header(asked, name).unwrap_or_default());
        self.asked.lock().expect("a log").push([&fields[..], &headers[..]].concat().join(" "));
        if !self.is_signed(asked) {
            return refusal(403, "AuthenticationFailed");
        }
        let path = decode(asked.uri().path());
        // If one host serves many accounts, the path starts with the account.
        let own = format!("/{}/", self.account);
        let path = path.strip_prefix(&own).unwrap_or(path.trim_start_matches('/'));
        let query = query(asked);
        if query.get("comp").is_some_and(|value| value == "list") {
            return self.list(path, &query);
        }
        self.blob(asked, path)
    }

    fn list(&self, container: &str, query: &BTreeMap<String, String>) -> Answer {
        let asked = |name: &str| query.get(name).cloned().unwrap_or_default();
        let (own, from) = (format!("{container}/"), asked("marker"));
        let blobs = self.blobs.lock().expect("blobs");
        let mut here =
            blobs.iter().filter_map(|(path, blob)| Some((path.strip_prefix(&own)?, blob))).peekable();
        if here.peek().is_none() {
            return refusal(404, "ContainerNotFound");
        }
        let wanted: Vec<_> =
            here.filter(|(name, _)| name.starts_with(&asked("prefix")) && *name >= from.as_str()).collect();
        let entries: String =
            wanted.iter().take(PAGE).map(|(name, (bytes, tag))| entry(name, bytes, *tag)).collect();
        let next = wanted.get(PAGE).map_or_else(String::new, |(name, _)| escape(name));
        let list = format!("<Blobs>{entries}</Blobs><NextMarker>{next}</NextMarker>");
        let xml = format!("<?xml version=\"1.0\"?><EnumerationResults>{list}</EnumerationResults>");
        answer(200, &[("content-type", "application/xml")], xml)
    }

    fn blob(&self, asked: &Asked, path: &str) -> Answer {
        let mut blobs = self.blobs.lock().expect("blobs");
        let Some((bytes, tag)) = blobs.get_mut(path) else { return refusal(404, "BlobNotFound") };
        let found = part(asked, bytes, &format!("\"0x{tag}\""));
        if asked.method() == "GET" && self.changing == Some(path) {
            *tag += 1;
        }
        found
    }

    /// Whether the request is signed with the key of the account.
    fn is_signed(&self, asked: &Asked) -> bool {
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let headers = asked.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let target = (asked.uri().path(), &query(asked));
        let expected = signature(self.account, asked.method().as_str(), target, &headers);
        header(asked, "authorization") == Some(&expected)
    }
}

/// The signature of a request by the "Shared Key" rules. Header names are in lower case.
pub fn signature(
    account: &str,
    method: &str,
    (path, parameters): (&str, &BTreeMap<String, String>),
    headers: &BTreeMap<String, String>,
) -> String {
    const SIGNED: &str = "content-encoding content-language content-length content-md5 content-type date \
        if-modified-since if-match if-none-match if-unmodified-since range";
    let value = |name: &str| headers.get(name).map_or("", String::as_str);
    let length = |text: &str| if text == "0" { String::new() } else { text.to_owned() };
    let standard: String = SIGNED.split_whitespace().map(|name| length(value(name)) + "\n").collect();
    let own = headers.iter().filter(|(name, _)| name.starts_with("x-ms-"));
    let own: String = own.map(|(name, value)| format!("{name}:{value}\n")).collect();
    let parameters: String = parameters.iter().map(|(name, value)| format!("\n{name}:{value}")).collect();
    let text = format!("{method}\n{standard}{own}/{account}{path}{parameters}");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &BASE64_STANDARD.decode(KEY).expect("a key"));
    format!("SharedKey {account}:{}", BASE64_STANDARD.encode(hmac::sign(&key, text.as_bytes())))
}

fn refusal(status: u16, code: &str) -> Answer {
    let xml = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>");
    answer(status, &[("content-type", "application/xml"), ("x-ms-error-code", code)], xml)
}

fn entry(name: &str, bytes: &[u8], tag: u64) -> String {
    let age = "<Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified>";
    let size = format!("<Content-Length>{}</Content-Length>", bytes.len());
    let kind = "<Content-Type>application/octet-stream</Content-Type><BlobType>BlockBlob</BlobType>";
    let properties = format!("<Properties>{age}<Etag>0x{tag}</Etag>{size}{kind}</Properties>");
    format!("<Blob><Name>{}</Name>{properties}</Blob>", escape(name))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The query parameters of a request.
fn query(asked: &Asked) -> BTreeMap<String, String> {
    let pairs = asked.uri().query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decode(name), decode(&value.replace('+', " ")))).collect()
}

fn decode(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// The address and variables of a local account.
pub fn remote(endpoint: &str) -> Remote {
    let variables = [("AZURE_ALLOW_HTTP", "true"), ("AZURE_STORAGE_ACCOUNT_KEY", KEY)];
    Remote::new("az", &variables)
        .with("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
        .with("AZURE_STORAGE_ENDPOINT", &format!("{endpoint}/{ACCOUNT}"))
}

/// The account of [`super::tls`], with real Azure addresses.
pub fn keys(account: &str) -> Remote {
    Remote::new("az", &[("AZURE_STORAGE_ACCOUNT", account), ("AZURE_STORAGE_KEY", KEY)])
}

fn container() -> (TempDir, Arc<Azure>, Remote) {
    let root = tempdir().expect("a folder");
    write_crawl(&root.path().join("pages/crawl"), 300);
    let azure = Arc::new(Azure::of(ACCOUNT, root.path()));
    // Folder markers, as consoles create them.
    let marks = ["pages/crawl/", "pages/crawl/deep/"].map(|name| (name.to_owned(), (Vec::new(), 1)));
    azure.blobs.lock().expect("blobs").extend(marks);
    let store = remote(&format!("http://{}", azure.serve()));
    (root, azure, store)
}

/// The checks that every Azure server must pass.
pub fn check(store: &Remote, root: &Path) {
    store.gives_the_answer_of(root);
    store.misses_what_is_not_there();
    store.refuses("az://pages/crawl", &["it is a folder"]);
    let key = "AZURE_STORAGE_ACCOUNT_KEY";
    store.clone().with(key, "d3Jvbmc=").refuses_everything(key);
    store.clone().with("AZURE_SKIP_SIGNATURE", "true").refuses_everything("access denied");
    store.clone().with("AZURE_ALLOW_HTTP", "false").refuses_everything("AZURE_ALLOW_HTTP");
}

#[test]
fn a_container_gives_the_answer_of_the_files_in_it() {
    let (root, azure, store) = container();
    check(&store, root.path());
    let asked = azure.asked.lock().expect("a log");
    assert!(asked.iter().any(|line| line.contains("&marker=")), "a list of many pages: {asked:?}");
}

#[test]
fn settings_that_are_missing_or_wrong_are_named() {
    let none = Remote::new("az", &[]);
    none.refuses_everything("AZURE_STORAGE_ACCOUNT_NAME");
    keys("onecopy").with("AZURE_STORAGE_KEY", "not base64!").refuses_everything("AZURE_STORAGE_ACCOUNT_KEY");
}

#[test]
fn a_blob_that_changes_is_not_read_on() {
    let root = tempdir().expect("a folder");
    let lines: String = (0..9).map(|n| record(&n.to_string(), &topic("t").repeat(20_000)) + "\n").collect();
    write_file(&root.path().join("pages"), "large.jsonl", &lines);
    assert!(lines.len() > 5 << 20, "more than a part");
    let azure = Azure { changing: Some("pages/large.jsonl"), ..Azure::of(ACCOUNT, root.path()) };
    let store = remote(&format!("http://{}", Arc::new(azure).serve()));
    store.refuses("az://pages/large.jsonl", &["it changed"]);
}
