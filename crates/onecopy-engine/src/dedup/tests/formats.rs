//! The same pages in every format give the same decisions, and `kept/` has the format of the input.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use zip::write::SimpleFileOptions;

use crate::dedup;
use crate::environment::Environment;
use crate::error::Error;
use crate::ingest::{Packing, unpack, write_member};
use crate::job::Job;
use crate::progress::{Progress, Silent, Stage};

/// Twelve pages: four articles, each with a copy and an edited copy. The longest name loses.
fn pages() -> Vec<(String, String)> {
    let page = |number: usize| {
        let (article, version) = (number / 3, number % 3);
        let mut words: Vec<String> = (0..60).map(|word| format!("a{article}w{word}")).collect();
        if version == 2 {
            words[30] = "edited".into();
        }
        let name = format!("{}{article}", ["p", "copy", "edited"][version]);
        (name, format!("It said, \"{}\",\nand more.", words.join(" ")))
    };
    (0..12).map(page).collect()
}

/// The pages that must be removed, each with its winner.
fn expected() -> BTreeMap<String, String> {
    let losers =
        |article: usize| ["copy", "edited"].map(|name| (format!("{name}{article}"), format!("p{article}")));
    (0..4).flat_map(losers).collect()
}

fn packed(bytes: &[u8], packing: Packing) -> Vec<u8> {
    let mut out = Vec::new();
    // In two members, as tools that append make them.
    for part in [&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]] {
        write_member(&mut out, packing, |out| out.write_all(part)).unwrap();
    }
    out
}

fn html(text: &str) -> Vec<u8> {
    format!("<!doctype html><html><body><p>{text}</p></body></html>").into_bytes()
}

fn json(name: &str, text: &str) -> String {
    format!("{{\"url\":\"{name}\",\"text\":{}}}", serde_json::to_string(text).unwrap())
}

fn lines() -> Vec<u8> {
    pages().iter().map(|(name, text)| json(name, text) + "\n").collect::<String>().into_bytes()
}

fn table(delimiter: &str, line_end: &str) -> Vec<u8> {
    let row = |(name, text): &(String, String)| {
        format!("{name}{delimiter}\"{}\"{line_end}", text.replace('"', "\"\""))
    };
    format!("url{delimiter}text{line_end}{}", pages().iter().map(row).collect::<String>()).into_bytes()
}

fn array(between: &str) -> Vec<u8> {
    let all: Vec<String> = pages().iter().map(|(name, text)| json(name, text)).collect();
    format!("[{between}{}]", all.join(&format!(",{between}"))).into_bytes()
}

fn warc(packing: Packing) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, text) in pages() {
        let body = html(&text);
        let record = [
            format!("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://e.example/{name}\r\n")
                .into_bytes(),
            format!("WARC-Record-ID: <urn:{name}>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n").into_bytes(),
            format!("Content-Type: text/html\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes(),
            body,
            b"\r\n\r\n".to_vec(),
        ]
        .concat();
        write_member(&mut out, packing, |out| out.write_all(&record)).unwrap();
    }
    out
}

/// Files of one page each.
fn files(ending: &str, make: impl Fn(&str) -> Vec<u8>) -> Vec<(String, Vec<u8>)> {
    pages().iter().map(|(name, text)| (format!("{name}{ending}"), make(text))).collect()
}

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        out.append_data(&mut header, format!("sub/{name}"), bytes.as_slice()).unwrap();
    }
    out.into_inner().unwrap()
}

fn zip(files: &[(String, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        out.start_file(name, SimpleFileOptions::default().compression_method(method)).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap().into_inner()
}

fn wacz() -> Vec<u8> {
    let files = [
        ("archive/data.warc.gz", warc(Packing::Gzip)),
        ("indexes/index.cdx.gz", packed(b"com,example)/ 2024", Packing::Gzip)),
        ("pages/pages.jsonl", lines()),
        ("datapackage.json", b"{\"profile\":\"data-package\"}".to_vec()),
    ];
    zip(&files.map(|(name, bytes)| (name.to_owned(), bytes)), zip::CompressionMethod::Stored)
}

/// A run over the files of a folder.
struct Ran {
    _folder: tempfile::TempDir,
    out: PathBuf,
}

impl Ran {
    fn over(files: &[(String, Vec<u8>)]) -> Ran {
        let folder = tempfile::tempdir().unwrap();
        let (input, out) = (folder.path().join("in"), folder.path().join("out"));
        for (name, bytes) in files {
            let path = input.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let mut job = Job::new([input.to_str().unwrap()], &out);
        job.threads = 2;
        dedup(&job, &Silent).unwrap();
        Ran { _folder: folder, out }
    }

    fn list(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.out.join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Each removed page with its winner, without folders and endings.
    fn removed(&self) -> BTreeMap<String, String> {
        let plain = |name: &Value| {
            let name = name.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            name.split('.').next().unwrap().to_owned()
        };
        self.list("removed.jsonl").iter().map(|line| (plain(&line["page"]), plain(&line["winner"]))).collect()
    }

    fn kept(&self, name: &str) -> Vec<u8> {
        fs::read(self.out.join("kept").join(name)).unwrap()
    }
}

const PACKINGS: [(&str, Packing); 6] = [
    ("", Packing::Plain),
    (".gz", Packing::Gzip),
    (".zst", Packing::Zstd),
    (".xz", Packing::Xz),
    (".bz2", Packing::Bzip2),
    (".lz4", Packing::Lz4),
];

/// Checks the decisions over a file of this name and bytes.
fn check(name: &str, bytes: Vec<u8>) -> Ran {
    let ran = Ran::over(&[(name.to_owned(), bytes)]);
    assert_eq!(ran.removed(), expected(), "{name}");
    assert_eq!(ran.list("rejected.jsonl"), [] as [Value; 0], "{name}");
    ran
}

#[test]
fn records_in_every_format_have_the_same_fate() {
    for (ending, packing) in PACKINGS {
        for (name, bytes) in [
            ("pages.jsonl", lines()),
            ("pages.csv", table(",", "\r\n")),
            ("pages.tsv", table("\t", "\n")),
            ("pages.json", array("\n  ")),
        ] {
            let name = format!("{name}{ending}");
            let ran = check(&name, packed(&bytes, packing));
            let (mut reader, _) = unpack(Box::new(Cursor::new(ran.kept(&name))), packing, 1_000).unwrap();
            let mut kept = String::new();
            reader.read_to_string(&mut kept).unwrap();
            assert!(kept.len() < bytes.len() / 2, "{name}");
            // The kept file is of its format, and has no duplicate left.
            let again = Ran::over(&[(name.clone(), packed(kept.as_bytes(), packing))]);
            assert_eq!((again.removed().len(), again.list("pages.jsonl").len()), (0, 4), "{name}: {kept}");
        }
        let name = format!("pages.warc{ending}");
        check(&name, warc(packing));
    }
    check("pages.json", array("").into_iter().collect());
    check("semicolons.csv", table(";", "\n"));
    let pretty: Vec<String> =
        pages().iter().map(|(name, text)| json(name, text).replacen('{', "{\n  ", 1)).collect();
    check("pretty.json", pretty.join("\n").into_bytes());
}

#[test]
fn files_in_every_container_have_the_same_fate() {
    let pages = files(".html", html);
    for (ending, packing) in PACKINGS {
        let name = format!("pages.tar{ending}");
        let ran = check(&name, packed(&tar(&pages), packing));
        assert_eq!(ran.kept(&format!("{name}/sub/p0.html")), pages[0].1, "{name}");
        let ran = Ran::over(&files(&format!(".html{ending}"), |text| packed(&html(text), packing)));
        assert_eq!(ran.removed(), expected(), "pages.html{ending}");
        assert_eq!(ran.kept(&format!("p0.html{ending}")), packed(&pages[0].1, packing));
    }
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let ran = check("pages.zip", zip(&pages, method));
        assert_eq!(ran.kept("pages.zip/p0.html"), pages[0].1);
        for (name, bytes) in [("a.jsonl.gz", packed(&lines(), Packing::Gzip)), ("b.csv", table(",", "\n"))] {
            let ran = check("in.zip", zip(&[(name.to_owned(), bytes)], method));
            assert!(ran.out.join("kept/in.zip").join(name).is_file());
        }
    }
    for name in ["site.wacz", "site.zip"] {
        let ran = check(name, wacz());
        assert!(ran.out.join("kept").join(name).join("archive/data.warc.gz").is_file());
    }
    for ending in [".md", ".txt", "", ".php?id=7"] {
        let make = |text: &str| if ending.len() == 3 || ending == ".txt" { text.into() } else { html(text) };
        assert_eq!(Ran::over(&files(ending, make)).removed(), expected(), "{ending}");
    }
}

#[test]
fn a_container_is_read_again_to_explain() {
    let ran = check("pages.tar.gz", packed(&tar(&files(".html", html)), Packing::Gzip));
    let name = |page: &str| format!("pages.tar.gz/sub/{page}.html");
    let found = crate::explain(&ran.out, &name("copy1"), &name("p1"), &Environment::default()).unwrap();
    assert!(found.exact);
    let spool = fs::read_dir(&ran.out).unwrap().any(|entry| {
        let name = entry.unwrap().file_name();
        name.to_string_lossy().contains("spool")
    });
    assert!(!spool, "an unpacked container is left");
}

#[test]
fn what_is_no_page_or_cannot_be_read_is_told_apart() {
    let good = files(".html", html).remove(0);
    let inner = zip(std::slice::from_ref(&good), zip::CompressionMethod::Stored);
    let mut broken = zip(std::slice::from_ref(&good), zip::CompressionMethod::Stored);
    let at = broken.windows(4).position(|bytes| bytes == b"a0w7").unwrap();
    broken[at] = b'b';
    let files = [
        ("good.html", good.1.clone()),
        ("image.png", b"\x89PNG\r\n\x1a\n".to_vec()),
        ("style.css", b"p {}".to_vec()),
        ("blob", vec![0; 99]),
        ("nested.zip", zip(&[("x.zip".into(), inner)], zip::CompressionMethod::Deflated)),
        ("broken.zip", broken),
        ("cut.tar.gz", packed(&tar(&files(".html", html)), Packing::Gzip)[..700].to_vec()),
        ("book.epub", b"PK\x03\x04".to_vec()),
        ("paper.pdf", b"%PDF".to_vec()),
        ("notes", b"just words".to_vec()),
    ];
    let ran = Ran::over(&files.map(|(name, bytes)| (name.to_owned(), bytes)));
    let rejected = ran.list("rejected.jsonl");
    let reason = |source: &str| {
        let line = rejected.iter().find(|line| line["source"] == source);
        line.unwrap_or_else(|| panic!("{source}: {rejected:?}"))["reason"].as_str().unwrap().to_owned()
    };
    for (source, words) in [
        ("nested.zip/x.zip", "unpack the outer one first"),
        ("broken.zip/p0.html", "checksum"),
        ("cut.tar.gz", "damaged from here on"),
        ("book.epub", "pandoc"),
        ("paper.pdf", "pdftotext"),
        ("notes", "not a kind of file"),
    ] {
        assert!(reason(source).contains(words), "{source}: {}", reason(source));
    }
    assert_eq!(rejected.len(), 6, "images and the like are not rejected: {rejected:?}");
}

#[test]
fn old_results_in_an_input_folder_are_not_pages() {
    let folder = tempfile::tempdir().unwrap();
    let run = |input: &Path, out: &str| {
        let mut job = Job::new([input.to_str().unwrap()], folder.path().join(out));
        job.threads = 1;
        dedup(&job, &Silent).map(|outcome| outcome.report().counts.kept + outcome.report().counts.removed)
    };
    let input = folder.path().join("in");
    fs::create_dir(&input).unwrap();
    fs::write(input.join("pages.jsonl"), lines()).unwrap();
    assert_eq!(run(&input, "in/old").unwrap(), 12);
    assert_eq!(run(&input, "new").unwrap(), 12);
    assert!(run(&input.join("old"), "other").unwrap_err().to_string().contains("kept/"));
    assert_eq!(run(&input.join("old/kept"), "third").unwrap(), 4);
}

/// Stops a run when a stage begins.
struct StopAt(Stage, AtomicBool);

impl Progress for StopAt {
    fn begin(&self, stage: Stage, _: u64) {
        self.1.fetch_or(stage == self.0, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

#[test]
fn a_run_over_a_container_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("pages.tar.xz"), folder.path().join("out"));
    fs::write(&input, packed(&tar(&files(".html", html)), Packing::Xz)).unwrap();
    let job = Job::new([input.to_str().unwrap()], &out);
    let stopped = dedup(&job, &StopAt(Stage::Write, AtomicBool::new(false)));
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    let outcome = dedup(&job, &Silent).unwrap();
    assert_eq!((outcome.report().counts.kept, outcome.report().counts.removed), (4, 8));
    assert!(out.join("kept/pages.tar.xz/sub/p3.html").is_file());
}
