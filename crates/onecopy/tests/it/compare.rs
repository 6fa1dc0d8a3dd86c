//! `compare` measures two pages and shows what matched.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{topic, window, write_file};
use crate::program::{Call, dedup, onecopy};

fn compare(a: impl Into<OsString>, b: impl Into<OsString>) -> Call {
    onecopy([OsString::from("compare"), a.into(), b.into()])
}

fn as_json(call: Call) -> Value {
    let finished = call.arg("--json").succeed();
    serde_json::from_str(&finished.stdout).expect("stdout is one JSON value")
}

/// The entry of a measure or a method.
fn measured<'a>(found: &'a Value, list: &str, key: &str, name: &str) -> &'a Value {
    let all = found[list].as_array().expect("a list");
    all.iter().find(|one| one[key] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

/// The passages of one side, concatenated.
fn side(found: &Value, side: &str) -> String {
    let passages = found["passages"].as_array().expect("a list");
    passages.iter().filter_map(|passage| passage[side]["text"].as_str()).collect()
}

/// Two files with a similarity of 33/39.
fn pair() -> TempDir {
    let folder = tempdir().expect("a folder");
    write_file(folder.path(), "a.txt", window(0));
    write_file(folder.path(), "b.html", format!("<p>{}</p>", window(3).to_uppercase()));
    folder
}

#[test]
fn two_files() {
    let folder = pair();
    let said = compare("a.txt", "b.html").within(folder.path()).succeed().stdout;
    for words in [
        "A  a.txt  40 words, 36 shingles",
        "jaccard          0.84615        0.8  alike",
        "resemblance      0.84615",
        "containment-a    0.91667",
        "They share 33 shingles of 5 tokens.",
        "37 words are equal",
        "\n- w000 w001 w002\n",
        "\n+ W040 W041 W042\n",
    ] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    assert!(!said.contains('\x1b'), "no colour where there is no terminal:\n{said}");
}

#[test]
fn json_has_pages_methods_measures_and_passages() {
    let folder = pair();
    let found = as_json(compare("a.txt", "b.html").within(folder.path()));
    assert_eq!((&found["a"]["name"], &found["b"]["words"]), (&json!("a.txt"), &json!(40)));
    assert_eq!(
        (&found["exact"], &found["shared"], &found["shingle"]),
        (&json!(false), &json!(33), &json!(5))
    );
    let jaccard = measured(&found, "methods", "method", "jaccard");
    assert_eq!((&jaccard["threshold"], &jaccard["alike"]), (&json!(0.8), &json!(true)));
    assert_eq!(jaccard["similarity"], json!(33.0 / 39.0));
    let contained = measured(&found, "measures", "name", "containment-b");
    assert_eq!((&contained["kind"], &contained["value"]), (&json!("similarity"), &json!(33.0 / 36.0)));
    let kinds: Vec<&Value> =
        found["passages"].as_array().expect("a list").iter().map(|p| &p["kind"]).collect();
    assert_eq!(kinds, ["only-a", "same", "only-b"]);
    assert_eq!(found["passages"][1]["b"]["from"], 0);
    assert_eq!((side(&found, "a"), side(&found, "b").trim()), (window(0), window(3).to_uppercase().trim()));
}

#[test]
fn every_method_unless_some_are_chosen() {
    let folder = pair();
    let found = as_json(compare("a.txt", "b.html").within(folder.path()));
    assert_eq!(found["methods"].as_array().map(Vec::len), Some(onecopy_core::METHODS.len()));
    let call = compare("a.txt", "b.html").within(folder.path());
    let found = as_json(call.args("--method jaccard,jaccard:threshold=0.9"));
    let verdicts: Vec<(&Value, &Value)> = found["methods"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (&one["method"], &one["alike"]))
        .collect();
    assert_eq!(
        verdicts,
        [(&json!("jaccard"), &json!(true)), (&json!("jaccard:threshold=0.9"), &json!(false))]
    );
    for (wrong, said) in [("tarot", "tarot"), ("jaccard:threshold=2", "out of range")] {
        compare("a.txt", "b.html").within(folder.path()).arg("--method").arg(wrong).fail(2).says(&[said]);
    }
}

#[test]
fn standard_input_is_a_page_once() {
    let folder = pair();
    let mut running = compare("-", "b.html").arg("--json").within(folder.path()).start();
    running.feed(b"\n<html><body><p>");
    running.feed(window(3).as_bytes());
    let finished = running.finish();
    let found: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!((&found["exact"], &found["a"]["name"]), (&json!(true), &json!("-")));
    assert_eq!(measured(&found, "methods", "method", "jaccard")["similarity"], 1.0);
    compare("-", "-").fail(2).says(&["standard input", "only once"]);
}

#[test]
fn pages_of_a_finished_run_by_name_and_address() {
    let folder = tempdir().expect("a folder");
    let lines = format!(
        "{}\n{}\n{}\n",
        json!({"url": "http://a.example/", "text": window(0)}),
        json!({"id": 7, "text": window(3)}),
        json!({"text": topic("nameless")}),
    );
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", lines), &out).args("--threshold 0.9 -k 3").succeed();
    let of_run = |a: &str, b: &str| compare(a, b).arg("--run").arg(&out).within(folder.path());
    let found = as_json(of_run("http://a.example/", "7"));
    assert_eq!(found["shingle"], 3, "the run's configuration is used");
    let auto = measured(&found, "methods", "method", "auto");
    assert_eq!((&auto["threshold"], &auto["alike"]), (&json!(0.9), &json!(false)));
    assert_eq!(side(&found, "b"), window(3));
    assert_eq!(as_json(of_run("in.jsonl:3", "7"))["shared"], 0);
    write_file(folder.path(), "mine.txt", window(3));
    assert_eq!(as_json(of_run("mine.txt", "7"))["exact"], true, "what is no page of the run may be a file");
    of_run("7", "8").fail(1).says(&["`8` is not among the pages that were judged", "pages.jsonl"]);
    compare("7", "8").arg("--run").arg(folder.path()).fail(1).says(&["holds no finished run"]);
}

#[test]
fn the_html_page_stands_alone_and_holds_no_markup_of_the_pages() {
    let folder = tempdir().expect("a folder");
    let evil = "<script>alert(1)</script> \"quoted\" &amp; <img src=x onerror=alert(2)>";
    write_file(folder.path(), "a<b>.txt", format!("{} {evil}", window(0)));
    write_file(folder.path(), "b.txt", format!("{evil} {}", window(3)));
    let call = compare("a<b>.txt", "b.txt").args("--html out.html").within(folder.path());
    let said = call.succeed().stdout;
    assert!(said.contains("Side by side: out.html") && said.contains("jaccard"), "{said}");
    let page = fs::read_to_string(folder.path().join("out.html")).expect("the page was written");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for absent in ["<script", "<img", "a<b>", "http://", "https://", "url(", "@import", "<link"] {
        assert!(!page.contains(absent), "`{absent}` is in the page");
    }
    for there in
        ["&lt;script&gt;alert(1)", "&quot;quoted&quot; &amp;amp;", "<del>", "<ins>", "a&lt;b&gt;.txt"]
    {
        assert!(page.contains(there), "`{there}` is not in\n{page}");
    }
    assert!(page.contains("<th scope=\"row\">jaccard</th>") && page.contains("prefers-color-scheme"));
}

#[test]
fn the_html_page_never_replaces_a_page_that_is_compared() {
    let folder = pair();
    let call = compare("a.txt", "b.html").args("--html ./b.html").within(folder.path());
    call.fail(2).says(&["overwrite", "another file"]);
    assert!(fs::read_to_string(folder.path().join("b.html")).expect("it is there").starts_with("<p>"));
    let failed = compare("a.txt", "b.html").args("--html absent/x.html").within(folder.path()).fail(1);
    failed.says(&["cannot write absent/x.html"]);
}

#[test]
fn the_same_file_twice_and_empty_files_have_defined_answers() {
    let folder = pair();
    write_file(folder.path(), "empty.txt", "");
    write_file(folder.path(), "marks.txt", " -- \n");
    let of = |a: &str, b: &str| as_json(compare(a, b).within(folder.path()));
    for (a, b, exact, similarity, passages) in [
        ("a.txt", "a.txt", true, 1.0, 1),
        ("empty.txt", "empty.txt", true, 1.0, 0),
        ("empty.txt", "marks.txt", true, 1.0, 0),
        ("empty.txt", "a.txt", false, 0.0, 1),
    ] {
        let found = of(a, b);
        assert_eq!(found["exact"], exact, "{a} {b}");
        for method in found["methods"].as_array().expect("a list") {
            assert_eq!(method["similarity"], similarity, "{a} {b}: {method}");
        }
        assert_eq!(found["passages"].as_array().map(Vec::len), Some(passages), "{a} {b}");
    }
    let said = compare("a.txt", "a.txt").within(folder.path()).succeed().stdout;
    assert!(said.contains("Exact duplicates. Their texts are equal.") && !said.contains("\n- "), "{said}");
    let said = compare("empty.txt", "marks.txt").within(folder.path()).succeed().stdout;
    assert!(said.contains("Neither page has words"), "{said}");
}

#[test]
fn any_bytes_are_a_page_and_none_reaches_the_terminal_raw() {
    let folder = tempdir().expect("a folder");
    let bytes: Vec<u8> = (0..=255).cycle().take(9_000).collect();
    write_file(folder.path(), "bytes", &bytes);
    write_file(folder.path(), "escape.txt", "red \x1b[31m alert \x07 \u{202e} and so on");
    let said = compare("bytes", "escape.txt").within(folder.path()).arg("--full").succeed().stdout;
    assert!(said.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{said:?}");
    assert_eq!(as_json(compare("bytes", "bytes").within(folder.path()))["exact"], true);
}

#[test]
fn what_is_no_page_is_refused_with_the_remedy() {
    let folder = pair();
    let path = folder.path();
    write_file(path, "many.jsonl", "{}\n");
    write_file(path, "page.pdf", b"%PDF-1.7");
    write_file(path, "large.txt", "word ".repeat(1 << 20));
    fs::create_dir(path.join("folder")).expect("a folder");
    for (name, said) in [
        ("absent.html", "--run"),
        ("http://a.example/", "--run"),
        ("folder", "a folder"),
        ("many.jsonl", "onecopy dedup"),
        ("page.pdf", "pdftotext"),
        ("large.txt", "--max-page"),
    ] {
        for [a, b] in [[name, "a.txt"], ["a.txt", name]] {
            let failed = compare(a, b).within(path).fail(1);
            failed.says(&[name, said]);
            assert_eq!(failed.stdout, "");
        }
    }
    compare("large.txt", "a.txt").args("--max-page 8M").within(path).succeed();
    compare("a.txt", "a.txt").args("--max-page 0").within(path).fail(2).says(&["out of range"]);
}

#[test]
fn long_pages_are_shortened_unless_all_is_wanted() {
    let folder = tempdir().expect("a folder");
    let text = |stem: &str| (0..3_000).map(|n| format!("{stem}{n}")).collect::<Vec<_>>().join(" ");
    write_file(folder.path(), "a.txt", format!("{} middle {}", text("x"), text("a")));
    write_file(folder.path(), "b.txt", format!("{} middle {}", text("x"), text("b")));
    let lines = |flags: &str| {
        let said = compare("a.txt", "b.txt").args(flags).within(folder.path()).succeed().stdout;
        assert!(said.contains("… 3,001 equal words …"), "{said}");
        assert_eq!(said.contains("… 3,000 words in all"), flags.is_empty(), "{said}");
        assert!(said.lines().all(|line| line.chars().count() <= 110), "{said}");
        said.lines().count()
    };
    assert!(lines("") < 70 && lines("--full") > 400, "{} {}", lines(""), lines("--full"));
}

#[test]
fn main_content_or_all_of_it() {
    let folder = tempdir().expect("a folder");
    let page = |menu: &str| {
        let body = format!("<p>{}.</p>", topic("story").repeat(3));
        let link = |word: &str| format!("<li><a href=/{word}>{menu} {word}</a>");
        let links = ["home", "news", "contact", "about", "shop", "help"].map(link).concat();
        format!("<!doctype html><nav><ul>{links}</ul></nav><main>{body}</main>")
    };
    write_file(folder.path(), "a.html", page("left"));
    write_file(folder.path(), "b.html", page("right"));
    let exact = |content: &str| {
        let found = as_json(compare("a.html", "b.html").args(content).within(Path::new(folder.path())));
        found["exact"].as_bool()
    };
    assert_eq!((exact("--content main"), exact("--content all")), (Some(true), Some(false)));
}
