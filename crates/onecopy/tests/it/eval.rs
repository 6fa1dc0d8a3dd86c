//! `eval` counts right and wrong pairs of labelled sets as computed by hand.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{PACKERS, topic, window, write_file};
use crate::program::{Call, onecopy};

/// Three windows: neighbours have a similarity of 33/39, the ends 30/42. Two more pages are copies of each other. At
/// 0.8 the pairs ab, bc and de are found. Pages a, b and e are from one site, c and d from another.
fn docs() -> String {
    let page = |id: &str, site: &str, text: String| {
        json!({"id": id, "url": format!("http://{site}.example/{id}"), "text": text}).to_string() + "\n"
    };
    [
        page("a", "one", window(0)),
        page("b", "one", window(3)),
        page("c", "two", window(6)),
        page("d", "two", topic("d")),
        page("e", "one", topic("d")),
    ]
    .concat()
}

const PAIRS: &str = "id1,id2,label,kind\nb,a,1,x\nb,c,0,\na,c,1\ne,d,-1,y\n";

fn set(files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir().expect("a folder");
    files.iter().for_each(|(name, content)| drop(write_file(folder.path(), name, content)));
    folder
}

fn eval(folder: &Path) -> Call {
    onecopy(["eval".into(), folder.as_os_str().to_owned()]).args("--method jaccard")
}

/// The output of `--json`, which must be one object.
fn only(call: Call) -> Value {
    let said = call.arg("--json").succeed().stdout;
    let found: Value = serde_json::from_str(&said).expect("stdout is one JSON value");
    let [one] = &found.as_array().expect("an array")[..] else { panic!("{found}") };
    one.clone()
}

fn numbers<const N: usize>(found: &Value, names: [&str; N]) -> [Option<f64>; N] {
    names.map(|name| found[name].as_f64())
}

const COUNTS: [&str; 4] = ["pairs", "duplicates", "found", "right"];
const SHARES: [&str; 4] = ["precision", "recall", "f1", "ari"];

#[test]
fn pairs_by_hand() {
    let folder = set(&[("docs.jsonl", &docs()), ("pairs.csv", PAIRS)]);
    let found = only(eval(folder.path()));
    let name = folder.path().file_name().expect("a name").to_string_lossy();
    assert_eq!((&found["set"], &found["method"]), (&json!(name), &json!("jaccard")));
    assert_eq!(numbers(&found, ["threshold", "pages", "unscored"]), [0.8, 5.0, 1.0].map(Some));
    assert_eq!(numbers(&found, COUNTS), [9.0, 2.0, 2.0, 1.0].map(Some), "de is not scored");
    assert_eq!(numbers(&found, SHARES), [0.5, 0.5, 0.5, 1.0].map(Some));
    let low = found["precision_interval"][0].as_f64().expect("a number");
    let high = found["precision_interval"][1].as_f64().expect("a number");
    assert!((low - 0.0945).abs() < 1e-4 && (high - 0.9055).abs() < 1e-4, "{low} {high}");
    assert_eq!(numbers(&found["same_site"], COUNTS), [4.0, 1.0, 1.0, 1.0].map(Some));
    assert_eq!(numbers(&found["same_site"], SHARES), [1.0; 4].map(Some));
    assert_eq!(numbers(&found["cross_site"], COUNTS), [5.0, 1.0, 1.0, 0.0].map(Some));
    let cross = numbers(&found["cross_site"], SHARES).map(|share| share.expect("a number"));
    assert!(cross[..3] == [0.0; 3] && (cross[3] + 1.0 / 9.0).abs() < 1e-9, "{cross:?}");
    let band = |number: usize| numbers(&found["bands"][number], ["from", "duplicates", "found"]);
    assert_eq!(band(2), [0.6, 1.0, 0.0].map(Some));
    assert_eq!(band(3), [0.8, 1.0, 1.0].map(Some));
}

#[test]
fn thresholds_and_mistakes_by_hand() {
    let folder = set(&[("docs.jsonl", &docs()), ("pairs.csv", PAIRS)]);
    let found = only(eval(folder.path()));
    let curve = found["curve"].as_array().expect("a curve");
    let at = |threshold: f64| {
        let point = curve.iter().find(|point| point["threshold"] == json!(threshold));
        numbers(point.expect("a point"), ["precision", "recall"])
    };
    assert_eq!((curve.len(), at(0.7)), (96, [Some(2.0 / 3.0), Some(1.0)]));
    assert_eq!((at(0.8), at(0.85)), ([Some(0.5), Some(0.5)], [None, Some(0.0)]));
    assert_eq!(found["best_f1"]["f1"], json!(0.8));
    let mistakes: Vec<Value> = found["mistakes"].as_array().expect("mistakes").clone();
    let told = |mistake: &Value| [&mistake["kind"], &mistake["id1"], &mistake["id2"]].map(Value::clone);
    assert_eq!(told(&mistakes[0]), [json!("false-positive"), json!("b"), json!("c")]);
    assert_eq!(told(&mistakes[1]), [json!("false-negative"), json!("a"), json!("c")]);
    assert_eq!(mistakes[1]["url2"], json!("http://two.example/c"));
    assert!((mistakes[1]["similarity"].as_f64().expect("a number") - 30.0 / 42.0).abs() < 1e-12);
    assert_eq!(mistakes.len(), 2);
    assert_eq!(only(eval(folder.path()).args("--mistakes 0"))["mistakes"], json!([]));
    let lower = only(eval(folder.path()).args("--threshold 0.7"));
    assert_eq!(numbers(&lower, SHARES)[..2], [Some(2.0 / 3.0), Some(1.0)]);
}

#[test]
fn only_listed_pairs_if_that_is_asked_for() {
    let folder = set(&[("docs.jsonl", &docs()), ("pairs.csv", "id1,id2,label\na,b,1\na,c,0\n")]);
    let found = only(eval(folder.path()).args("--listed-only"));
    assert_eq!(numbers(&found, COUNTS), [2.0, 1.0, 1.0, 1.0].map(Some));
    let all = eval(folder.path()).succeed();
    assert!(all.stderr.contains("give --listed-only"), "{}", all.stderr);
    assert_eq!(numbers(&only(eval(folder.path())), COUNTS), [10.0, 1.0, 3.0, 1.0].map(Some));
}

#[test]
fn clusters_alone_say_what_duplicates_are() {
    let clusters = "id,cluster\na,x\nb,x\nc,y\nd,z\ne,z\n";
    let folder = set(&[("docs.jsonl", &docs()), ("clusters.csv", clusters)]);
    let found = only(eval(folder.path()));
    assert_eq!(numbers(&found, COUNTS), [10.0, 2.0, 3.0, 2.0].map(Some));
    let ari = found["ari"].as_f64().expect("a number");
    assert!((ari - 1.2 / 2.2).abs() < 1e-12, "{ari}");
    assert_eq!(numbers(&found["cross_site"], COUNTS), [6.0, 1.0, 2.0, 1.0].map(Some));
    eval(folder.path()).args("--listed-only").fail(1).says(&["no pairs.csv", "--listed-only"]);
}

#[test]
fn packings_kinds_of_ids_and_html() {
    let lines = [
        json!({"id": 7, "html": "<p>one two three four five six", "text": "no"}),
        json!({"id": "x,y", "site": "s", "text": "one two three four five six"}),
        json!({"id": "void", "html": "<p>…"}),
    ];
    let docs: String = lines.iter().map(|line| format!("{line}\n\n")).collect();
    let wide = |bytes: &[u8]| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("memory takes it");
        encoder.window_log(27).expect("a window");
        encoder.write_all(bytes).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    for (ending, packer) in PACKERS.into_iter().chain([("zst", wide as fn(&[u8]) -> Vec<u8>)]) {
        let folder = set(&[("pairs.csv", "\u{feff}id1,id2,label\r\n7,\"x,y\",1\r\nvoid,7,1\r\n")]);
        write_file(folder.path(), &format!("docs.jsonl.{ending}"), packer(docs.as_bytes()));
        let found = only(eval(folder.path()));
        assert_eq!(numbers(&found, COUNTS), [1.0; 4].map(Some), "{ending}");
        assert_eq!(numbers(&found, ["pages", "empty_pages", "empty_pairs"]), [2.0, 1.0, 1.0].map(Some));
        assert_eq!(found["same_site"]["pairs"], json!(0), "7 has no site");
        assert_eq!(found["same_site"]["precision"], Value::Null);
    }
}

#[test]
fn tables_plots_and_pictures_for_people() {
    let folder = set(&[("docs.jsonl", &docs()), ("pairs.csv", PAIRS)]);
    let picture = folder.path().join("p.svg");
    let said = eval(folder.path())
        .arg(folder.path())
        .args("--method jaccard:threshold=0.7 --plot")
        .arg(&picture)
        .succeed()
        .stdout;
    let row = said.lines().find(|line| line.starts_with("jaccard ")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..4], ["jaccard", "0.80", "0.500", "[0.09,"], "{said}");
    for words in ["2 duplicates among 9 pairs, 1 not scored", "jaccard:threshold=0.7", "▲", "onecopy compare"]
    {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    let drawn = fs::read_to_string(picture).expect("a picture");
    assert!(drawn.starts_with("<svg") && drawn.contains(">jaccard:threshold=0.7<"), "{drawn}");
}

#[test]
fn threads_change_nothing() {
    let folder = set(&[("docs.jsonl", &docs()), ("pairs.csv", PAIRS)]);
    let found = ["-j 1", "-j 4"].map(|threads| {
        let mut found = only(eval(folder.path()).args(threads));
        for clock in ["sketch_seconds", "compare_seconds", "pages_per_second"] {
            found[clock] = Value::Null;
        }
        found
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn bad_sets_are_named_with_the_remedy() {
    let docs = docs();
    let twice = format!("{docs}{docs}");
    let cases: [(&str, &str, &[&str]); 13] = [
        (&docs, "", &["no column `id1`", "id1,id2,label"]),
        (&docs, "id1,id2,label\na,zz,1\n", &["pairs.csv, line 2", "no page of the set has the id \"zz\""]),
        (&docs, "id1,id2,label\na,b,1\na,b\n", &["pairs.csv, line 3", "no cell 3"]),
        (&docs, "id1,id2,label\na,b,yes\n", &["pairs.csv, line 2", "\"yes\" is not a label", "-1"]),
        (&docs, "id1,id2,label\na,a,1\n", &["paired with itself"]),
        (&docs, "id1,id2,label\na,b,1\nb,a,0\n", &["pairs.csv, line 3", "another label"]),
        (&docs, "id1,id2,label\n\"a,b,1\n", &["quotation mark"]),
        ("", PAIRS, &["no page has words"]),
        ("{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\"", PAIRS, &["docs.jsonl, line 2", "EOF"]),
        ("{\"text\":\"x\"}\n", PAIRS, &["docs.jsonl, line 1", "no `id`"]),
        ("{\"id\":\"a\"}\n", PAIRS, &["neither `html` nor `text`"]),
        ("{\"id\":\"a\",\"text\":5}\n", PAIRS, &["`text` is not a string"]),
        (&twice, PAIRS, &["docs.jsonl, line 6", "is also in an earlier line"]),
    ];
    for (docs, pairs, words) in cases {
        let folder = set(&[("docs.jsonl", docs), ("pairs.csv", pairs)]);
        eval(folder.path()).fail(1).says(words);
    }
    let folder = set(&[("docs.jsonl", &docs)]);
    eval(folder.path()).fail(1).says(&["neither pairs.csv nor clusters.csv"]);
    let folder = set(&[("pairs.csv", PAIRS)]);
    eval(folder.path()).fail(1).says(&["no docs.jsonl"]);
    eval(&folder.path().join("absent")).fail(1).says(&["no such folder"]);
    let folder = set(&[("docs.jsonl", &docs), ("clusters.csv", "id,cluster\na,1\na,2\n")]);
    eval(folder.path()).fail(1).says(&["clusters.csv, line 3", "one cluster"]);
}

#[test]
fn bad_calls_end_before_anything_is_read() {
    let folder = set(&[("docs.jsonl", &docs()), ("pairs.csv", PAIRS)]);
    for (flags, word) in [
        ("--method abacus", "abacus"),
        ("--threshold 2", "threshold 2"),
        ("-k 0", "shingle length 0"),
        ("-j 0", "0 threads"),
        ("--mistakes 99999999", "99999999 mistakes"),
    ] {
        let failed = eval(folder.path()).args(flags).fail(2);
        failed.says(&[word]);
        assert!(!failed.stderr.contains("read:"), "{}", failed.stderr);
    }
}

/// The folder of the labelled sets, if it exists on this machine.
fn labelled() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("ONECOPY_DATA").map_or(beside, PathBuf::from);
    Some(data.join("labelled")).filter(|folder| folder.join("ota-pages-dev").is_dir())
}

#[test]
fn real_pages_with_labels() {
    let Some(labelled) = labelled() else {
        println!("skipped: neither $ONECOPY_DATA nor ../shared/data has labelled/ota-pages-dev");
        return;
    };
    let found = only(eval(&labelled.join("ota-pages-dev")).args("--listed-only --quiet"));
    assert_eq!(numbers(&found, ["pages", "empty_pages"]), [1_106.0, 0.0].map(Some));
    assert_eq!(numbers(&found, ["pairs", "duplicates", "unscored"]), [5_664.0, 2_191.0, 706.0].map(Some));
    let [precision, recall] = numbers(&found, ["precision", "recall"]).map(|share| share.expect("a number"));
    assert!(precision > 0.95 && recall > 0.9, "precision {precision}, recall {recall}");
}
