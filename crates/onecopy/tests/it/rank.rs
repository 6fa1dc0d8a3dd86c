//! `rank` scores pages by their links, from every kind of input, and `dedup` uses the scores.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::pages::{gzip, topic, write_file};
use crate::program::{Call, dedup, onecopy};
use crate::python::{Python, RUNNING, run};
use crate::results::json_lines;
use crate::warc;

fn rank(input: &Path, out: &Path) -> Call {
    onecopy(["rank".into(), input.as_os_str().to_owned(), "--out".into(), out.as_os_str().to_owned()])
}

/// The scores of a file, best first.
fn scores(path: &Path) -> Vec<(String, f64)> {
    let score = |line: &Value| {
        (line["page"].as_str().expect("a page").to_owned(), line["pagerank"].as_f64().expect("a score"))
    };
    json_lines(path).iter().map(score).collect()
}

fn names(path: &Path) -> Vec<String> {
    scores(path).into_iter().map(|page| page.0).collect()
}

/// Three pages: b and c link to a, and a links to b. The last input is the same links as others have them.
fn inputs(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let url = |page: &str| format!("http://x.example/d/{page}");
    let page = |to: &str| format!("<html><body><p>words<a href='{to}'>x</a><a href=#top>y</a></body></html>");
    let html = [("a", page("b")), ("b", page("/d/a?utm_source=x")), ("c", page("HTTP://X.EXAMPLE:80/d/a"))];
    let line = |name: &str, html: &str| json!({"url": url(name), "html": html}).to_string();
    let stated = |name: &str, to: &str| json!({"url": url(name), "links": [to]}).to_string();
    let lines: Vec<String> = html.iter().map(|(name, html)| line(name, html)).collect();
    let records: Vec<Vec<u8>> = html
        .iter()
        .map(|(name, html)| warc::response(&url(name), "200 OK\nContent-Type: text/html", html))
        .collect();
    let links = [stated("a", "b"), stated("b", "a"), stated("c", &url("a"))];
    let table = format!("url,links\n{0},{1}\n{1},{0}\n{2},{0}\n", url("a"), url("b"), url("c"));
    let edges = format!("# from to\n{0}\t{1}\n{1}\t{0}\n{2}\t{0}\n", url("a"), url("b"), url("c"));
    vec![
        (write_file(folder, "html.jsonl", lines.join("\n")), ""),
        (write_file(folder, "crawl.warc.gz", warc::packed(&records, "crawl.warc.gz")), ""),
        (write_file(folder, "links.jsonl", links.join("\n")), ""),
        (write_file(folder, "table.csv", table), ""),
        (write_file(folder, "edges.txt.gz", gzip(edges.as_bytes())), "--edges"),
        (
            write_file(folder, "edges.csv", edges.replace('\t', ",").replace("# from to", "source,target")),
            "--edges",
        ),
    ]
}

#[test]
fn every_kind_of_input_gives_the_same_scores() {
    let folder = tempdir().expect("a folder");
    // Solved by hand: c = d/3; a = d/3 + (1-d)(b + c); b = d/3 + (1-d) a.
    let c = 0.125 / 3.0;
    let a = (c + 0.875 * (c + c)) / (1.0 - 0.875 * 0.875);
    let expected = [("a", a), ("b", c + 0.875 * a), ("c", c)];
    for (input, flags) in inputs(folder.path()) {
        let out = folder.path().join("scores.jsonl");
        rank(&input, &out).args("--overwrite --quiet").args(flags).succeed();
        let found = scores(&out);
        assert_eq!(found.len(), 3, "{}: {found:?}", input.display());
        for ((page, score), (name, expected)) in found.iter().zip(expected) {
            assert_eq!(*page, format!("http://x.example/d/{name}"), "{}", input.display());
            assert!((score - expected).abs() < 1e-9, "{}: {page} {score} {expected}", input.display());
        }
    }
}

#[test]
fn files_link_to_files() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    fs::create_dir_all(site.join("sub")).expect("a folder");
    write_file(&site, "index.html", "<a href='sub/a.html#x'>a</a> words");
    write_file(&site, "sub/a.html", "<a href='../index.html'>up</a> words");
    write_file(&site, "sub/b.html", "<a href='../index.html' rel=nofollow>up</a><a href=a.html>a</a> words");
    let out = folder.path().join("scores.tsv");
    let said = rank(&site, &out).succeed().stdout;
    assert!(said.contains("nofollow") && said.contains("iteration") && said.contains("best pages"), "{said}");
    let text = fs::read_to_string(&out).expect("scores");
    assert!(text.starts_with("page\tpagerank\tlinks_in\tlinks_out\tunknown\n"), "{text}");
    let pages: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(pages, ["sub/a.html", "index.html", "sub/b.html"], "{text}");
    rank(&site, &out).args("--overwrite --nofollow --json").succeed();
    let text = fs::read_to_string(&out).expect("scores");
    assert!(
        text.contains("index.html\t") && text.lines().nth(1).is_some_and(|best| best.starts_with("index"))
    );
}

#[test]
fn unknown_pages_are_kept_or_dropped() {
    let folder = tempdir().expect("a folder");
    let lines = [json!({"id": 1, "links": [2, "far"]}), json!({"id": 2, "links": ["far", "away", 2]})];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let input = write_file(folder.path(), "in.jsonl", lines);
    let out = folder.path().join("scores.jsonl");
    let said = rank(&input, &out).arg("--json").succeed().stdout;
    let report: Value = serde_json::from_str(&said).expect("JSON");
    let counts = ["read", "pages", "unknown_pages", "distinct_links", "dangling_pages", "own_links"];
    assert_eq!(counts.map(|name| report[name].as_u64().expect("a number")), [2, 4, 2, 4, 2, 1], "{report}");
    assert_eq!(names(&out)[0], "far");
    assert_eq!(json_lines(&out)[0]["unknown"], 1);
    rank(&input, &out).args("--unknown drop --overwrite --quiet").succeed();
    assert_eq!(names(&out), ["2", "1"]);
}

#[test]
fn resets_favour_a_topic() {
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), "edges.txt", "a b\nb c\nc a\nd a\n");
    let out = folder.path().join("scores.jsonl");
    let resets = |text: &str| {
        let file = write_file(folder.path(), "resets.txt", text);
        rank(&input, &out).args("--edges --overwrite --resets").arg(file)
    };
    resets("# only this one\nd 2\n").arg("--quiet").succeed();
    let found = scores(&out);
    assert!(found.iter().any(|(page, score)| page == "d" && (score - 0.125).abs() < 1e-9), "{found:?}");
    let said = resets("d\nnowhere 3\n").succeed();
    assert!(
        said.stderr.contains("pages that are not in the input do not count: 1 of its lines"),
        "{}",
        said.stderr
    );
    resets("nowhere\n").fail(1).says(&[
        "all weights are zero",
        "lines that name unknown pages: 1",
        "--resets",
    ]);
    resets("a 0\n").fail(1).says(&["all weights are zero", "--resets"]);
    resets("a 1\nb -1\n").fail(1).says(&["line 2", "`b -1`", "from 0 on", "--resets"]);
}

#[test]
fn copies_pass_their_links_on_and_scores_choose_winners() {
    let folder = tempdir().expect("a folder");
    let page = |host: &str, name: &str, text: &str, links: &[&str]| {
        json!({"url": format!("http://{host}/{name}"), "text": text, "links": links}).to_string()
    };
    // Each copy of `star` has two votes; `other` has three.
    let star = topic("star");
    let mut lines = vec![
        page("a.example", "star", &star, &[]),
        page("b.example", "star", &star, &[]),
        page("c.example", "other", &topic("other"), &[]),
    ];
    for (fan, liked) in
        ["a.example/star", "b.example/star", "c.example/other"].iter().cycle().enumerate().take(6)
    {
        lines.push(page(
            "f.example",
            &fan.to_string(),
            &topic(&format!("fan{fan}")),
            &[&format!("http://{liked}")],
        ));
    }
    lines.push(page("f.example", "9", &topic("fan9"), &["http://c.example/other"]));
    let input = write_file(folder.path(), "in.jsonl", lines.join("\n"));
    let (clean, alone, merged) =
        (folder.path().join("clean"), folder.path().join("alone.jsonl"), folder.path().join("merged.jsonl"));
    dedup(&input, &clean).arg("--quiet").succeed();
    rank(&input, &alone).arg("--quiet").succeed();
    assert_eq!(names(&alone)[0], "http://c.example/other");
    let said = rank(&input, &merged).arg("--run").arg(&clean).succeed().stdout;
    assert!(said.contains("removed pages of the run"), "{said}");
    assert_eq!(names(&merged)[0], "http://a.example/star", "both copies' votes count for the winner");
    assert_eq!(scores(&merged).len(), scores(&alone).len() - 1);

    let edges = write_file(folder.path(), "e.txt", "http://c.example/other http://b.example/star\n");
    for format in ["jsonl", "tsv", "parquet"] {
        let file = folder.path().join(format!("scores.{format}"));
        rank(&edges, &file).args("--edges --quiet").succeed();
        let out = folder.path().join(format!("by-{format}"));
        dedup(&input, &out).args("--quiet --popularity").arg(&file).succeed();
        let removed = json_lines(&out.join("removed.jsonl"));
        assert_eq!(removed[0]["winner"], "http://b.example/star", "{format}");
        // The same scores make the same run; others do not.
        let again = dedup(&input, &out).arg("--popularity").arg(&file).succeed().stdout;
        assert!(again.contains("already has the results"), "{again}");
        dedup(&input, &out).fail(2).says(&["another run"]);
    }
}

#[test]
fn what_cannot_work_is_named_with_the_remedy() {
    let folder = tempdir().expect("a folder");
    let file = |name: &str, text: &str| write_file(folder.path(), name, text);
    let edges = file("edges.txt", "a b\n");
    let out = folder.path().join("scores.jsonl");
    let with = |flags: &str| rank(&edges, &out).args("--edges").args(flags);
    with("--reset 0").fail(2).says(&["a reset of 0 is out of range", "--reset"]);
    with("--reset 1").fail(2).says(&["a reset of 1 is out of range"]);
    with("--tolerance 0").fail(2).says(&["a tolerance of 0 is out of range", "--tolerance"]);
    with("--iterations 0").fail(2).says(&["at least 1 iteration", "--iterations"]);
    with("--memory 1M").fail(2).says(&["too small", "--memory"]);
    rank(&edges, &folder.path().join("scores.xls"))
        .args("--edges")
        .fail(2)
        .says(&[".jsonl, .tsv or .parquet"]);
    rank(&file("empty.txt", ""), &out).args("--edges").fail(1).says(&["none of the 0 records links"]);
    rank(&file("self.txt", "a a\n"), &out).args("--edges").fail(1).says(&["links to another page"]);
    rank(&file("one.txt", "a\n"), &out)
        .args("--edges")
        .fail(1)
        .says(&["one.txt, line 1: it is not two names"]);
    rank(&file("no.jsonl", "{\"id\":1,\"text\":\"a\"}\n"), &out).fail(1).says(&["--edges", "--links-field"]);
    rank(&folder.path().join("gone"), &out).args("--edges").fail(1).says(&["no such file"]);
    rank(folder.path(), &out).args("--edges").fail(1).says(&["a folder"]);
    with("--run nowhere").fail(1).says(&["holds no finished run"]);
    assert!(!out.exists(), "nothing was written");
    let said = with("--iterations 2 --tolerance 1e-12").succeed();
    assert!(said.stderr.contains("still changed"), "{}", said.stderr);
    with("").fail(2).says(&["scores.jsonl exists", "--overwrite"]);
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
    dedup(&file("p.jsonl", "{\"id\":1,\"text\":\"a\"}\n"), &folder.path().join("clean"))
        .arg("--popularity")
        .arg(file("s.jsonl", "{\"page\":\"a\"}\n"))
        .fail(1)
        .says(&["has no scores", "onecopy rank"]);
}

#[test]
fn networkx_agrees() {
    let python = match Python::with(&["networkx==3.6.1", "numpy==2.3.5", "scipy==1.16.3"], "networkx, scipy")
    {
        Ok(python) => python,
        Err(reason) => return println!("skipped: networkx cannot be installed: {reason}"),
    };
    let folder = tempdir().expect("a folder");
    // The links of our own documents and code: a real graph of paths and the words that they share.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut edges = String::new();
    for entry in fs::read_dir(root.join("docs/decisions")).expect("decisions").flatten() {
        let text = fs::read_to_string(entry.path()).expect("text");
        let from = entry.file_name().to_string_lossy().into_owned();
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3) {
            edges.push_str(&format!("{from}\t{word}\n{word}\t{from}\n"));
        }
        text.split_whitespace().zip(text.split_whitespace().skip(1)).for_each(|(a, b)| {
            edges.push_str(&format!("{}\t{}\n", a.trim_matches('#'), b.trim_matches('#')));
        });
    }
    let edges: Vec<&str> = edges.lines().filter(|line| is_edge(line)).collect();
    let input = write_file(folder.path(), "edges.tsv", edges.join("\n"));
    let out = folder.path().join("scores.jsonl");
    let said = rank(&input, &out).args("--edges --json").succeed().stdout;
    let report: Value = serde_json::from_str(&said).expect("JSON");
    assert!(report["pages"].as_u64() > Some(1_000) && report["converged"] == true, "{report}");
    let script = write_file(folder.path(), "check.py", NETWORKX);
    let ask = |command: &mut Command| run(command, RUNNING).unwrap_or_else(|error| panic!("{error}"));
    ask(python.command().arg(script).arg(&input).arg(&out));
}

fn is_edge(line: &str) -> bool {
    let Some((from, to)) = line.split_once('\t') else { return false };
    let is_plain =
        |name: &str| !name.is_empty() && !name.starts_with(['#', '%', '"']) && !name.starts_with("http");
    is_plain(from) && is_plain(to) && !to.ends_with('"')
}

/// Recomputes all scores.
const NETWORKX: &str = "\
import json, sys, networkx as nx
graph = nx.DiGraph()
for line in open(sys.argv[1], encoding='utf-8'):
    a, b = line.rstrip('\\n').split('\\t')
    graph.add_nodes_from([a, b])
    if a != b:
        graph.add_edge(a, b)
expected = nx.pagerank(graph, alpha=0.875, tol=1e-15, max_iter=1000)
found = {p['page']: p['pagerank'] for p in map(json.loads, open(sys.argv[2], encoding='utf-8'))}
assert found.keys() == expected.keys(), set(found) ^ set(expected)
worst = max(abs(found[page] - expected[page]) for page in found)
assert worst < 1e-9, worst
";
