//! Containers, tables and files of other programs, through every command.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::pages::{gzip, topic, window, write_file};
use crate::program::{dedup, onecopy};
use crate::results::{files_below, rejected, report, winners};

/// A tar file of these pages.
fn tar(pages: &[(&str, String)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, text) in pages {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, name, text.as_bytes()).expect("memory takes it");
    }
    tar.into_inner().expect("memory takes it")
}

fn pages() -> Vec<u8> {
    tar(&[("a.txt", window(0)), ("sub/b.txt", window(3)), ("c.txt", topic("c"))])
}

#[test]
fn a_container_is_a_folder_to_every_command() {
    let folder = tempdir().expect("a folder");
    write_file(folder.path(), "pages.tar.gz", gzip(&pages()));
    let call = |args: &[&str]| onecopy(args.iter().copied()).within(folder.path());
    call(&["dedup", "pages.tar.gz", "--out", "out"]).succeed();
    let out = folder.path().join("out");
    assert_eq!(files_below(&out.join("kept")), ["pages.tar.gz/a.txt", "pages.tar.gz/c.txt"]);
    let [a, b] = ["pages.tar.gz/a.txt", "pages.tar.gz/sub/b.txt"];
    assert_eq!(winners(&out)[b], a);
    call(&["explain", "out", a, b]).succeed();
    call(&["compare", a, b, "--run", "out"]).succeed();
    call(&["import", "--data", "pages", "pages.tar.gz"]).succeed();
    call(&["import", "--data", "again", "out"]).succeed();
    for data in ["pages", "again"] {
        let status = call(&["status", "--data", data, b]).succeed();
        assert!(status.stdout.contains(a), "{}", status.stdout);
        assert!(!folder.path().join(format!("{data}.import")).exists(), "the spool is left");
    }
    // Piped in, it has no name.
    let mut piped = call(&["dedup", "-", "--out", "piped"]).start();
    piped.feed(&gzip(&pages()));
    piped.close_stdin();
    assert_eq!(piped.finish().code(), Some(0));
    assert_eq!(files_below(&folder.path().join("piped/kept")), ["stdin/a.txt", "stdin/c.txt"]);
}

#[test]
fn a_table_is_read_by_its_header() {
    let folder = tempdir().expect("a folder");
    let text = format!(
        "\u{feff}name;page text\r\nx;\"{}\"\r\ny;{}\r\nz\r\nw;{}\r\n",
        window(0).replace(' ', "\r\n"),
        window(3),
        topic("q"),
    );
    let input = write_file(folder.path(), "pages.csv", &text);
    let out = folder.path().join("out");
    dedup(&input, &out).args("--text-field").arg("page text").args("--id-field name").succeed();
    assert_eq!((winners(&out)["y"].as_str(), &report(&out)["read"]), ("x", &4.into()));
    let lines: Vec<&str> =
        text.split_inclusive("\r\n").filter(|line| !line.starts_with(['y', 'z'])).collect();
    assert_eq!(fs::read_to_string(out.join("kept/pages.csv")).expect("kept"), lines.concat());
    let reasons = rejected(&out, "pages.csv");
    assert_eq!(reasons[0].1, "it has 1 fields, and the header has 2");
    // A column that does not exist is an error, not an empty result.
    let failed = dedup(&input, &folder.path().join("no")).args("--text-field pagetext").fail(2);
    failed.says(&["no field `pagetext`", "page text"]);
}

#[test]
fn a_field_may_be_inside_another() {
    let folder = tempdir().expect("a folder");
    let line =
        |id: &str, text: &str| format!("{{\"meta\":{{\"id\":\"{id}\"}},\"data\":{{\"text\":\"{text}\"}}}}");
    let (a, b) = (line("a", &window(0)), line("b", &window(3)));
    for (name, text) in [("p.jsonl", format!("{a}\n{b}\n")), ("p.json", format!("[{a},\n{b}]"))] {
        let input = write_file(folder.path(), name, text);
        let out = folder.path().join(format!("out-{name}"));
        dedup(&input, &out).args("--text-field data.text --id-field meta.id").succeed();
        assert_eq!(winners(&out)["b"], "a", "{name}");
    }
    assert_eq!(
        fs::read_to_string(folder.path().join("out-p.json/kept/p.json")).expect("kept"),
        format!("[\n{a}\n]\n")
    );
}

#[test]
fn what_another_program_must_convert_is_refused_with_its_name() {
    let folder = tempdir().expect("a folder");
    for (name, bytes, tool) in [
        ("paper.pdf", &b"%PDF-1.7"[..], "pdftotext"),
        ("unnamed", b"%PDF-1.7", "pdftotext"),
        ("book.epub", b"PK\x03\x04", "pandoc"),
        ("page.mhtml", b"From: <Saved by Blink>", "munpack"),
        ("letter.docx", b"PK\x03\x04", "pandoc"),
        ("letter.doc", b"\xd0\xcf\x11\xe0", "soffice"),
        ("old.7z", b"7z\xbc\xaf\x27\x1c", "7z x"),
        ("old.rar", b"Rar!\x1a\x07", "unrar"),
    ] {
        write_file(folder.path(), name, bytes);
        let failed = onecopy(["dedup", name, "--out", "out"]).within(folder.path()).fail(1);
        failed.says(&[name, tool]);
    }
    let failed = onecopy(["dedup", "hf://datasets/a/b", "--out", "out"]).within(folder.path()).fail(1);
    failed.says(&["hf://datasets/a/b", "huggingface-cli download"]);
    assert!(!Path::new(&folder.path().join("out")).exists());
}
