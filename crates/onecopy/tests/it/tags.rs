//! Tags that a collection keeps: as `onecopy tag` makes them, in answers, exports and backups.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::client::{Server, serve};
use crate::collection::on;
use crate::pages::{topic, window, write_file, write_records};
use crate::program::onecopy;
use crate::results::{json_lines, plain};

/// The tags in a file, by name.
fn read(path: &Path) -> BTreeMap<String, String> {
    json_lines(path).iter().map(|line| (plain(&line["id"]), plain(&line["tag"]))).collect()
}

/// The tags that a collection has.
pub fn exported(folder: &Path) -> BTreeMap<String, String> {
    let out = folder.join("exported.jsonl");
    on("export", folder).args("--status all --tags --quiet --out").arg(&out).succeed();
    read(&out)
}

/// The tags that `onecopy tag` makes.
fn made(folder: &Path, input: &Path) -> BTreeMap<String, String> {
    let out = folder.join("made.jsonl");
    onecopy(["tag", "--quiet", "--overwrite"]).arg(input).arg("--out").arg(&out).succeed();
    read(&out)
}

/// Pages of text and of HTML, one without words.
fn pages() -> String {
    let html = format!("<nav>Home Menu</nav><article><h1>A story</h1><p>{}</article>", topic("html"));
    let pages = [
        json!({"id": "a", "text": topic("a")}),
        json!({"id": "b", "text": window(0)}),
        json!({"id": 7, "url": "http://a.example/", "html": html}),
        json!({"id": "silent", "text": " -- "}),
    ];
    pages.iter().map(|page| format!("{page}\n")).collect()
}

#[test]
fn a_collection_has_the_tags_that_the_command_makes() {
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), "in.jsonl", pages());
    on("import", folder.path()).arg(&input).args("--tags --quiet").succeed();
    let tags = made(folder.path(), &input);
    assert_eq!(tags.keys().collect::<Vec<_>>(), ["7", "a", "b"]);
    assert_eq!(exported(folder.path()), tags);
    // Pages that come later get tags without asking.
    let more = write_records(folder.path(), "more.jsonl", &[("c", &topic("c"))]);
    on("import", folder.path()).arg(&more).args("--quiet").succeed();
    assert_eq!(exported(folder.path()).get("c"), made(folder.path(), &more).get("c"));
    on("check", folder.path()).succeed();
    on("backup", folder.path()).arg("--to").arg(folder.path().join("backups")).succeed();
    let copy = tempdir().expect("a folder");
    on("restore", copy.path()).arg("--from").arg(folder.path().join("backups")).succeed();
    assert_eq!(exported(copy.path()), exported(folder.path()));
}

#[test]
fn a_collection_without_tags_stays_so() {
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), "in.jsonl", pages());
    on("import", folder.path()).arg(&input).args("--quiet").succeed();
    on("import", folder.path())
        .arg(&input)
        .arg("--tags")
        .fail(2)
        .says(&["begun without tags", "leave --tags out"]);
    on("export", folder.path()).arg("--tags").fail(2).says(&["it has no tags", "onecopy import --tags"]);
    let target = "elasticsearch://127.0.0.1:9/web";
    on("sync", folder.path()).args("--tags --to").arg(target).fail(2).says(&["it has no tags"]);
}

fn put(server: &Server, id: &str, text: &str) {
    server.post("/pages", &json!({"id": id, "text": text}).to_string()).with(202);
}

#[test]
fn a_server_answers_with_tags_and_compares_them() {
    let server = serve("--tags");
    let long = |topic_of: &str| (0..12).map(|part| topic(&format!("{topic_of}{part}"))).collect::<String>();
    let (one, other) = (long("one"), long("other"));
    put(&server, "a", &one);
    put(&server, "b", &format!("{one} and some more words"));
    put(&server, "c", &other);
    server.settle();
    let record = server.get("/pages?page=a&record=true").with(200);
    let tag = plain(&record["tag"]);
    assert!(tag.starts_with("1:256:2048:5:"), "{record}");
    let told = server.post("/status", &json!({"pages": ["a", "none"], "tags": true}).to_string()).with(200);
    assert_eq!((&told["pages"][0]["tag"], &told["pages"][1]["tag"]), (&json!(tag), &Value::Null), "{told}");
    let ask = |body: Value| server.post("/refine", &body.to_string()).with(200);
    let ids = json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]);
    let sketches = ask(json!({"results": ids}));
    assert_eq!((&sketches["compared"], &sketches["groups"]), (&json!("pages"), &json!(2)), "{sketches}");
    // Tags, because the request chooses them, or because a result has nothing else.
    let chosen = ask(json!({"results": ids, "method": "bloom"}));
    assert_eq!((&chosen["compared"], &chosen["groups"]), (&json!("tags"), &json!(2)), "{chosen}");
    let beside = ask(json!({"results": [{"id": "c"}, {"id": "b"}, {"id": "gone"}, {"tag": tag}]}));
    assert_eq!((&beside["compared"], &beside["groups"]), (&json!("tags"), &json!(3)), "{beside}");
    let without = serve("");
    put(&without, "a", &one);
    without.settle();
    let asked = without.post("/status", &json!({"pages": ["a"], "tags": true}).to_string());
    asked.fails(400, "this collection has no tags");
    assert_eq!(without.get("/pages?page=a&record=true").with(200).get("tag"), None);
}
