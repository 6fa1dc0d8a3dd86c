//! Tags of pages, in every target: they come, change with the text, and go with the page.

use std::collections::BTreeMap;

use serde_json::json;
use tempfile::tempdir;

use super::database::Database;
use super::engines::Engine;
use super::fixture::Fixture;
use super::{expected, put, sync};
use crate::client::{Server, serve};
use crate::collection::on;
use crate::pages::{topic, window, write_records};
use crate::program::onecopy;
use crate::tags::exported;

#[test]
fn every_engine_takes_the_tags() {
    let folder = tempdir().expect("a folder");
    let pages = [("a", topic("a")), ("b", topic("b")), ("w0", window(0)), ("w1", window(1))];
    let pages: Vec<(&str, &str)> = pages.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let input = write_records(folder.path(), "in.jsonl", &pages);
    on("import", folder.path()).arg(input).args("--tags --quiet").succeed();
    for engine in Engine::ALL {
        let index = engine.index();
        index.add(expected(folder.path()).into_keys());
        let fixture = Fixture::start({
            let index = index.clone();
            move |request| engine.answer(&index, request)
        });
        let target = engine.target(&fixture.address);
        let field = if matches!(engine, Engine::Solr) { "onecopy_tag_s" } else { "onecopy_tag" };
        sync(folder.path(), &target).succeed();
        assert_eq!(index.field(field), BTreeMap::new(), "{engine:?}");
        sync(folder.path(), &target).args("--tags --restart").succeed();
        assert_eq!(index.field(field), exported(folder.path()), "{engine:?}");
        assert_eq!(index.entries(), expected(folder.path()), "{engine:?}");
        if let Engine::Elasticsearch = engine {
            let requests = fixture.requests();
            let mapping = requests.iter().rfind(|request| request.path.ends_with("_mapping"));
            let mapping = mapping.map(|request| request.lines().remove(0)).expect("a mapping");
            assert_eq!(mapping["properties"][field]["index"], false, "{mapping}");
        }
    }
}

/// Changes a text, marks one page as dead and deletes another.
fn change(server: &Server) {
    put(server, "a", &topic("other"));
    server.post("/pages/dead", &json!({"page": "b"}).to_string()).with(202);
    server.ask("DELETE", "/pages?page=c", &[], "").with(202);
    server.settle();
}

#[test]
fn tags_change_with_their_pages() {
    let server = serve("--tags");
    for id in ["a", "b", "c", "d", "copy-of-d"] {
        put(&server, id, &topic(&id.replace("copy-of-", "")));
    }
    server.settle();
    let folder = server.data().parent().expect("a folder").to_owned();
    let index = Engine::Elasticsearch.index();
    index.add(expected(&folder).into_keys());
    let fixture = Fixture::start({
        let index = index.clone();
        move |request| Engine::Elasticsearch.answer(&index, request)
    });
    let target = Engine::Elasticsearch.target(&fixture.address);
    // Over HTTP the server is asked for the tags, and from the folder they are read.
    let from = format!("http://{}", server.address);
    let remote = || {
        let call = onecopy(["sync", "--tags", "--from", &from, "--to", &target, "--state"]);
        call.arg(folder.join("cursors")).succeed()
    };
    let database = Database::start();
    let local = || {
        if let Some(database) = &database {
            sync(&folder, &database.address()).arg("--tags").succeed();
            assert_eq!(in_table(database), exported(&folder));
        }
    };
    remote();
    local();
    let before = exported(&folder);
    assert_eq!((index.field("onecopy_tag"), before.len()), (before.clone(), 5));
    change(&server);
    remote();
    local();
    let now = exported(&folder);
    assert_eq!(index.field("onecopy_tag"), now);
    assert!(now["a"] != before["a"] && now["d"] == before["d"] && now.len() == 3, "{now:?}");
}

fn in_table(database: &Database) -> BTreeMap<String, String> {
    let rows = database.client().query("SELECT id, tag FROM onecopy_pages", &[]).expect("rows");
    let tag = |row: &postgres::Row| Some((row.get(0), row.get::<_, Option<String>>(1)?));
    rows.iter().filter_map(tag).collect()
}
