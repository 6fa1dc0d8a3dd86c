//! Runs every command of `docs/guides`, in a folder with the files that the guides name.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::tempdir;

use crate::pages::{gzip, topic, window, write_file};
use crate::python::{Python, RUNNING, run};
use crate::warc::{html, packed, page, response, warcinfo};

const PACKAGES: [&str; 1] = ["duckdb==2.0.0"];

fn guides() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides")
}

/// The code in blocks of a language, put together.
fn blocks(guide: &str, language: &str) -> String {
    let mut code = String::new();
    let mut inside = false;
    for line in guide.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            inside = fence == language;
        } else if inside {
            code += line;
            code.push('\n');
        }
    }
    code
}

/// A text of two paragraphs: a story that others copy, and what follows it here.
fn story(end: &str) -> String {
    format!("{} {}", window(0), end)
}

fn write_samples(folder: &Path) {
    let image = |uri: &str| response(uri, "200 OK\nContent-Type: image/png", b"\x89PNG the same bytes");
    let one = [
        warcinfo(),
        page("http://first.example/story", &story("as it was told first")),
        page("http://first.example/other", &topic("other")),
        image("http://first.example/logo.png"),
    ];
    let two = [
        warcinfo(),
        page("http://copy.example/story", &story("as it was told first")),
        page("http://copy.example/near", &story("as it was told later")),
        image("http://copy.example/logo.png"),
    ];
    write_file(folder, "crawl/crawl-a.warc.gz", packed(&one, "warc.gz"));
    write_file(folder, "crawl/crawl-b.warc.gz", packed(&two, "warc.gz"));
    let row = |id: &str, text: &str| serde_json::json!({"id": id, "content": text}).to_string() + "\n";
    let rows = [row("a", &window(0)), row("b", &window(0)), row("c", &topic("c"))].concat();
    write_file(folder, "corpus/part-0.jsonl.gz", gzip(rows.as_bytes()));
    write_file(folder, "corpus/part-1.jsonl", row("d", &window(1)));
    write_file(folder, "old.html", html(&window(0)));
    write_file(folder, "new.html", html(&window(2)));
    let doc = |id: &str, from| serde_json::json!({"id": id, "text": window(from)}).to_string() + "\n";
    write_file(folder, "labelled/docs.jsonl", [doc("a", 0), doc("b", 1), doc("c", 30)].concat());
    write_file(folder, "labelled/pairs.csv", "id1,id2,label\na,b,1\na,c,0\n");
}

/// Gives the service of a guide a port of its own, since several tests run at a time.
fn with_free_port(code: &str) -> String {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.expect("a free port").port();
    code.replace("onecopy serve", &format!("onecopy serve --listen 127.0.0.1:{port}"))
        .replace(":7171", &format!(":{port}"))
}

fn check(name: &str) {
    let guide = fs::read_to_string(guides().join(name)).expect("a guide");
    let folder = tempdir().expect("a folder");
    write_samples(folder.path());
    let program = Path::new(env!("CARGO_BIN_EXE_onecopy")).parent().expect("a folder");
    let path = std::env::join_paths(
        [program.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").expect("PATH"))),
    );
    let mut code = with_free_port(&blocks(&guide, "sh"));
    assert!(code.lines().count() > 2, "{name} shows no commands");
    if Command::new("curl").arg("--version").output().is_err() {
        println!("{name}: without curl, its calls of the service are skipped");
        code = code.lines().filter(|line| !line.starts_with("curl")).collect::<Vec<_>>().join("\n");
    }
    // A service that is still running when a command fails must end too.
    let trap = if code.contains("serve") { "trap 'kill $! 2>/dev/null || :' EXIT" } else { "" };
    let script = format!("set -e\n{trap}\n{code}");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(folder.path()).env("PATH", path.expect("a path"));
    run(&mut shell, RUNNING).unwrap_or_else(|error| panic!("{name}: {error}"));
    check_python(name, &blocks(&guide, "python"), folder.path());
}

fn check_python(name: &str, code: &str, folder: &Path) {
    if code.is_empty() {
        return;
    }
    match Python::with(&PACKAGES, "duckdb") {
        Ok(python) => run(python.command().arg("-c").arg(code).current_dir(folder), RUNNING)
            .unwrap_or_else(|error| panic!("{name}: {error}")),
        Err(reason) => println!("{name}: skipped its Python, {} cannot be installed: {reason}", PACKAGES[0]),
    }
}

#[test]
fn the_crawl_engineers_commands_work() {
    check("crawl-engineer.md");
}

#[test]
fn the_corpus_builders_commands_work() {
    check("corpus-builder.md");
}

#[test]
fn the_archivists_commands_work() {
    check("archivist.md");
}

#[test]
fn the_researchers_commands_work() {
    check("researcher.md");
}

#[test]
fn the_search_operators_commands_work() {
    check("search-operator.md");
}

#[test]
fn the_commands_for_those_who_switch_work() {
    check("switching.md");
}

#[test]
fn every_guide_is_checked() {
    let here = include_str!("guides.rs");
    for entry in fs::read_dir(guides()).expect("guides") {
        let name = entry.expect("a guide").file_name().into_string().expect("a name");
        // The tests of the Python package run its guide.
        let is_elsewhere = ["README.md", "python.md", "spark.md"].contains(&&*name);
        assert!(is_elsewhere || here.contains(&format!("check(\"{name}\")")), "no test runs {name}");
    }
}
