//! Object stores and web servers give the same answer as local files, or an error that names the address and a remedy.

mod azure; //   Azure, by our own server
mod azurite; // Azure, by Microsoft's emulator if it is installed
mod google; //  Google: its protocol is that of S3 except for the signatures
mod server; //  servers on loopback
mod tls; //     https: trust, and stores at their real addresses

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::{TempDir, tempdir};

use self::server::{answer_with, header, part, serve, serve_web};
use crate::pages::{corpus_lines, gzip, record, topic, window, write_file, write_records};
use crate::program::{Call, onecopy};
use crate::results::{assert_same_answer, files_below, removed};
use crate::warc::{packed, page, warcinfo};

/// Names that must be escaped in an address.
const ODD_NAMES: [&str; 6] = [
    "a b.jsonl",
    "100%.jsonl",
    "per%20cent.jsonl",
    "über 日本.jsonl",
    "a+b&c=d#e?f.jsonl",
    "<'c' [1]>.jsonl",
];

/// Writes a crawl to a folder: lines, an archive, a Parquet file, and odd names.
fn write_crawl(folder: &Path, pages: usize) {
    let lines: String = corpus_lines(pages).collect();
    write_file(folder, "a.jsonl.gz", gzip(lines.as_bytes()));
    let archive: Vec<_> = corpus_lines(pages / 5)
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
            let text = value["text"].as_str().expect("a text");
            page(&format!("http://archive.example/{}", value["id"].as_str().expect("an id")), text)
        })
        .collect();
    write_file(folder, "b.warc.gz", packed(&[vec![warcinfo()], archive].concat(), "b.warc.gz"));
    write_file(folder, "deep/c [1].parquet", include_bytes!("pages.parquet"));
    for name in ODD_NAMES {
        write_file(&folder.join("odd ones"), name, record(name, &topic(name)) + "\n");
    }
}

/// A store and its settings for the program.
#[derive(Clone)]
pub struct Remote {
    scheme: &'static str,
    variables: Vec<(&'static str, String)>,
}

impl Remote {
    fn new(scheme: &'static str, variables: &[(&'static str, &str)]) -> Remote {
        let variables = variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Remote { scheme, variables }
    }

    /// The same store with a variable added or replaced.
    fn with(mut self, name: &'static str, value: &str) -> Remote {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
        self
    }

    /// A call of the program with only these variables.
    pub fn settings(&self, call: Call) -> Call {
        self.variables.iter().fold(call.without_variables(), |call, (name, value)| call.variable(name, value))
    }

    /// `dedup` of files and addresses, by a program with only these variables.
    fn dedup(&self, inputs: &[&str], out: &Path) -> Call {
        let call = onecopy(["dedup", "--quiet"]).arg("--out").arg(out);
        self.settings(inputs.iter().fold(call, |call, input| call.arg(*input)))
    }

    /// Asserts that an address fails with an error that contains these words.
    fn refuses(&self, address: &str, words: &[&str]) {
        let out = tempdir().expect("a folder");
        self.dedup(&[address], out.path()).fail(1).says(&[&[address], words].concat());
        assert!(!out.path().join("report.json").exists());
    }

    /// Asserts that the bucket `pages`, with a crawl below `crawl/`, gives the answer of the local files: as a folder,
    /// by patterns, and by single addresses.
    fn gives_the_answer_of(&self, root: &Path) {
        let (scheme, crawl) = (self.scheme, root.join("pages/crawl"));
        let at = |below: &str| format!("{scheme}://pages/crawl/{below}");
        let local = |below: &str| crawl.join(below).display().to_string();
        let odd: Vec<_> = ODD_NAMES.iter().filter(|name| !name.contains(['?', '['])).collect();
        for (case, files, addresses) in [
            ("whole", vec![local("")], vec![at("")]),
            ("odd", vec![local("odd ones/")], vec![at("odd ones/")]),
            ("pattern", vec![local("*.gz"), local("**/*.parquet")], vec![at("*.gz"), at("**/*.parquet")]),
            (
                "single",
                odd.iter().map(|name| local(&format!("odd ones/{name}"))).collect(),
                odd.iter().map(|name| at(&format!("odd ones/{name}"))).collect(),
            ),
        ] {
            let [expected, out] = ["local", "out"].map(|kind| root.join(format!("{kind}-{case}")));
            self.dedup(&files.iter().map(String::as_str).collect::<Vec<_>>(), &expected).succeed();
            self.dedup(&addresses.iter().map(String::as_str).collect::<Vec<_>>(), &out).succeed();
            assert_same_answer(&out, &expected, &format!("{scheme}, {case}"));
        }
        let names = ODD_NAMES.map(|name| format!("odd ones/{name}"));
        let kept = files_below(&root.join("out-whole/kept"));
        assert!(names.iter().all(|name| kept.contains(name)), "{kept:?}");
        assert!(kept.contains(&"deep/c [1].parquet".to_owned()), "{kept:?}");
    }

    /// Asserts that missing buckets and objects are reported as missing.
    fn misses_what_is_not_there(&self) {
        let at = |address: &str| format!("{}://{address}", self.scheme);
        self.refuses(&at("elsewhere/crawl/"), &["no such bucket"]);
        self.refuses(&at("elsewhere/a.jsonl"), &["no such bucket"]);
        self.refuses(&at("pages/none/"), &["nothing matches"]);
        self.refuses(&at("pages/crawl/none.jsonl"), &["no such object"]);
    }

    /// Asserts that access is denied with these variables, and that the error names the one to set.
    fn refuses_everything(&self, word: &str) {
        for address in ["pages/crawl/", "pages/crawl/a.jsonl.gz"] {
            self.refuses(&format!("{}://{address}", self.scheme), &[word]);
        }
    }
}

/// Serves the folders of `root` as S3 buckets.
fn serve_s3(root: &Path) -> SocketAddr {
    let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root).expect("a folder to serve"));
    builder.set_auth(SimpleAuth::from_single("right", "secret"));
    serve(builder.build().into_shared())
}

/// An S3 bucket `pages` with a crawl.
fn s3_bucket(pages: usize) -> (TempDir, SocketAddr) {
    let root = tempdir().expect("a folder");
    write_crawl(&root.path().join("pages/crawl"), pages);
    let address = serve_s3(root.path());
    (root, address)
}

/// An empty S3 bucket `pages`.
pub fn s3_for_backups() -> (TempDir, Remote) {
    let root = tempdir().expect("a folder");
    fs::create_dir(root.path().join("pages")).expect("a bucket");
    let store = s3_at(serve_s3(root.path()));
    (root, store)
}

fn s3() -> Remote {
    let keys =
        [("AWS_ACCESS_KEY_ID", "right"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "us-east-1")];
    Remote::new("s3", &keys)
}

fn s3_at(address: SocketAddr) -> Remote {
    s3().with("AWS_ENDPOINT_URL", &format!("http://{address}")).with("AWS_ALLOW_HTTP", "true")
}

#[test]
fn a_bucket_gives_the_answer_of_the_files_in_it() {
    let (root, address) = s3_bucket(2_000);
    let store = s3_at(address);
    store.gives_the_answer_of(root.path());
    let local = root.path().join("local-whole");
    assert!(removed(&local).len() > 500, "the crawl has duplicates");
    for flags in ["--threads 1", "--threads 4 --memory 64M"] {
        let out = root.path().join(format!("out{}", flags.len()));
        store.dedup(&["s3://pages/crawl/"], &out).args(flags).succeed();
        assert_same_answer(&out, &local, flags);
        let run = fs::read_to_string(out.join("run.json")).expect("a run");
        assert!(run.contains("s3://pages/crawl/b.warc.gz") && !run.contains("secret"), "{run}");
    }
    let again = store.dedup(&["s3://pages/crawl/"], &root.path().join("out11")).succeed();
    assert_eq!(again.stderr, "");
}

#[test]
fn stores_that_refuse_are_named_with_the_remedy() {
    let (_root, address) = s3_bucket(100);
    let store = s3_at(address);
    store.misses_what_is_not_there();
    store.clone().with("AWS_SECRET_ACCESS_KEY", "wrong").refuses_everything("AWS_SECRET_ACCESS_KEY");
    store.clone().with("AWS_ALLOW_HTTP", "false").refuses_everything("AWS_ALLOW_HTTP");
    // The same error as for a missing file.
    store.refuses("/nowhere/at/all", &["no such file"]);
}

#[test]
fn a_web_server_gives_the_answer_of_its_files() {
    let root = tempdir().expect("a folder");
    let (files, addresses) = write_web(root.path());
    let server = serve_web(root.path().join("web"));
    let (local, out) = (root.path().join("local"), root.path().join("out"));
    let addresses = addresses.map(|name| format!("http://{server}/{name}"));
    let web = Remote::new("http", &[]);
    web.dedup(&files.each_ref().map(String::as_str), &local).succeed();
    web.dedup(&addresses.each_ref().map(String::as_str), &out).succeed();
    assert_same_answer(&out, &local, "a web server");
    assert_eq!(removed(&out).len(), 2);
    web.refuses(&format!("http://{server}/none.jsonl"), &["no such file"]);
}

/// Writes the files of a web server below `web/`. Returns their paths and names.
fn write_web(root: &Path) -> ([String; 2], [&'static str; 2]) {
    let texts = [("a", window(0)), ("b", window(0)), ("c", topic("c"))];
    write_records(root, "web/pages.jsonl", &texts.each_ref().map(|(id, text)| (*id, text.as_str())));
    let archive =
        [warcinfo(), page("http://a.example/", &topic("c")), page("http://b.example/", &topic("d"))];
    write_file(&root.join("web"), "crawl.warc.gz", packed(&archive, "crawl.warc.gz"));
    let names = ["pages.jsonl", "crawl.warc.gz"];
    (names.map(|name| root.join("web").join(name).display().to_string()), names)
}

#[test]
fn a_file_that_is_not_served_in_parts_is_named() {
    let server = answer_with(|asked| {
        let whole = asked.method() == "HEAD" || header(asked, "range").is_none();
        if whole { part(asked, b"{}\n", "\"one\"") } else { server::answer(200, &[], "{}\n") }
    });
    Remote::new("http", &[]).refuses(&format!("http://{server}/a.jsonl"), &["download it"]);
}
