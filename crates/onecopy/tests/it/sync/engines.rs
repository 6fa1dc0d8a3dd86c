//! Search engines, as their documentation describes requests and answers. None of them runs here.

mod shapes;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use super::fixture::{Fixture, Reply};
use super::{Entry, expected, summary, sync};
use crate::client::write_token;
use crate::collection::on;
use crate::pages::{topic, window, write_records};
use crate::results::json_lines;
pub use shapes::Engine;

/// A page that has no document, and one that the engine refuses.
const MISSING: &str = "no-document";
const REFUSED: &str = "refused";

/// A collection with groups, and pages that an index does not take.
fn collection() -> TempDir {
    let folder = tempdir().expect("a folder");
    let mut pages: Vec<(String, String)> =
        (0..40).map(|page| (format!("p{page}"), window(page % 13))).collect();
    pages.extend([(MISSING.into(), topic("x")), (REFUSED.into(), topic("y")), ("busy".into(), topic("z"))]);
    let pages: Vec<(&str, &str)> = pages.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    on("import", folder.path()).arg(write_records(folder.path(), "in.jsonl", &pages)).succeed();
    folder
}

/// The fields that documents should have, without those of some pages.
fn without(folder: &Path, ids: &[&str]) -> BTreeMap<String, Entry> {
    expected(folder).into_iter().filter(|(id, _)| !ids.contains(&id.as_str())).collect()
}

/// Each engine gets the fields. Refused pages are listed and tried again, and a busy engine is waited for.
fn takes_the_fields(engine: Engine) {
    let folder = collection();
    let index = engine.index();
    index.add(expected(folder.path()).into_keys().filter(|id| id != MISSING));
    index.refuse(REFUSED);
    index.be_busy_for("busy");
    let fixture = Fixture::start({
        let index = index.clone();
        move |request| engine.answer(&index, request)
    });
    let target = engine.target(&fixture.address);
    let first = sync(folder.path(), &target).args("--json --batch 30").fail(3);
    first.says(&["refuses 2 pages"]);
    let told = summary(&first);
    let list = json_lines(Path::new(told["failed_list"].as_str().expect("a path")));
    let listed: Vec<&str> = list.iter().filter_map(|line| line["page"].as_str()).collect();
    assert_eq!(listed, [MISSING, REFUSED]);
    assert_eq!(list[0]["reason"], "no document has this id");
    assert!(list[1]["reason"].as_str().is_some_and(|why| why.contains("mapping")), "{list:?}");
    assert_eq!(index.entries(), without(folder.path(), &[MISSING, REFUSED]));
    assert!(!index.has(MISSING), "sync creates no document");
    engine.check_first(&fixture.requests());
    // The indexer catches up, and the next sync sends these two pages alone.
    index.add([MISSING.to_owned()]);
    index.accept(REFUSED);
    let second = summary(&sync(folder.path(), &target).args("--json").succeed());
    assert_eq!((&second["sent"], &second["failed"]), (&json!(2), &json!(0)), "{second}");
    assert_eq!(index.entries(), expected(folder.path()));
    // A crash before the cursor was saved: everything is sent again, and nothing changes.
    std::fs::remove_dir_all(folder.path().join("pages.sync")).expect("a folder");
    sync(folder.path(), &target).succeed();
    assert_eq!(index.entries(), expected(folder.path()));
    let third = summary(&sync(folder.path(), &target).args("--json").succeed());
    assert_eq!(third["sent"], 0);
}

#[test]
fn elasticsearch_takes_the_fields() {
    takes_the_fields(Engine::Elasticsearch);
}

#[test]
fn solr_takes_the_fields() {
    takes_the_fields(Engine::Solr);
}

#[test]
fn meilisearch_takes_the_fields() {
    takes_the_fields(Engine::Meilisearch);
}

#[test]
fn typesense_takes_the_fields() {
    takes_the_fields(Engine::Typesense);
}

#[test]
fn a_missing_index_is_an_error_that_says_what_to_do() {
    let folder = collection();
    for engine in Engine::ALL {
        let fixture = Fixture::start(|_| Reply(404, "", r#"{"message":"Not Found"}"#.into()));
        let finished = sync(folder.path(), &engine.target(&fixture.address)).fail(1);
        finished.says(&["has no index named `web`", "index your pages first"]);
        assert!(fixture.requests().len() == 1, "{engine:?}: nothing is sent");
    }
}

#[test]
fn an_engine_that_stays_busy_or_breaks_off_is_an_error_and_the_cursor_stays() {
    let folder = collection();
    let index = Engine::Elasticsearch.index();
    index.add(expected(folder.path()).into_keys());
    let answers: [fn() -> Reply; 4] = [
        || Reply(429, "Retry-After: 3600\r\n", "{}".into()),
        || Reply(500, "", "out of memory".into()),
        || Reply(200, "", r#"{"took":1,"errors":false,"items":[]}"#.into()),
        || Reply(200, "", r#"{"took":1,"err"#.into()),
    ];
    for (answer, words) in
        answers.into_iter().zip(["429", "500: out of memory", "leaves out", "else than expected"])
    {
        let known = index.clone();
        let fixture = Fixture::start(move |request| match request.path.ends_with("/_bulk") {
            true => answer(),
            false => Engine::Elasticsearch.answer(&known, request),
        });
        let target = Engine::Elasticsearch.target(&fixture.address);
        sync(folder.path(), &target).fail(1).says(&[words]);
        let bulks = fixture.requests().iter().filter(|request| request.path.ends_with("/_bulk")).count();
        assert_eq!(bulks, 1, "{words}: an hour is too long to wait");
        let cursor = std::fs::read_dir(folder.path().join("pages.sync")).expect("a folder").flatten();
        for file in cursor {
            let value: Value =
                serde_json::from_slice(&std::fs::read(file.path()).expect("a file")).expect("JSON");
            assert_eq!(value["after"], 0);
        }
    }
    assert!(index.entries().is_empty());
}

#[test]
fn other_types_of_the_fields_are_refused_before_anything_is_sent() {
    let folder = collection();
    let fixture = Fixture::start(|request| {
        match request.path.ends_with("_mapping") {
        true => Reply(400, "", r#"{"error":{"type":"illegal_argument_exception","reason":"mapper [onecopy_winner] cannot be changed from type [text] to [keyword]"},"status":400}"#.into()),
        false => Reply(200, "", String::new()),
    }
    });
    let target = Engine::Elasticsearch.target(&fixture.address);
    sync(folder.path(), &target).fail(2).says(&["cannot be changed from type", "--prefix"]);
    assert_eq!(fixture.requests().len(), 2);
}

#[test]
fn keys_and_passwords_are_sent_and_never_shown() {
    let folder = collection();
    write_token(&folder.path().join("key"), "secret-key");
    for (engine, header) in [
        (Engine::Elasticsearch, "authorization: apikey secret-key"),
        (Engine::Meilisearch, "authorization: bearer secret-key"),
        (Engine::Typesense, "x-typesense-api-key: secret-key"),
    ] {
        let fixture = Fixture::start(|_| Reply(401, "", r#"{"message":"no"}"#.into()));
        let call = sync(folder.path(), &engine.target(&fixture.address)).arg("--key-file");
        let finished = call.arg(folder.path().join("key")).fail(1);
        finished.says(&["401"]);
        assert!(!finished.stderr.contains("secret"), "{}", finished.stderr);
        assert!(fixture.requests()[0].headers.contains(header), "{engine:?}");
    }
    let fixture = Fixture::start(|_| Reply(401, "", String::new()));
    let target = Engine::Elasticsearch.target(&format!("me:pass%2Bword@{}", fixture.address));
    let finished = sync(folder.path(), &target).fail(1);
    assert!(!finished.stderr.contains("pass"), "{}", finished.stderr);
    // Basic: me:pass+word.
    assert!(fixture.requests()[0].headers.contains("authorization: basic bwu6cgfzcyt3b3jk"));
}

#[test]
fn names_that_an_engine_cannot_have_are_listed() {
    let folder = tempdir().expect("a folder");
    let (long, address) = ("x".repeat(600), "http://a.example/x?y=1");
    let pages = [("fits", topic("a")), (&long, topic("b")), (address, topic("c"))];
    let pages: Vec<(&str, &str)> = pages.iter().map(|(id, text)| (*id, text.as_str())).collect();
    on("import", folder.path()).arg(write_records(folder.path(), "in.jsonl", &pages)).succeed();
    for (engine, refused) in
        [(Engine::Elasticsearch, 1), (Engine::Meilisearch, 2), (Engine::Solr, 0), (Engine::Typesense, 0)]
    {
        let index = engine.index();
        index.add(expected(folder.path()).into_keys());
        let known = index.clone();
        let fixture = Fixture::start(move |request| engine.answer(&known, request));
        let finished = sync(folder.path(), &engine.target(&fixture.address)).arg("--json").run();
        assert_eq!(summary(&finished)["failed"], refused, "{engine:?}: {}", finished.stderr);
        assert_eq!(finished.code(), Some(if refused > 0 { 3 } else { 0 }));
        assert_eq!(index.entries().len(), 3 - refused, "{engine:?}");
    }
}
