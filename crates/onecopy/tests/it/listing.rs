//! Lists of pages, records, deleting many pages, and large groups in parts.

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::client::{Server, serve};
use crate::collection::on;
use crate::pages::{topic, write_records};

const PAGES: usize = 25;

/// A server with pages on two hosts. Those of the second are copies of one text.
fn filled() -> Server {
    let server = serve("");
    let mut lines = String::new();
    for page in 0..PAGES {
        let (host, text) = if page % 5 == 0 { ("b", topic("same")) } else { ("a", topic(&page.to_string())) };
        let url = format!("http://{host}.example/{page:02}");
        lines += &format!("{}\n", json!({"url": url, "text": text, "mine": page}));
    }
    server.ask("POST", "/pages", &[("Content-Type", "application/x-ndjson")], &lines);
    server.settle();
    server
}

/// All items of an answer in parts, three at a time.
fn all(server: &Server, path: &str, items: &str) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    for _ in 0..100 {
        let answer = server.get(&format!("{path}limit=3{cursor}")).with(200);
        let some = answer[items].as_array().expect("a list");
        assert!(some.len() <= 3);
        found.extend(some.iter().cloned());
        match answer["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
    panic!("it does not end: {found:?}");
}

#[test]
fn pages_are_listed_in_parts_and_by_filters() {
    let server = filled();
    let listed = all(&server, "/pages?", "pages");
    assert_eq!(listed.len(), PAGES);
    assert!(listed.is_sorted_by_key(|page| page["page"].to_string()));
    assert_eq!(all(&server, "/pages?host=b.example&", "pages").len(), 5);
    assert_eq!(all(&server, "/pages?host=b.example&status=loser&", "pages").len(), 4);
    assert_eq!(all(&server, "/pages?prefix=http%3A%2F%2Fa.example%2F0&", "pages").len(), 8);
    let group = listed.iter().find_map(|page| page["group"].as_u64()).expect("a group");
    let members = all(&server, &format!("/pages?group={group}&"), "pages");
    assert_eq!(members.len(), 5);
    let feed = server.get("/stats").with(200)["feed"].clone();
    assert!(all(&server, &format!("/pages?changed_since={feed}&"), "pages").is_empty());
    server.post("/pages/dead", r#"{"page": "http://a.example/01"}"#).with(202);
    server.settle();
    let changed = all(&server, &format!("/pages?changed_since={feed}&"), "pages");
    assert_eq!((changed.len(), &changed[0]["status"]), (1, &json!("dead")));
    let by_name: Vec<Value> = all(&server, &format!("/groups/{group}?"), "members");
    let mut whole = server.get(&format!("/groups/{group}")).with(200)["members"].clone();
    let whole = whole.as_array_mut().expect("a list");
    whole.sort_by_key(|member| member["page"].to_string());
    assert_eq!(&by_name, whole);
}

#[test]
fn a_record_is_read_back() {
    let server = filled();
    let answer = server.get("/pages?page=http%3A%2F%2Fa.example%2F07&record=true").with(200);
    assert_eq!((&answer["status"], &answer["record"]["mine"]), (&json!("unique"), &json!(7)));
    server.post("/pages/dead", r#"{"page": "http://a.example/07"}"#).with(202);
    let answer = server.get("/pages?page=http%3A%2F%2Fa.example%2F07&record=true").with(200);
    assert_eq!(answer["record"], Value::Null);
    assert!(answer["missing"].as_str().is_some_and(|why| why.contains("dead")), "{answer}");
}

#[test]
fn pages_are_deleted_by_host_and_by_prefix() {
    let server = filled();
    let sweep = |query: &str| server.ask("DELETE", &format!("/pages?{query}"), &[], "");
    sweep("").fails(400, "`prefix`");
    sweep("prefix=").fails(400, "every page");
    sweep("host=").fails(400, "`host`");
    sweep("host=b.example&page=a").fails(400, "`host`");
    let first = sweep("host=b.example&limit=2").with(202);
    assert_eq!(first["deleted"], 2);
    let next = first["next"].as_str().expect("a cursor");
    let second = sweep(&format!("host=b.example&cursor={next}")).with(202);
    assert_eq!((&second["deleted"], &second["next"]), (&json!(3), &Value::Null));
    assert_eq!(sweep("prefix=http%3A%2F%2Fa.example%2F0").with(202)["deleted"], 8);
    server.settle();
    assert_eq!(server.get("/stats").with(200)["pages"], 12);
    assert_eq!(sweep("prefix=&confirm=true").with(202)["deleted"], 12);
    server.settle();
    assert_eq!(server.get("/stats").with(200)["pages"], 0);
    let told = server.get("/feed?after=0").lines();
    assert_eq!(told.iter().filter(|change| change["status"] == "dead").count(), PAGES);
}

#[test]
fn wrong_lists_are_told_what_is_wrong() {
    let server = serve("");
    assert_eq!(server.get("/pages").with(200), json!({"pages": []}));
    server.get("/pages?limit=0").fails(400, "`limit`");
    server.get("/pages?limit=10001").fails(400, "`limit`");
    server.get("/pages?cursor=x").fails(400, "`cursor`");
    server.get("/pages?status=best").fails(400, "`status`");
    server.get("/pages?language=english").fails(400, "`language`");
    server.get("/pages?group=-1").fails(400, "`group`");
    server.get("/pages?changed_since=x").fails(400, "`changed_since`");
    server.get("/pages?page=a&host=b").fails(400, "`host`");
    server.get("/pages?verify=true").fails(400, "`verify`");
    server.get("/pages?page=a&verify=true&record=true").fails(400, "together");
    server.get("/pages?page=a&record=true").fails(404, "`a`");
    server.get("/groups/1?limit=0").fails(400, "`limit`");
    server.get("/groups/1?limit=5").fails(404, "group");
}

#[test]
fn the_command_line_lists_pages() {
    let folder = tempdir().expect("a folder");
    let (same, other) = (topic("same"), topic("other"));
    let input = write_records(folder.path(), "in.jsonl", &[("a", &same), ("b", &same), ("c", &other)]);
    on("import", folder.path()).arg(&input).succeed();
    let listed = on("pages", folder.path()).args("--json").succeed().stdout;
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let names: Vec<&str> = listed.iter().filter_map(|page| page["page"].as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let losers = on("pages", folder.path()).args("--status loser").succeed().stdout;
    assert_eq!(losers.lines().count(), 1);
    assert!(losers.contains("loser of"), "{losers}");
    assert_eq!(on("pages", folder.path()).args("--prefix x").succeed().stdout, "No pages found.\n");
}
