//! The table of PostgreSQL equals the collection, or the finished run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::tempdir;

use super::database::Database;
use super::{expected, put, summary, sync};
use crate::client::{folder_with_token, serve, serve_in};
use crate::collection::on;
use crate::pages::{topic, window, write_corpus, write_records};
use crate::program::{dedup, onecopy};
use crate::results::{json_lines, plain, removed};

#[test]
fn a_table_has_the_statuses_of_an_imported_collection() {
    let Some(database) = Database::start() else { return };
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 700);
    on("import", folder.path()).arg(&input).succeed();
    let first = summary(&sync(folder.path(), &database.address()).args("--json --batch 90").succeed());
    assert_eq!((first["sent"].as_u64() >= Some(700), &first["failed"]), (true, &json!(0)), "{first}");
    assert_eq!(database.pages(), expected(folder.path()));
    assert_eq!(Some(database.cursor()), first["to"].as_i64());
    let again = summary(&sync(folder.path(), &database.address()).arg("--json").succeed());
    assert_eq!((&again["sent"], &again["from"]), (&json!(0), &first["to"]), "{again}");
    // The query of docs/SEARCH.md: full-text search, each content once.
    let mut client = database.client();
    client.batch_execute("CREATE TABLE documents (id text PRIMARY KEY, body text)").expect("a table");
    for line in json_lines(&input) {
        let (id, text) = (plain(&line["id"]), plain(&line["text"]));
        client.execute("INSERT INTO documents VALUES ($1, $2)", &[&id, &text]).expect("a row");
    }
    let query = sql_of_the_guide();
    let (hits, once) = (client.query(FOUND, &[]).expect("hits"), client.query(&query, &[]).expect("hits"));
    let shown: Vec<String> = once.iter().map(|row| row.get("winner")).collect();
    let distinct: std::collections::BTreeSet<&String> = shown.iter().collect();
    assert!(hits.len() > shown.len() && distinct.len() == shown.len(), "{} of {}", shown.len(), hits.len());
}

const FOUND: &str =
    "SELECT id FROM documents WHERE to_tsvector('english', body) @@ plainto_tsquery('english', 'site0')";

/// The query that docs/SEARCH.md shows for PostgreSQL, for a word of the corpus.
fn sql_of_the_guide() -> String {
    let guide = include_str!("../../../../../docs/SEARCH.md");
    let (_, rest) = guide.split_once("```sql\n").expect("an example in SQL");
    rest.split_once("```").expect("its end").0.replace("'your words'", "'site0'").replace("LIMIT 10", "")
}

#[test]
fn a_table_follows_changes_beside_the_server() {
    let Some(database) = Database::start() else { return };
    let server = serve("");
    let folder = server.data().parent().expect("a folder").to_owned();
    for (id, text) in
        [("w0", window(0)), ("w3", window(3)), ("w6", window(6)), ("a", topic("a")), ("b", topic("b"))]
    {
        put(&server, id, &text);
    }
    server.settle();
    let follow = sync(&folder, &database.address()).args("--follow --poll 1s").start();
    wait_for(|| database.cursor() > 0 && database.pages() == expected(&folder));
    // A winner goes, a copy comes, a page is deleted, and one has other words.
    server.post("/pages/dead", &json!({"page": "w0"}).to_string()).with(202);
    put(&server, "copy", &topic("a"));
    server.ask("DELETE", "/pages?page=b", &[], "").with(202);
    server.settle();
    put(&server, "w6", &topic("other"));
    server.settle();
    let now = || {
        let mut now = expected(&folder);
        now.insert("b".into(), (None, None, "dead".into()));
        now
    };
    wait_for(|| database.pages() == now());
    follow.signal("TERM");
    let ended = follow.finish();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("sent"), "{}", ended.stdout);
}

fn wait_for(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not come");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_service_elsewhere_is_followed_over_http() {
    let Some(database) = Database::start() else { return };
    let token = "0123456789abcdef-token";
    let server = serve_in(folder_with_token(token), "--token-file token");
    let folder = server.data().parent().expect("a folder").to_owned();
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let put = |id: &str, text: &str| {
        server.ask("POST", "/pages", &headers, &json!({"id": id, "text": text}).to_string()).with(202);
    };
    (0..30).for_each(|page| put(&format!("p{page}"), &window(page % 9)));
    let settled = || {
        wait_for(|| {
            let stats = server.ask("GET", "/stats", &headers, "").json();
            stats["waiting"] == 0 && stats["settled"] == stats["accepted"]
        })
    };
    settled();
    let pull = || {
        let from = format!("http://{}", server.address);
        onecopy(["sync", "--from", &from, "--state", "cursors", "--token-file", "token", "--to"])
            .arg(database.address())
            .args("--batch 7")
            .within(&folder)
    };
    pull().succeed();
    assert_eq!(database.pages(), expected(&folder));
    server.ask("POST", "/pages/dead", &headers, &json!({"page": "p0"}).to_string()).with(202);
    server.ask("DELETE", "/pages?page=p1", &headers, "").with(202);
    put("p2", &topic("new"));
    settled();
    pull().succeed();
    let mut now = expected(&folder);
    now.insert("p1".into(), (None, None, "dead".into()));
    assert_eq!(database.pages(), now);
}

#[test]
fn a_finished_run_is_written_once_and_replaces_another_run() {
    let Some(database) = Database::start() else { return };
    let folder = tempdir().expect("a folder");
    let (out, input) = (folder.path().join("out"), write_corpus(folder.path(), 400));
    dedup(&input, &out).succeed();
    let write =
        || onecopy(["sync", "--run"]).arg(&out).arg("--to").arg(database.address()).args("--json --batch 64");
    assert_eq!(summary(&write().succeed())["sent"], 400);
    assert_eq!(summary(&write().succeed())["sent"], 0, "it is there");
    let removed = removed(&out);
    for (id, (group, winner, status)) in database.pages() {
        match removed.get(&id) {
            Some((kept, ..)) => assert_eq!((winner.as_ref(), status.as_str()), (Some(kept), "loser")),
            None => assert_eq!(
                (winner, status),
                (Some(id), if group.is_some() { "winner" } else { "unique" }.into())
            ),
        }
    }
    // Two captures of one address have one name: the kept one counts.
    let (window0, window3) = (window(0), window(3));
    let input = write_records(
        folder.path(),
        "in.jsonl",
        &[("twice", &window0), ("twice", &window3), ("x", "other words")],
    );
    dedup(&input, &out).args("--overwrite").succeed();
    let finished = write().succeed();
    finished.says(&["1 page shares its name"]);
    let alive: BTreeMap<_, _> =
        database.pages().into_iter().filter(|(_, (.., status))| status != "dead").collect();
    assert_eq!(alive.keys().collect::<Vec<_>>(), ["twice", "x"]);
    assert_eq!(alive["twice"].2, "winner");
    assert_eq!(database.pages().len(), 402, "pages of the run before are dead");
}
