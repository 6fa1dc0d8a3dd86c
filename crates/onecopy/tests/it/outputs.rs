//! A run writes more or less on request: lists only, kept pages to standard output, names as text, lists as Parquet.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::pages::{gzip, record, topic, window, write_file, write_records};
use crate::program::{dedup, onecopy};
use crate::python::{Python, RUNNING, run};
use crate::results::{RESULTS, entries};

/// Three pages, of which `b` goes for `a`, and a record that is rejected.
fn lines() -> String {
    [record("a", &window(0)), record("b", &window(3)), "nonsense\n".into(), record("c\nd", &topic("c"))]
        .concat()
}

#[test]
fn lists_only_writes_no_kept_pages() {
    let folder = tempdir().expect("a folder");
    let (input, out) = (write_file(folder.path(), "in.jsonl", lines()), folder.path().join("out"));
    dedup(&input, &out).args("--quiet --lists-only").succeed();
    let lists: Vec<&str> = RESULTS.into_iter().filter(|name| *name != "kept").collect();
    assert_eq!(entries(&out), lists);
    let again = dedup(&input, &out).arg("--lists-only").succeed();
    assert!(again.stdout.contains("nothing was repeated"), "{}", again.stdout);
    dedup(&input, &out).succeed().says(&["kept"]);
    assert_eq!(entries(&out), RESULTS, "the same run with kept pages adds them");
    let again = dedup(&input, &out).arg("--lists-only").succeed();
    assert!(again.stdout.contains("nothing was repeated"), "{}", again.stdout);
    assert_eq!(entries(&out), RESULTS, "kept pages stay");
}

#[test]
fn names_are_written_as_text() {
    let folder = tempdir().expect("a folder");
    let (input, out) = (write_file(folder.path(), "in.jsonl", lines()), folder.path().join("out"));
    dedup(&input, &out).args("--quiet --lists names").succeed();
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("a list");
    assert_eq!((read("kept.txt").as_str(), read("removed.txt").as_str()), ("a\n\"c\\nd\"\n", "b\n"));
    // Another run that does not want them takes them away, because they are ours.
    dedup(&input, &out).args("--quiet --threshold 0.9 --overwrite").succeed();
    assert_eq!(entries(&out), RESULTS);
}

#[test]
fn a_list_that_somebody_else_made_is_not_replaced() {
    let folder = tempdir().expect("a folder");
    let (input, out) = (write_file(folder.path(), "in.jsonl", lines()), folder.path().join("out"));
    dedup(&input, &out).arg("--quiet").succeed();
    write_file(&out, "removed.parquet", "precious");
    for flags in ["--lists parquet", "--lists parquet --overwrite"] {
        dedup(&input, &out).args(flags).fail(2).says(&["removed.parquet, which onecopy did not make"]);
    }
    dedup(&input, &out).args("--quiet --threshold 0.9 --overwrite").succeed();
    assert_eq!(fs::read_to_string(out.join("removed.parquet")).expect("it is there"), "precious");
}

#[test]
fn kept_lines_go_to_standard_output() {
    let folder = tempdir().expect("a folder");
    let first = write_file(folder.path(), "1.jsonl.gz", gzip(lines().trim_end().as_bytes()));
    let second = write_records(folder.path(), "2.jsonl", &[("e", &topic("e")), ("f", &window(0))]);
    let call = || onecopy(["dedup", "--out", "-"]).arg(&first).arg(&second);
    let found = call().succeed();
    let expected = [record("a", &window(0)), record("c\nd", &topic("c")), record("e", &topic("e"))].concat();
    assert_eq!(found.stdout, expected);
    found.says(&["kept", "removed", "1 exact, 1 near"]);
    assert!(!found.stderr.contains("removed.jsonl"), "{}", found.stderr);
    assert_eq!(call().arg("--quiet").succeed().stderr, "");
    let json = call().args("--json --quiet").succeed();
    let report: Value = serde_json::from_str(&json.stderr).expect("stderr is the report");
    assert_eq!((&report["kept"], &json.stdout), (&json!(3), &expected));
    assert_eq!(entries(folder.path()), ["1.jsonl.gz", "2.jsonl"], "nothing is left behind");

    let mut piped = onecopy(["dedup", "-", "--out", "-", "--quiet"]).start();
    piped.feed(lines().as_bytes());
    piped.close_stdin();
    assert_eq!(piped.finish().stdout, [record("a", &window(0)), record("c\nd", &topic("c"))].concat());
}

#[test]
fn only_lines_can_be_streamed() {
    let folder = tempdir().expect("a folder");
    let rows = write_file(folder.path(), "rows.parquet", include_bytes!("pages.parquet"));
    let page = write_file(folder.path(), "page.html", "<p>one two three</p>");
    for input in [rows, page] {
        let failed = dedup(&input, Path::new("-")).fail(2);
        failed.says(&["only the kept pages of JSON Lines", "give --out and a folder"]);
        assert_eq!(failed.stdout, "");
    }
    let lines = write_file(folder.path(), "in.jsonl", lines());
    dedup(&lines, Path::new("-")).arg("--lists-only").fail(2).says(&["--out - keeps no lists"]);
}

const PACKAGES: [&str; 3] = ["duckdb==2.0.0", "pandas==3.1.1", "pyarrow==26.0.1"];

/// Reads the Parquet lists, and joins them.
const SCRIPT: &str = r#"
import sys, duckdb, pandas
out = sys.argv[1]
types = dict(duckdb.sql(f"select column_name, column_type from (describe select * from '{out}/removed.parquet')").fetchall())
assert types["page"] == "VARCHAR" and types["line"] == "BIGINT" and types["similarity"] == "DOUBLE", types
joined = duckdb.sql(f"""select r.page, w.page, w.status, r.similarity, r.kind
    from '{out}/removed.parquet' r join '{out}/pages.parquet' w
    on w.source = r.winner_source and w.line = r.winner_line""").fetchall()
assert joined == [("b", "a", "kept", 0.84615, "near")], joined
pages = pandas.read_parquet(f"{out}/pages.parquet")
assert list(pages["page"]) == ["a", "b", "c\nd"] and list(pages["status"]) == ["kept", "removed", "kept"], pages
groups = pandas.read_parquet(f"{out}/groups.parquet")
assert list(groups["line"]) == [1, 2] and list(groups["group"]) == [1, 1], groups
rejected = pandas.read_parquet(f"{out}/rejected.parquet")
assert list(rejected["line"]) == [3] and rejected["row"].isna().all(), rejected
"#;

#[test]
fn parquet_lists_are_read_by_others() {
    let folder = tempdir().expect("a folder");
    let (input, out) = (write_file(folder.path(), "in.jsonl", lines()), folder.path().join("out"));
    dedup(&input, &out).args("--quiet --lists parquet").succeed();
    let mut expected: Vec<String> = RESULTS.map(str::to_owned).to_vec();
    expected.extend(["groups", "pages", "rejected", "removed"].map(|name| format!("{name}.parquet")));
    expected.sort();
    assert_eq!(entries(&out), expected);
    let python = match Python::with(&PACKAGES, "duckdb, pandas, pyarrow") {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: {} cannot be installed: {reason}", PACKAGES.join(", "));
            return;
        }
    };
    let ask = |command: &mut Command| run(command, RUNNING).unwrap_or_else(|error| panic!("{error}"));
    ask(python.command().args(["-c", SCRIPT]).arg(&out));
}
