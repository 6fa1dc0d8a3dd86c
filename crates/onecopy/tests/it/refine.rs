//! `refine`, `POST /refine` and `tag`: each content of search results once, and clear answers to bad input.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::client::serve;
use crate::pages::{topic, window, write_file};
use crate::program::{Call, onecopy};

fn refine(folder: &Path, results: &str) -> Call {
    write_file(folder, "results.json", results);
    onecopy(["refine", "results.json"]).within(folder)
}

/// The document that the call prints.
fn document(call: Call) -> Value {
    serde_json::from_str(&call.arg("--json").succeed().stdout).expect("stdout is one JSON value")
}

/// Rank, relation and rank of the anchor of each result.
fn standings(document: &Value) -> Vec<(u64, String, Option<u64>)> {
    let results = document["results"].as_array().expect("results");
    let standing = |result: &Value| {
        let own = &result["onecopy"];
        let relation = own["relation"].as_str().expect("a relation").to_owned();
        (own["rank"].as_u64().expect("a rank"), relation, own["anchor_rank"].as_u64())
    };
    results.iter().map(standing).collect()
}

fn standing(rank: u64, relation: &str, anchor: Option<u64>) -> (u64, String, Option<u64>) {
    (rank, relation.into(), anchor)
}

/// A chain of windows, a page that holds most of the first, and one of its own.
fn results() -> Value {
    json!([
        {"id": "a", "text": window(0), "shop": {"price": 1.50}},
        {"id": "b", "text": topic("b")},
        {"id": 7, "text": window(3)},
        {"id": "c", "text": window(6)},
        {"id": "d", "text": format!("{} and six more words follow here", window(0)), "note": "}"},
        {"id": "e", "text": ""},
        {"id": "f", "text": " -- "},
    ])
}

#[test]
fn groups_are_under_their_best_ranked_member() {
    let folder = tempdir().expect("a folder");
    let text = results().to_string();
    let found = document(refine(folder.path(), &text));
    let expected = [
        standing(1, "anchor", None),
        standing(3, "similar", Some(1)),
        standing(5, "contains-anchor", Some(1)),
        standing(2, "anchor", None),
        standing(4, "anchor", None),
        standing(6, "anchor", None),
        standing(7, "anchor", None),
    ];
    assert_eq!(standings(&found), expected);
    let [compared, method] = ["compared", "method"].map(|name| found[name].as_str().expect("a word"));
    assert_eq!((compared, method, &found["threshold"]), ("pages", "auto", &json!(0.8)));
    assert_eq!(
        ["given", "groups", "repeats", "left_out"].map(|name| found[name].as_u64()),
        [7, 5, 2, 0].map(Some)
    );
    let (first, second) = (&found["results"][0], &found["results"][1]);
    assert_eq!((&first["shop"]["price"], &first["onecopy"]["repeats"]), (&json!(1.5), &json!(2)));
    assert_eq!((&second["id"], &second["onecopy"]["anchor"]), (&json!(7), &json!("a")));
    assert_eq!(second["onecopy"]["similarity"], json!(0.84615));
    let joined = standings(&document(refine(folder.path(), &text).arg("--transitive")));
    assert_eq!(joined[2], standing(4, "similar", Some(1)), "similar through 7");
    let dropped = document(refine(folder.path(), &text).args("--drop --keep 2"));
    assert_eq!(standings(&dropped), [standing(1, "anchor", None), standing(2, "anchor", None)]);
    assert_eq!(dropped["left_out"], 3);
}

#[test]
fn lines_come_back_as_they_were_and_can_be_refined_again() {
    let folder = tempdir().expect("a folder");
    let words = topic("x");
    let lines = format!(
        "{{\"id\":1,\"n\":1.00,\"text\":\"{words}\"}}\n\n{{\n \"id\":2, \"text\":\"{words}\"}}\n{{}}\n"
    );
    let said = refine(folder.path(), &lines).arg("--jsonl").succeed().stdout;
    let standing = r#""onecopy":{"rank":1,"relation":"anchor","repeats":1,"compared":"pages"}"#;
    assert_eq!(
        said.lines().next().expect("a line"),
        format!("{{\"id\":1,\"n\":1.00,\"text\":\"{words}\",{standing}}}")
    );
    assert!(said.ends_with(
        "\n{\"onecopy\":{\"rank\":3,\"relation\":\"anchor\",\"repeats\":0,\"compared\":\"pages\"}}\n"
    ));
    let again = refine(folder.path(), &said).arg("--jsonl").succeed().stdout;
    let values = |text: &str| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    assert_eq!(values(&again), values(&said));
    let people = refine(folder.path(), &lines).succeed().stdout;
    assert!(people.contains("100 %  2") && people.contains("(similar to 1)"), "{people}");
    assert!(people.ends_with("3 results: 2 groups, 1 repeat; compared pages by auto at 0.8\n"), "{people}");
}

#[test]
fn ranks_and_scores_decide_who_is_the_anchor() {
    let folder = tempdir().expect("a folder");
    let results = |field: &str, values: [Option<i32>; 2]| {
        let result = |id: &str, value: Option<i32>| json!({"id": id, "text": topic("x"), field: value});
        json!([result("a", values[0]), result("b", values[1])]).to_string()
    };
    let first = |results: &str| {
        let said = refine(folder.path(), results).args("--drop --json").succeed();
        let found: Value = serde_json::from_str(&said.stdout).expect("JSON");
        (found["results"][0]["id"].clone(), found["notes"].to_string())
    };
    assert_eq!(first(&results("rank", [Some(2), Some(1)])).0, "b");
    assert_eq!(first(&results("score", [Some(2), Some(1)])).0, "a");
    assert_eq!(first(&results("score", [Some(1), Some(2)])).0, "b");
    let (id, notes) = first(&results("rank", [None, Some(1)]));
    assert!(id == "a" && notes.contains("1 of 2 results has no rank"), "{notes}");
}

#[test]
fn passages_are_compared_for_a_query() {
    let folder = tempdir().expect("a folder");
    let page = |own: &str| {
        format!("{} {} tortoise {} {}", topic(own), window(0), window(40), topic(&(own.to_owned() + "y")))
    };
    let results = json!([{"id": 1, "text": page("a")}, {"id": 2, "text": page("b")}]).to_string();
    let compared = |args: &[&str]| {
        let call = args.iter().fold(refine(folder.path(), &results), |call, arg| call.arg(*arg));
        let found = document(call);
        (found["compared"].as_str().expect("a word").to_owned(), found["repeats"].as_u64())
    };
    assert_eq!(compared(&[]), ("pages".into(), Some(0)));
    assert_eq!(compared(&["--query", "the Tortoise"]), ("passages".into(), Some(1)));
    assert_eq!(compared(&["--query", "the of and"]), ("pages".into(), Some(0)));
}

#[test]
fn bad_input_gets_a_clear_answer() {
    let folder = tempdir().expect("a folder");
    let tag = "1:256:64:5:ABAAIAQAAAA";
    for (results, args, code, words) in [
        ("[{\"id\": 1,", "", 1, "results.json: EOF while parsing"),
        ("{\"id\": 1}\n{\"id\"", "", 1, "line 2"),
        ("[1]", "", 1, "result 1: it is not a JSON object"),
        ("[{\"text\": \"a\"}, {\"text\": 5}]", "", 1, "result 2: its field text is a number: give a string"),
        ("[{\"id\": []}]", "", 1, "result 1: its field id is a list"),
        ("[{\"rank\": \"first\"}]", "", 1, "its field rank is a string: give a number"),
        ("[{\"tag\": \"x\"}]", "", 1, "result 1: it is not a tag"),
        ("[{\"tag\": \"9:256:64:5:ABAAIAQAAAA\"}]", "", 1, "version 9, and only version 1"),
        ("[]", "--keep 0", 2, "set it with --keep"),
        ("[]", "--threshold 2", 2, "set it with --threshold"),
        ("[]", "--method bogus", 2, "there is no method \"bogus\""),
    ] {
        let said = refine(folder.path(), results).args(args).fail(code).stderr;
        assert!(said.contains(words), "{results}: {said}");
    }
    let both = json!([{"tag": tag}, {"tag": tag.replacen("256", "512", 1)}]).to_string();
    let said = refine(folder.path(), &both).fail(2).stderr;
    assert!(said.contains("chunk=512:bits=64:hashes=5") && said.contains("cannot be compared"), "{said}");
    let said = refine(folder.path(), &both).args("--method simhash").fail(2).stderr;
    assert!(said.contains("method simhash cannot compare tags"), "{said}");
    assert_eq!(standings(&document(refine(folder.path(), "[]"))), []);
    let twice = json!([{"id": 1, "text": topic("a")}, {"id": 1, "text": topic("b")}, {"id": 2}]).to_string();
    let found = document(refine(folder.path(), &twice));
    assert_eq!((found["groups"].as_u64(), found["notes"].as_array().map(Vec::len)), (Some(3), Some(2)));
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("the id 1 occurs more than once") && notes.contains("nothing to compare"),
        "{notes}"
    );
    let broken = json!([{"html": format!("<p <<!-- {}", "<div>".repeat(5000))}, {"html": "<"}]).to_string();
    assert_eq!(document(refine(folder.path(), &broken))["groups"], 2);
}

#[test]
fn ten_thousand_results_are_refined() {
    let folder = tempdir().expect("a folder");
    let text = |n: u32| {
        format!("{} {}", topic(&format!("t{}x", n % 5_000)), if n.is_multiple_of(3) { "end" } else { "" })
    };
    let results: Vec<Value> = (0..10_000).map(|n| json!({"id": n, "title": n, "text": text(n)})).collect();
    let found = document(refine(folder.path(), &json!(results).to_string()));
    assert_eq!((found["groups"].as_u64(), found["repeats"].as_u64()), (Some(5_000), Some(5_000)));
}

#[test]
fn tags_stand_for_pages() {
    let folder = tempdir().expect("a folder");
    let long = |stem: &str| (0..60).map(|n| topic(&format!("{stem}{n}x"))).collect::<Vec<_>>().join(" ");
    let html = format!("<html><body><p>{}</p></body></html>", long("a"));
    let lines = [
        json!({"id": "a", "text": long("a")}).to_string(),
        "{\"id\": \"broken\"".into(),
        json!({"url": "http://b.example/", "text": long("b")}).to_string(),
        json!({"id": 3, "text": "..."}).to_string(),
        json!({"text": format!("{} {}", long("a"), topic("z"))}).to_string(),
    ];
    write_file(folder.path(), "pages.jsonl", lines.join("\n"));
    write_file(folder.path(), "site/page.html", html);
    let call = onecopy(["tag", "pages.jsonl", "site", "--out", "tags.jsonl", "--rejected", "no.jsonl"]);
    let said = call.within(folder.path()).succeed().stdout;
    assert!(said.starts_with("4 tags of 6 records in tags.jsonl\n"), "{said}");
    assert!(said.contains("pages.jsonl:2: EOF") && said.contains("pages.jsonl:4: no words"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("no.jsonl")).expect("a list").lines().count(), 2);
    let tags = fs::read_to_string(folder.path().join("tags.jsonl")).expect("tags");
    assert!(tags.lines().all(|line| line.contains("\"tag\":\"1:256:2048:5:")), "{tags}");
    let found = document(refine(folder.path(), &tags));
    let ids: Vec<&Value> = found["results"].as_array().expect("results").iter().map(|r| &r["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!("pages.jsonl:5"), &json!("page.html"), &json!("http://b.example/")]);
    assert_eq!(
        (&found["compared"], &found["method"], &found["repeats"]),
        (&json!("tags"), &json!("bloom"), &json!(2))
    );
    assert_eq!(found["threshold"], json!(0.7));
    let mixed = tags.replacen("\"tag\"", "\"text\":\"words\",\"tag\"", 2);
    assert_eq!(
        document(refine(folder.path(), &mixed))["repeats"],
        2,
        "texts give way if a result has only a tag"
    );
}

#[test]
fn tags_are_written_as_parquet_and_refused_rules_are_named() {
    let folder = tempdir().expect("a folder");
    let lines: String =
        (0..9_000).map(|n| json!({"id": n, "text": topic(&format!("t{n}x"))}).to_string() + "\n").collect();
    write_file(folder.path(), "pages.jsonl", lines);
    let tag = |args: &str| onecopy(["tag", "pages.jsonl"]).within(folder.path()).args(args);
    let said = tag("--out tags.parquet --bits 512 --json").succeed().stdout;
    let found: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&found["tagged"]["tagged"], &found["tagged"]["rejected"]), (&json!(9_000), &json!(0)));
    // The program reads its own Parquet: two columns of text, and one of bytes.
    let call = onecopy(["dedup", "tags.parquet", "--text-field", "rules", "--out", "out", "--json"]);
    let report = call.within(folder.path()).succeed().stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&report["read"], &report["kept"]), (&json!(9_000), &json!(1)));
    let said = tag("--out tags.jsonl --bits 1000").fail(2).stderr;
    assert!(said.contains("bits=1000 is not valid") && said.contains("set it with --bits"), "{said}");
    assert!(!folder.path().join("tags.jsonl").exists());
    let said = tag("--out tags.parquet").fail(2).stderr;
    assert!(said.contains("never replace a file unasked") && said.contains("--overwrite"), "{said}");
    tag("--out tags.parquet --overwrite --quiet").succeed();
    // A folder stands for all that is no file, such as a device.
    let said = tag("--out out --overwrite").fail(2).stderr;
    assert!(said.contains("out exists"), "{said}");
}

#[test]
fn the_service_refines_pages_by_id() {
    let server = serve("");
    for (id, text) in [("a", window(0)), ("b", window(3)), ("c", topic("c"))] {
        server.post("/pages", &json!({"id": id, "text": text}).to_string()).with(202);
    }
    server.settle();
    let ask = |body: Value| server.post("/refine", &body.to_string());
    let found =
        ask(json!({"results": [{"id": "c"}, {"id": "b"}, {"id": "x"}, {"id": "a"}, {"text": window(1)}]}))
            .with(200);
    let expected = [
        standing(1, "anchor", None),
        standing(2, "anchor", None),
        standing(4, "similar", Some(2)),
        standing(5, "similar", Some(2)),
        standing(3, "anchor", None),
    ];
    assert_eq!(standings(&found), expected);
    assert!(found["notes"].to_string().contains("1 id is not in the collection"), "{found}");
    let dropped = ask(json!({"results": [{"id": "a"}, {"id": "b"}], "drop": true, "keep": 1})).with(200);
    assert_eq!(standings(&dropped), [standing(1, "anchor", None)]);
    let strict = ask(json!({"results": [{"id": "a"}, {"id": "b"}], "threshold": 0.9})).with(200);
    assert_eq!(strict["groups"], 2);
    let asked = ask(json!({"results": [{"id": "a"}, {"id": "b"}], "query": "w010"})).with(200);
    assert_eq!((&asked["compared"], &asked["groups"]), (&json!("passages"), &json!(1)));
    for (body, words) in [
        (
            json!({"results": [{"id": "a"}], "method": "simhash"}),
            "cannot compare pages of this collection by id",
        ),
        (json!({"results": [{"id": "a"}, {"tag": "1:256:64:5:ABAAIAQAAAA"}]}), "a tag and a sketch"),
        (json!({"results": [{"text": 1}]}), "result 1: its field text"),
        (json!({"results": [], "keep": 0}), "0 groups"),
        (json!({"results": [], "threshold": 7}), "out of range"),
        (json!({"hits": []}), "unknown field"),
    ] {
        let refused = ask(body).with(400);
        assert!(refused["error"].to_string().contains(words), "{refused}");
    }
    let many = json!({"results": vec![json!({}); 10_001]});
    assert!(ask(many).with(413)["error"].to_string().contains("the limit is 10000"));
}
